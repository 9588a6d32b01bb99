#include "cli/exit_status.hpp"

namespace cosmic::cli {

std::string exit_status_text() {
  return "Exit status:\n"
         "  0   finished\n"
         "  1   finished, and the answer is no: `test` found a wrong value, `checkpoint diff` a\n"
         "      difference\n"
         "  2   refused: the command line or its settings cannot be\n"
         "  3   failed: a file cannot be read or written, or is not what it should be\n"
         "  4   failed: the network cannot be built\n"
         "  5   failed: the machine cannot do it\n"
         "  6   does not fit: the machine has not enough memory for this batch and network\n"
         "  70  a bug in this program\n"
         "  75  stopped before its end, by a signal or at run.max_time, with a checkpoint: the\n"
         "      same command goes on\n"
         "SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGXCPU stop a training after its step; "
         "a second\n"
         "SIGINT or SIGTERM ends it at once.";
}

}  // namespace cosmic::cli
