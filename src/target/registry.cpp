#include "target/registry.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "core/error.hpp"
#include "machine/family.hpp"
#include "target/cpu/cpu_target.hpp"
#include "target/hpu/hpu_family.hpp"
#include "target/hpu/hpu_target.hpp"
#include "target/ipu/ipu_family.hpp"
#include "target/ipu/ipu_target.hpp"
#include "target/rdu/rdu_family.hpp"
#include "target/rdu/rdu_target.hpp"
#include "target/reference/reference_target.hpp"
#include "target/roofline/roofline_family.hpp"

namespace cosmic::target {
namespace {

/// A target, and the machine it stands for unless another is asked for.
struct Entry {
  std::string name;
  std::string compute_mode;  ///< that it serves; empty for none
  std::unique_ptr<Target> (*make)();
};

struct ModelledEntry {
  std::string name;
  std::string compute_mode;
  std::string usual_machine;
  const machine::Family& (*family)();
  std::unique_ptr<Target> (*make)(machine::Description machine);
};

const std::vector<Entry>& measured() {
  static const std::vector<Entry> all{
      {"cpu", "CPU", cpu::make_cpu_target},
      {"reference", "", reference::make_reference_target},
  };
  return all;
}

const std::vector<ModelledEntry>& modelled() {
  static const std::vector<ModelledEntry> all{
      {"ipu", "IPU", "gc200", ipu::family, ipu::make_ipu_target},
      {"hpu", "HPU", "gaudi1", hpu::family, hpu::make_hpu_target},
      {"rdu", "RDU", "sn30", rdu::family, rdu::make_rdu_target},
  };
  return all;
}

/// Modes whose machines can be described although they are not modelled targets.
struct DescribedMode {
  std::string compute_mode;
  std::string usual_machine;
  const machine::Family& (*family)();
};

const std::vector<DescribedMode>& described_modes() {
  static const std::vector<DescribedMode> all{{"CPU", "zen4-2core", roofline::family},
                                              {"GPU", "h200", roofline::family}};
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

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Entry& entry : measured()) {
    names.push_back(entry.name);
  }
  for (const ModelledEntry& entry : modelled()) {
    names.push_back(entry.name);
  }
  return names;
}

std::string oracle_name() {
  return std::string(reference::make_reference_target()->name());
}

std::vector<TargetEntry> target_entries(std::span<const std::string_view> compute_modes) {
  std::vector<TargetEntry> result;
  std::set<std::string, std::less<>> served;
  const auto add = [&](const auto& entry) {
    const std::unique_ptr<Target> target = make_target(entry.name);
    result.push_back({entry.name, entry.compute_mode, to_string(target->provenance()),
                      target->info().machine, Support::yes()});
    served.insert(entry.compute_mode);
  };
  std::for_each(measured().begin(), measured().end(), add);
  std::for_each(modelled().begin(), modelled().end(), add);
  for (const std::string_view mode : compute_modes) {
    if (!served.contains(mode)) {
      result.push_back(
          {"", std::string(mode), "", "", Support::no("this build has no target for it")});
    }
  }
  return result;
}

std::string target_of_compute_mode(const std::string& mode) {
  std::string served;
  std::string found;
  const auto look_at = [&](const auto& entry) {
    if (entry.compute_mode == mode) {
      found = entry.name;
    }
    if (!entry.compute_mode.empty()) {
      served += (served.empty() ? "" : ", ") + entry.compute_mode;
    }
  };
  std::for_each(measured().begin(), measured().end(), look_at);
  std::for_each(modelled().begin(), modelled().end(), look_at);
  COSMIC_REQUIRE(TargetError, !found.empty(),
                 "this build has no target for run.compute_mode="
                     << mode << " (and there is no fallback to another target); it has " << served
                     << ", and `cosmictagger targets` says more");
  return found;
}

std::unique_ptr<Target> make_target(const std::string& name, const std::string& machine) {
  for (const Entry& entry : measured()) {
    if (entry.name == name) {
      COSMIC_REQUIRE(UserError, machine.empty(),
                     "the machine '" << machine << "' was chosen for target '" << name
                                     << "' (which always runs on the local machine); leave it out, "
                                        "or choose a modelled target");
      return entry.make();
    }
  }
  for (const ModelledEntry& entry : modelled()) {
    if (entry.name == name) {
      return entry.make(machine_of(entry, machine));
    }
  }
  std::string known;
  for (const std::string& target : target_names()) {
    known += (known.empty() ? "" : ", ") + target;
  }
  throw UserError("there is no target '" + name + "' in this build; choose one of " + known);
}

std::optional<machine::Description> described_machine(const std::string& target,
                                                      const std::string& machine) {
  for (const ModelledEntry& entry : modelled()) {
    if (entry.name == target) {
      return machine_of(entry, machine);
    }
  }
  return std::nullopt;
}

machine::Description machine_of_compute_mode(const std::string& mode,
                                             const std::string& name_or_file) {
  for (const ModelledEntry& entry : modelled()) {
    if (entry.compute_mode == mode) {
      return machine_of(entry, name_or_file);
    }
  }
  for (const DescribedMode& described : described_modes()) {
    if (described.compute_mode == mode) {
      return machine_of(described, name_or_file);
    }
  }
  throw UserError("run.compute_mode=" + mode +
                  " has no described machine; choose CPU, GPU, HPU, IPU or RDU");
}

machine::Families machine_families() {
  static const std::array<const machine::Family*, 4> all{&ipu::family(), &hpu::family(),
                                                         &rdu::family(), &roofline::family()};
  return all;
}

machine::Description find_machine(const std::string& name_or_file) {
  return machine::find_machine(name_or_file, machine_families());
}

}  // namespace cosmic::target
