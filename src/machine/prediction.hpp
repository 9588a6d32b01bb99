// What a machine model says about a program: how long a step takes and what bounds it, whether it
// fits, and which unknowns the answer rests on.
//
// Nothing here was measured. Its numbers have types of their own, which neither convert to plain
// numbers nor print without saying so.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "machine/description.hpp"
#include "machine/track_record.hpp"

namespace cosmic::machine {

/// A time that came out of a formula.
class ModelledTime {
 public:
  ModelledTime() = default;
  explicit ModelledTime(double seconds) : seconds_(seconds) {}

  double modelled_seconds() const { return seconds_; }
  auto operator<=>(const ModelledTime&) const = default;

 private:
  double seconds_ = 0;
};

/// An amount of memory that came out of a formula.
class ModelledBytes {
 public:
  ModelledBytes() = default;
  explicit ModelledBytes(double bytes) : bytes_(bytes) {}

  double modelled_bytes() const { return bytes_; }
  auto operator<=>(const ModelledBytes&) const = default;

 private:
  double bytes_ = 0;
};

/// "3.21 ms (modelled)", "12.3 MB (modelled)".
std::string to_string(ModelledTime time);
std::string to_string(ModelledBytes bytes);
std::ostream& operator<<(std::ostream& out, ModelledTime time);
std::ostream& operator<<(std::ostream& out, ModelledBytes bytes);

/// A time with its error bar.
struct ModelledRange {
  ModelledTime best;
  ModelledTime low;
  ModelledTime high;
};

/// "3.21 ms (modelled, 2.5 to 4.4 ms)".
std::string to_string(const ModelledRange& range);

/// What an op or a step spends its time on. launch: the fixed cost of starting work, waiting for
/// each other included.
enum class Bound { compute, memory, exchange, launch, host, link };
inline constexpr std::size_t kBounds = 6;

std::string to_string(Bound bound);

enum class HostData { real, synthetic };
/// Where moments and the like wait for the next update. streamed: in the memory beside the chip.
enum class OptimizerState { on_chip, streamed };

/// How a program is run. Its batch, its number formats, what is computed again instead of kept and
/// where it is cut into stages are in the program.
struct ExecutionOptions {
  int replicas = 1;                           ///< machines that compute the same on other data
  NumberFormat exchange = NumberFormat::f32;  ///< that their gradients travel in
  int accumulation = 1;                       ///< runs of the program for each update
  /// Machines that share one program, stage by stage. A program without stages is taken to be cut
  /// into even ones.
  int pipeline = 1;
  int iterations_per_call = 1;  ///< runs for each call from the host
  HostData host_data = HostData::real;
  Launching launching = Launching::whole_program;
  OptimizerState optimizer_state = OptimizerState::on_chip;
  double share = 1;  ///< of one machine, such as half its tiles
  /// Share of a tile's memory for temporaries of a convolution; by default the machine's own.
  std::optional<double> temporary_share = {};
  /// Which layers form a section, on machines that have them; see section_plan.hpp. Sections are
  /// made by rule if there are none here.
  std::vector<std::vector<std::string>> sections = {};
};

/// Throws UserError naming the option that cannot be.
void validate(const ExecutionOptions& options);

struct OpTime {
  graph::ValueId value;
  std::string layer;
  std::string op;
  ModelledTime time;
  Bound bound = Bound::compute;
  double flops = 0;      ///< counted in the program, as the two below
  ModelledBytes moved;   ///< read and written
  ModelledBytes result;  ///< stored; none where readers recompute it
};

struct LargeTensor {
  std::string layer;
  std::string op;
  ModelledBytes bytes;
};

/// On which side of the limit the best estimate lies. probably, probably_not: the error bar of the
/// unknowns reaches over the limit.
enum class Fit { yes, probably, probably_not, no };

/// Reads after "it": "probably does not fit".
std::string to_string(Fit fit);

/// By the best estimate.
bool likely(Fit fit);
bool certain(Fit fit);

struct MemoryVerdict {
  Fit fits = Fit::yes;
  std::string place;  ///< "the fullest of 1472 tiles"
  ModelledBytes needed;
  ModelledBytes needed_low;  ///< with its error bar
  ModelledBytes needed_high;
  ModelledBytes available;
  ModelledBytes always_live;  ///< weights and other states
  ModelledBytes transient;    ///< activations and their gradients, at their peak
  ModelledBytes temporary;    ///< of single ops
  ModelledBytes overhead;     ///< code and the like
  std::vector<LargeTensor> largest;
};

/// One tile, section or pool, when it is fullest.
struct MemoryPlace {
  std::string name = {};  ///< empty where its number says all
  ModelledBytes always_live = {};
  ModelledBytes transient = {};
  ModelledBytes temporary = {};
  ModelledBytes overhead = {};
  ModelledBytes reserve = {};             ///< because real layouts are less even than modelled ones
  std::optional<ModelledTime> time = {};  ///< of a place that is a part of the program

