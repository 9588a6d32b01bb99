#include "target/registry.hpp"

#include <array>
#include <functional>
#include <set>

#include "core/error.hpp"
#include "target/cpu/cpu_target.hpp"
#include "target/hpu/hpu_family.hpp"
#include "target/ipu/ipu_family.hpp"
#include "target/rdu/rdu_family.hpp"
#include "target/reference/reference_target.hpp"
#include "target/roofline/roofline_family.hpp"

namespace cosmic::target {
namespace {

struct Entry {
  std::string name;
  std::string compute_mode;  ///< that it serves; empty for none
  std::unique_ptr<Target> (*make)();
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all{
      {"cpu", "CPU", cpu::make_cpu_target},
      {"reference", "", reference::make_reference_target},
  };
  return all;
}

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
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
  for (const Entry& entry : entries()) {
    const std::unique_ptr<Target> target = entry.make();
    result.push_back({entry.name, entry.compute_mode, to_string(target->provenance()),
                      target->info().machine, Support::yes()});
    served.insert(entry.compute_mode);
  }
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
  for (const Entry& entry : entries()) {
    if (entry.compute_mode == mode) {
      return entry.name;
    }
    if (!entry.compute_mode.empty()) {
      served += (served.empty() ? "" : ", ") + entry.compute_mode;
    }
  }
  throw TargetError("this build has no target for run.compute_mode=" + mode +
                    " (and nothing runs anywhere but where it was asked to run); it has " + served +
                    ", and `cosmictagger targets` says more");
}

std::unique_ptr<Target> make_target(const std::string& name) {
  std::string known;
  for (const Entry& entry : entries()) {
    if (entry.name == name) {
      return entry.make();
    }
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  throw UserError("there is no target '" + name + "' in this build; choose one of " + known);
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
