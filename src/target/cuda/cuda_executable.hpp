#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compile/plan.hpp"
#include "target/cuda/device_bank.hpp"
#include "target/cuda/lower.hpp"
#include "target/cuda/touches.hpp"
#include "target/target.hpp"

namespace cosmic::target::cuda {

inline constexpr std::string_view kName = "cuda";

/// A plan on a device: one arena, one queue, and all its steps recorded once as one CUDA graph, in
/// which small works share launches. A run is the way in, the graph and the way out, queued at once
/// by submit(); wait() waits for all three, which is the only time that the host does. Inputs that
/// were staged go up on a queue of their own while the run before computes, into the half of the
/// staging memory that it does not use; from there the next run takes them, on the device.
class CudaExecutable final : public Executable {
 public:
  /// `sums` are those over all processes that run the program; null for one that runs alone.
  CudaExecutable(const compile::Plan& plan, std::shared_ptr<Device> device,
                 std::shared_ptr<DeviceBank> bank, std::shared_ptr<ProcessSums> sums,
                 const CompileOptions& options);

  std::int64_t memory_bytes() const override;
  /// A graph has no clocks inside. So whoever asks has the steps run once more, one by one, with
  /// the inputs of the last run and the states as they are now; states are put back afterwards.
  /// Nobody pays for it who does not ask.
  std::span<const NodeTiming> timings() const override;
  std::string_view target() const override { return kName; }
  std::vector<graph::ValueId> computed_values() const override;
  const RunTimes& run_times() const override { return run_times_; }
  void stage(std::size_t input, const RunInput& given) override;
  int most_in_flight() const override { return !graph_.guard || loss_ ? kMostInFlight : 1; }

 private:
  static constexpr int kMostInFlight = 2;

  /// Guards that also are no number where one of a run before it was: so runs that are in flight
  /// behind a loss that is no number change nothing. All zero, but in such a case.
  struct Carried {
    float* guard = nullptr;
    float* gradient_guard = nullptr;
    float* lost = nullptr;  ///< zero, or no number
  };

  /// The work of one step of the plan.
  struct StepWork {
    graph::ValueId value;
    std::vector<graph::ValueId> computed;  ///< with riders and what is evaluated for them
    std::vector<Work> works;
  };

  /// Where an input is: its own place on the device, and room beside it for what is yet to be put
  /// there; and the same room on the host, pinned.
  struct InputPlace {
    std::int64_t offset = 0;   ///< in inputs_
    std::int64_t staging = 0;  ///< in a half of device_staging_ and of host_staging_
  };

  /// An input that is in a half of device_staging_, or on its way there.
  struct Arrival {
    std::optional<UploadedPixels> pixels = {};  ///< none: it is there as a whole
    double fill = 0;
    std::int64_t bytes = 0;  ///< that travelled
  };

  /// What the next run was told to expect for an input.
  struct Staged {
    RunInput given;
    Arrival arrival;
  };

  void begin(std::span<const RunInput> inputs) override;
  void finish(std::span<const std::span<std::byte>> outputs) override;

