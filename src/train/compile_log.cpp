#include "train/compile_log.hpp"

#include <sstream>

namespace cosmic::train {

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
  log.info(line.str());
}

}  // namespace cosmic::train
