// Runs another program, such as an independent reader of what we write.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>

namespace cosmic {

struct CommandResult {
  int status = 0;      ///< 0: it ended well
  std::string output;  ///< what it printed, errors too
};

inline CommandResult run_command(const std::string& command) {
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    throw std::runtime_error("cannot run '" + command + "'");
  }
  CommandResult result;
  char buffer[4096];
  while (const std::size_t size = std::fread(buffer, 1, sizeof(buffer), pipe)) {
    result.output.append(buffer, size);
  }
  result.status = pclose(pipe);
  return result;
}

inline bool has_program(const std::string& name) {
  return run_command("command -v " + name).status == 0;
}

}  // namespace cosmic
