// Does a target compute what the reference target computes? One training step of a network as
// `train` would compile it, every stored value of it held against the reference in the same
// formats. The command is in cli/test.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "data/dense_image.hpp"
#include "target/check/check_program.hpp"

namespace cosmic::run {

/// One program of a training step: the step itself, or the update where gradients are accumulated.
struct TestedProgram {
  std::string name;
  target::check::ProgramCheck check;
};

/// The values of one layer. Differences are in parts of the root mean square of a value.
struct LayerSummary {
  std::string program;
  std::string layer;
  std::size_t values = 0;
  target::check::ValueCheck worst;  ///< the one closest to its bound, or farthest beyond it
};

struct TargetTest {
  std::vector<TestedProgram> programs;
  std::string events_from;
  std::vector<std::string> warnings;  ///< what was odd in these events
  std::vector<std::string> notes;     ///< about the weights, to be shown

  std::size_t values() const;
  std::size_t count(target::check::Verdict verdict) const;
  bool passed() const { return count(target::check::Verdict::wrong) == 0; }
  /// In program order; a layer stands where its first value does.
  std::vector<LayerSummary> layers() const;
  const target::check::ValueCheck& worst() const;
};

/// The smallest image that leaves a batch of one something to normalise at the deepest layer. As
/// values are compared one by one, larger images would show no more.
data::DenseShape smallest_image(const config::Configuration& configuration);

/// Runs the programs of a training step on the target, with the weights of mode.weights_location if
/// there are any and with the same events for target and reference: those of data.file if it is
/// there, else generated ones. `progress` is called with how many values of a program, out of how
/// many, have been looked at.
TargetTest test_target(const config::Configuration& configuration, const target::Target& target,
                       const data::DenseShape& shape,
                       const std::function<void(std::size_t done, std::size_t all)>& progress = {});

}  // namespace cosmic::run
