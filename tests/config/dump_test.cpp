#include "config/dump.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/parsed.hpp"
#include "config/schema.hpp"

namespace cosmic::config {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Dump, looks_as_the_reference_prints_it) {
  const std::string text = dump(parsed("run.id=01 data=synthetic network=a21").configuration);
  EXPECT_THAT(text, StartsWith("data: \n  data_format.................: channels_last\n"));
  EXPECT_THAT(text, HasSubstr("\nmode: \n  checkpoint_iteration........: 500\n"));
  EXPECT_THAT(text, HasSubstr("\n  optimizer: \n"));
  EXPECT_THAT(text, HasSubstr("\n    learning_rate.............: 0.0003\n"));
  EXPECT_THAT(text, HasSubstr("\n    loss_balance_scheme.......: focal\n"));
  EXPECT_THAT(text, HasSubstr("\n  synthetic...................: True\n"));
  EXPECT_THAT(text, HasSubstr("\noutput_dir....................: output/torch/A21/01/\n"));
  EXPECT_THAT(text, HasSubstr("\n  id..........................: 01\n"));
}

TEST(Dump, has_only_the_keys_of_its_mode_and_data) {
  EXPECT_THAT(dump(parsed("run.id=1 mode=iotest").configuration), Not(HasSubstr("optimizer")));
  EXPECT_THAT(dump(parsed("run.id=1 data=synthetic").configuration), Not(HasSubstr("aux_file")));
}

class ReadBack : public testing::TestWithParam<const char*> {};

TEST_P(ReadBack, gives_the_same_configuration) {
  const Configuration before = parsed(GetParam()).configuration;
  EXPECT_EQ(from_yaml(to_yaml(before), "saved.yaml"), before) << to_yaml(before);
}

INSTANTIATE_TEST_SUITE_P(
    Yaml, ReadBack,
    testing::Values(
        "run.id=01", "run.id=true mode=inference", "run.id=1 mode=iotest data=synthetic",
        "run.id=1 data=detector data.threads=4",
        "run.id=null network=uresnet3d framework=tensorflow framework.seed=3",
        "run.id=a:b#c network=polaris network.depth=5 network.name='a\"b\\c'",
        "run.id=1 output_dir=elsewhere/ run.max_time=1h30m",
        "run.id=µ mode.optimizer.learning_rate=0.1 mode.optimizer.beta1=0.30000000000000004",
        "run.id=1 data.file=[a.h5,runs/*.h5] data.aux_file=", "run.id=1 data.file=[\"a,b.h5\"]",
        "run.id=1 mode=inference data.file=['[x]','\"']",
        "run.id=1 mode.optimizer.class_weights.background=0.5",
        "run.id=1 mode.optimizer.name=rmsprop mode.optimizer.schedule=one_cycle",
        "run.id=1 mode.optimizer.name=adamw mode.optimizer.weight_decay=1e-300",
        "run.id=1 run.precision=bfloat16 run.master_weights=false run.rounding=stochastic "
        "run.partials=float16 data.order=shuffled"));

TEST(Yaml, writes_one_file_as_a_text_and_several_as_a_list) {
  EXPECT_THAT(to_yaml(parsed("run.id=1 data.file=a.h5").configuration),
              HasSubstr("\n  file: \"a.h5\"\n"));
  EXPECT_THAT(to_yaml(parsed("run.id=1 data.file=a.h5,b.h5").configuration),
              HasSubstr("\n  file: [\"a.h5\", \"b.h5\"]\n"));
  EXPECT_THAT(dump(parsed("run.id=1 data.file=a.h5,b.h5").configuration),
              HasSubstr("\n  file........................: [a.h5,b.h5]\n"));
}

TEST(Yaml, of_a_run_without_a_name_reads_back) {
  const Configuration before = parsed("", {.missing = MissingKeys::leave}).configuration;
  EXPECT_EQ(from_yaml(to_yaml(before), "saved.yaml"), before);
}

TEST(Yaml, of_one_run_gives_another_run_a_folder_of_its_own) {
  const std::string saved = to_yaml(parsed("run.id=01 network=a21").configuration);
  Configuration copy = from_yaml(saved, "saved.yaml");
  EXPECT_EQ(copy.output_dir, "output/torch/A21/01/");
  EXPECT_THAT(saved, Not(HasSubstr("output_dir")));
  EXPECT_THAT(to_yaml(parsed("run.id=01 output_dir=here").configuration),
              HasSubstr("output_dir: \"here\""));
}

TEST(Configuration, is_found_by_key_as_well_as_by_member) {
  const Configuration c = parsed("run.id=01 run.max_time=2m").configuration;
  EXPECT_EQ(c.get<std::int64_t>("run.minibatch_size"), c.run.minibatch_size);
  EXPECT_EQ(c.get<std::string>("run.id"), "01");
  EXPECT_EQ(c.get<bool>("run.saver"), true);
  EXPECT_EQ(c.get<double>("run.max_time"), 120);
  EXPECT_EQ(c.get<std::string>("network.connections"), "concat");
}

TEST(Schema, reads_back_every_value_that_it_can_be_given) {
  for (const Key& key : schema()) {
    Configuration c;
    const Value value = key.read(c);
    EXPECT_EQ(parse_value(key, to_text(value)), value) << key.name;
    key.write(c, value);
    EXPECT_EQ(c, Configuration()) << key.name;
    for (const Choice& choice : key.choices) {
      key.write(c, parse_value(key, choice.name));
      EXPECT_EQ(key.read(c), Value(choice.name)) << key.name;
    }
  }
}

TEST(Schema, says_one_sentence_about_every_key) {
  for (const Key& key : schema()) {
    EXPECT_GT(key.meaning.size(), 10U) << key.name;
    EXPECT_FALSE(key.meaning.ends_with('.')) << key.name;
  }
}

}  // namespace
}  // namespace cosmic::config
