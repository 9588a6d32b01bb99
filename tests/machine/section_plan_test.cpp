#include "machine/section_plan.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "core/error.hpp"
#include "graph/builder.hpp"
#include "machine/prediction.hpp"
#include "machine/toy_machine.hpp"
#include "scratch_folder.hpp"
#include "target/registry.hpp"

namespace cosmic::machine {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

auto error_of(const std::string& text) {
  return [text] { parse_section_plan(text, "plan.yaml"); };
}

graph::Graph three_layers() {
  graph::Builder g;
  graph::ValueId x = g.input("x", {graph::DType::f32, {1, 8, 64, 64}});
  for (const char* layer : {"first", "second", "third"}) {
    const graph::Builder::Scope scope(g, layer);
    const graph::ValueId kernel =
        g.parameter("kernel", {8, 8, 1, 1}, graph::Initializer::constant(0));
    x = g.add(graph::Conv{}, {x, kernel});
  }
  g.output("y", x);
  return g.take();
}

TEST(SectionPlan, is_a_list_of_layers_for_each_section) {
  EXPECT_EQ(parse_section_plan("sections:\n  - [a, b.c]\n  - [d]\n", "plan.yaml"),
            (SectionPlan{{"a", "b.c"}, {"d"}}));
}

TEST(SectionPlan, what_is_no_plan_is_refused_with_its_line) {
  EXPECT_THAT(error_of("layers: [a]"), ThrowsMessage<UserError>(HasSubstr("not a section plan")));
  EXPECT_THAT(error_of("sections: []"), ThrowsMessage<UserError>(HasSubstr("not a section plan")));
  EXPECT_THAT(
      error_of("sections:\n  - a\n"),
      ThrowsMessage<UserError>(AllOf(HasSubstr("plan.yaml:2"), HasSubstr("list of layers"))));
  EXPECT_THAT(error_of("sections:\n  - [a]\n  - [b, a]\n"),
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("plan.yaml:3"), HasSubstr("'a'"), HasSubstr("named twice"))));
  EXPECT_THAT(error_of("sections: [["), ThrowsMessage<UserError>(HasSubstr("not YAML")));
}

TEST(SectionPlan, a_file_that_is_not_there_is_named) {
  EXPECT_THAT([] { read_section_plan("nowhere/plan.yaml"); },
              ThrowsMessage<UserError>(HasSubstr("nowhere/plan.yaml")));
  const ScratchFolder folder("plan");
  const auto path = folder / "plan.yaml";
  std::ofstream(path) << "sections: [[a]]";
  EXPECT_EQ(read_section_plan(path.string()), (SectionPlan{{"a"}}));
}

TEST(SectionPlan, cuts_a_program_where_it_says) {
  const Description machine = target::find_machine("sn30");
  const auto run = [&](const SectionPlan& plan) {
    return predict(machine, three_layers(), {.host_data = HostData::synthetic, .sections = plan});
  };
  const Prediction two = run({{"first", "second"}, {"third"}});
  EXPECT_EQ(two.launches, 2U);
  EXPECT_EQ(run({{"first"}, {"second"}, {"third"}}).launches, 3U);
  EXPECT_EQ(run({{"first", "second", "third"}}).launches, 1U);
  EXPECT_THAT(two.notes.front(), HasSubstr("by the plan"));
}

TEST(SectionPlan, what_stays_inside_a_section_does_not_pass_its_boundary) {
  const Description machine =
      machine_test::machine_with("sn30", {{"memory_bandwidth", 1e9}, {"section_switch", 0}});
  const auto seconds = [&](const SectionPlan& plan) {
    return predict(machine, three_layers(), {.host_data = HostData::synthetic, .sections = plan})
        .step.best.modelled_seconds();
  };
  const double image = 4.0 * 8 * 64 * 64;
  const double kernel = 4.0 * 64;
  EXPECT_DOUBLE_EQ(seconds({{"first", "second", "third"}}), (2 * image + 3 * kernel) / 1e9);
  EXPECT_DOUBLE_EQ(seconds({{"first", "second"}, {"third"}}), (4 * image + 3 * kernel) / 1e9);
}

TEST(SectionPlan, a_layer_that_the_network_has_not_is_named_with_the_nearest) {
  EXPECT_THAT(
      [] { predict(target::find_machine("sn30"), three_layers(), {.sections = {{"secnd"}}}); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("'secnd'"), HasSubstr("did you mean 'second'"))));
  EXPECT_THAT(
      [] { predict(target::find_machine("gc200"), three_layers(), {.sections = {{"second"}}}); },
      ThrowsMessage<UserError>(HasSubstr("run.section_plan")));
}

}  // namespace
}  // namespace cosmic::machine
