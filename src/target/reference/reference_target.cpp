#include "target/reference/reference_target.hpp"

#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "target/reference/evaluate.hpp"

namespace cosmic::target::reference {
namespace {

constexpr std::string_view kName = "reference";

template <class Map>
auto& find(Map& states, std::string_view name) {
  const auto found = states.find(name);
  COSMIC_REQUIRE(InternalError, found != states.end(),
                 "the bank has no state '" << name << "' (it was made without it)");
  return found->second;
}

/// Keeps doubles, so that a state loses nothing between runs; it is rounded to its own dtype only
/// where it is read from outside.
class ReferenceBank : public StateBank {
 public:
  explicit ReferenceBank(const std::vector<std::pair<std::string, graph::TensorType>>& states) {
    for (const auto& [name, type] : states) {
      states_.emplace(name, zeros(type));
    }
  }

  void read(std::string_view name, std::span<std::byte> out) const override {
    to_bytes(find(states_, name), out);
  }
  void write(std::string_view name, std::span<const std::byte> in) override {
    Tensor& state = find(states_, name);
    state = from_bytes(state.type, in);
  }

  std::unique_ptr<StateSnapshot> snapshot(
      const std::optional<std::vector<std::string>>& names) const override {
    auto snapshot = std::make_unique<Snapshot>();
    if (!names) {
      snapshot->states = states_;
      return snapshot;
    }
    for (const std::string& name : *names) {
      snapshot->states.emplace(name, find(states_, name));
    }
    return snapshot;
  }
  void take_again(StateSnapshot& snapshot) const override {
    for (auto& [name, state] : dynamic_cast<Snapshot&>(snapshot).states) {
      state = find(states_, name);
    }
  }
  void restore(const StateSnapshot& snapshot) override {
    for (const auto& [name, state] : dynamic_cast<const Snapshot&>(snapshot).states) {
      find(states_, name) = state;
    }
  }

  const States& states() const { return states_; }
  void set(const std::string& name, Tensor value) { find(states_, name) = std::move(value); }

 private:
  struct Snapshot final : StateSnapshot {
    States states;
  };

  States states_;
};

/// Unlike other targets' it allocates while it runs: every value gets a tensor of its own, so that
/// no mistake in a plan's placements can change what it computes.
class ReferenceExecutable : public Executable {
 public:
  ReferenceExecutable(graph::Graph graph, std::shared_ptr<ReferenceBank> bank)
      : graph_(std::move(graph)), bank_(std::move(bank)) {
    for (const graph::NamedValue& input : graph_.inputs) {
      given_.push_back(zeros(graph_.type(input.value)));
    }
  }

  std::int64_t memory_bytes() const override {
    std::int64_t elements = 0;
    graph::for_each_node(
        graph_, [&](graph::ValueId, const graph::Node& node) { elements += node.type.elements(); });
    return elements * static_cast<std::int64_t>(sizeof(double));
  }

  // Nobody asks an oracle how fast it is.
  std::span<const NodeTiming> timings() const override { return {}; }
  std::string_view target() const override { return kName; }
  // evaluate() goes through the nodes one by one and has a kernel for every op or does not compile.
  std::vector<graph::ValueId> computed_values() const override {
    std::vector<graph::ValueId> values;
    graph::for_each_node(graph_,
                         [&](graph::ValueId id, const graph::Node&) { values.push_back(id); });
    return values;
  }
  const RunTimes& run_times() const override { return run_times_; }

 private:
  // All work is done in finish(), as on the CPU.
  void begin(std::span<const RunInput> inputs) override {
    require_inputs(graph_, inputs);
    submitted_.assign(inputs.begin(), inputs.end());
  }

  void finish(std::span<const std::span<std::byte>> outputs) override {
    COSMIC_ASSERT(outputs.size() == graph_.outputs.size());
    run_times_ = {};
    Stopwatch watch;
    for (std::size_t i = 0; i < submitted_.size(); ++i) {
      take(submitted_[i], given_[i]);
      run_times_.bytes_to_target += submitted_[i].transferred_bytes();
    }
    run_times_.host_to_target_seconds = watch.seconds();
    watch.restart();
    const std::vector<Tensor> values = evaluate(graph_, given_, bank_->states());
    run_times_.compute_seconds = watch.seconds();
    watch.restart();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      to_bytes(values[graph_.outputs[i].value.index()], outputs[i]);
      run_times_.bytes_to_host += static_cast<std::int64_t>(outputs[i].size());
    }
    run_times_.target_to_host_seconds = watch.seconds();
    // All values are computed by now, so every update sees the states as they were before the run.
    for (const graph::StateUpdate& update : graph_.updates) {
      const std::optional<graph::ValueId> guard = guard_of(graph_, update);
      if (!guard || is_finite(values[guard->index()])) {
        bank_->set(name_of_state(update.state), values[update.value.index()]);
      }
    }
  }

  /// As the float that is handed out, so that the caller sees why nothing was updated.
  static bool is_finite(const Tensor& guard) {
    return std::isfinite(static_cast<float>(guard.data[0]));
  }

  static void take(const RunInput& input, Tensor& to) {
    if (const SparsePixels* const pixels = input.pixels()) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(to.type.bytes()));
      scatter(*pixels, to.type, bytes);
      to = from_bytes(to.type, bytes);
    } else if (!input.is_kept()) {
      to = from_bytes(to.type, input.bytes());
    }
  }

  const std::string& name_of_state(graph::ValueId id) const {
    for (const graph::StateVariable& state : graph_.states) {
      if (state.value == id) {
        return state.name;
      }
    }
    throw InternalError("an update is of a value that is not a state");
  }

  graph::Graph graph_;
  std::shared_ptr<ReferenceBank> bank_;  // shared with the caller and with other executables
  std::vector<Tensor> given_;            // one per input, kept for a run that gives none
  std::vector<RunInput> submitted_;      // of the run in flight
  RunTimes run_times_;
};

class ReferenceTarget : public Target {
 public:
  std::string_view name() const override { return kName; }
  Provenance provenance() const override { return Provenance::measured; }
  Support supports(const graph::Graph&, graph::ValueId) const override { return Support::yes(); }
  Support supports_precision(const compile::Precision& precision) const override {
    return precision.partials == NumberFormat::f32 || precision.partials == precision.format
               ? Support::yes()
               : Support::no("only products of " + to_string(precision.partials) +
                             " numbers are added up in it");
  }
  compile::TargetInfo info() const override {
    compile::TargetInfo info;
    info.name = name();
    return info;
  }
  std::vector<KernelChoice> kernel_choices(const compile::Plan&,
                                           const compile::Step&) const override {
    return {{"node by node, in double precision", Support::yes()}};
  }
  std::shared_ptr<StateBank> make_bank(
      const std::vector<std::pair<std::string, graph::TensorType>>& states) const override {
    return std::make_shared<ReferenceBank>(states);
  }
  std::unique_ptr<Executable> compile(const compile::Plan& plan, std::shared_ptr<StateBank> bank,
                                      const CompileOptions& options) const override {
    auto own = std::dynamic_pointer_cast<ReferenceBank>(std::move(bank));
    COSMIC_ASSERT(own != nullptr);
    if (options.progress) {
      options.progress(1.0);
    }
    return std::make_unique<ReferenceExecutable>(plan.graph, std::move(own));
  }
};

}  // namespace

std::unique_ptr<Target> make_reference_target() {
  return std::make_unique<ReferenceTarget>();
}

Registration registration() {
  return {.name = std::string(kName), .make = [](int) { return make_reference_target(); }};
}

}  // namespace cosmic::target::reference
