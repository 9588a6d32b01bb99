#include "session/predicting.hpp"

#include <algorithm>
#include <sstream>

#include "comm/communicator.hpp"
#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "machine/fusing_compiler.hpp"
#include "machine/recomputation.hpp"
#include "session/capacity_error.hpp"
#include "session/planning.hpp"

namespace cosmic::session {
namespace {

constexpr std::size_t kTensorsNamed = 4;

/// What can still be changed about this run.
std::string remedies(const Options& options) {
  std::string text = "use smaller batches";
  if (options.precision.format == NumberFormat::f32) {
    text += ", a 16-bit precision";
  }
  if (options.execution_strategy != ExecutionStrategy::pipelined) {
    text += ", stages on several machines if it supports them";
  } else {
    text += ", more than " + std::to_string(options.stages.count()) + " stages";
  }
  return text +
         ", or a larger machine; `cosmictagger explain --make-it-fit` with the settings of the run "
         "shows what each of them costs";
}

graph::TensorType image_of(const graph::Graph& program) {
  for (const graph::NamedValue& input : program.inputs) {
    if (input.name == kImage) {
      return program.type(input.value);
    }
  }
  COSMIC_ASSERT(false);
}

void require_fit(const machine::Prediction& prediction, const graph::Graph& program,
                 const Options& options) {
  const machine::MemoryVerdict& memory = prediction.memory;
  if (memory.fits != machine::Fit::no) {
    return;
  }
  std::ostringstream text;
  text << "the program does not fit " << prediction.machine << ": " << memory.place << " needs "
       << memory.needed << " and has " << memory.available << ". The largest tensors are";
  const std::size_t named = std::min(kTensorsNamed, memory.largest.size());
  for (std::size_t i = 0; i < named; ++i) {
    const machine::LargeTensor& tensor = memory.largest[i];
    text << (i == 0 ? " " : ", ") << tensor.layer << " (" << tensor.op << ", " << tensor.bytes
         << ")";
  }
  throw CapacityError(text.str(), remedies(options), image_of(program));
}

}  // namespace

machine::ExecutionOptions execution_of(const Options& options) {
  const bool pipelined = options.execution_strategy == ExecutionStrategy::pipelined;
  return {
      .replicas =
          static_cast<int>(options.replication_factor *
                           (options.communicator == nullptr ? 1 : options.communicator->size())),
      .exchange = options.exchange_format,
      .accumulation = static_cast<int>(options.gradient_accumulation),
      .pipeline = pipelined ? static_cast<int>(options.stages.count()) : 1,
      .iterations_per_call = static_cast<int>(options.device_iterations),
      .host_data = options.synthetic_data ? machine::HostData::synthetic : machine::HostData::real,
      .launching = options.launching,
      .sections = options.sections};
}

std::optional<machine::Prediction> predict_program(const graph::Graph& program,
                                                   const std::vector<compile::Pass>& passes,
                                                   const target::Target& target,
                                                   const Options& options, Purpose purpose) {
  if (target.provenance() == Provenance::measured) {
    return std::nullopt;
  }
  std::vector<compile::PassReport> ignored;
  compile::PipelineOptions pipeline;
  for (const std::string& pass : machine::passes_left_out(target.machine_info(), passes)) {
    pipeline.disabled.insert(pass);
  }
  graph::Graph compiled = compile::run_pipeline(program, passes, pipeline, ignored);
  const bool chosen = options.recompute || !options.recomputation_checkpoints.empty();
  if (options.execution_strategy == ExecutionStrategy::pipelined && purpose == Purpose::training &&
      !chosen) {
    compiled = machine::with_recomputation(compiled);
  }
  std::optional<machine::Prediction> prediction = target.predict(compiled, execution_of(options));
  COSMIC_ASSERT(prediction.has_value());
  require_fit(*prediction, program, options);
  return prediction;
}

}  // namespace cosmic::session
