// Writes what the fuzzer of executables starts from: a small file, its content without the
// checksum, and a plan for every op, from the programs of the conformance tests.
//
//   make_artifact_seeds FOLDER
#include <filesystem>
#include <fstream>
#include <iostream>

#include "compile/artifact/artifact_file.hpp"
#include "compile/artifact/plan_bytes.hpp"
#include "compile/artifact/some_plan.hpp"
#include "conformance/op_cases.hpp"

namespace cosmic::compile::artifact {
namespace {

void write(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

void write_seeds(const std::filesystem::path& folder) {
  const compile::Plan plan = tiny_plan();
  const compile::Plan* const plans[] = {&plan};
  const std::string bytes = artifact_bytes(plans, {{kConfigurationNote, "run:\n  id: 1\n"}});
  write(folder / "file", bytes);
  write(folder / "content", unsealed(bytes));
  write(folder / "plan", plan_bytes(plan));
  for (const conformance::OpCase& op_case : conformance::op_cases()) {
    write(folder / ("op-" + op_case.name),
          plan_bytes(compile::plan_memory(op_case.graph, some_target())));
  }
}

}  // namespace
}  // namespace cosmic::compile::artifact

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_artifact_seeds FOLDER\n";
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  cosmic::compile::artifact::write_seeds(argv[1]);
  return 0;
}
