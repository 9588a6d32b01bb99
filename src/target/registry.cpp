#include "target/registry.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "core/error.hpp"
#include "machine/family.hpp"
#include "target/reference/reference_target.hpp"
#include "target/registration.hpp"
#include "target/roofline/roofline_family.hpp"

namespace cosmic::target {
namespace {

const std::vector<Registration>& targets() {
  static const std::vector<Registration> all = built_targets();
  return all;
}

std::string why_not(const AbsentTarget& absent) {
  return "not in this build; configure with -D" + absent.option + "=ON";
}

const AbsentTarget* find_absent(const std::string AbsentTarget::*member, const std::string& value) {
  static const std::vector<AbsentTarget> all = absent_targets();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const AbsentTarget& absent) { return absent.*member == value; });
  return found == all.end() ? nullptr : &*found;
}

/// Throws UserError that names those there are.
const Registration& find_target(const std::string& name) {
  std::string known;
  for (const Registration& target : targets()) {
    if (target.name == name) {
      return target;
    }
    known += (known.empty() ? "" : ", ") + target.name;
  }
  if (const AbsentTarget* const absent = find_absent(&AbsentTarget::name, name)) {
    throw UserError("target '" + name + "' is " + why_not(*absent));
  }
  throw UserError("there is no target '" + name + "' in this build; choose one of " + known);
}

Support availability(const Registration& target) {
  return target.available == nullptr ? Support::yes() : target.available();
}

Provenance provenance(const Registration& target) {
  return target.make == nullptr ? Provenance::modelled : Provenance::measured;
}

TargetEntry entry_of(const Registration& registered) {
  TargetEntry entry{
      registered.name,         registered.compute_mode, to_string(provenance(registered)), "", "",
      availability(registered)};
  if (entry.available.ok) {
    try {
      entry.machine = make_target(registered.name)->info().machine;
      entry.devices = registered.list_of_devices == nullptr ? "" : registered.list_of_devices();
    } catch (const TargetError& error) {  // its first device is not for us
      entry.available = Support::no(error.what());
    }
  }
  return entry;
}

/// Modes whose machines can be described although they are not modelled targets.
struct DescribedMode {
  std::string compute_mode;
  std::string usual_machine;
  const machine::Family& (*family)();
  bool of_host;  ///< it is the host itself that computes
};

const std::vector<DescribedMode>& described_modes() {
  static const std::vector<DescribedMode> all{{"CPU", "zen4-2core", roofline::family, true},
                                              {"GPU", "h200", roofline::family, false}};
  return all;
}

/// `mode` has the compute mode, the usual machine and the family.
machine::Description machine_of(const auto& mode, const std::string& name_or_file) {
  machine::Description machine =
      find_machine(name_or_file.empty() ? mode.usual_machine : name_or_file);
  if (machine.family == &mode.family()) {
    return machine;
  }
  std::string fitting;
  for (const std::string& known : machine::built_in_machines()) {
    if (find_machine(known).family == &mode.family()) {
      fitting += (fitting.empty() ? "" : ", ") + known;
    }
  }
  throw UserError("run.machine=" + name_or_file + " is a machine of the family " +
                  std::string(machine.family->name()) +
                  ", and run.compute_mode=" + mode.compute_mode + " means one of the family " +
                  std::string(mode.family().name()) + " (" + fitting +
                  ", or a file that describes another machine); change one of them");
}

}  // namespace

bool is_host_mode(const std::string& mode) {
  return std::any_of(
      described_modes().begin(), described_modes().end(),
      [&](const DescribedMode& known) { return known.of_host && known.compute_mode == mode; });
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Registration& target : targets()) {
    names.push_back(target.name);
  }
  return names;
}

std::string oracle_name() {
  return reference::registration().name;
}

std::vector<TargetEntry> target_entries(std::span<const std::string_view> compute_modes) {
  std::vector<TargetEntry> result;
  std::set<std::string, std::less<>> named;
  for (const Registration& registered : targets()) {
    result.push_back(entry_of(registered));
    named.insert(registered.compute_mode);
  }
  for (const AbsentTarget& absent : absent_targets()) {
    result.push_back({absent.name, absent.compute_mode, "", "", "", Support::no(why_not(absent))});
    named.insert(absent.compute_mode);
  }
  for (const std::string_view mode : compute_modes) {
    if (!named.contains(mode)) {
      result.push_back(
          {"", std::string(mode), "", "", "", Support::no("this build has no target for it")});
    }
  }
  return result;
}

