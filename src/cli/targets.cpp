// `cosmictagger targets`: where this build can run a program, where it cannot, and why.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "config/choices.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

std::vector<target::TargetEntry> entries() {
  return target::target_entries(model::EnumText<config::ComputeMode>::names);
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string with_devices(const target::TargetEntry& entry) {
  return entry.devices.empty() ? "" : "; " + entry.devices;
}

void print_table() {
  fmt::print("{:<12} {:<14} {:<10} {}\n", "target", "compute mode", "kind", "available");
  const std::string standard = target::target_names().front();
  for (const target::TargetEntry& entry : entries()) {
    fmt::print("{:<12} {:<14} {:<10} {}{}\n", or_dash(entry.name), or_dash(entry.compute_mode),
               or_dash(entry.kind),
               entry.available.ok ? "yes, machine: " + entry.machine + with_devices(entry)
                                  : "no: " + entry.available.why_not,
               entry.name == standard ? " (default)" : "");
  }
}

void print_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const target::TargetEntry& entry : entries()) {
    nlohmann::ordered_json item;
    item["target"] = entry.name;
    item["compute_mode"] = entry.compute_mode;
    item["kind"] = entry.kind;
    item["machine"] = entry.machine;
    item["devices"] = entry.devices;
    item["available"] = entry.available.ok;
    item["reason"] = entry.available.why_not;
    list.push_back(std::move(item));
  }
  fmt::print("{}\n", list.dump(2));
}

}  // namespace

void add_targets(Command& app) {
  auto json = std::make_shared<bool>(false);  // the callback holds it too
  Command* command = app.add_subcommand(
      "targets",
      "List what a program can be compiled for, the compute mode of each, whether its times are "
      "measured or modelled, and what this build lacks");
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json] { *json ? print_json() : print_table(); });
}

}  // namespace cosmic::cli
