// The lines of SPEC 10.4, character by character.
#include "output/report_lines.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "output/number_text.hpp"

namespace cosmic::output {
namespace {

using testing::ElementsAre;

TEST(SignificantDigits, are_those_of_the_reference) {
  // Each pair was printed by Python's format(value, ".3") or format(value, ".2").
  EXPECT_EQ(significant_digits(0.166, 3), "0.166");
  EXPECT_EQ(significant_digits(0.000832, 3), "0.000832");
  EXPECT_EQ(significant_digits(0.2, 3), "0.2");
  EXPECT_EQ(significant_digits(3.9, 3), "3.9");
  EXPECT_EQ(significant_digits(1.0, 3), "1.0");
  EXPECT_EQ(significant_digits(0.9996, 3), "1.0");
  EXPECT_EQ(significant_digits(12.0, 3), "12.0");
  EXPECT_EQ(significant_digits(99.95, 3), "1e+02");
  EXPECT_EQ(significant_digits(999.0, 3), "9.99e+02");
  EXPECT_EQ(significant_digits(0.0, 3), "0.0");
  EXPECT_EQ(significant_digits(-0.5, 3), "-0.5");
  EXPECT_EQ(significant_digits(0.00002, 3), "2e-05");
  EXPECT_EQ(significant_digits(51.0, 2), "5.1e+01");
  EXPECT_EQ(significant_digits(0.166, 2), "0.17");
  EXPECT_EQ(significant_digits(0.999, 2), "1.0");
  EXPECT_EQ(significant_digits(-std::nan(""), 3), "nan");
  EXPECT_EQ(significant_digits(-INFINITY, 3), "-inf");
}

TEST(MetricsLine, of_the_first_training_step_has_no_rate) {
  const Metrics metrics{{"loss", 3.9},
                        {"Average/Total_Accuracy", 0.9},
                        {"Average/Non_Bkg_Accuracy", 0.166},
                        {"Average/mIoU", 0.00215},
                        {"plane0/mIoU", 0.5}};
  EXPECT_EQ(metrics_line(Series::train, 0, metrics, {.io_seconds = 0.021, .step_seconds = 0.056}),
            "train Step 0 metrics: Average/Non_Bkg_Accuracy: 0.166, Average/mIoU: 0.00215, "
            "loss: 3.9 (0.021 IOs / 0.056 (Step)(s))");
}

TEST(MetricsLine, of_later_steps_has_rate_and_times) {
  const Metrics metrics{
      {"loss", 3.92}, {"Average/Non_Bkg_Accuracy", 0.196}, {"Average/mIoU", 0.00297}};
  EXPECT_EQ(metrics_line(Series::train, 1, metrics,
                         {.images_per_second = 0.15, .io_seconds = 0.036, .step_seconds = 0.046}),
            "train Step 1 metrics: Average/Non_Bkg_Accuracy: 0.196, Average/mIoU: 0.00297, "
            "loss: 3.92 (0.15 Img/s / 0.036 IOs / 0.046 (Step)(s))");
}

TEST(MetricsLine, of_validation_has_a_rate_and_of_inference_nothing) {
  const Metrics test{
      {"loss", 3.81}, {"Average/Non_Bkg_Accuracy", 0.166}, {"Average/mIoU", 0.00335}};
  EXPECT_EQ(metrics_line(Series::test, 10, test, {.images_per_second = 0.41}),
            "test Step 10 metrics: Average/Non_Bkg_Accuracy: 0.166, Average/mIoU: 0.00335, "
            "loss: 3.81 (0.41 Img/s)");
  const Metrics ana{{"Average/Non_Bkg_Accuracy", 0.503}, {"Average/mIoU", 0.222}};
  EXPECT_EQ(metrics_line(Series::ana, 16, ana),
            "ana Step 16 metrics: Average/Non_Bkg_Accuracy: 0.503, Average/mIoU: 0.222");
}

TEST(InferenceReport, has_a_line_per_metric) {
  EXPECT_THAT(inference_report(3, 6, {{"Average/Total_Accuracy", 0.33352}, {"plane2/mIoU", 1}}),
              ElementsAre("Inference report: 3 batches processed for 6 entries.",
                          "  Average/Total_Accuracy: 0.3335", "  plane2/mIoU: 1.0000"));
}

IterationTimes times_of(const std::vector<double>& seconds) {
  const auto last = seconds.end() - std::min<std::ptrdiff_t>(std::ssize(seconds), 40);
  const auto first = seconds.begin() + std::min<std::ptrdiff_t>(std::ssize(seconds), 2);
  return {std::ssize(seconds),
          std::accumulate(seconds.begin(), seconds.end(), 0.0),
          {seconds.begin(), first},
          {last, seconds.end()}};
}

TEST(ThroughputLines, leave_out_the_first_iterations) {
  EXPECT_THAT(
      throughput_lines(times_of({10, 2, 0.5, 0.25, 0.25}), 2, Provenance::measured),
      ElementsAre("Total time to batch_process: 13.0000",
                  "Total time to batch process except first iteration: 3.0000, throughput: 2.6667",
                  "Total time to batch process except first two iterations: 1.0000, "
                  "throughput: 6.0000"));
}

TEST(ThroughputLines, of_long_runs_tell_the_last_forty) {
  std::vector<double> seconds(41, 0.5);
  seconds.front() = 100;
  EXPECT_EQ(throughput_lines(times_of(seconds), 4, Provenance::measured).back(),
            "Total time to batch process last 40 iterations: 20.0000, throughput: 8.0000");
  seconds.pop_back();
  EXPECT_EQ(throughput_lines(times_of(seconds), 4, Provenance::measured).size(), 3U);
}

TEST(ThroughputLines, of_very_short_runs_say_only_what_is_known) {
  EXPECT_THAT(throughput_lines({}, 2, Provenance::measured),
              ElementsAre("Total time to batch_process: 0.0000"));
  EXPECT_EQ(throughput_lines(times_of({1}), 2, Provenance::measured).size(), 1U);
  EXPECT_EQ(throughput_lines(times_of({1, 1}), 2, Provenance::measured).size(), 2U);
}

}  // namespace
}  // namespace cosmic::output
