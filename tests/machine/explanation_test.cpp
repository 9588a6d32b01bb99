#include "machine/explanation.hpp"
#include "target/registry.hpp"

#include <gmock/gmock.h>

#include "graph/builder.hpp"

namespace cosmic::machine {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

graph::Graph large_program() {
  graph::Builder g;
  const graph::ValueId image = g.input("image", {graph::DType::f32, {1, 64, 2048, 2048}});
  const graph::Builder::Scope scope(g, "first_layer");
  const graph::ValueId kernel =
      g.parameter("kernel", {64, 64, 1, 1}, graph::Initializer::constant(0));
  g.output("y", g.add(graph::Conv{}, {image, kernel}));
  return g.take();
}

TEST(Explanation, says_that_it_is_modelled_before_any_figure_and_lists_every_unknown) {
  for (const std::string& name : built_in_machines()) {
    SCOPED_TRACE(name);
    const Description machine = target::find_machine(name);
    const std::string text =
        explanation(machine, {"one layer", {"", predict(machine, large_program())}});
    EXPECT_THAT(text, StartsWith(machine.name));
    EXPECT_LT(text.find("Every figure below is modelled, none is measured."), text.find("Memory:"));
    for (const Unknown& unknown : machine.unknowns) {
      EXPECT_THAT(text, HasSubstr(unknown.figure.name));
      EXPECT_THAT(text, HasSubstr(unknown.figure.source));
    }
  }
}

TEST(Explanation, names_what_overflows_and_the_largest_tensors_by_layer) {
  const Description machine = target::find_machine("gc200");
  const std::string text =
      explanation(machine, {"one layer", {"", predict(machine, large_program())}});
  EXPECT_THAT(text, HasSubstr("it does not fit: the fullest of 1472 tiles needs"));
  EXPECT_THAT(text, HasSubstr("1.07 GB  first_layer (conv)"));
  EXPECT_THAT(text, HasSubstr("1.07 GB  image (input)"));
}

TEST(Explanation, a_table_of_runs_says_that_it_is_modelled_and_has_a_row_for_each) {
  const Description machine = target::find_machine("h200");
  const std::string text =
      comparison("machine", {{"first", predict(machine, large_program()), 1},
                             {"second", predict(machine, large_program(), {.replicas = 2}), 2}});
  EXPECT_THAT(text, StartsWith("Every figure of this table is modelled, none is measured."));
  EXPECT_THAT(text, HasSubstr("\nfirst "));
  EXPECT_THAT(text, HasSubstr("\nsecond "));
}

}  // namespace
}  // namespace cosmic::machine
