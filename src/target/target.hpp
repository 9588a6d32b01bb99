// A machine that can run a plan, or a model of one. One folder under target/ per implementation;
// nothing outside that folder names it except the registry.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "compile/plan.hpp"
#include "compile/precision.hpp"
#include "compile/target_info.hpp"
#include "core/provenance.hpp"
#include "core/support.hpp"
#include "core/threads.hpp"
#include "graph/graph.hpp"
#include "target/run_input.hpp"

// Not included: most of what runs on a target has nothing to do with machines that are modelled.
namespace cosmic::machine {
struct ExecutionOptions;
struct Prediction;
}  // namespace cosmic::machine

namespace cosmic::target {

// device.hpp: most targets have no memory but the host's.
struct DeviceRoom;
class MemoryNeed;

/// A copy of states beside the bank they are of, on the target.
class StateSnapshot {
 public:
  virtual ~StateSnapshot() = default;
};

/// The tensors that live between runs: weights, running statistics, optimizer state. Several
/// executables (training, inference) may share one bank. Nobody may touch a bank while a run that
/// uses it is in flight.
class StateBank {
 public:
  virtual ~StateBank() = default;
  virtual void read(std::string_view name, std::span<std::byte> out) const = 0;
  virtual void write(std::string_view name, std::span<const std::byte> in) = 0;

  /// Copies the states of these names, or all, without the host.
  virtual std::unique_ptr<StateSnapshot> snapshot(
      const std::optional<std::vector<std::string>>& names = std::nullopt) const = 0;
  /// Copies the same states again, into the memory that the snapshot has. Allocates nothing.
  virtual void take_again(StateSnapshot& snapshot) const = 0;
  /// Brings those states back. The snapshot can be used again; it was taken of this bank or of
  /// another that the target made for the same states.
  virtual void restore(const StateSnapshot& snapshot) = 0;
};

/// How long a node's work took in the last run.
struct NodeTiming {
  graph::ValueId value;
  double seconds = 0;
};

/// How long the parts of the last run took, and how much went back and forth.
struct RunTimes {
  double host_to_target_seconds = 0;
  double compute_seconds = 0;
  double target_to_host_seconds = 0;
  std::int64_t bytes_to_target = 0;
  std::int64_t bytes_to_host = 0;
};

/// Owns memory and prepared kernels for one plan. Running it allocates nothing. Where Graph::guard
/// comes out as not finite, a run leaves every state as it was.
///
/// A run is handed over by submit() and ends with wait(). In between, a target that runs beside the
/// host computes while the host does something else; one that computes with the host's own threads
/// may do all its work in either. A target may let a second run be submitted before the first has
/// ended (most_in_flight()), which saves the time in which neither host nor target does anything
/// for the other. Runs take place in their order; each finds the states as the one before left
/// them.
class Executable {
 public:
  virtual ~Executable() = default;  ///< a run in flight comes to its end first, its outputs unread
  /// Inputs in the order of the graph's, plain row-major layout. Their memory stays as it is until
  /// wait() has returned. Throws UserError for inputs that do not fit the program or while as many
  /// runs are in flight as may be; then nothing has begun.
  void submit(std::span<const RunInput> inputs);
  /// The end of the run that was submitted first, of those in flight. Outputs in the order of the
  /// graph's, plain row-major layout. Whatever went wrong in the run is
  /// thrown here; then nothing is in flight any more, and the states that the program updates are
  /// undefined until they are written or restored. Throws UserError if there is no run in flight.
  void wait(std::span<const std::span<std::byte>> outputs);
  /// Both.
  void run(std::span<const RunInput> inputs, std::span<const std::span<std::byte>> outputs);
  bool in_flight() const { return in_flight_ > 0; }
  /// Runs that may be in flight at once. Where Graph::guard comes out as not finite in one of
  /// them, those in flight behind it leave every state as it was, too.
  virtual int most_in_flight() const { return 1; }
  /// Says what an input of the next run will be, also while a run is in flight, so that a target
  /// beside the host can fetch it meanwhile. Only a hint: submit() is given all inputs as ever, and
  /// one that is a view of the same memory as the staged one is there already. So whoever stages
  /// changes nothing about results, and gains nothing on a target that fetches nothing ahead. What
  /// was staged stays as it is until wait() of the next run has returned; staging an input again
  /// replaces it. `input` counts those of the program. Throws UserError for one that does not fit.
  virtual void stage(std::size_t input, const RunInput& given);
  /// Bytes held for running: arena, scratch, prepared weights.
  virtual std::int64_t memory_bytes() const = 0;
  /// Of the nodes that did work in the last run, in program order; empty if the target does not
  /// time nodes. Values recomputed where they are read count for their reader.
  virtual std::span<const NodeTiming> timings() const = 0;
  /// The name of the target that it runs on.
  virtual std::string_view target() const = 0;
  /// Every value that a run computes, be it in a step of its own, along with another or wherever it
  /// is read; each taken from what was prepared, not from what was asked for. `compile_all` holds
  /// it against the program.
  virtual std::vector<graph::ValueId> computed_values() const = 0;
  /// Of the last run; zeros before it.
  virtual const RunTimes& run_times() const = 0;

 protected:
  int runs_in_flight() const { return in_flight_; }

