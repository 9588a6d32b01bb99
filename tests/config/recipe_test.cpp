#include "config/recipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "config/parsed.hpp"
#include "core/error.hpp"
#include "scratch_folder.hpp"

namespace cosmic::config {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

/// A folder with one recipe, "mine".
class OwnRecipe : public testing::Test {
 protected:
  void write(const std::string& text) const { std::ofstream(file()) << text; }
  std::string file() const { return (folder_ / "mine.yaml").string(); }
  Resolved with(const std::string& settings) const {
    return parsed("--config-name " + file() + " " + settings);
  }

  ScratchFolder folder_;
};

TEST(BuiltInRecipes, are_those_of_the_reference) {
  EXPECT_THAT(built_in_recipes(),
              ElementsAre("config", "a21", "a21-deterministic", "polaris", "SCC_21", "sn-at",
                          "reduced", "best", "best-a21", "fast"));
}

TEST(BuiltInRecipes, are_all_usable) {
  for (const std::string& name : built_in_recipes()) {
    const Resolved resolved = parsed("run.id=1 --config-name " + name);
    EXPECT_THAT(resolved.notes, testing::IsEmpty()) << name;
  }
}

TEST(BuiltInRecipes, say_what_the_reference_says) {
  const Configuration a21 = parsed("run.id=1 --config-name a21").configuration;
  EXPECT_EQ(a21.network, model::preset("a21"));
  EXPECT_TRUE(a21.data.synthetic);
  EXPECT_FALSE(a21.run.distributed);

  const Configuration fixed = parsed("run.id=1 --config-name a21-deterministic").configuration;
  EXPECT_EQ(fixed.network, model::preset("a21"));
  EXPECT_EQ(fixed.data.seed, 12345);
  EXPECT_EQ(fixed.framework.seed, 54321);
  EXPECT_EQ(fixed.run.minibatch_size, 32);
  EXPECT_EQ(fixed.run.iterations, 5000);

  EXPECT_EQ(parsed("run.id=1 --config-name SCC_21").configuration.network, model::preset("scc21"));
  EXPECT_EQ(parsed("run.id=1 --config-name polaris").configuration.data.downsample, 0);
  EXPECT_EQ(parsed("run.id=1 --config-name sn-at").configuration.network.depth, 7);
  EXPECT_EQ(parsed("run.id=1 --config-name config").configuration,
            parsed("run.id=1").configuration);
}

TEST(BuiltInRecipes, are_named_when_another_is_asked_for) {
  EXPECT_THAT([] { parsed("run.id=1 --config-name a12"); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("a12"), HasSubstr("polaris"), HasSubstr("did you mean 'a21'"))));
}

TEST_F(OwnRecipe, is_read_as_the_reference_writes_it) {
  write(
      "defaults:\n  - base_config\n  - override network: polaris\n  - override data: synthetic\n"
      "  - _self_\n\nmode:\n    no_summary_images: False\nrun:\n    id: 007\n    precision: 2\n"
      "network:\n  depth: 3\n");
  const Configuration c = with("").configuration;
  EXPECT_EQ(c.network.bottleneck_deepest, 96);
  EXPECT_EQ(c.network.depth, 3);
  EXPECT_TRUE(c.data.synthetic);
  EXPECT_FALSE(c.mode.no_summary_images);
  EXPECT_EQ(c.run.id, "007");
  EXPECT_EQ(c.run.precision, Precision::bfloat16);
}

TEST_F(OwnRecipe, may_be_written_shorter) {
  write("network: a21\nmode: iotest\nrun.minibatch_size: 4\n");
  const Configuration c = with("run.id=1").configuration;
  EXPECT_EQ(c.network, model::preset("a21"));
  EXPECT_EQ(c.mode.name, Mode::iotest);
  EXPECT_EQ(c.run.minibatch_size, 4);
}

TEST_F(OwnRecipe, yields_to_the_command_line) {
  write("defaults:\n  - network: a21\nrun:\n  iterations: 7\n  minibatch_size: 4\n");
  const Configuration c = with("run.id=1 network=polaris run.iterations=9").configuration;
  EXPECT_EQ(c.network, model::preset("polaris"));
  EXPECT_EQ(c.run.iterations, 9);
  EXPECT_EQ(c.run.minibatch_size, 4);
}

TEST_F(OwnRecipe, is_said_to_change_a_network_chosen_beside_it) {
  write("network:\n  depth: 3\n");
  const Resolved resolved = with("run.id=1 network=a21");
  EXPECT_EQ(resolved.configuration.network.depth, 3);
  EXPECT_THAT(resolved.notes, ElementsAre(AllOf(HasSubstr("network=a21"), HasSubstr("depth='3'"))));
}

TEST_F(OwnRecipe, may_serve_several_modes) {
  write("run:\n  id: 1\nmode:\n  checkpoint_iteration: 20\n  optimizer:\n    name: sgd\n");
  const Resolved resolved = with("mode=inference");
  EXPECT_EQ(resolved.configuration.mode.checkpoint_iteration, 500);
  EXPECT_THAT(resolved.notes, ElementsAre(HasSubstr("mode.checkpoint_iteration")));
}

TEST_F(OwnRecipe, is_found_in_a_folder_before_the_programs_own) {
  write("run:\n  id: own\n");
  std::filesystem::rename(file(), folder_ / "a21.yaml");
  EXPECT_EQ(
      parsed("--config-dir " + folder_.path().string() + " --config-name a21").configuration.run.id,
      "own");
  EXPECT_EQ(parsed("--config-path=" + folder_.path().string() + " -cn polaris run.id=1")
                .configuration.network,
            model::preset("polaris"));
}

