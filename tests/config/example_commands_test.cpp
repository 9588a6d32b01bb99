// The command lines that the documentation of the reference and its ports give (SPEC 12.4), without
// launcher and program name, on the CPU instead of their machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/parsed.hpp"

namespace cosmic::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ExampleCommands, one_step_on_the_cpu) {
  const Resolved r = parsed(
      "mode=train run.id=01 run.distributed=False data.data_directory=files/ framework=torch "
      "run.compute_mode=CPU run.minibatch_size=1 run.iterations=1 run.precision=3");
  const Configuration& c = r.configuration;
  EXPECT_EQ(c.mode.name, Mode::train);
  EXPECT_EQ(c.run.id, "01");
  EXPECT_FALSE(c.run.distributed);
  EXPECT_THAT(c.data.file_paths(), ElementsAre("files/cosmic_tagging_train.h5"));
  EXPECT_EQ(c.run.minibatch_size, 1);
  EXPECT_EQ(c.run.iterations, 1);
  EXPECT_EQ(c.run.precision, Precision::float16);
  EXPECT_EQ(c.output_dir, "output/torch/uresnet/01/");
  EXPECT_THAT(r.notes, IsEmpty());
}

TEST(ExampleCommands, the_sample_file_for_training_and_validation) {
  const Resolved r = parsed(
      "mode=train run.id=200 framework=torch run.compute_mode=CPU run.distributed=False "
      "data.data_directory=files/ data.file=cosmic_tagging_light.h5 "
      "data.aux_file=cosmic_tagging_light.h5");
  EXPECT_THAT(r.configuration.data.file_paths(), ElementsAre("files/cosmic_tagging_light.h5"));
  EXPECT_THAT(r.configuration.data.aux_file_paths(), ElementsAre("files/cosmic_tagging_light.h5"));
  EXPECT_THAT(r.notes, IsEmpty());
}

TEST(ExampleCommands, a_recipe_whose_data_is_replaced) {
  const Resolved r = parsed(
      "--config-name=a21 mode=train run.id=01 run.distributed=False data=real "
      "data.data_directory=files/ framework=torch run.compute_mode=CPU run.precision=3 "
      "hydra/job_logging=disabled");
  EXPECT_EQ(r.configuration.network, model::preset("a21"));
  EXPECT_FALSE(r.configuration.data.synthetic);
  EXPECT_EQ(r.configuration.data.downsample, 1);
  EXPECT_EQ(r.configuration.output_dir, "output/torch/A21/01/");
  EXPECT_THAT(r.notes, ElementsAre(HasSubstr("hydra/job_logging=disabled")));
}

TEST(ExampleCommands, eight_ranks) {
  const Resolved r = parsed(
      "mode=train run.id='fp16_10x1' run.distributed=True data.data_directory=files/ "
      "framework=torch run.compute_mode=CPU run.minibatch_size=8 run.iterations=10 "
      "run.precision=3");
  EXPECT_EQ(r.configuration.run.id, "fp16_10x1");
  EXPECT_TRUE(r.configuration.run.distributed);
  EXPECT_EQ(r.configuration.run.minibatch_size, 8);
  EXPECT_THAT(r.notes, IsEmpty());
}

TEST(ExampleCommands, full_resolution) {
  const Resolved r = parsed(
      "mode=train run.id=bfloat16_2x10_1 run.distributed=False data.data_directory=files/ "
      "data.downsample=0 framework=torch run.compute_mode=CPU run.minibatch_size=2 "
      "run.iterations=10 run.precision=3");
  EXPECT_EQ(r.configuration.data.downsample, 0);
  EXPECT_EQ(r.configuration.run.iterations, 10);
  EXPECT_THAT(r.notes, IsEmpty());
}

TEST(ExampleCommands, instances_of_a_launcher) {
  const Resolved r = parsed(
      "mode=train run.id=popdist run.distributed=False data.data_directory=files/ framework=torch "
      "run.compute_mode=CPU run.minibatch_size=2 run.iterations=10 run.precision=3");
  EXPECT_EQ(r.configuration.run.id, "popdist");
  EXPECT_THAT(r.notes, IsEmpty());
}

TEST(ExampleCommands, a_long_training_of_many_ranks) {
  const Resolved r = parsed(
      "--config-name a21 data=real data.downsample=1 data.data_directory=files/ framework=torch "
      "framework.distributed_mode=DDP run.id=long run.distributed=True run.minibatch_size=64 "
      "run.precision=mixed run.compute_mode=CPU mode.optimizer.loss_balance_scheme=light "
      "run.iterations=5000 output_dir=results/");
  const Configuration& c = r.configuration;
  EXPECT_EQ(c.network, model::preset("a21"));
  EXPECT_EQ(c.run.precision, Precision::mixed);
  EXPECT_TRUE(c.run.distributed);
  EXPECT_EQ(c.mode.optimizer.loss_balance_scheme, model::BalanceScheme::light);
  EXPECT_EQ(c.run.iterations, 5000);
  EXPECT_EQ(c.output_dir, "results/");
  EXPECT_THAT(r.notes, IsEmpty());
}

}  // namespace
}  // namespace cosmic::config
