#include "report/evaluation/training_curve.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "scratch_folder.hpp"

namespace cosmic::report::evaluation {
namespace {

class Curve : public testing::Test {
 protected:
  TrainingCurve read(const std::string& train_metrics) {
    std::ofstream(folder_ / "train_metrics.csv") << train_metrics;
    return read_training_curve(folder_.path() / "checkpoints" / "model-3");
  }

  ScratchFolder folder_{"curve"};
};

TEST_F(Curve, is_read_from_the_columns_of_the_run) {
  const TrainingCurve curve =
      read("step,loss,Average/Total_Accuracy,Average/mIoU\n0,3.5,0.9,0.1\n1,2.5,0.9,0.25\n");
  ASSERT_EQ(curve.training.size(), 2U);
  EXPECT_EQ(curve.training[1].step, 1);
  EXPECT_EQ(curve.training[1].loss, 2.5);
  EXPECT_EQ(curve.training[1].mean_iou, 0.25);
  EXPECT_TRUE(curve.validation.empty());
}

TEST_F(Curve, leaves_out_rows_that_are_no_numbers) {
  const TrainingCurve curve =
      read("step,loss,Average/mIoU\n0,nan,0.1\nx,1,1\n1,1\n2,1.5,0.5\n3,1.");
  ASSERT_EQ(curve.training.size(), 1U);
  EXPECT_EQ(curve.training[0].step, 2);
}

TEST_F(Curve, is_empty_without_files_or_columns) {
  EXPECT_TRUE(read_training_curve(folder_ / "model-1").training.empty());
  EXPECT_TRUE(read("").training.empty());
  EXPECT_TRUE(read("a,b,c\n1,2,3\n").training.empty());
}

TEST(ThinnedCurve, is_made_of_means) {
  std::vector<CurvePoint> curve;
  for (std::int64_t step = 0; step < 10; ++step) {
    curve.push_back({step, static_cast<double>(step), 1});
  }
  const std::vector<CurvePoint> thin = thinned(curve, 2);
  ASSERT_EQ(thin.size(), 2U);
  EXPECT_EQ(thin[0].step, 2);
  EXPECT_EQ(thin[0].loss, 2);
  EXPECT_EQ(thin[1].loss, 7);
  EXPECT_EQ(thin[1].mean_iou, 1);
  EXPECT_EQ(thinned(curve, 20).size(), 10U);
}

}  // namespace
}  // namespace cosmic::report::evaluation
