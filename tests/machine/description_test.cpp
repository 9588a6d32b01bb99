#include "machine/description.hpp"
#include "target/registry.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/error.hpp"
#include "machine/family.hpp"
#include "machine/write_description.hpp"
#include "scratch_folder.hpp"

namespace cosmic::machine {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kToy = R"(name: Toy
family: roofline
about: a machine for tests
figures:
  peak_float: {value: 2, unit: TFLOP/s, status: published, source: a test}
  peak_tf32: {value: 3, unit: TFLOP/s, status: published, source: a test}
  peak_half: {value: 4, unit: TFLOP/s, status: published, source: a test}
  memory: {value: 8, unit: GiB, status: published, source: a test}
  memory_bandwidth: {value: 100, unit: GB/s, status: published, source: a test}
  bandwidth_share: {value: 1, unit: ratio, status: derived, source: a test}
  processors: {value: 1, unit: count, status: published, source: a test}
  tile_channels: {value: 1, unit: count, status: published, source: a test}
  host_bandwidth: {value: 10, low: 5, high: 12, unit: GB/s, status: assumed, source: a test}
  link_bandwidth: {value: 10, unit: GB/s, status: published, source: a test}
unknowns:
  compute_efficiency: {default: 0.5, low: 0.25, high: 1, unit: ratio, status: assumed, source: a test}
  launch_time: {default: 10, low: 10, high: 10, unit: us, status: assumed, source: a test}
  kernel_latency: {default: 0, low: 0, high: 0, unit: us, status: assumed, source: a test}
  issue_time: {default: 10, low: 10, high: 10, unit: us, status: assumed, source: a test}
  host_call: {default: 0, low: 0, high: 0, unit: us, status: assumed, source: a test}
  float_efficiency: {default: 0.5, low: 0.25, high: 1, unit: ratio, status: assumed, source: a test}
  layout_passes: {default: 1, low: 1, high: 1, unit: ratio, status: assumed, source: a test}
  winograd_savings: {default: 1, low: 1, high: 1, unit: ratio, status: assumed, source: a test}
  overlap: {default: 1, low: 1, high: 1, unit: ratio, status: assumed, source: a test}
  channel_bandwidth_share: {default: 1, low: 1, high: 1, unit: ratio, status: assumed, source: a test}
  riding_sums: {default: 0, low: 0, high: 0, unit: ratio, status: assumed, source: a test}
  narrow_channels: {default: 1, low: 1, high: 1, unit: count, status: assumed, source: a test}
  pool_slack: {default: 1, low: 1, high: 1, unit: ratio, status: assumed, source: a test}
  pool_overhead: {default: 0, low: 0, high: 0, unit: GB, status: assumed, source: a test}
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

auto error_of(const std::string& text) {
  return [text] { parse_description(text, "toy.yaml", target::machine_families()); };
}

TEST(Description, figures_are_read_in_base_units_with_source_and_status) {
  const Description toy = parse_description(kToy, "toy.yaml", target::machine_families());
  EXPECT_EQ(toy.name, "Toy");
  EXPECT_EQ(toy.family->name(), "roofline");
  EXPECT_DOUBLE_EQ(toy["peak_float"], 2e12);
  EXPECT_DOUBLE_EQ(toy["memory"], 8.0 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(toy["launch_time"], 10e-6);
  EXPECT_EQ(toy.figures.front().source, "a test");
  EXPECT_EQ(toy.figures.front().status, Status::published);
  EXPECT_EQ(toy.figures.front().unit, "TFLOP/s");
}

TEST(Description, an_unknown_can_be_set_and_the_rest_stays) {
  const Description toy = parse_description(kToy, "toy.yaml", target::machine_families());
  const Description other = with_unknown(toy, "compute_efficiency", 1);
  EXPECT_EQ(other["compute_efficiency"], 1);
  EXPECT_EQ(other["launch_time"], toy["launch_time"]);
  EXPECT_THAT([&] { with_unknown(toy, "memory", 1); },
              ThrowsMessage<UserError>(HasSubstr("no unknown 'memory'")));
}

TEST(Description, a_mistyped_figure_names_the_nearest) {
  EXPECT_THAT(error_of(replaced(kToy, "peak_float:", "peak_flot:")),
              ThrowsMessage<UserError>(AllOf(HasSubstr("toy.yaml:5"), HasSubstr("peak_flot"),
                                             HasSubstr("did you mean 'peak_float'"))));
}

TEST(Description, a_missing_figure_is_named_with_its_meaning_and_units) {
  EXPECT_THAT(
      error_of(replaced(
          kToy, "  processors: {value: 1, unit: count, status: published, source: a test}\n", "")),
      ThrowsMessage<UserError>(AllOf(HasSubstr("'processors' is missing"), HasSubstr("spread over"),
                                     HasSubstr("count"))));
}

TEST(Description, a_unit_of_another_dimension_is_refused_with_those_that_would_do) {
  EXPECT_THAT(error_of(replaced(kToy, "unit: GiB", "unit: GB/s")),
              ThrowsMessage<UserError>(AllOf(HasSubstr("toy.yaml:8"), HasSubstr("'memory'"),
                                             HasSubstr("'GB/s'"), HasSubstr("KiB"))));
}

TEST(Description, a_figure_without_a_source_is_refused) {
  EXPECT_THAT(error_of(replaced(kToy, ", source: a test", "")),
              ThrowsMessage<UserError>(HasSubstr("'source' is missing")));
}

TEST(Description, a_status_that_there_is_not_is_refused_with_the_choices) {
  EXPECT_THAT(error_of(replaced(kToy, "status: published", "status: rumoured")),
              ThrowsMessage<UserError>(AllOf(HasSubstr("rumoured"), HasSubstr("calibrated"))));
}

TEST(Description, a_default_outside_its_range_is_refused) {
  EXPECT_THAT(error_of(replaced(kToy, "low: 0.25", "low: 0.75")),
              ThrowsMessage<UserError>(HasSubstr("'compute_efficiency' is not between")));
}

TEST(Description, a_negative_figure_and_a_word_for_a_number_are_refused) {
  EXPECT_THAT(error_of(replaced(kToy, "value: 8", "value: -8")),
              ThrowsMessage<UserError>(HasSubstr("'memory' is -8")));
  EXPECT_THAT(error_of(replaced(kToy, "value: 8", "value: much")),
              ThrowsMessage<UserError>(HasSubstr("'memory' has no number")));
}

TEST(Description, a_figure_given_twice_is_refused) {
  EXPECT_THAT(error_of(replaced(kToy, "  peak_half:", "  peak_float:")),
              ThrowsMessage<UserError>(HasSubstr("appears twice")));
}

constexpr const char* kLinks = R"(links:
  - name: node
    joins: 4
    bandwidth: {value: 100, unit: GB/s, status: published, source: a test}
    hop_time: {default: 5, low: 1, high: 10, unit: us, status: assumed, source: a test}
  - name: network
    bandwidth: {value: 10, unit: GB/s, status: published, source: a test}
    hop_time: {default: 50, low: 10, high: 100, unit: us, status: assumed, source: a test}
)";

TEST(Description, a_figure_that_nobody_published_needs_a_range_and_enters_the_error_bar) {
  const Description toy = parse_description(kToy, "toy.yaml", target::machine_families());
  const auto host = std::find_if(toy.unknowns.begin(), toy.unknowns.end(), [](const Unknown& u) {
    return u.figure.name == "host_bandwidth";
  });
  ASSERT_NE(host, toy.unknowns.end());
  EXPECT_DOUBLE_EQ(host->low, 5e9);
  EXPECT_DOUBLE_EQ(toy["host_bandwidth"], 10e9);
  EXPECT_THAT(error_of(replaced(kToy, "low: 5, high: 12, ", "")),
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("'host_bandwidth' is assumed"), HasSubstr("add low and high"))));
}

