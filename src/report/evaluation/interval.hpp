// How well a share is known: intervals for efficiencies and purities that stay between 0 and 1 and
// do not vanish if all trials have the same outcome.
#pragma once

#include <cstdint>
#include <vector>

namespace cosmic::report::evaluation {

/// A share with the interval that contains the true one with a probability of 68.3 %.
struct Share {
  double value = 0;
  double low = 0;
  double high = 1;
};

/// Wilson's interval around `successes` of `trials`; all that is possible, with the value NaN,
/// without trials. The numbers need not be whole.
Share wilson(double successes, double trials);

/// A share of pixels, gathered event by event. Pixels of one event are correlated, so counting each
/// as a trial would promise far too much: the spread between events gives the number of independent
/// trials that the pixels are worth (their number over the design effect), and Wilson's interval is
/// taken for that number. Where events do not differ, each event is one trial.
class PixelShare {
 public:
  /// `part` of `whole` pixels of an event; events without pixels say nothing.
  void add(std::int64_t part, std::int64_t whole);

  std::int64_t part() const { return part_; }
  std::int64_t whole() const { return whole_; }
  std::int64_t events() const { return events_; }
  Share share() const;

 private:
  std::int64_t part_ = 0;
  std::int64_t whole_ = 0;
  std::int64_t events_ = 0;
  // Sums over events of squares and products, for the variance of the ratio of two sums.
  double part_squares_ = 0;
  double whole_squares_ = 0;
  double products_ = 0;
};

}  // namespace cosmic::report::evaluation
