// All targets of this build, and all families of machines that are modelled. The only place that
// names them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/description.hpp"
#include "target/device.hpp"
#include "target/target.hpp"

namespace cosmic::target {

/// In order of preference; the first is the default.
std::vector<std::string> target_names();

/// The one that others are compared with: slow, obvious, exact.
std::string oracle_name();

/// What is known about a target, or about a compute mode that has none here.
struct TargetEntry {
  std::string name;          ///< empty for a mode without a target
  std::string compute_mode;  ///< empty for a target that serves none
  std::string kind;          ///< "measured" or "modelled"
  std::string machine;       ///< what programs compiled for it rely on
  std::string devices;       ///< that are here, in words; empty where there is no choice
  Support available;
};

/// Every target, then those that this build could have but lacks, then the modes of
/// `compute_modes` that none of them serves.
std::vector<TargetEntry> target_entries(std::span<const std::string_view> compute_modes);

/// Is what this target needs on this machine: a driver, a device? Why not, otherwise; it can then
/// not be made. Throws UserError as make_target does if there is no such target.
Support availability_of(const std::string& name);

/// Of what a target of this build says about time, whether or not its machine is here.
Provenance provenance_of(const std::string& name);

/// The target that serves a compute mode, such as "CPU". Throws TargetError if this build has none:
/// there is no fallback to another target.
std::string target_of_compute_mode(const std::string& mode);

/// Whether that mode computes with the processor and the memory of the host that asks.
bool is_host_mode(const std::string& mode);

/// `machine` is which one a modelled target stands for: by name, or a file that describes it; empty
/// for the usual one, and for targets that run where they are. `device` is which of those that are
/// here, counted from 0. Throws UserError naming the known targets if there is none of that name,
/// if the machine is none of its kind, or if there is no such device; TargetError if the target's
/// machine is not here.
std::unique_ptr<Target> make_target(const std::string& name, const std::string& machine = {},
                                    int device = 0);

/// How many devices a target has here; nothing where there are none to tell apart.
std::optional<int> device_count(const std::string& name);

/// The device that a target computes on, of those that are here; nothing if it has none of its own,
/// or if there is no such device.
std::optional<DeviceIdentity> device_of_target(const std::string& name, int device);

/// What a modelled target of that name stands for; nothing for one that is measured.
std::optional<machine::Description> described_machine(const std::string& target,
                                                      const std::string& machine);

machine::Families machine_families();

/// A machine that comes with the program, by name, or one that a file describes.
machine::Description find_machine(const std::string& name_or_file);

/// The one that a compute mode is predicted for: the usual one of the mode if none is named. Throws
/// UserError if the mode has none, or if the machine is of another kind.
machine::Description machine_of_compute_mode(const std::string& mode,
                                             const std::string& name_or_file);

}  // namespace cosmic::target