TEST(Description, a_calibrated_figure_says_which_rows_it_was_fitted_to) {
  const std::string calibrated = replaced(kToy, "high: 12, unit: GB/s, status: assumed",
                                          "high: 12, unit: GB/s, status: calibrated");
  EXPECT_THAT(error_of(calibrated), ThrowsMessage<UserError>(HasSubstr("add fitted_to")));
  const Description toy = parse_description(
      replaced(calibrated, "status: calibrated", "status: calibrated, fitted_to: [a, b]"),
      "toy.yaml", target::machine_families());
  for (const Unknown& unknown : toy.unknowns) {
    if (unknown.figure.name == "host_bandwidth") {
      EXPECT_EQ(unknown.figure.fitted_to, (std::vector<std::string>{"a", "b"}));
    }
  }
}

constexpr const char* kStacks = R"(stacks:
  - name: compiled
    about: fuses
    stored: fused
    launching: whole_program
    status: published
    source: a test
  - name: eager
    about: op by op
    stored: every_op
    launching: per_op
    weights: narrow
    input: waited
    status: assumed
    source: a test
    figures:
      compute_efficiency: {default: 0.3, low: 0.2, high: 0.4, unit: ratio, status: assumed, source: a test}
)";

TEST(Description, a_stack_says_what_is_stored_and_may_have_figures_of_its_own) {
  const Description toy =
      parse_description(std::string(kToy) + kStacks, "toy.yaml", target::machine_families());
  EXPECT_EQ(toy.stack().name, "compiled");
  EXPECT_EQ(toy.stack().stored, Stored::fused);
  EXPECT_DOUBLE_EQ(toy["compute_efficiency"], 0.5);
  const Description eager = with_stack(toy, "eager");
  EXPECT_EQ(eager.stack().stored, Stored::every_op);
  EXPECT_EQ(eager.stack().launching, Launching::per_op);
  EXPECT_EQ(eager.stack().weights, StackWeights::narrow);
  EXPECT_EQ(eager.stack().input, StackInput::waited);
  EXPECT_DOUBLE_EQ(eager["compute_efficiency"], 0.3);
  EXPECT_DOUBLE_EQ(with_stack(eager, "compiled")["compute_efficiency"], 0.5);
  EXPECT_EQ(with_stack(eager, "").stack().name, "eager");
  EXPECT_THAT([&] { with_stack(toy, "eagre"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("no stack 'eagre'"),
                                             HasSubstr("did you mean 'eager'"),
                                             HasSubstr("it has compiled, eager"))));
}

