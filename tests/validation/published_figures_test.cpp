// Predictions against figures that others published or that were measured here, with the error that
// is allowed. Rows that a description was fitted to only say that the fit still holds.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "session/modelled_program.hpp"
#include "validation/comparisons.hpp"
#include "validation/models_page.hpp"
#include "validation/published_networks.hpp"

namespace cosmic::validation {
namespace {

const std::vector<FigureRow>& rows() {
  static const std::vector<FigureRow> all = figure_rows();
  return all;
}

void expect_within(double tolerance, const std::string& id) {
  const FigureRow& compared = row(rows(), id);
  EXPECT_LE(std::abs(compared.error()), tolerance)
      << compared.workload << " on " << compared.machine << ": predicted " << compared.predicted
      << ", published " << compared.figure;
}

TEST(PublishedFigures, resnet50_on_bow_is_what_the_efficiency_was_calibrated_with) {
  expect_within(0.1, "resnet-bow");
}

TEST(PublishedFigures, resnet50_on_bow_of_another_framework_is_within_30_percent) {
  expect_within(0.3, "resnet-pod16");
  expect_within(0.3, "resnet-pod64");
  expect_within(0.3, "resnet-pod256");
}

TEST(PublishedFigures, resnet50_on_gaudi1_is_within_30_percent_without_calibration) {
  for (const char* cards : {"1", "8", "16", "32"}) {
    expect_within(0.3, std::string("resnet-gaudi1-") + cards);
    EXPECT_TRUE(row(rows(), std::string("resnet-gaudi1-") + cards).calibrated.empty());
  }
}

TEST(PublishedFigures, resnet50_is_resnet50) {
  const graph::Graph graph = session::inference_program(ResNet50(), {1, 3, 224, 224}, {});
  double flops = 0;
  graph::for_each_node(graph, [&](graph::ValueId id, const graph::Node& node) {
    flops += graph::op_if<graph::Conv>(node) ? graph::cost_of(graph, id).flops : 0;
  });
  EXPECT_NEAR(flops / (2 * 4.09e9), 1, 0.02);  // multiply-adds of its convolutions, well known
}

TEST(PublishedFigures, small_cnn_at_128_is_within_30_percent_with_data_from_anywhere) {
  for (const char* id :
       {"small-cnn-synthetic", "small-cnn-real", "small-cnn-2-synthetic", "small-cnn-2-real"}) {
    expect_within(0.3, id);
  }
}

TEST(PublishedFigures, fashion_mnist_on_gc200_is_what_the_host_call_was_calibrated_with) {
  expect_within(0.1, "fashion-mnist");
}

TEST(PublishedFigures, cosmic_tagger_of_2023_takes_the_memory_that_a_gaudi1_logged) {
  expect_within(0.1, "tagger-memory");
}

TEST(PublishedFigures, unet_572_trains_on_four_ipus_not_on_one_and_infers_on_one) {
  const std::vector<FitRow> fits = fit_rows();
  ASSERT_EQ(fits.size(), 3U);
  for (const FitRow& compared : fits) {
    SCOPED_TRACE(compared.workload + " on " + compared.machine);
    EXPECT_TRUE(compared.right());
    EXPECT_EQ(compared.verdict.needed < compared.verdict.available, compared.published_fits);
    if (compared.published_fits) {
      EXPECT_EQ(compared.predicted, machine::Fit::yes);
    }
  }
}

TEST(PublishedFigures, unet_on_half_an_sn30_reaches_about_the_least_its_users_expect) {
  const FigureRow& unet = row(rows(), "unet-sn30");
  EXPECT_LT(unet.low, unet.figure);
  EXPECT_GT(unet.high, unet.figure);
}

TEST(PublishedFigures, cosmic_tagger_on_two_cores_is_within_30_percent_with_one_calibrated_number) {
  for (const char* id :
       {"cores-a21-train", "cores-a21-infer", "cores-uresnet-train", "cores-uresnet-infer"}) {
    expect_within(0.3, id);
  }
}

TEST(PublishedFigures, what_was_measured_on_an_h200_is_inside_the_error_bar) {
  int compared = 0;
  for (const FigureRow& measured : rows()) {
    if (measured.topic == Topic::gpu) {
      EXPECT_LE(measured.low, measured.figure) << measured.id;
      EXPECT_GE(measured.high, measured.figure) << measured.id;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 6);
}

TEST(ModelsPage, is_what_the_command_writes) {
  std::ifstream file("docs/models.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), models_page())
      << "docs/models.md is out of date: write it again with the command at its beginning";
}

}  // namespace
}  // namespace cosmic::validation
