// The descriptions of the folder machines/, which the build puts into the program.
#pragma once

#include <span>
#include <string_view>

namespace cosmic::machine {

struct BuiltInMachine {
  std::string_view name;
  std::string_view text;
};

std::span<const BuiltInMachine> machine_library();

/// machines/track_record.yaml.
std::string_view track_record_text();

}  // namespace cosmic::machine
