// How a model is run. What is computed is the network's and the loss's business; where, how often
// and in what portions is decided here. docs/session.md lists every option.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "comm/exchange.hpp"
#include "compile/artifact/executable_cache.hpp"
#include "compile/precision.hpp"
#include "graph/graph.hpp"
#include "machine/prediction.hpp"

namespace cosmic::comm {
class Communicator;
}

namespace cosmic::session {

/// How the gradients of several batches, or of several replicas, become one.
enum class Reduction { sum, mean };

/// Which results of the micro-batches of a call are returned.
enum class OutputMode {
  /// Training: the mean of losses and scores and the logits of the last micro-batch, as the
  /// reference reports an update. Inference: all.
  automatic,
  all,
  sum,
  mean,
  last,  ///< called "final" where it is written
  every_n,
};

/// Which running statistics are kept when each replica saw different images.
enum class ReplicaStatistics {
  mean,   ///< the average over replicas of what each would have kept
  first,  ///< those of replica 0; the others' are discarded
};

/// How a program is spread over several parts of a machine.
enum class ExecutionStrategy { none, pipelined, sharded };

/// Which layers form a stage. Either `blocks` says so, or the ops' own cost does.
struct Stages {
  /// One list per stage, of layers by name: "encoder" is "encoder" and all "encoder.*". What none
  /// of them names belongs to the stage of the op before it.
  std::vector<std::vector<std::string>> blocks = {};
  /// Number of stages of about equal cost, if there are no blocks.
  std::int64_t automatic = 0;

  std::int64_t count() const {
    return blocks.empty() ? automatic : static_cast<std::int64_t>(blocks.size());
  }
  bool operator==(const Stages&) const = default;
};

/// What a step returns besides the loss and the scores.
struct Outputs {
  bool logits = false;
  bool gradients = false;  ///< of every parameter; for tests and studies
};

struct Options {
  std::string target = {};  ///< by name; empty for the default of this build
  /// Which machine a modelled target stands for: by name, or a file that describes it. Empty for
  /// the usual one, and for targets that run where they are.
  std::string machine = {};
  /// Which of the target's devices in this computer, counted from 0. A target that has one takes no
  /// other.
  int device = 0;
  int threads = 0;  ///< 0 for all cores
  std::uint64_t seed = 0;

  /// Updates (or inferences) in one call.
  std::int64_t device_iterations = 1;
  /// Copies of the model that see different micro-batches between two updates.
  std::int64_t replication_factor = 1;
  /// The processes that train this model together, each with as many replicas; null for one that
  /// works alone. It outlives the model.
  comm::Communicator* communicator = nullptr;
  /// How they add up what each has computed on a device.
  comm::Exchange exchange = comm::Exchange::automatic;
  /// Over the replicas of all processes.
  Reduction replica_reduction = Reduction::mean;
  /// That gradients travel in between replicas, of one process or of several: f32 or bf16.
  NumberFormat exchange_format = NumberFormat::f32;
  ReplicaStatistics replica_statistics = ReplicaStatistics::mean;
  /// Micro-batches of one replica whose gradients make one update. The reference adds them up.
  std::int64_t gradient_accumulation = 1;
  Reduction accumulation_reduction = Reduction::sum;

  OutputMode output_mode = OutputMode::automatic;
  std::int64_t output_every = 1;  ///< n of OutputMode::every_n
  Outputs outputs = {};
  /// Formats of values; the seed of stochastic rounding is that of this run.
  compile::Precision precision = {};
  /// Layers whose result can be read after a call.
  std::vector<std::string> anchors = {};

  ExecutionStrategy execution_strategy = ExecutionStrategy::none;
  Stages stages = {};
  /// How a modelled machine is handed its work; a target that is measured gets whole programs.
  cosmic::machine::Launching launching = cosmic::machine::Launching::whole_program;
  /// Layers by name that a modelled machine with sections lays out on its chip together; by rule if
  /// there are none here.
  std::vector<std::vector<std::string>> sections = {};
  /// Layers whose results are kept for the backward pass; what lies between them is computed again.
  /// Empty: whatever the backward pass needs is kept.
  std::vector<std::string> recomputation_checkpoints = {};
  /// Choose those layers automatically, for the least memory.
  bool recompute = false;

  /// The constants of the optimizer become inputs of the program, as the learning rate always is,
  /// so that TrainingModel::set_optimizer can change them.
  bool variable_optimizer = false;
  /// Training: keep a moving average of every weight, w_average <- decay w_average + (1 - decay) w
  /// after each update, as states of the model. Their decay; 0 for none.
  double weights_average = 0;
  /// Evaluation of a state that has such averages: use them in place of the last weights.
  bool averaged_weights = false;
  /// Batches are made once on the target instead of being copied there: an upper bound of the
  /// speed. The inputs of a call are ignored and may be empty.
  bool synthetic_data = false;
  /// Compile only: for a target that is not present, or to see whether it would work.
  bool offline_compile = false;

  std::set<std::string> disabled_passes = {};
  /// A file written by export_executable: its programs are used instead of compiling. Empty to
  /// compile.
  std::filesystem::path executable = {};
  /// Cache folder for compiled programs. Empty to use the environment: COSMIC_CACHE_DIR, otherwise
  /// POPTORCH_CACHE_DIR or poprun's; with none of them there is no cache.
  std::filesystem::path executable_cache = {};
  /// Of all files in that folder; what was used least recently is removed.
  std::uint64_t executable_cache_bytes = compile::artifact::kDefaultCacheBytes;
  /// Called after each pass of the compiler with its name and the program; empty for none.
  std::function<void(const std::string& pass, const graph::Graph& program)> dump = {};
  /// Called while compiling with the share done, 0 to 1, and what is being done; empty for none.
  std::function<void(double done, const std::string& what)> progress = {};
};

/// What a model is for: some options only make sense for one.
enum class Purpose { training, inference };

/// Throws UserError naming the invalid option, or the two that exclude each other.
void validate(const Options& options, Purpose purpose);

/// The options of a training model without those that only apply to training: for the model that
/// evaluates it.
Options without_training(Options options);

}  // namespace cosmic::session
