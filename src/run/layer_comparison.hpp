// A measured profile (run.profile=true) beside a prediction of the same step, layer by layer: where
// the description of a machine is wrong, not only by how much.
#pragma once

#include <string>
#include <vector>

#include "machine/prediction.hpp"
#include "run/explained_run.hpp"

namespace cosmic::run {

/// What profile.json says about a step, as far as a prediction can be held against it.
struct MeasuredProfile {
  struct Op {
    std::string op;
    std::string layer;
    double seconds = 0;  ///< with what rides along
  };

  std::string name;      ///< of its file
  std::string target;    ///< and how much of it
  std::string revision;  ///< of the program that wrote it
  std::string purpose;   ///< training or inference
  std::string network;
  std::string batch;                       ///< type of the images, "f32[1x3x640x1024]"
  std::vector<std::string> settings = {};  ///< of explain, where the file was kept with them
  double step_seconds = 0;
  std::vector<Op> ops = {};
};

/// Throws UserError if the file cannot be read, DataError with what is missing if it is no profile
/// of measured times.
MeasuredProfile read_profile(const std::string& path);
/// The same for its content.
MeasuredProfile parse_profile(const std::string& text, const std::string& name);

/// Throws UserError if the profile is of another network, mode or batch than the choice.
void require_same_run(const MeasuredProfile& profile, const RunChoice& choice);

/// Of a layer, or of a kind of op.
struct ComparedTime {
  std::string what;
  double measured_seconds = 0;
  machine::ModelledTime predicted = {};

  double predicted_to_measured() const;
};

struct LayerComparison {
  ComparedTime step;
  std::vector<ComparedTime> kinds;   ///< convolutions, and the rest
  std::vector<ComparedTime> layers;  ///< by measured time, longest first
};

/// Ops count to the layer that people would name: a convolution with its normalization, weights
/// and, in a residual block, its sum. What rides on an op of another layer counts there.
LayerComparison compared(const machine::Prediction& prediction, const MeasuredProfile& profile);

/// The longest `most` layers, and the others as one.
std::vector<ComparedTime> longest(const std::vector<ComparedTime>& layers, std::size_t most);

std::string text_of(const LayerComparison& comparison, const MeasuredProfile& profile,
                    const std::string& machine);

}  // namespace cosmic::run
