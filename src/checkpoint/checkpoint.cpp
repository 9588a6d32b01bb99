#include "checkpoint/checkpoint.hpp"

#include <algorithm>

#include "compile/passes/passes.hpp"
#include "core/error.hpp"

namespace cosmic::checkpoint {
namespace {

session::Tensor step_tensor(std::int64_t step) {
  session::Tensor tensor({graph::DType::i64, {}});
  tensor.as<std::int64_t>()[0] = step;
  return tensor;
}

/// Throws DataError unless all parameters have had the same number of updates.
std::int64_t common_step(const ReferenceCheckpoint& reference) {
  const auto& [first_name, first] = *reference.moments.begin();
  for (const auto& [name, moments] : reference.moments) {
    COSMIC_REQUIRE(
        DataError, moments.step == first.step,
        "the optimizer has updated '"
            << first_name << "' " << first.step << " times and '" << name << "' " << moments.step
            << " times (this program updates all parameters together); use only the weights");
  }
  return first.step;
}

/// Averages begin with the weights where a run has kept none so far, and are dropped by a run that
/// keeps none.
void fit_averages(session::NamedTensors& tensors, const session::ModelState& state) {
  std::erase_if(tensors, [&](const auto& entry) {
    return !compile::averaged_weight(entry.first).empty() && !state.has(entry.first);
  });
  for (const std::string& name : state.names()) {
    const auto weight = tensors.find(compile::averaged_weight(name));
    if (weight != tensors.end() && !tensors.contains(name)) {
      tensors.emplace(name, weight->second);
    }
  }
}

}  // namespace

Checkpoint capture(const session::ModelState& state, std::int64_t step, RunRecord run) {
  session::NamedTensors tensors = state.read_all();
  std::erase_if(tensors, [](const auto& entry) { return compile::is_accumulator(entry.first); });
  return {Origin::own, step, std::move(tensors), std::move(run)};
}

Writing writing_of(const session::ModelState& state, std::int64_t step, RunRecord run) {
  return {step, session::TensorSource::of(state, compile::is_accumulator), std::move(run)};
}

void restore(const Checkpoint& checkpoint, session::ModelState& state) {
  COSMIC_REQUIRE(DataError, checkpoint.origin != Origin::weights,
                 "these are plain weights (without optimizer state a run cannot resume); start "
                 "from them at step 0, or name a checkpoint");
  session::NamedTensors tensors = checkpoint.tensors;
  for (const std::string& name : state.names()) {
    if (compile::is_accumulator(name)) {
      tensors.insert_or_assign(name, session::Tensor(state.type(name)));
    }
    // The reference rounds to nearest and counts nothing.
    if (checkpoint.origin == Origin::reference && name == compile::kRunsState) {
      tensors.emplace(name, session::Tensor(state.type(name)));
    }
  }
  // Weights that were trained without a loss scale go on with a fresh one, and the other way round.
  for (const char* const name : {compile::kLossScaleState, compile::kGoodStepsState}) {
    if (!state.has(name)) {
      tensors.erase(name);
    } else if (!tensors.contains(name)) {
      tensors.emplace(name, state.read(name));
    }
  }
  fit_averages(tensors, state);
  state.write_all(tensors);
}

void restore_weights(const Checkpoint& checkpoint, session::ModelState& state, Which which) {
  const session::NamedTensors weights = weights_of(checkpoint, which);
  state.write_weights(weights);
  // A training that begins with them begins its averages with them.
  for (const std::string& name : state.names()) {
    if (const auto weight = weights.find(compile::averaged_weight(name)); weight != weights.end()) {
      state.write(name, weight->second);
    }
  }
}

session::NamedTensors weights_of(const Checkpoint& checkpoint, Which which) {
  session::NamedTensors weights;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (compile::is_optimizer_state(name)) {
      continue;
    }
    const auto average = which == Which::averaged
                             ? checkpoint.tensors.find(compile::average_name(name))
                             : checkpoint.tensors.end();
    weights.emplace(name, average == checkpoint.tensors.end() ? tensor : average->second);
  }
  return weights;
}

bool has_averages(const Checkpoint& checkpoint) {
  return std::any_of(checkpoint.tensors.begin(), checkpoint.tensors.end(), [](const auto& entry) {
    return !compile::averaged_weight(entry.first).empty();
  });
}

Checkpoint from_reference(ReferenceCheckpoint reference) {
  Checkpoint checkpoint;
  checkpoint.origin = Origin::reference;
  checkpoint.step = reference.global_step;
  if (!reference.moments.empty()) {
    const std::int64_t step = common_step(reference);
    // Adam is the only optimizer that corrects by the number of updates.
    if (reference.moments.begin()->second.tensors.contains("exp_avg")) {
      checkpoint.tensors.emplace(compile::kStepState, step_tensor(step));
    }
  }
  checkpoint.tensors.merge(std::move(reference.weights));
  for (auto& [parameter, moments] : reference.moments) {
    for (auto& [moment, tensor] : moments.tensors) {
      checkpoint.tensors.emplace(compile::moment_name(parameter, moment), std::move(tensor));
    }
  }
  if (reference.schedule_step) {
    checkpoint.run.schedule = std::to_string(*reference.schedule_step);
  }
  return checkpoint;
}

std::string to_string(Origin origin) {
  switch (origin) {
    case Origin::own:
      return "a checkpoint of this program";
    case Origin::reference:
      return "a checkpoint of the reference";
    case Origin::weights:
      return "plain weights";
  }
  return "";
}

}  // namespace cosmic::checkpoint