 private:
  /// What submit() and wait() do on this target; called in turns, or ahead by as many runs as may
  /// be in flight. begin() calls require_inputs.
  virtual void begin(std::span<const RunInput> inputs) = 0;
  virtual void finish(std::span<const std::span<std::byte>> outputs) = 0;

  int in_flight_ = 0;
};

/// One way in which a target can compute a step, and whether it is for that step.
struct KernelChoice {
  std::string name;
  Support support;
};

struct CompileOptions {
  int threads = 1;
  /// The least number of operations that several threads share; tests share everything.
  double work_worth_sharing = Team::kWorthWaking;
  /// Called with the share of the work done, 0 to 1; empty for none.
  std::function<void(double done)> progress = {};
  /// The processes that run this program together; null for one that runs alone. It outlives the
  /// executable.
  comm::Communicator* communicator = nullptr;
  /// How they add up what each has computed on a device of its own.
  comm::Exchange exchange = comm::Exchange::automatic;
};

/// What a machine can do at most.
struct Peak {
  double flops_per_second = 0;
  double bytes_per_second = 0;  ///< to and from its memory
  std::string origin = {};      ///< in words; empty if they are as the target's times are
};

class Target {
 public:
  virtual ~Target() = default;
  virtual std::string_view name() const = 0;
  virtual Provenance provenance() const = 0;
  virtual Support supports(const graph::Graph& graph, graph::ValueId node) const = 0;
  /// Can programs keep their values so? By default only in float32.
  virtual Support supports_precision(const compile::Precision& precision) const;
  virtual compile::TargetInfo info() const = 0;
  /// The ways to compute a step of a plan, in order of preference: the first that can is used.
  virtual std::vector<KernelChoice> kernel_choices(const compile::Plan& plan,
                                                   const compile::Step& step) const = 0;
  /// Can its programs run in several processes that work together? By default only alone.
  virtual Support supports_processes(int processes) const;
  /// Can they exchange in this way? By default in any but between devices.
  virtual Support supports_exchange(comm::Exchange exchange) const;
  /// A bank with every state of the graph, all zero.
  virtual std::shared_ptr<StateBank> make_bank(
      const std::vector<std::pair<std::string, graph::TensorType>>& states) const = 0;
  /// Kernel choice, weight layout and allocation happen here and nowhere later. The bank was made
  /// by this target and holds every state the plan names; the executable keeps it alive.
  virtual std::unique_ptr<Executable> compile(const compile::Plan& plan,
                                              std::shared_ptr<StateBank> bank,
                                              const CompileOptions& options) const = 0;
  /// Memory for inputs that are filled again and again. By default ordinary memory; a target that
  /// transfers pinned memory faster hands out such.
  virtual HostBuffer host_buffer(std::int64_t bytes) const { return HostBuffer(bytes); }
  /// Would it rather have the SparsePixels of images, in memory of host_buffer(), than all of them?
  /// By default not: what computes in the host's memory would have to make the images first.
  virtual bool prefers_pixels() const { return false; }
  /// Of so many threads, with this target's provenance: measured now, which takes a moment, or from
  /// the description of the machine. Nothing if it cannot tell.
  virtual std::optional<Peak> peak(int threads) const;
  /// The same for a program in these formats, where a machine has other arithmetic for some of
  /// them. By default all are alike.
  virtual std::optional<Peak> peak_in(const compile::Precision& precision, int threads) const;

  /// Of the device that it computes on; nothing for a target in the host's own memory.
  virtual std::optional<DeviceRoom> device_room() const;
  /// What make_bank() and compile() would take of that memory for these programs and states.
  /// Nothing for a target in the host's own memory. Allocates nothing there.
  virtual std::optional<MemoryNeed> memory_need(
      std::span<const compile::Plan* const> plans,
      const std::vector<std::pair<std::string, graph::TensorType>>& states) const;

  /// What the compiler should know about the machine whose time and memory are asked for. A target
  /// that is modelled computes on a host, which is what info() is about.
  virtual compile::TargetInfo machine_info() const { return info(); }
  /// Time and memory of a program that was compiled for machine_info(), if the machine is modelled;
  /// nothing if it is there and can be measured.
  virtual std::optional<machine::Prediction> predict(
      const graph::Graph& program, const machine::ExecutionOptions& execution) const;
  /// What becomes of a program there that its author may not expect, in words, for every report:
  /// types that are replaced, sums in other formats. Empty if nothing does.
  virtual std::vector<std::string> contract(const compile::Precision& precision) const;
  /// In which it computes what asks for `precision`: the same, but for what the software of a
  /// machine does not have and replaces. contract() tells.
  virtual compile::Precision coerced(const compile::Precision& precision) const;
};

/// Throws TargetError with the target's reason if it cannot.
void require_support(const Target& target, const compile::Precision& precision);
/// What a target without tf32 answers to a precision that asks for it.
Support no_tf32();
/// Throws TargetError listing every node the target does not support, with its reasons.
void require_support(const Target& target, const graph::Graph& graph);

/// The target's compile, and then proof that the executable runs there and that no op of the
/// program got lost. Throws TargetError that names what is missing, or says that the target cannot
/// work together with other processes as the options ask it to.
std::unique_ptr<Executable> compile_all(const Target& target, const compile::Plan& plan,
                                        std::shared_ptr<StateBank> bank,
                                        const CompileOptions& options);

}  // namespace cosmic::target
