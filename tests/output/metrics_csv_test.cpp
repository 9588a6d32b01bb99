#include "output/metrics_csv.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "core/error.hpp"
#include "scratch_folder.hpp"

namespace cosmic::output {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class MetricsCsvTest : public testing::Test {
 protected:
  ScratchFolder folder_;
  std::filesystem::path path_ = metrics_csv_path(folder_.path(), Series::train);

  void add_steps(std::int64_t first, std::int64_t end) {
    MetricsCsv csv(path_, first);
    for (std::int64_t step = first; step < end; ++step) {
      csv.add(step, {{"loss", 0.5 * static_cast<double>(step)}, {"Average/mIoU", 1.0 / 3}});
    }
  }
};

TEST_F(MetricsCsvTest, has_the_header_and_the_numbers_of_the_reference) {
  EXPECT_EQ(path_.filename(), "train_metrics.csv");
  add_steps(0, 2);
  EXPECT_EQ(content_of(path_),
            "step,loss,Average/mIoU\n"
            "0,0.00000,0.33333\n"
            "1,0.50000,0.33333\n");
}

TEST_F(MetricsCsvTest, are_kept_aside_whole_where_a_run_goes_back) {
  add_steps(0, 5);
  const std::string all = content_of(path_);
  EXPECT_EQ(set_metrics_aside(path_, 5), std::nullopt) << "nothing would be lost";
  EXPECT_EQ(set_metrics_aside(path_, 2), folder_ / "train_metrics.aside-1.csv");
  add_steps(2, 3);
  EXPECT_EQ(set_metrics_aside(path_, 1), folder_ / "train_metrics.aside-2.csv");
  EXPECT_EQ(content_of(folder_ / "train_metrics.aside-1.csv"), all);
  EXPECT_EQ(set_metrics_aside(folder_ / "none.csv", 0), std::nullopt);
}

TEST_F(MetricsCsvTest, writes_numbers_that_are_none_without_a_sign) {
  MetricsCsv(path_).add(3, {{"a", std::nan("")}, {"b", -std::nan("")}, {"c", INFINITY}});
  EXPECT_EQ(content_of(path_), "step,a,b,c\n3,nan,nan,inf\n");
}

TEST_F(MetricsCsvTest, each_row_is_in_the_file_at_once) {
  MetricsCsv csv(path_);
  csv.add(0, {{"loss", 1}});
  EXPECT_EQ(content_of(path_), "step,loss\n0,1.00000\n");
}

TEST_F(MetricsCsvTest, restart_keeps_the_rows_before_it_and_drops_the_others) {
  add_steps(0, 12);
  const std::string uninterrupted = content_of(path_);
  add_steps(0, 9);  // the first attempt went on after its checkpoint at 5
  add_steps(5, 12);
  EXPECT_EQ(content_of(path_), uninterrupted);
}

TEST_F(MetricsCsvTest, other_columns_are_refused_before_anything_is_dropped) {
  add_steps(0, 4);
  const std::string before = content_of(path_);
  EXPECT_THAT(
      [&] {
        MetricsCsv::require_same_columns(path_, 2, {{"loss", 0}});
      },
      ThrowsMessage<UserError>(HasSubstr("step,loss")));
  EXPECT_EQ(content_of(path_), before);
  EXPECT_NO_THROW(MetricsCsv::require_same_columns(path_, 2, {{"loss", 0}, {"Average/mIoU", 0}}));
  EXPECT_NO_THROW(MetricsCsv::require_same_columns(path_, 0, {{"loss", 0}}));  // keeps no row
  EXPECT_NO_THROW(MetricsCsv::require_same_columns(folder_ / "none", 2, {{"loss", 0}}));
}

TEST_F(MetricsCsvTest, of_a_whole_run_appears_when_it_is_complete) {
  {
    WholeMetricsCsv given_up(path_, Existing::refuse);
    given_up.add(0, {{"loss", 1}});
  }
  EXPECT_THAT(folder_.names(), testing::IsEmpty());
  WholeMetricsCsv csv(path_, Existing::refuse);
  csv.add(0, {{"loss", 1}});
  csv.add(1, {{"loss", 2}});
  EXPECT_FALSE(std::filesystem::exists(path_));
  csv.commit();
  EXPECT_EQ(content_of(path_), "step,loss\n0,1.00000\n1,2.00000\n");
}

TEST_F(MetricsCsvTest, resuming_drops_later_rows_even_if_nothing_is_added) {
  add_steps(0, 4);
  { const MetricsCsv csv(path_, 2); }
  EXPECT_EQ(content_of(path_), "step,loss,Average/mIoU\n0,0.00000,0.33333\n1,0.50000,0.33333\n");
}

TEST_F(MetricsCsvTest, resuming_drops_a_line_that_was_cut_off) {
  std::ofstream(path_) << "step,loss,Average/mIoU\n0,0.00000,0.33333\n1,0.5";
  add_steps(5, 6);
  EXPECT_EQ(content_of(path_), "step,loss,Average/mIoU\n0,0.00000,0.33333\n5,2.50000,0.33333\n");
}

TEST_F(MetricsCsvTest, new_run_starts_the_file_anew_whatever_its_columns_were) {
  std::ofstream(path_) << "step,other\n0,1.00000\n";
  add_steps(0, 1);
  EXPECT_EQ(content_of(path_), "step,loss,Average/mIoU\n0,0.00000,0.33333\n");
}

TEST_F(MetricsCsvTest, refuses_to_go_on_under_other_columns) {
  std::ofstream(path_) << "step,other\n0,1.00000\n";
  EXPECT_THAT([&] { add_steps(1, 2); }, ThrowsMessage<UserError>(AllOf(
                                            HasSubstr("train_metrics.csv"), HasSubstr("step,other"),
                                            HasSubstr("step,loss,Average/mIoU"))));
  EXPECT_EQ(content_of(path_), "step,other\n0,1.00000\n");
}

}  // namespace
}  // namespace cosmic::output
