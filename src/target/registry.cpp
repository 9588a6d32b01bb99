#include "target/registry.hpp"

#include "core/error.hpp"
#include "target/cpu/cpu_target.hpp"
#include "target/reference/reference_target.hpp"

namespace cosmic::target {
namespace {

struct Entry {
  std::string name;
  std::unique_ptr<Target> (*make)();
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all{
      {"cpu", cpu::make_cpu_target},
      {"reference", reference::make_reference_target},
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

}  // namespace cosmic::target
