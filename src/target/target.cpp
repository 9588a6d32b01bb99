#include "target/target.hpp"

#include "core/error.hpp"
#include "machine/prediction.hpp"
#include "target/device.hpp"

namespace cosmic::target {

void Executable::submit(std::span<const RunInput> inputs) {
  COSMIC_REQUIRE(UserError, in_flight_ < most_in_flight(),
                 "a run was submitted to target '"
                     << target()
                     << "' while another is in flight (its memory is in use until that one has "
                        "ended); call wait() before the next submit()");
  begin(inputs);
  ++in_flight_;
}

void Executable::wait(std::span<const std::span<std::byte>> outputs) {
  COSMIC_REQUIRE(UserError, in_flight(),
                 "there is no run on target '" << target()
                                               << "' to wait for (none was submitted since the "
                                                  "last wait()); call submit() first");
  --in_flight_;
  try {
    finish(outputs);
  } catch (...) {
    in_flight_ = 0;  // those behind it have ended with it
    throw;
  }
}

void Executable::run(std::span<const RunInput> inputs,
                     std::span<const std::span<std::byte>> outputs) {
  submit(inputs);
  wait(outputs);
}

void Executable::stage(std::size_t /*input*/, const RunInput& /*given*/) {}

Support Target::supports_precision(const compile::Precision& precision) const {
  if (precision.tf32) {
    return no_tf32();
  }
  return precision.format == NumberFormat::f32 && precision.partials == NumberFormat::f32
             ? Support::yes()
             : Support::no("it has no number format but float32");
}

Support no_tf32() {
  return Support::no(
      "it multiplies float32 numbers as they are, and has no product units that round them to "
      "tf32");
}

void require_support(const Target& target, const compile::Precision& precision) {
  const Support support = target.supports_precision(precision);
  COSMIC_REQUIRE(
      TargetError, support.ok,
      "target '" << target.name() << "' cannot compute with precision.format "
                 << to_string(precision.format) << " and precision.partials "
                 << to_string(precision.partials)
                 << (precision.tf32 ? " and precision.tf32: " : ": ") << support.why_not
                 << (precision.tf32 ? "; leave tf32 out, or choose a target that has it"
                                    : "; choose other formats, or a target that has these"));
}

Support Target::supports_processes(int processes) const {
  return processes == 1 ? Support::yes()
                        : Support::no("its programs have no way to reach other processes");
}

Support Target::supports_exchange(comm::Exchange exchange) const {
  return exchange == comm::Exchange::device
             ? Support::no("it computes in the hosts' memory and has no devices with links")
             : Support::yes();
}

std::optional<Peak> Target::peak(int) const {
  return std::nullopt;
}

std::optional<Peak> Target::peak_in(const compile::Precision&, int threads) const {
  return peak(threads);
}

std::optional<DeviceRoom> Target::device_room() const {
  return std::nullopt;
}

std::optional<MemoryNeed> Target::memory_need(
    std::span<const compile::Plan* const>,
    const std::vector<std::pair<std::string, graph::TensorType>>&) const {
  return std::nullopt;
}

std::optional<machine::Prediction> Target::predict(const graph::Graph&,
                                                   const machine::ExecutionOptions&) const {
  return std::nullopt;
}

std::vector<std::string> Target::contract(const compile::Precision&) const {
  return {};
}

compile::Precision Target::coerced(const compile::Precision& precision) const {
  return precision;
}

void require_support(const Target& target, const graph::Graph& graph) {
  std::string refusals;
  graph::for_each_node(graph, [&](graph::ValueId id, const graph::Node& node) {
    if (const Support support = target.supports(graph, id); !support.ok) {
      refusals += "\n  " + std::string(graph::name_of(node.op)) + " at '" + node.name +
                  "': " + support.why_not;
    }
  });
  COSMIC_REQUIRE(
      TargetError, refusals.empty(),
      "target '" << target.name() << "' cannot run this program (nothing runs elsewhere "
                 << "in its place); choose another target or change the model:" << refusals);
}

namespace {

bool is_computed(const graph::Node& node) {
  return graph::op_if<graph::Input>(node) == nullptr && graph::op_if<graph::State>(node) == nullptr;
}

}  // namespace

std::unique_ptr<Executable> compile_all(const Target& target, const compile::Plan& plan,
                                        std::shared_ptr<StateBank> bank,
                                        const CompileOptions& options) {
  const int processes = options.communicator == nullptr ? 1 : options.communicator->size();
  const Support together = target.supports_processes(processes);
  COSMIC_REQUIRE(TargetError, together.ok,
                 "a program is to run in "
                     << processes << " processes on target '" << target.name()
                     << "', which cannot: " << together.why_not
                     << " (each would train a network of its own); run one process, or choose "
                        "another target");
  const Support exchange = target.supports_exchange(options.exchange);
  COSMIC_REQUIRE(TargetError, options.communicator == nullptr || exchange.ok,
                 "processes are to exchange between devices on target '"
                     << target.name() << "', which cannot: " << exchange.why_not
                     << "; leave run.exchange out, or choose another target");
  std::unique_ptr<Executable> executable = target.compile(plan, std::move(bank), options);
  COSMIC_REQUIRE(TargetError, executable->target() == target.name(),
                 "the program was to be compiled for target '"
                     << target.name() << "' but would run on '" << executable->target()
                     << "' (nothing runs anywhere but where it was asked to run); choose target '"
                     << executable->target() << "' if that is what you want");
  std::vector<bool> computed(plan.graph.size(), false);
  for (const graph::ValueId value : executable->computed_values()) {
    computed.at(value.index()) = true;
  }
  std::string lost;
  graph::for_each_node(plan.graph, [&](graph::ValueId id, const graph::Node& node) {
    if (is_computed(node) && !computed[id.index()]) {
      lost += "\n  " + std::string(graph::name_of(node.op)) + " at '" + node.name + "' (%" +
              std::to_string(id.index()) + ")";
    }
  });
  COSMIC_REQUIRE(TargetError, lost.empty(),
                 "target '" << target.name()
                            << "' lost a part of the program while compiling it (its results would "
                               "be silently wrong); this is a bug in the target, please report it:"
                            << lost);
  return executable;
}

}  // namespace cosmic::target
