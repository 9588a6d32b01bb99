// Everything a training run needs to resume as if it had never stopped: the state of the model and
// the optimizer, and the positions of schedule, random numbers and data.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "checkpoint/reference_checkpoint.hpp"
#include "session/model_state.hpp"
#include "session/tensor.hpp"
#include "session/tensor_source.hpp"

namespace cosmic::checkpoint {

/// Where a checkpoint comes from, and so what it can be used for.
enum class Origin {
  own,        ///< this program: all of a run
  reference,  ///< the reference: weights, optimizer and steps, but neither configuration nor data
  weights,    ///< plain weights: for inference, or to start from
};

/// What else a run has to remember. Only the writer interprets these texts; here they are stored
/// and compared. UTF-8.
struct RunRecord {
  std::string configuration;                 ///< resolved, so that it can be read back
  std::string schedule;                      ///< position of the learning-rate schedule
  std::string random;                        ///< state of the random numbers
  std::string loader;                        ///< which entries come next
  std::string data_fingerprint;              ///< of the events trained on
  std::string program;                       ///< version that wrote it; filled in when saving
  std::map<std::string, std::string> notes;  ///< anything else, such as the best score so far

  bool operator==(const RunRecord&) const = default;
};

struct Checkpoint {
  Origin origin = Origin::own;
  std::int64_t step = 0;  ///< updates made; the next is number `step`
  /// Parameters and buffers with the reference's names, states of the optimizer with ours.
  session::NamedTensors tensors;
  RunRecord run;
};

/// What is written as a checkpoint. Its tensors may be a model's own, which are read when they are
/// written: a run that saves does not have its state twice.
struct Writing {
  std::int64_t step = 0;
  session::TensorSource tensors;
  RunRecord run;

  Writing(std::int64_t at, session::TensorSource of, RunRecord record)
      : step(at), tensors(std::move(of)), run(std::move(record)) {}
  /// Of one that is there as a whole, and outlives this.
  Writing(const Checkpoint& checkpoint)  // NOLINT(google-explicit-constructor): it is one
      : Writing(checkpoint.step, session::TensorSource::of(checkpoint.tensors), checkpoint.run) {}
};

/// The state of a model between two updates. Sums of gradients are left out: they are zero then.
Checkpoint capture(const session::ModelState& state, std::int64_t step, RunRecord run);
/// The same without a copy: what the state is when it is written. The state outlives it.
Writing writing_of(const session::ModelState& state, std::int64_t step, RunRecord run);

/// Restores all states of a model. Throws DataError listing every tensor that is missing, unknown
/// or of another shape; then nothing has been changed.
void restore(const Checkpoint& checkpoint, session::ModelState& state);
/// Which weights of a run that kept moving averages.
enum class Which {
  averaged,  ///< the averages, where there are any
  last,      ///< those that the last update left
};

/// The same without the optimizer: for inference.
void restore_weights(const Checkpoint& checkpoint, session::ModelState& state,
                     Which which = Which::averaged);

/// Only parameters and buffers.
session::NamedTensors weights_of(const Checkpoint& checkpoint, Which which = Which::averaged);

/// Does it have moving averages of its weights?
bool has_averages(const Checkpoint& checkpoint);

/// The reference's checkpoint with its optimizer's moments under our names. Throws DataError if the
/// parameters were not all updated equally often: our optimizers count once for all.
Checkpoint from_reference(ReferenceCheckpoint reference);

/// How a checkpoint is called in messages: "a checkpoint of this program".
std::string to_string(Origin origin);

}  // namespace cosmic::checkpoint