  Addresses place(const compile::Plan& plan);
  /// Returns all that a run launches.
  std::vector<Deed> lower_steps(const compile::Plan& plan, const CompileOptions& options);
  /// Ends the sums over processes that this step, or a guard of states, is the first to read; with
  /// no step, all that are left.
  void await_sums(const compile::Plan& plan, const compile::Step* step,
                  std::vector<TouchingWork>& all);
  void begin_sum(graph::ValueId value, std::vector<TouchingWork>& all);
  /// Returns all that a run does, in order, with what it touches.
  std::vector<TouchingWork> lower_all(const compile::Plan& plan, Rooms& rooms,
                                      const std::function<void(double done)>& progress);
  /// Writes the table of joined launches; returns what to launch.
  std::vector<Deed> join(std::span<const TouchingWork> works);
  /// Brings what depends on unchanging states alone up to date with them.
  void prepare();
  /// Works that make this update do nothing where what guards it is not finite. Before the first
  /// one, adds what computes the guard from the number and from the run before.
  void guard_update(const graph::StateUpdate& update, std::vector<Work>& works,
                    std::vector<TouchingWork>& all);
  /// That of losses, or that of gradients.
  void carry_guard(bool is_loss, std::vector<TouchingWork>& all);
  bool is_staged(std::size_t input, const RunInput& given) const;
  /// Of the next run, in device_staging_ and host_staging_.
  std::int64_t staging_of(std::size_t input) const;
  /// In host_outputs_.
  std::int64_t output_of(std::size_t half, std::size_t output) const;
  /// What comes from now on updates states again.
  void forget_loss();
  void upload(std::size_t input, const RunInput& given);
  /// Brings an input to the staging memory of the next run.
  Arrival bring(std::size_t input, const RunInput& given, Queue& queue);
  Arrival bring_pixels(std::size_t input, const SparsePixels& pixels, HostMemory memory,
                       Queue& queue);
  /// From the staging memory to the place that the program reads.
  void put_in_place(std::size_t input, const Arrival& arrival);
  /// All pixels of an input, in the pinned memory for it.
  std::span<const std::byte> scattered(std::size_t input, const SparsePixels& pixels);
  /// Copies to the device, by way of pinned memory unless it is.
  void send(std::byte* to, std::int64_t staging, std::span<const std::byte> bytes,
            HostMemory memory, Queue& queue);
  void require_done(const Answer& answer, const std::string& doing) const;
  void time_steps() const;

  graph::Graph graph_;
  std::shared_ptr<Device> device_;     // shared with all that lives on it
  std::shared_ptr<DeviceBank> bank_;   // shared with the other executables of the same model
  std::shared_ptr<ProcessSums> sums_;  // maybe shared with other executables; null for one alone
  DeviceMemory arena_;
  DeviceMemory small_values_;
  DeviceMemory inputs_;
  DeviceMemory device_staging_;
  DeviceMemory scratch_;
  DeviceMemory gradient_;  // evaluated
  DeviceMemory prepared_;
  DeviceMemory counters_;
  DeviceMemory table_;  // of joined launches
  std::unique_ptr<PinnedMemory> host_staging_;
  std::unique_ptr<PinnedMemory> host_outputs_;
  std::int64_t half_bytes_ = 0;                // of the staging memory
  std::size_t half_ = 0;                       // that the next run takes its inputs from
  std::size_t first_half_ = 0;                 // that the next one to end has
  std::int64_t output_bytes_ = 0;              // of a half of host_outputs_
  std::vector<InputPlace> input_places_;       // one per input
  std::vector<std::optional<Staged>> staged_;  // one per input
  std::vector<std::vector<std::byte>> few_;    // one per input: what is there, if that is little
  std::vector<std::int64_t> output_places_;    // one per output, in a half of host_outputs_
  std::optional<std::size_t> loss_;            // the output that says whether updates were made
  Addresses addresses_;
  std::vector<StepWork> steps_;  // each as it would be launched alone
  /// What is done once per change of the states.
  std::vector<Work> preparations_;
  std::int64_t prepared_version_ = -1;
  /// Over processes, while steps are lowered.
  struct BegunSum {
    graph::ValueId value;
    int number = 0;
  };
  std::vector<BegunSum> begun_sums_;  // and not awaited yet
  int sum_count_ = 0;
  Carried carried_;
  bool guarded_ = false;                       // something computes carried_.guard
  bool guarded_gradients_ = false;             // likewise
  bool lost_ = false;                          // it said no, in a run since the last that was alone
  std::array<RunTimes, kMostInFlight> times_;  // of runs in flight, as far as they are known
  RunTimes run_times_;
  std::int64_t runs_ = 0;

  // What timings() makes when it is first asked, and keeps.
  mutable std::vector<NodeTiming> timings_;
  mutable std::int64_t timed_run_ = 0;
  mutable std::unique_ptr<StateSnapshot> before_timing_;
  mutable std::unique_ptr<Queue> timing_queue_;

  std::unique_ptr<Recording> preparation_;  // null if there is none
  std::unique_ptr<Recording> program_;
  // After all that their work uses, so that it ends first.
  std::unique_ptr<Queue> uploads_;  // of inputs that were staged
  std::unique_ptr<Queue> queue_;
};

}  // namespace cosmic::target::cuda
