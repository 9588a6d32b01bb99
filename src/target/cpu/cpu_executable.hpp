#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compile/plan.hpp"
#include "target/cpu/aligned_buffer.hpp"
#include "target/cpu/cpu_target.hpp"
#include "target/cpu/host_bank.hpp"
#include "target/cpu/placed_step.hpp"
#include "target/target.hpp"

namespace cosmic::target::cpu {

/// A plan with its arena, its steps and its threads. Its threads are those that the host would
/// work with meanwhile, so nothing is gained by starting early: all of a run happens in wait(),
/// where its inputs are still there and what goes wrong is to be reported.
class CpuExecutable final : public Executable {
 public:
  CpuExecutable(const compile::Plan& plan, std::shared_ptr<HostBank> bank,
                const CompileOptions& options);

  std::int64_t memory_bytes() const override;
  std::span<const NodeTiming> timings() const override { return timings_; }
  std::string_view target() const override { return kName; }
  std::vector<graph::ValueId> computed_values() const override;
  const RunTimes& run_times() const override { return run_times_; }

 private:
  void begin(std::span<const RunInput> inputs) override;
  void finish(std::span<const std::span<std::byte>> outputs) override;
  Memory place(const compile::Plan& plan);
  void prepare_fixed(const Scratch& scratch);
  void find_exchanges(const CompileOptions& options);
  std::size_t reader_of(std::size_t step) const;
  void find_chains();
  bool joins_chain(std::size_t first, std::size_t step) const;
  void begin_exchange(std::size_t step, NodeTiming& timing);
  void await_exchanges(std::size_t step);
  void run_step(const PlacedStep& placed, const Scratch& scratch);
  void copy_in();
  void run_steps(std::span<const std::span<const std::byte>> inputs, const Scratch& scratch);
  /// Of the states that a step writes in place, if it writes any.
  static std::optional<graph::ValueId> guard_of_writes(const compile::Plan& plan,
                                                       const std::vector<graph::ValueId>& computed);
  /// Has this guard of updates come out as no number? Only to be asked once it is there.
  bool is_lost(const std::optional<graph::ValueId>& guard) const;
  void copy_out(std::span<const std::span<std::byte>> outputs);
  /// Each thread takes its bundles through all steps of a group.
  void run_group(std::span<const PlacedStep> group,
                 std::span<const std::span<const std::byte>> inputs, NodeTiming* timings);
  /// Each thread takes a few elements at a time through all steps of a chain.
  void run_chain(std::span<const PlacedStep> chain, NodeTiming* timings);
  void copy_bundles(std::span<const std::size_t> indices,
                    std::span<const std::span<const std::byte>> inputs, int thread);

  graph::Graph graph_;
  compile::StepList step_list_;
  std::shared_ptr<HostBank> bank_;  // shared with the other executables of the same model
  Team team_;
  AlignedBuffer arena_;
  AlignedBuffer inputs_;
  RunRounding rounding_;
  Memory memory_;
  std::vector<PlacedStep> steps_;
  std::int64_t scratch_bytes_ = 0;
  AlignedBuffer scratch_;
  std::vector<bool> copied_by_group_;              // one per input: PlacedStep::inputs has it
  std::vector<RunInput> submitted_;                // one per input, of the run in flight
  std::vector<std::span<const std::byte>> dense_;  // the same, empty where not all bytes are given
  std::vector<std::optional<graph::ValueId>> guards_;  // one per step: of states written in place
  /// Updates that could not be made in place: copied when everything else is done.
  std::vector<graph::StateUpdate> copies_;
  std::int64_t prepared_version_ = -1;
  /// A sum over all processes: begun by one step, awaited before another.
  struct Exchange {
    std::size_t begun_after = 0;
    std::size_t needed_by = 0;  ///< of the steps; as many as there are for one that nobody reads
    std::span<float> numbers;
    NumberFormat format = NumberFormat::f32;  ///< that they travel in
    comm::Communicator::Ticket ticket = 0;
    NodeTiming* timing = nullptr;  ///< of the step that began it; waiting counts for it
  };
  comm::Communicator* communicator_;
  std::vector<Exchange> exchanges_;  // in program order; none where the process is alone
  /// One per step: behind the last of the ElementSteps that begin with it and run together.
  std::vector<std::size_t> chain_ends_;
  std::vector<NodeTiming> timings_;  // one per step that is not fixed
  RunTimes run_times_;
};

}  // namespace cosmic::target::cpu