  ModelledBytes needed() const;
};

/// Where tensors lie.
struct MemoryMap {
  std::string kind;         ///< "tile"
  std::string rule;         ///< how tensors are put there, in a sentence
  ModelledBytes available;  ///< in each place
  std::vector<MemoryPlace> places;
  std::size_t fullest = 0;              ///< index of a place
  std::vector<LargeTensor> in_fullest;  ///< what it holds of each, largest first
};

/// A pipeline's work: stage s of micro-batch m runs in slot s + m, on machine
/// min(s, stages - 1 - s) in training and s otherwise.
struct PipelineTimes {
  int machines = 1;
  int stages = 1;
  int micro_batches = 1;
  ModelledTime slot;  ///< the stages of one machine, forward and backward
};

/// Memory of the whole program, wherever it lies.
struct ProgramMemory {
  ModelledBytes always_live;
  std::vector<ModelledBytes> over_program;  ///< alive as each node runs, states not counted
  std::size_t peak_at = 0;                  ///< index of a node
  std::string peak_layer;
  std::string peak_op;
  std::vector<LargeTensor> at_peak;  ///< largest first
  std::vector<LargeTensor> states;   ///< largest first
};

/// An unknown, and what step time and memory would be at the ends of its range.
struct UnknownUsed {
  Unknown unknown;
  ModelledTime step_at_low;
  ModelledTime step_at_high;
  ModelledBytes needed_at_low;
  ModelledBytes needed_at_high;
};

struct Prediction {
  std::string machine;
  ModelledRange step;  ///< one run of the program on every replica, updates and calls shared out
  std::vector<OpTime> ops;             ///< those that take time, in program order
  std::vector<ModelledTime> by_bound;  ///< the step's time, by what it is spent on; see Bound
  Bound bound = Bound::compute;        ///< the largest of those
  MemoryVerdict memory;
  std::vector<UnknownUsed> unknowns;
  /// How far such predictions were from published figures; nothing if there are none.
  std::optional<PastError> past_error = {};
  std::optional<PastError> past_memory_error = {};
  std::size_t launches = 0;  ///< supersteps, recipes, sections or kernels of one run

  ExecutionOptions options;
  ModelledBytes input;                          ///< from the host, for one run
  ModelledBytes gradients;                      ///< that replicas agree on; 0 in inference
  std::vector<ModelledBytes> gradient_buckets;  ///< as large as they go over a direct link
  std::vector<ModelledBytes> statistics;  ///< of the batch, that they agree on in every run; each
  bool trains = false;
  std::string stack;  ///< in words: what it stores and how it launches
  ProgramMemory program_memory;
  MemoryMap memory_map;
  std::optional<PipelineTimes> pipeline = {};
  /// What must be compiled before the first run, and again for every other shape of a batch, on
  /// machines that compile while they run; 0 on others.
  std::size_t compilations = 0;
  ModelledTime compiling;
  std::vector<std::string> notes;  ///< how the program would be run, in words
};

/// Throws UserError for options that the machine's family cannot follow, and for number formats
/// that it does not have.
Prediction predict(const Description& machine, const graph::Graph& program,
                   const ExecutionOptions& options = {});

}  // namespace cosmic::machine