std::string target_of_compute_mode(const std::string& mode) {
  std::string served;
  for (const Registration& target : targets()) {
    if (target.compute_mode == mode) {
      return target.name;
    }
    if (!target.compute_mode.empty()) {
      served += (served.empty() ? "" : ", ") + target.compute_mode;
    }
  }
  if (const AbsentTarget* const absent = find_absent(&AbsentTarget::compute_mode, mode)) {
    throw TargetError("target '" + absent->name + "', which run.compute_mode=" + mode +
                      " asks for, is " + why_not(*absent));
  }
  throw TargetError("this build has no target for run.compute_mode=" + mode +
                    " (and nothing runs anywhere but where it was asked to run); it has " + served +
                    ", and `cosmictagger targets` says more");
}

namespace {

void require_device(const Registration& target, int device) {
  const int devices = target.devices == nullptr ? 1 : target.devices();
  COSMIC_REQUIRE(UserError, device >= 0 && device < devices,
                 "device " << device << " was chosen for target '" << target.name << "' (which has "
                           << devices << " device" << (devices == 1 ? "" : "s")
                           << " here, counted from 0); leave run.device out, or choose one of "
                              "them");
}

}  // namespace

std::unique_ptr<Target> make_target(const std::string& name, const std::string& machine,
                                    int device) {
  const Registration& target = find_target(name);
  const Support available = availability(target);
  COSMIC_REQUIRE(TargetError, available.ok,
                 "target '" << name
                            << "' cannot be used here (and nothing runs anywhere but where it was "
                               "asked to run): "
                            << available.why_not);
  require_device(target, device);
  if (target.make == nullptr) {
    return target.make_modelled(machine_of(target, machine));
  }
  COSMIC_REQUIRE(UserError, machine.empty(),
                 "the machine '" << machine << "' was chosen for target '" << name
                                 << "' (which runs on the machine it is started on); leave it "
                                    "out, or choose a target that is modelled");
  return target.make(device);
}

Support availability_of(const std::string& name) {
  return availability(find_target(name));
}

Provenance provenance_of(const std::string& name) {
  return provenance(find_target(name));
}

std::optional<int> device_count(const std::string& name) {
  const Registration& target = find_target(name);
  if (target.identity_of_device == nullptr || !availability(target).ok) {
    return std::nullopt;
  }
  return target.devices();
}

std::optional<DeviceIdentity> device_of_target(const std::string& name, int device) {
  const Registration& target = find_target(name);
  if (target.identity_of_device == nullptr || !availability(target).ok || device < 0 ||
      device >= target.devices()) {
    return std::nullopt;
  }
  return target.identity_of_device(device);
}

std::optional<machine::Description> described_machine(const std::string& target,
                                                      const std::string& machine) {
  for (const Registration& registered : targets()) {
    if (registered.name == target && registered.family != nullptr) {
      return machine_of(registered, machine);
    }
  }
  return std::nullopt;
}

machine::Description machine_of_compute_mode(const std::string& mode,
                                             const std::string& name_or_file) {
  for (const Registration& target : targets()) {
    if (target.compute_mode == mode && target.family != nullptr) {
      return machine_of(target, name_or_file);
    }
  }
  for (const DescribedMode& described : described_modes()) {
    if (described.compute_mode == mode) {
      return machine_of(described, name_or_file);
    }
  }
  if (const AbsentTarget* const absent = find_absent(&AbsentTarget::compute_mode, mode)) {
    throw UserError("target '" + absent->name + "', which knows the machines of run.compute_mode=" +
                    mode + ", is " + why_not(*absent));
  }
  throw UserError("run.compute_mode=" + mode +
                  " has no described machine; choose CPU, GPU, HPU, IPU or RDU");
}

machine::Families machine_families() {
  static const std::vector<const machine::Family*> all = [] {
    std::vector<const machine::Family*> families;
    for (const Registration& target : targets()) {
      if (target.family != nullptr) {
        families.push_back(&target.family());
      }
    }
    families.push_back(&roofline::family());
    return families;
  }();
  return all;
}

machine::Description find_machine(const std::string& name_or_file) {
  return machine::find_machine(name_or_file, machine_families());
}

}  // namespace cosmic::target
