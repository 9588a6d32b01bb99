#include "session/compiled_programs.hpp"

#include <cstdlib>

#include "compile/artifact/artifact_file.hpp"
#include "compile/artifact/plan_bytes.hpp"
#include "core/content_hash.hpp"
#include "core/error.hpp"

namespace cosmic::session {
namespace {

using compile::Facts;
using compile::Plan;
using compile::PlanOrigin;

constexpr const char* kCacheVariable = "COSMIC_CACHE_DIR";
constexpr const char* kPopTorchVariable = "POPTORCH_CACHE_DIR";
constexpr const char* kPopDistVariable = "POPDIST_EXECUTABLE_CACHE_PATH";  // of poprun

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct CacheFolder {
  std::filesystem::path path;  ///< empty for no cache
  std::string note;            ///< empty if the choice speaks for itself
};

CacheFolder cache_folder(const Options& options) {
  if (!options.executable_cache.empty()) {
    return {options.executable_cache, ""};
  }
  if (const std::string folder = variable(kCacheVariable); !folder.empty()) {
    return {folder, ""};
  }
  for (const char* const name : {kPopTorchVariable, kPopDistVariable}) {
    if (const std::string folder = variable(name); !folder.empty()) {
      return {folder, std::string("The executable cache is ") + folder + ", as " + name +
                          " says (" + kCacheVariable + " would take precedence)."};
    }
  }
  return {};
}

/// Passes whose results somebody wants to see have to run.
bool uses_cache(const Options& options) {
  return !cache_folder(options).path.empty() && !options.dump;
}

compile::artifact::ExecutableCache cache_of(const Options& options) {
  return compile::artifact::ExecutableCache(cache_folder(options).path,
                                            options.executable_cache_bytes);
}

std::string hash_of(const graph::Graph& program) {
  ContentHash hash;
  hash.add(compile::artifact::graph_bytes(program));
  return hash.text();
}

std::string text_of(const compile::Precision& precision, std::uint64_t seed) {
  std::string text = to_string(precision.format);
  text += precision.weights == compile::Precision::Weights::pure ? ", pure" : ", master weights";
  text += ", partials " + to_string(precision.partials);
  if (precision.rounding == Rounding::stochastic) {
    text += ", stochastic rounding of seed " + std::to_string(seed);
  }
  if (precision.loss_scaling.is_on()) {
    text += ", " + compile::text_of(precision.loss_scaling);
  }
  if (precision.tf32) {
    text += ", tf32 products";
  }
  return text;
}

/// Taken apart by number: an option that is added stops this from compiling until somebody decides
/// whether a program compiled without it may be used with it. If in doubt, it is a fact.
void add_options(Facts& facts, const Options& options) {
  [[maybe_unused]] const auto& [target, machine, device, threads, seed, device_iterations,
                                replication_factor, communicator, exchange, replica_reduction,
                                exchange_format, replica_statistics, gradient_accumulation,
                                accumulation_reduction, output_mode, output_every, outputs,
                                precision, anchors, execution_strategy, stages, launching, sections,
                                recomputation_checkpoints, recompute, variable_optimizer,
                                weights_average, averaged_weights, synthetic_data, offline_compile,
                                disabled_passes, executable, executable_cache,
                                executable_cache_bytes, dump, progress] = options;
  facts.push_back({"gradient_accumulation", std::to_string(gradient_accumulation)});
  facts.push_back(
      {"accumulation_reduction", accumulation_reduction == Reduction::mean ? "mean" : "sum"});
  facts.push_back({"precision", text_of(precision, seed)});
  std::string disabled;
  for (const std::string& pass : disabled_passes) {
    disabled += (disabled.empty() ? "" : " ") + pass;
  }
  facts.push_back({"disabled_passes", disabled});
  // The target is a fact already, and so is its machine; its devices are all alike. So are outputs,
  // anchors, stages, checkpoints, averages and what becomes of gradients: of the program, or as
  // settings of passes. How often a call runs the program, with which data, and what it hands back,
  // is not in a plan. Threads are the kernels' business; the seed is that of the first weights, and
  // matters to a plan only where it rounds at random. How a modelled machine gets its work changes
  // its time, not the plan that the host runs; nor does the way by which processes exchange. The
  // others say where plans are and who watches.
}

Plan load_compiled(const Facts& facts, const compile::TargetInfo& target,
                   const std::filesystem::path& file) {
  const compile::artifact::Artifact artifact = compile::artifact::load_artifact(file);
  try {
    Plan plan = compile::artifact::plan_made_from(facts, artifact);
    compile::verify(plan, target);
    plan.origin.found_in = file.string();
    return plan;
  } catch (const Error& error) {
    throw DataError(file.string() + ": " + error.what());
  }
}

}  // namespace

Facts facts_of(const graph::Graph& program, const std::vector<compile::Pass>& passes,
               const compile::TargetInfo& target, const Options& options) {
  Facts facts{{"version", compile::artifact::writer()},
              {"target", target.name},
              {"machine", target.machine}};
  for (const graph::NamedValue& input : program.inputs) {
    facts.push_back({"input " + input.name, to_string(program.type(input.value))});
  }
  facts.push_back({"program", hash_of(program)});
  add_options(facts, options);
  for (const compile::Pass& pass : passes) {
    if (!options.disabled_passes.contains(pass.name)) {
      facts.push_back({"pass " + pass.name, pass.settings});
    }
  }
  return facts;
}

std::optional<Plan> find_compiled(const Facts& facts, const compile::TargetInfo& target,
                                  const Options& options, PlanOrigin& origin) {
  if (!options.executable.empty()) {
    return load_compiled(facts, target, options.executable);
  }
  if (!uses_cache(options)) {
    return std::nullopt;
  }
  const CacheFolder folder = cache_folder(options);
  if (!folder.note.empty()) {
    origin.notes.push_back(folder.note);
  }
  std::optional<Plan> plan = cache_of(options).find(facts, target, origin.warnings);
  origin.cache = plan ? PlanOrigin::Cache::hit : PlanOrigin::Cache::miss;
  if (plan) {
    plan->origin.cache = origin.cache;
    plan->origin.notes = origin.notes;
  }
  return plan;
}

void keep_compiled(Plan& plan, const Options& options) {
  if (uses_cache(options)) {
    cache_of(options).keep(plan);
  }
}

}  // namespace cosmic::session
