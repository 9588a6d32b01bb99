// How a target presents itself to the registry: <name>_target.hpp of its folder declares a function
// registration() that says this.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "target/device.hpp"
#include "target/target.hpp"

namespace cosmic::machine {
struct Description;
class Family;
}  // namespace cosmic::machine

namespace cosmic::target {

/// Either `make` is there, of a target that runs where it is, or what follows it is, of one that is
/// modelled.
struct Registration {
  std::string name;
  std::string compute_mode = {};  ///< that it serves; empty for none
  std::unique_ptr<Target> (*make)(int device) = nullptr;
  int (*devices)() = nullptr;  ///< how many are here; null for one
  /// Is what it needs here, and if not, why? Null for always. Made only where the answer is yes.
  Support (*available)() = nullptr;
  /// What is here, in words; null where there is nothing to tell apart.
  std::string (*list_of_devices)() = nullptr;
  /// One of those that are here; null where there is nothing to tell apart.
  DeviceIdentity (*identity_of_device)(int device) = nullptr;

  std::string usual_machine = {};  ///< that it stands for unless another is asked for
  const machine::Family& (*family)() = nullptr;
  std::unique_ptr<Target> (*make_modelled)(machine::Description machine) = nullptr;
};

/// One that could be in a build and is not in this one.
struct AbsentTarget {
  std::string name;
  std::string compute_mode;
  std::string option;  ///< of CMake, which would bring it
};

/// Of this build, in the order of preference. CMake writes both (built_targets.cpp.in).
std::vector<Registration> built_targets();
std::vector<AbsentTarget> absent_targets();

}  // namespace cosmic::target
