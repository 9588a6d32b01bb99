// The processes that train one model together, as a target sees them.
#pragma once

namespace cosmic::target {

/// Implementations know how the processes reach each other; targets ask them for nothing yet but
/// who they are.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;  ///< of this process, from 0
  virtual int size() const = 0;  ///< 1 for a process that is alone
};

}  // namespace cosmic::target
