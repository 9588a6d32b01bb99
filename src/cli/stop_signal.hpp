// Ctrl-C and the batch system's SIGTERM as a wish that long work can ask for, so that it ends in
// good order. A second signal ends the program at once.
#pragma once

namespace cosmic::cli {

/// Listens while it lives; one at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const;
};

}  // namespace cosmic::cli
