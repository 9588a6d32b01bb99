// What docs/adding-a-machine.md promises: a machine is one file.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "graph/builder.hpp"
#include "machine/explanation.hpp"
#include "scratch_folder.hpp"
#include "target/registry.hpp"

namespace cosmic::machine {
namespace {

using testing::HasSubstr;

/// The first block of YAML of the document.
std::string example_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream stream;
  stream << file.rdbuf();
  const std::string text = stream.str();
  const std::string begin = "```yaml\n";
  const std::size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find("```", from) - from);
}

TEST(AddingAMachine, the_file_of_the_document_is_a_machine_that_predicts) {
  const ScratchFolder folder("toy");
  const auto path = folder / "abacus.yaml";
  std::ofstream(path) << example_of("docs/adding-a-machine.md");
  const Description machine = target::find_machine(path.string());
  EXPECT_EQ(machine.name, "Abacus");

  graph::Builder g;
  const graph::ValueId a = g.input("a", {graph::DType::f32, {1000, 1000}});
  const graph::ValueId b = g.input("b", {graph::DType::f32, {1000, 1000}});
  g.output("c", g.add(graph::MatMul{}, {a, b}));
  const Prediction prediction = predict(machine, g.graph(), {.host_data = HostData::synthetic});
  // 2e9 flops at half of 2 Gflop/s, and a launch of 1 ms.
  EXPECT_NEAR(prediction.step.best.modelled_seconds(), 2.001, 1e-9);
  EXPECT_THAT(explanation(machine, {"a product", {"", prediction}}), HasSubstr("Abacus"));
}

}  // namespace
}  // namespace cosmic::machine