TEST(Description, a_stack_that_cannot_be_read_is_refused_with_what_it_may_say) {
  const auto with = [](const std::string& what, const std::string& by) {
    return error_of(std::string(kToy) + replaced(kStacks, what, by));
  };
  EXPECT_THAT(with("stored: fused", "stored: some"),
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("'stored' is 'some'"), HasSubstr("every_op, in_place, fused"))));
  EXPECT_THAT(with("compute_efficiency", "memory"),
              ThrowsMessage<UserError>(AllOf(HasSubstr("there is no"), HasSubstr("'memory'"))));
  EXPECT_THAT(error_of(std::string(kToy) + "stacks: fast\n"),
              ThrowsMessage<UserError>(HasSubstr("must be a list")));
}

TEST(TrackRecord, an_error_is_the_root_mean_square_widened_for_few_rows) {
  EXPECT_EQ(past_error(std::vector<Deviation>{}), std::nullopt);
  const auto one = past_error({{.row = "a", .group = "toy", .predicted_to_published = 1.1}});
  EXPECT_NEAR(one->factor, std::pow(1.1, 6.314), 1e-9);
  EXPECT_NEAR(one->bias, 0.1, 1e-9);
  const auto two = past_error({{.row = "a", .group = "toy", .predicted_to_published = 1.2},
                               {.row = "b", .group = "toy", .predicted_to_published = 1 / 1.2}});
  EXPECT_NEAR(two->factor, std::pow(1.2, 2.920), 1e-9);
  EXPECT_NEAR(two->bias, 0, 1e-9);
}

