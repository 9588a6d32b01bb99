#include "cli/shown_inference.hpp"

#include <fmt/core.h>

namespace cosmic::cli {

infer::InferenceHooks shown_by(RunConsole& console, PublishedJob& job) {
  infer::InferenceHooks hooks;
  hooks.compiling = [&](double done, const std::string& what) {
    job.compiling();
    console.show(done, "compiling: " + what);
  };
  hooks.progress = [&](const infer::InferenceProgress& progress) {
    job.show(progress);
    console.show(static_cast<double>(progress.events) / static_cast<double>(progress.all_events),
                 marked(fmt::format("{} of {} events, {:.3g} events/s", progress.events,
                                    progress.all_events, progress.events_per_second),
                        progress.provenance));
  };
  return hooks;
}

}  // namespace cosmic::cli
