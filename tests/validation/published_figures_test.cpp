// Predictions against figures that others published or that were measured here. How far they may be
// off is not fixed here but recorded: these tests see to it that the page, the record of past
// errors and the fitted constants are what the rows give.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "model/published_networks.hpp"
#include "session/modelled_program.hpp"
#include "validation/comparisons.hpp"
#include "validation/fitting.hpp"
#include "validation/models_page.hpp"

namespace cosmic::validation {
namespace {

const std::vector<PreparedRow>& prepared() {
  static const std::vector<PreparedRow> all = prepared_rows();
  return all;
}

const std::vector<FigureRow>& rows() {
  static const std::vector<FigureRow> all = figure_rows(prepared());
  return all;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PublishedFigures, resnet50_is_resnet50) {
  const model::PublishedNetwork resnet = model::find_published_network("resnet50");
  const graph::Graph graph = session::inference_program(*resnet.network, {1, 3, 224, 224}, {});
  double flops = 0;
  graph::for_each_node(graph, [&](graph::ValueId id, const graph::Node& node) {
    flops += graph::op_if<graph::Conv>(node) ? graph::cost_of(graph, id).flops : 0;
  });
  EXPECT_NEAR(flops / (2 * 4.09e9), 1, 0.02);  // multiply-adds of its convolutions, well known
}

TEST(PublishedFigures, every_row_has_an_id_of_its_own_and_a_source) {
  std::set<std::string> ids;
  for (const RowSpec& spec : row_specs()) {
    EXPECT_TRUE(ids.insert(spec.id).second) << spec.id;
    EXPECT_FALSE(spec.source.empty()) << spec.id;
  }
  EXPECT_GT(ids.size(), 150U);
}

TEST(PublishedFigures, resnet50_on_gaudi_is_within_25_percent_without_fitting) {
  for (const char* id :
       {"gaudi1-1", "gaudi1-8", "gaudi1-16", "gaudi1-32", "g1-g2-g6", "g7", "g8-g15"}) {
    EXPECT_LE(std::abs(row(rows(), id).error()), 0.25) << id;
    EXPECT_TRUE(row(rows(), id).fitted.empty());
  }
}

TEST(PublishedFigures, resnet50_on_other_pods_than_the_fitted_ones_is_within_25_percent) {
  for (const char* id : {"i2", "i6", "i7", "i8", "resnet-pod256"}) {
    EXPECT_LE(std::abs(row(rows(), id).error()), 0.25) << id;
  }
}

TEST(PublishedFigures, nine_of_ten_rows_that_judge_are_inside_their_bars) {
  std::size_t judging = 0;
  std::size_t inside = 0;
  for (const FigureRow& row : rows()) {
    judging += row.judges() ? 1 : 0;
    inside += row.judges() && row.inside() ? 1 : 0;
  }
  EXPECT_GE(static_cast<double>(inside), 0.9 * static_cast<double>(judging));
}

TEST(PublishedFigures, what_a_gaudi1_logged_is_not_said_to_be_less) {
  const FigureRow& memory = row(rows(), "tagger-memory");
  EXPECT_GE(memory.predicted, memory.spec.figure);
  EXPECT_LE(std::abs(memory.error()), 0.1);
}

TEST(FittedConstants, are_what_fitting_to_their_rows_gives) {
  const Constants shipped = shipped_constants(prepared());
  std::vector<Constant> all;
  for (const auto& [constant, value] : shipped) {
    all.push_back(constant);
  }
  ASSERT_GT(all.size(), 10U);
  for (const auto& [constant, value] : fit(prepared(), shipped, all, "")) {
    EXPECT_NEAR(value / shipped.at(constant), 1, 0.03)
        << constant.name << " of " << constant.rows.front()
        << ": run models_page --fit and correct machines/*.yaml";
  }
}

TEST(FittedConstants, do_not_know_the_row_that_is_left_out) {
  for (const FigureRow& row : rows()) {
    if (row.left_out) {
      EXPECT_FALSE(row.fitted.empty()) << row.spec.id;
    }
    if (row.fitted.empty()) {
      EXPECT_EQ(row.held_out(), row.predicted) << row.spec.id;
    }
  }
}

TEST(TrackRecord, is_what_the_command_writes) {
  EXPECT_EQ(text_of("machines/track_record.yaml"), record_text(rows()))
      << "machines/track_record.yaml is out of date: write it again as docs/models.md says";
}

TEST(ModelsPage, is_what_the_command_writes) {
  EXPECT_EQ(text_of("docs/models.md"), models_page(prepared(), rows()))
      << "docs/models.md is out of date: write it again with the commands at its beginning";
}

}  // namespace
}  // namespace cosmic::validation