TEST(TrackRecord, says_so_where_there_is_no_figure_to_check_against) {
  EXPECT_THAT(to_string(std::nullopt, Judged::training), HasSubstr("no figure to check training"));
  Description toy = parse_description(kToy, "toy.yaml", target::machine_families());
  toy.judged_with = "nobody";
  EXPECT_EQ(past_error(toy, Judged::training), std::nullopt);
  EXPECT_EQ(past_error(toy, Judged::memory), std::nullopt);
}

TEST(TrackRecord, a_file_that_is_none_is_refused_by_line) {
  EXPECT_THAT([] { parse_track_record("- {row: a, judged_with: b, of: luck}", "r.yaml"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("r.yaml:1"), HasSubstr("'luck'"))));
  EXPECT_THAT([] { parse_track_record("row: a", "r.yaml"); },
              ThrowsMessage<UserError>(HasSubstr("a list of rows")));
  EXPECT_THAT(
      [] {
        parse_track_record("- {row: a, judged_with: b, of: memory, predicted_to_published: 0}",
                           "r.yaml");
      },
      ThrowsMessage<UserError>(HasSubstr("positive number")));
}

TEST(Description, links_stand_from_the_nearest_to_the_farthest_and_their_hops_are_unknowns) {
  const Description toy =
      parse_description(std::string(kToy) + kLinks, "toy.yaml", target::machine_families());
  ASSERT_EQ(toy.links.size(), 2U);
  EXPECT_EQ(toy.links[0].joins, 4);
  EXPECT_EQ(toy.links[1].joins, std::nullopt);
  EXPECT_DOUBLE_EQ(toy.links[1].bandwidth.value, 10e9);
  EXPECT_DOUBLE_EQ(toy["node_hop_time"], 5e-6);
  EXPECT_DOUBLE_EQ(with_unknown(toy, "network_hop_time", 1)["network_hop_time"], 1);
}

TEST(Description, a_link_says_how_gradients_go_over_it) {
  const std::string direct = std::string(kToy) + kLinks +
                             "    exchange: direct\n    announced_above: {value: 64, unit: KiB, "
                             "status: published, source: a test}\n";
  const Description toy = parse_description(direct, "toy.yaml", target::machine_families());
  EXPECT_EQ(toy.links[0].exchange, Exchange::ring);
  EXPECT_EQ(toy.links[1].exchange, Exchange::direct);
  ASSERT_TRUE(toy.links[1].announced_above);
  EXPECT_DOUBLE_EQ(toy.links[1].announced_above->value, 65536);
  const Description again =
      parse_description(to_yaml(toy), "again.yaml", target::machine_families());
  EXPECT_EQ(again.links[1].exchange, Exchange::direct);
  EXPECT_DOUBLE_EQ(again.links[1].announced_above->value, 65536);
  EXPECT_THAT(error_of(replaced(direct, "exchange: direct", "exchange: star")),
              ThrowsMessage<UserError>(HasSubstr("it must be one of: ring, direct")));
  EXPECT_THAT(error_of(replaced(direct, "exchange: direct", "exchange: ring")),
              ThrowsMessage<UserError>(HasSubstr(
                  "'announced_above' of a link with exchange: ring (the cost of its messages is "
                  "the hop time alone); leave it out")));
}

