// `cosmictagger explain`, from the command line's words to what is printed.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "scratch_folder.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

std::string explained(std::vector<std::string> words) {
  words.insert(words.begin(), "explain");
  return printed_by([&] { run_command(add_explain, words); });
}

auto explaining(std::vector<std::string> words) {
  return [words] { explained(words); };
}

/// Small enough to be quick, large enough to be a network.
const std::vector<std::string> kSmall{"network=a21", "network.depth=3", "data.downsample=3"};

std::vector<std::string> small(std::vector<std::string> words) {
  words.insert(words.begin(), kSmall.begin(), kSmall.end());
  return words;
}

TEST(Explain, answers_what_a_buyer_asks_and_marks_every_figure) {
  EXPECT_THAT(explained(small({"run.compute_mode=HPU"})),
              AllOf(HasSubstr("Gaudi1"), HasSubstr("Every figure below is modelled"),
                    HasSubstr("In short: it fits"), HasSubstr("formats    float32, bfloat16"),
                    HasSubstr("two recipes"), HasSubstr("Memory: it fits: the memory pool needs"),
                    HasSubstr("Time: a step takes"), HasSubstr("What would change it"),
                    HasSubstr("run.precision=bfloat16"), HasSubstr("What it rests on")));
}

TEST(Explain, eager_mode_launches_every_op) {
  EXPECT_THAT(explained(small({"run.compute_mode=HPU", "run.lazy_mode=false"})),
              HasSubstr("eager: "));
}

TEST(Explain, a21_on_an_ipu_does_not_fit_and_ends_with_settings_that_do) {
  std::vector<std::string> words{"network=a21", "run.compute_mode=IPU"};
  EXPECT_THAT(explained(words), AllOf(HasSubstr("it does not fit"), HasSubstr("--make-it-fit")));
  const std::string ways = explained({"network=a21", "run.compute_mode=IPU", "--make-it-fit"});
  EXPECT_THAT(ways, AllOf(HasSubstr("as asked"), HasSubstr("batch 1"), HasSubstr("float16"),
                          HasSubstr("recomputation"), HasSubstr("pipeline of 16"),
                          HasSubstr("Of those that fit, this one gives the most events/s")));
  std::istringstream settings(ways.substr(ways.rfind("\n  ") + 3));
  for (std::string word; settings >> word;) {
    words.push_back(word);
  }
  EXPECT_THAT(explained(words), HasSubstr("In short: it fits"));
}

TEST(Explain, offers_an_inference_nothing_that_only_a_training_takes) {
  const std::string ways =
      explained({"mode=inference", "network=uresnet", "run.compute_mode=IPU", "--make-it-fit"});
  EXPECT_THAT(ways, AllOf(HasSubstr("as asked"), HasSubstr("float16"),
                          Not(HasSubstr("pipeline of")), Not(HasSubstr("run.stages"))));
}

TEST(Explain, all_machines_stand_in_one_table_and_on_one_page) {
  const ScratchFolder folder("explain");
  const std::string page = (folder / "machines.html").string();
  const std::string text = explained(small({"--all", "--output", page}));
  std::ifstream file(page);
  std::ostringstream html;
  html << file.rdbuf();
  for (const char* machine :
       {"gc200", "bow", "gaudi1", "gaudi2", "sn10", "sn30", "a100", "h100", "h200", "zen4-2core"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + machine));
  }
  EXPECT_THAT(html.str(),
              AllOf(HasSubstr("Every figure on this page is modelled"), HasSubstr("GC200"),
                    HasSubstr("Gaudi2"), HasSubstr("</html>"), Not(HasSubstr("http"))));
}

TEST(Explain, a_machine_without_the_format_says_so_in_the_comparison) {
  EXPECT_THAT(explained(small({"--all", "run.precision=bfloat16"})),
              HasSubstr("GC200 has no bfloat16"));
}

TEST(Explain, a_plan_of_sections_is_followed) {
  const ScratchFolder folder("explain");
  const std::string plan = (folder / "plan.yaml").string();
  std::ofstream(plan) << "sections:\n  - [initial_convolution]\n  - [net_core]\n  - [bottleneck]\n";
  EXPECT_THAT(explained(small({"run.compute_mode=RDU", "run.section_plan=" + plan})),
              HasSubstr("by the plan"));
  std::ofstream(plan) << "sections: [[initial_convolutoin]]\n";
  EXPECT_THAT(explaining(small({"run.compute_mode=RDU", "run.section_plan=" + plan})),
              ThrowsMessage<UserError>(HasSubstr("did you mean 'initial_convolution")));
}

TEST(ExplainErrors, a_machine_of_another_family_than_the_mode_is_refused) {
  EXPECT_THAT(explaining({"run.compute_mode=IPU", "run.machine=gaudi1"}),
              ThrowsMessage<UserError>(AllOf(HasSubstr("run.machine=gaudi1"), HasSubstr("hpu"),
                                             HasSubstr("run.compute_mode=IPU"))));
}

TEST(ExplainErrors, an_unknown_machine_and_a_missing_file_are_named) {
  EXPECT_THAT(explaining({"run.compute_mode=IPU", "run.machine=gc2000"}),
              ThrowsMessage<UserError>(HasSubstr("did you mean 'gc200'")));
  EXPECT_THAT(explaining({"run.compute_mode=IPU", "run.machine=nowhere/ipu.yaml"}),
              ThrowsMessage<UserError>(HasSubstr("nowhere/ipu.yaml (no such file)")));
  EXPECT_THAT(explaining({"run.compute_mode=IPU", "run.machine=/dev/null"}),
              ThrowsMessage<UserError>(HasSubstr("/dev/null (that is no plain file)")));
}

TEST(ExplainErrors, a_published_network_beside_another_is_refused) {
  for (const char* word : {"network=a21", "network.depth=3"}) {
    EXPECT_THAT(
        explaining({"--published", "resnet50", "run.compute_mode=HPU", word}),
        ThrowsMessage<UserError>(AllOf(HasSubstr(word), HasSubstr("--published resnet50"))));
  }
}

TEST(ExplainErrors, a_mode_without_a_description_and_options_that_cannot_be_are_refused) {
  EXPECT_THAT(explaining({"run.compute_mode=XPU"}),
              ThrowsMessage<UserError>(HasSubstr("no described machine")));
  EXPECT_THAT(explaining(small({"run.compute_mode=HPU", "--pipeline", "2"})),
              ThrowsMessage<UserError>(HasSubstr("pipeline of 2 was asked of Gaudi1")));
  EXPECT_THAT(explaining(small({"--output", "page.html"})),
              ThrowsMessage<UserError>(HasSubstr("add --all")));
  EXPECT_THAT(explaining(small({"run.compute_mode=IPU", "run.precision=bfloat16"})),
              ThrowsMessage<UserError>(HasSubstr("GC200 has no bfloat16")));
}

}  // namespace
}  // namespace cosmic::cli
