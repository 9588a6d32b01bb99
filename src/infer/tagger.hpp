// A trained network that tags events: batches of images in, a class and the probabilities of every
// pixel out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "data/dense_image.hpp"
#include "data/event.hpp"
#include "data/loader/batch.hpp"
#include "infer/event_scores.hpp"
#include "infer/input_profile.hpp"
#include "machine/event_rate.hpp"
#include "model/uresnet.hpp"
#include "output/run_log.hpp"
#include "run/hand_over.hpp"
#include "run/processes.hpp"
#include "session/model.hpp"

namespace cosmic::infer {

/// What is said about every pixel that an input has stored, on its own grid.
struct StoredPixels {
  data::SparseImage tag;  ///< the most likely Label
  data::SparseImage cosmic;
  data::SparseImage neutrino;
};

/// What was said about one event, in memory of the tagger: valid until the next batch.
struct TaggedEvent {
  std::int64_t entry = 0;
  data::EventId id;
  data::DenseShape shape;
  std::span<const float> charge;          ///< [3, rows, columns], what the network saw
  std::span<const std::uint8_t> labels;   ///< the same shape; all background without labels
  std::span<const std::uint8_t> classes;  ///< the same shape
  /// By plane, [3 classes, rows, columns].
  std::array<std::span<const float>, kPlanes> logits;
  /// Divides logits before they become probabilities (temperature.hpp).
  double temperature = 1;

  EventConfusion confusion() const;
  /// Probability of a class at every pixel that has charge, as a larcv3 product keeps it.
  data::SparseImage probabilities(data::Label which) const;
  /// The same at every pixel of the event as it is stored, which the network saw halved
  /// `downsample` times: pixels of a block share what is said about the block.
  StoredPixels at_pixels_of(const data::SparseImage& stored, int downsample) const;
};

class Tagger {
 public:
  /// Takes the weights that the configuration names: mode.weights_location, or the checkpoints of
  /// this run. Throws UserError if there are none; an untrained network is of no use.
  Tagger(const config::Configuration& configuration, const std::string& target,
         const data::DenseShape& shape, output::RunLog& log,
         const std::function<void(double, const std::string&)>& compiling = {});

  /// Calls `visit` for each event of the batch that is not padding. Throws DataError, with the
  /// event, for scores that are not finite.
  void tag(const data::Batch& batch, const std::function<void(const TaggedEvent&)>& visit);
  /// The same in steps: the network's own work, which begins with submit() and ends with wait(),
  /// and what is made of its scores. On a target that runs beside the host, what the host does in
  /// between costs no time: it may read and stage the next batch, and visit the events of the one
  /// that was waited for last. Batches stay as they are as long as somebody looks at them.
  void submit(const data::Batch& batch);
  void stage(const data::Batch& next);
  void wait();
  /// Both, of a batch.
  void run(const data::Batch& batch);
  /// Ends what is in flight, if anything is, without a look at it: before its batch goes.
  void abandon() noexcept;
  void visit_events(const data::Batch& batch, const std::function<void(const TaggedEvent&)>& visit);
  /// How batches should come.
  run::HandOver hand_over(run::Calls calls) const { return run::hand_over(*model_, calls); }

  /// Of the leader: should files change while processes start, all have the same weights.
  void share_weights(const run::Processes& processes) { processes.share(*model_->state()); }
  /// Where the weights came from.
  const std::filesystem::path& weights() const { return weights_; }
  const session::CompileReport& report() const { return model_->report(); }
  /// Of the machine, if it is modelled.
  std::optional<machine::EventRate> modelled_rate() const {
    return machine::event_rate(model_->report().prediction, events_at_a_time_);
  }
  const session::Options& options() const { return options_; }
  std::vector<session::OpTiming> timings() const { return model_->timings(); }
  session::MemoryUse memory() const { return model_->memory(); }
  std::int64_t step() const { return step_; }
  /// Fingerprint of the events behind them; empty where that is not known.
  const std::string& trained_on() const { return trained_on_; }
  /// Settings that contradict the weights and were used because somebody insisted, as texts.
  const std::vector<std::string>& insisted_on() const { return insisted_on_; }
  /// Of the weights; 1 if they were not calibrated.
  double temperature() const { return temperature_; }
  /// What the weights say about the events that they know.
  const std::optional<InputProfile>& known_inputs() const { return known_inputs_; }

 private:
  void load_weights(const config::Configuration& configuration, output::RunLog& log);
  void refuse_scores(const TaggedEvent& event, std::size_t plane) const;

  model::UResNet network_;
  session::Options options_;
  data::DenseShape shape_;
  std::int64_t events_at_a_time_;
  std::optional<session::InferenceModel> model_;
  std::filesystem::path weights_;
  std::int64_t step_ = 0;  // updates behind the weights
  std::string trained_on_;
  std::vector<std::string> insisted_on_;
  double temperature_ = 1;
  std::optional<InputProfile> known_inputs_;
  std::span<const float> logits_;  // of the latest batch
  std::vector<std::uint8_t> classes_;
  bool in_flight_ = false;
  session::SparseBatch submitted_;  // in flight, if it has pixels
  session::SparseBatch staged_;
  // Images of one event, of a batch that has pixels; zero but while the event is visited.
  std::vector<float> charge_;
  std::vector<std::uint8_t> labels_;
};

}  // namespace cosmic::infer