TEST(Description, a_link_that_joins_no_more_than_the_one_before_is_refused) {
  EXPECT_THAT(error_of(std::string(kToy) + replaced(kLinks, "joins: 4", "joins: 1")),
              ThrowsMessage<UserError>(HasSubstr("'joins' is 1")));
  EXPECT_THAT(error_of(std::string(kToy) + replaced(kLinks, "joins: 4", "joins: some")),
              ThrowsMessage<UserError>(HasSubstr("'joins' must be a whole number")));
  EXPECT_THAT(error_of(std::string(kToy) + replaced(kLinks, "    joins: 4\n", "")),
              ThrowsMessage<UserError>(HasSubstr("joins any number of machines")));
  EXPECT_THAT(error_of(std::string(kToy) +
                       replaced(kLinks, "    hop_time: {default: 5,", "    hop_tme: {default: 5,")),
              ThrowsMessage<UserError>(HasSubstr("did you mean 'hop_time'")));
  EXPECT_THAT(error_of(std::string(kToy) + "links: fast\n"),
              ThrowsMessage<UserError>(HasSubstr("must be a list")));
}

TEST(Description, an_unknown_family_and_text_that_is_not_yaml_are_refused) {
  EXPECT_THAT(error_of(replaced(kToy, "roofline", "abacus")),
              ThrowsMessage<UserError>(AllOf(HasSubstr("abacus"), HasSubstr("roofline"))));
  EXPECT_THAT(error_of("name: [unclosed"), ThrowsMessage<UserError>(HasSubstr("not YAML")));
  EXPECT_THAT(error_of("just a word"), ThrowsMessage<UserError>(HasSubstr("must be a map")));
}

TEST(MachineLibrary, every_shipped_description_parses_and_lists_unknowns_with_a_range) {
  std::set<const Family*> families;
  for (const std::string& name : built_in_machines()) {
    SCOPED_TRACE(name);
    const Description machine = target::find_machine(name);
    families.insert(machine.family);
    EXPECT_FALSE(machine.about.empty());
    for (const Figure& figure : machine.figures) {
      EXPECT_TRUE(figure.status == Status::published || figure.status == Status::derived)
          << figure.name << " has no range";
    }
    for (const Unknown& unknown : machine.unknowns) {
      EXPECT_EQ(unknown.figure.status == Status::calibrated, !unknown.figure.fitted_to.empty())
          << unknown.figure.name;
    }
    for (const Stack& stack : machine.stacks) {
      EXPECT_FALSE(stack.source.empty());
      EXPECT_EQ(with_stack(machine, stack.name).stack().name, stack.name);
    }
  }
  EXPECT_EQ(built_in_machines().size(), 16U);
  EXPECT_EQ(families.size(), 4U);
}

TEST(MachineLibrary, derived_peaks_are_those_of_the_vendors) {
  const auto peak = [](const Description& m, const char* units) {
    return 2 * m["tiles"] * m["half_depth"] * m[units] / m["half_block_cycles"] * m["clock"];
  };
  EXPECT_NEAR(peak(target::find_machine("gc200"), "half_units"), 250e12, 1e12);
  EXPECT_NEAR(peak(target::find_machine("gc200"), "half_float_units"), 125e12, 1e12);
  EXPECT_NEAR(peak(target::find_machine("bow"), "half_units"), 350e12, 2e12);
  const Description gaudi2 = target::find_machine("gaudi2");
  EXPECT_NEAR(2 * gaudi2["matrix_outputs_half"] * gaudi2["clock"], 432.5e12, 0.1e12);
}

TEST(MachineLibrary, names_are_found_in_any_case_and_the_nearest_is_offered) {
  EXPECT_EQ(target::find_machine("GC200").name, "GC200");
  EXPECT_THAT([] { target::find_machine("gaudi3"); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("no machine 'gaudi3'"), HasSubstr("did you mean 'gaudi1'"))));
}

TEST(MachineLibrary, a_machine_of_ones_own_is_read_from_a_file) {
  const ScratchFolder folder("machine");
  const std::filesystem::path path = folder / "toy.yaml";
  std::ofstream(path) << kToy;
  EXPECT_EQ(target::find_machine(path.string()).name, "Toy");
  EXPECT_THAT([] { target::find_machine("nowhere/toy.yaml"); },
              ThrowsMessage<UserError>(HasSubstr("no such file")));
}

}  // namespace
}  // namespace cosmic::machine