TEST_F(OwnRecipe, that_is_no_file_is_named) {
  EXPECT_THAT([&] { with("run.id=1"); }, ThrowsMessage<UserError>(HasSubstr("mine.yaml")));
  EXPECT_THAT([&] { parsed("run.id=1 --config-name " + folder_.path().string() + "/"); },
              ThrowsMessage<UserError>(HasSubstr("no such file")));
}

struct BadRecipe {
  const char* name;
  std::string text;
  int line;
  const char* says;
};

class BadRecipes : public testing::TestWithParam<BadRecipe> {};

TEST_P(BadRecipes, stop_with_file_line_and_reason) {
  const std::string start = "bad.yaml:" + std::to_string(GetParam().line) + ": ";
  EXPECT_THAT(
      [&] {
        read_recipe({"bad.yaml", GetParam().text});
      },
      ThrowsMessage<UserError>(AllOf(StartsWith(start), HasSubstr(GetParam().says))));
}

/// "a: [[[[...": deeper than anybody writes.
std::string deep(std::size_t levels) {
  return "run:\n  id: " + std::string(levels, '[') + "\n";
}

std::string many(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    text += "  a: b\n";
  }
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    Recipe, BadRecipes,
    testing::Values(
        BadRecipe{"unknown_key", "run:\n  id: 1\n  itertions: 5\n", 3, "'run.iterations'"},
        BadRecipe{"unknown_section", "runs:\n  id: 1\n", 1, "unknown key 'runs'"},
        BadRecipe{"wrong_type", "run:\n  iterations: many\n", 2, "not a whole number"},
        BadRecipe{"wrong_choice", "run:\n  precision: float64\n", 2, "float32"},
        BadRecipe{"same_key_twice", "run:\n  id: 1\n  id: 2\n", 3, "twice"},
        BadRecipe{"alias_and_name", "run:\n  length: 1\n  run_length: 2\n", 3, "twice"},
        BadRecipe{"section_twice_with_the_same_key", "run:\n  id: 1\nrun:\n  id: 2\n", 4, "twice"},
        BadRecipe{"no_value", "run:\n  id:\n", 2, "no value"},
        BadRecipe{"list_for_a_value", "run:\n  id: [1, 2]\n", 2, "several values"},
        BadRecipe{"map_for_a_value", "run:\n  id: {a: 1}\n", 2, "several values"},
        BadRecipe{"list_for_a_section", "run:\n  - id\n", 2, "section"},
        BadRecipe{"word_for_a_section", "run: fast\n", 1, "section"},
        BadRecipe{"list_for_a_recipe", "- run\n", 1, "key: value"},
        BadRecipe{"map_for_a_key", "? {a: b}\n: c\n", 1, "a key is a word"},
        BadRecipe{"unknown_group", "defaults:\n  - networks: a21\n", 2, "'network'"},
        BadRecipe{"unknown_choice", "defaults:\n  - network: a22\n", 2, "'a21'"},
        BadRecipe{"another_recipe", "defaults:\n  - ../../secret\n", 2, "cannot build on another"},
        BadRecipe{"tag", "run:\n  id: !!python/object/apply:os.system [ls]\n", 2, "tag"},
        BadRecipe{"open_list", "run:\n  id: [1\n", 2, "not YAML"},
        BadRecipe{"open_quote", "run:\n  id: \"1\n  iterations: 5\n", 3, "not YAML"},
        BadRecipe{"merge_key", "x: &x {id: 1}\nrun:\n  <<: *x\n", 3, "another part"},
        BadRecipe{"a_billion_laughs", "a: &a [x]\nb: &b [*a,*a]\nc: [*b,*b]\n", 2, "another part"},
        BadRecipe{"more_than_a_recipe_says", "run:\n" + many(5000), 2048, "this file is too large"},
        BadRecipe{"deep_nesting", deep(100000), 2, "nested too deeply"},
        BadRecipe{"cycle", "run: &run\n  id: 1\n  again: *run\n", 3, "another part"},
        BadRecipe{"control_characters", "run:\n  id: \"\\0\"\n", 2, "printable"}),
    [](const testing::TestParamInfo<BadRecipe>& bad) { return bad.param.name; });

TEST(Recipe, that_is_no_text_or_too_long_is_refused) {
  EXPECT_THAT(
      [] {
        read_recipe({"x.yaml", "run: \xff\xfe"});
      },
      ThrowsMessage<UserError>(HasSubstr("UTF-8")));
  EXPECT_THAT(
      [] {
        read_recipe({"x.yaml", std::string(kLongestRecipe + 1, '#')});
      },
      ThrowsMessage<UserError>(HasSubstr("bytes")));
  EXPECT_THAT(
      [] {
        read_recipe({"x.yaml", "run:\n  id: 1\n---\nrun:\n  id: 2\n"});
      },
      ThrowsMessage<UserError>(HasSubstr("continues after")));
}

TEST(Recipe, ends_where_yaml_cpp_reads_documents_for_ever) {
  EXPECT_THAT([] { read_recipe({"x.yaml", ","}); }, ThrowsMessage<UserError>(HasSubstr("x.yaml")));
}

TEST(Recipe, may_be_empty) {
  EXPECT_TRUE(read_recipe({"x.yaml", ""}).values().empty());
  EXPECT_TRUE(read_recipe({"x.yaml", "# nothing\n"}).values().empty());
  EXPECT_TRUE(read_recipe({"x.yaml", "run:\n"}).values().empty());
}

TEST(Recipe, may_carry_what_only_hydra_uses) {
  const Given given = read_recipe(
      {"x.yaml", "hydra:\n  run: {dir: .}\nframework:\n  environment_variables:\n    A: b\n"});
  EXPECT_THAT(given.notes(), Contains(HasSubstr("x.yaml:1")));
  EXPECT_EQ(given.notes().size(), 2U);
}

}  // namespace
}  // namespace cosmic::config
