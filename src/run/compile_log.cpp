#include "run/compile_log.hpp"

#include <sstream>

namespace cosmic::run {

void log_compilation(output::RunLog& log, const std::string& what,
                     const session::CompileReport& report) {
  for (const std::string& note : report.notes) {
    log.info(note);
  }
  for (const std::string& warning : report.warnings) {
    log.warning(warning);
  }
  std::ostringstream line;
  line.precision(2);
  if (report.passes.empty()) {
    line << "Found " << what << " compiled in ";
    for (std::size_t i = 0; i < report.found_in.size(); ++i) {
      line << (i == 0 ? "" : " and ") << report.found_in[i];
    }
    line << "; ready after ";
  } else {
    line << "Compiled " << what << " in ";
  }
  line << report.seconds << " s; it needs " << report.memory_bytes / 1'000'000 << " MB.";
  if (report.cache_hits + report.cache_misses > 0) {
    line << " The executable cache had " << report.cache_hits << " of "
         << report.cache_hits + report.cache_misses << " programs.";
  }
  log.info(marked(line.str(), report.provenance));
  if (report.device_memory) {
    log.info("Device memory for " + what + ": " + to_string(*report.device_memory) + ".");
  }
}

void log_prediction(output::RunLog& log, const std::string& what,
                    const session::CompileReport& report, std::int64_t events) {
  if (!report.prediction) {
    return;
  }
  const machine::Prediction& prediction = *report.prediction;
  const machine::MemoryVerdict& memory = prediction.memory;
  std::ostringstream text;
  text << "On " << prediction.machine << ", " << what << " would take "
       << to_string(prediction.step) << ", "
       << static_cast<double>(events) / prediction.step.best.modelled_seconds()
       << " events/s (modelled), mostly for " << to_string(prediction.bound) << "; " << memory.place
       << " needs " << memory.needed << " and has " << memory.available
       << ". The results are computed on this host, whose clock says nothing about "
       << prediction.machine << ".";
  log.info(text.str());
}

}  // namespace cosmic::run
