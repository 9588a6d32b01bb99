#include "report/prediction/prediction_page.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "graph/builder.hpp"
#include "report/page/well_formed.hpp"
#include "report/prediction/prediction_json.hpp"
#include "target/registry.hpp"
#include "unmarked_figures.hpp"

namespace cosmic::report::prediction {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A product and what an autodiff would make of it, with an update.
void add_layer(graph::Builder& g, const std::string& name, graph::ValueId x, graph::ValueId rate) {
  const graph::Builder::Scope scope(g, name);
  const graph::ValueId weight = g.parameter("weight", {256, 256}, graph::Initializer::constant(0));
  const graph::ValueId y = g.add(graph::LeakyRelu{}, {g.add(graph::MatMul{}, {x, weight})});
  const graph::ValueId gradient = g.add(graph::MatMul{.a = graph::Transposed::yes}, {x, y});
  g.update(weight, g.add(graph::SgdStep{}, {weight, gradient, rate}));
}

graph::Graph small_training(std::int64_t batch) {
  graph::Builder g;
  const graph::ValueId image = g.input("image", {graph::DType::f32, {batch, 256}});
  const graph::ValueId rate = g.input("rate", {graph::DType::f32, {}});
  add_layer(g, "first_layer", image, rate);
  add_layer(g, "second_layer", image, rate);
  return g.take();
}

PredictionReport report_of(const std::string& name, const machine::ExecutionOptions& options = {},
                           std::int64_t batch = 64) {
  PredictionReport report{.machine = target::find_machine(name),
                          .prediction = {},
                          .what_runs = "two <layers>",
                          .events = static_cast<double>(batch)};
  report.prediction = machine::predict(report.machine, small_training(batch), options);
  report.scaling = machine::scaling(
      report.machine,
      [&](int replicas) {
        machine::ExecutionOptions with_replicas = options;
        with_replicas.replicas = replicas;
        return machine::predict(report.machine, small_training(batch), with_replicas);
      },
      report.events);
  report.configuration = "run:\n  id: <run>\n";
  report.date = "2026-01-01 00:00 UTC";
  return report;
}

const machine::ExecutionOptions kPipeline{.accumulation = 8, .pipeline = 2};

std::vector<PredictionReport> reports() {
  return {report_of("bow"), report_of("gc200", kPipeline), report_of("gaudi1"), report_of("sn30"),
          report_of("h200")};
}

TEST(PredictionPage, is_well_formed_and_asks_nothing_of_a_network) {
  for (const PredictionReport& report : reports()) {
    SCOPED_TRACE(report.machine.name);
    const std::string html = to_page(report);
    EXPECT_EQ(page::what_is_malformed(html), "");
    EXPECT_THAT(html, AllOf(Not(HasSubstr("http")), Not(HasSubstr("src=")), Not(HasSubstr("url(")),
                            Not(HasSubstr("@import")), Not(HasSubstr("<script"))));
    EXPECT_THAT(html, AllOf(HasSubstr("two &lt;layers&gt;"), HasSubstr("&lt;run&gt;")));
  }
}

TEST(PredictionPage, every_number_with_a_unit_says_that_it_is_modelled_or_given) {
  EXPECT_THAT(unmarked_figures("<body><p>takes 3 ms</p></body>"), testing::SizeIs(1));
  EXPECT_THAT(unmarked_figures("<body><p class=\"modelled\">takes <b>3 ms</b></p></body>"),
              testing::IsEmpty());
  for (const PredictionReport& report : reports()) {
    SCOPED_TRACE(report.machine.name);
    EXPECT_THAT(unmarked_figures(to_page(report)), testing::IsEmpty());
  }
}

TEST(PredictionPage, says_before_any_figure_that_none_is_measured) {
  const std::string html = to_page(report_of("bow"));
  const std::size_t notice = html.find("Every figure on this page is modelled, none is measured.");
  EXPECT_NE(notice, std::string::npos);
  EXPECT_LT(notice, html.find("id=\"summary\""));
}

TEST(PredictionPage, has_a_pipeline_only_where_there_is_one) {
  EXPECT_THAT(to_page(report_of("bow")), Not(HasSubstr("id=\"pipeline\"")));
  EXPECT_THAT(to_page(report_of("gc200", kPipeline)),
              AllOf(HasSubstr("id=\"pipeline\""), HasSubstr("machine 1"), HasSubstr("backward")));
}

TEST(PredictionPage, a_long_pipeline_shows_its_ramps_and_leaves_out_the_middle) {
  machine::ExecutionOptions options = kPipeline;
  options.accumulation = 1000;
  const std::string html = to_page(report_of("gc200", options));
  EXPECT_THAT(html, HasSubstr("1002 slots for one update"));
  EXPECT_LT(html.size(), 1000000U);
}

TEST(PredictionPage, shows_memory_by_tile_by_section_or_as_a_pool) {
  EXPECT_THAT(to_page(report_of("bow")), AllOf(HasSubstr("A tensor occupies consecutive tiles"),
                                               HasSubstr("In the fullest tile")));
  EXPECT_THAT(to_page(report_of("sn30")),
              AllOf(HasSubstr("Memory by section."), HasSubstr("The longest sections")));
  EXPECT_THAT(to_page(report_of("gaudi1")),
              AllOf(HasSubstr("the memory pool"), Not(HasSubstr("Memory by"))));
}

TEST(PredictionPage, draws_no_map_of_tiles_that_all_hold_the_same) {
  PredictionReport report = report_of("bow");
  EXPECT_THAT(to_page(report), AllOf(HasSubstr("every tile holds nearly the same"),
                                     Not(HasSubstr("Memory by tile."))));
  machine::MemoryPlace& fullest =
      report.prediction.memory_map.places[report.prediction.memory_map.fullest];
  fullest.temporary = machine::ModelledBytes(fullest.temporary.modelled_bytes() +
                                             fullest.needed().modelled_bytes());
  EXPECT_THAT(to_page(report), HasSubstr("Memory by tile."));
}

TEST(PredictionPage, tells_what_stages_hand_on_from_gradients) {
  EXPECT_THAT(to_page(report_of("gc200", kPipeline)), HasSubstr("what stages hand on"));
  EXPECT_THAT(to_page(report_of("gaudi1")), Not(HasSubstr("what stages hand on<")));
}

TEST(PredictionPage, names_layers_unknowns_and_sources) {
  const PredictionReport report = report_of("bow");
  const std::string html = to_page(report);
  EXPECT_THAT(html, AllOf(HasSubstr("first_layer"), HasSubstr("second_layer")));
  for (const machine::Unknown& unknown : report.machine.unknowns) {
    EXPECT_THAT(html, HasSubstr(unknown.figure.name));
  }
}

// --- JSON ---

double sum(const json& list, const char* key) {
  double total = 0;
  for (const json& item : list) {
    total += item.at(key).get<double>();
  }
  return total;
}

TEST(PredictionJson, agrees_with_the_prediction_and_its_parts_add_up) {
  for (const PredictionReport& report : reports()) {
    SCOPED_TRACE(report.machine.name);
    const json page = json::parse(to_json(report));
    const machine::Prediction& p = report.prediction;
    EXPECT_EQ(page.at("provenance"), "modelled");
    const double step = p.step.best.modelled_seconds();
    EXPECT_DOUBLE_EQ(page.at("step").at("modelled_seconds"), step);
    EXPECT_NEAR(sum(page.at("by_bound"), "modelled_seconds"), step, 1e-9 * step);
    EXPECT_DOUBLE_EQ(page.at("memory").at("modelled_bytes"), p.memory.needed.modelled_bytes());
    EXPECT_EQ(page.at("ops").size(), p.ops.size());
    EXPECT_EQ(page.at("unknowns").size(), report.machine.unknowns.size());
    EXPECT_EQ(page.at("scaling").size(), report.scaling.size());
    EXPECT_EQ(page.at("liveness").at("modelled_alive_bytes").size(),
              p.program_memory.over_program.size());
  }
}

TEST(PredictionJson, ops_and_what_belongs_to_none_make_the_step) {
  for (const char* const name : {"bow", "gaudi1", "sn30", "h200"}) {
    SCOPED_TRACE(name);
    const json page =
        json::parse(to_json(report_of(name, {.host_data = machine::HostData::synthetic})));
    double outside = 0;  // one replica without data from the host: calls and launches alone
    for (const json& part : page.at("by_bound")) {
      const std::string bound = part.at("bound");
      outside += bound == "host" ? part.at("modelled_seconds").get<double>() : 0;
    }
    double launches_of_ops = 0;
    const bool whole_recipe = std::string(name) == "gaudi1";
    if (whole_recipe) {
      launches_of_ops = 2 * target::find_machine(name)["launch_time"];
    }
    EXPECT_NEAR(sum(page.at("ops"), "modelled_seconds") + outside + launches_of_ops,
                page.at("step").at("modelled_seconds").get<double>(), 1e-12);
  }
}

TEST(PredictionJson, bytes_of_tiles_add_up_to_the_tensors) {
  const json page = json::parse(to_json(report_of("bow")));
  const json& map = page.at("memory_map");
  EXPECT_EQ(map.at("kind"), "tile");
  EXPECT_EQ(map.at("places").size(), 1472U);
  EXPECT_NEAR(sum(map.at("places"), "modelled_always_live_bytes"),
              page.at("liveness").at("modelled_always_live_bytes").get<double>(), 1e-3);
  const json& fullest = map.at("places").at(map.at("fullest").get<std::size_t>());
  EXPECT_NEAR(sum(map.at("in_fullest"), "modelled_bytes"),
              fullest.at("modelled_always_live_bytes").get<double>() +
                  fullest.at("modelled_transient_bytes").get<double>(),
              1e-6);
}

TEST(PredictionJson, a_pipeline_has_its_stages_and_slots) {
  EXPECT_TRUE(json::parse(to_json(report_of("bow"))).at("pipeline").is_null());
  const PredictionReport report = report_of("gc200", kPipeline);
  const json page = json::parse(to_json(report));
  EXPECT_EQ(page.at("pipeline").at("stages"), 3);
  EXPECT_EQ(page.at("pipeline").at("micro_batches"), 8);
  EXPECT_NEAR(2 * page.at("pipeline").at("modelled_slot_seconds").get<double>(),
              sum(page.at("ops"), "modelled_seconds"), 1e-12);
}

}  // namespace
}  // namespace cosmic::report::prediction
