// How a model is run. What is computed is the network's and the loss's business; where and how
// often is decided here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "artifact/executable_cache.hpp"
#include "compile/precision.hpp"
#include "graph/graph.hpp"

namespace cosmic::session {

/// How the gradients of several batches become one.
enum class Reduction { sum, mean };

/// What a step hands back besides the loss and the scores.
struct Outputs {
  bool logits = false;
  bool gradients = false;  ///< of every parameter; for tests and studies
};

struct Options {
  std::string target = {};  ///< by name; empty for the default of this build
  int threads = 0;          ///< 0 for all cores
  std::uint64_t seed = 0;
  /// Batches whose gradients make one update. The reference adds them up.
  std::int64_t gradient_accumulation = 1;
  Reduction accumulation_reduction = Reduction::sum;
  Outputs outputs = {};
  /// Formats of values; the seed of stochastic rounding is that of this run.
  compile::Precision precision = {};
  std::set<std::string> disabled_passes = {};
  /// A file of export_executable: its programs are used, and nothing is compiled. Empty to compile.
  std::filesystem::path executable = {};
  /// A folder where compiled programs are kept and found by the next start. Empty for that of the
  /// environment: COSMIC_CACHE_DIR, or else POPTORCH_CACHE_DIR; with neither there is no cache.
  std::filesystem::path executable_cache = {};
  /// Of all files in that folder; what was used least recently is removed.
  std::uint64_t executable_cache_bytes = artifact::kDefaultCacheBytes;
  /// Called after each pass of the compiler with its name and the program; empty for none.
  std::function<void(const std::string& pass, const graph::Graph& program)> dump = {};
  /// Called while compiling with the share done, 0 to 1, and what is being done; empty for none.
  std::function<void(double done, const std::string& what)> progress = {};
};

/// Throws UserError naming the option that cannot be.
void validate(const Options& options);

}  // namespace cosmic::session
