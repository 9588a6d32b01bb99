// How far predictions have been from figures that others published or that were measured: one
// deviation for each row of docs/models.md that judges, kept in machines/track_record.yaml. The
// file is written by the program that writes that page, so the error bar of a prediction is
// computed from the rows and never set.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic::machine {

struct Description;

/// What a row is about; each has errors of its own.
enum class Judged { training, inference, memory };

std::string to_string(Judged judged);

struct Deviation {
  std::string row;    ///< its id in docs/models.md
  std::string group;  ///< Description::judged_with
  Judged judged = Judged::training;
  double predicted_to_published = 1;  ///< of times or of bytes: 1.1 is 10 % too slow or too much
};

/// Throws UserError that begins with "NAME:LINE: ".
std::vector<Deviation> parse_track_record(std::string_view text, const std::string& name);
/// What comes with the program.
const std::vector<Deviation>& track_record();

struct PastError {
  std::size_t rows = 0;
  bool pooled = false;  ///< of training and inference together
  double factor = 1;    ///< that 9 of 10 figures are expected within, either way
  double bias = 0;      ///< mean deviation: 0.1 if predictions are 10 % too slow or too much
};

/// Of these. Their root mean square, widened for few rows as Student's t says: one row alone says
/// little about the next. Nothing without rows.
std::optional<PastError> past_error(const std::vector<Deviation>& deviations);

/// Of predictions for such machines. Where there are fewer than kFewRows of training or of
/// inference, those of both count.
inline constexpr std::size_t kFewRows = 4;
std::optional<PastError> past_error(const Description& machine, Judged judged);

/// "within a factor of 1.42 in 9 of 10 cases, by 12 published figures (on average 3 % too fast)",
/// or that there is no figure to check against.
std::string to_string(const std::optional<PastError>& error, Judged judged);

}  // namespace cosmic::machine
