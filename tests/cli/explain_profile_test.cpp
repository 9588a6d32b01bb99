// `cosmictagger explain --profile` and `--scaling`, from the words of the command line to files.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "scratch_folder.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string explain(std::vector<std::string> words) {
  words.insert(words.begin(), {"explain", "network=a21", "mode=train", "data.downsample=2"});
  return printed_by([&] { run_command(add_explain, words); });
}

TEST(ExplainProfile, writes_a_page_and_the_same_numbers_as_json_beside_it) {
  const ScratchFolder folder("explain_profile");
  const std::filesystem::path page = folder / "a21.html";
  const std::string printed =
      explain({"run.compute_mode=IPU", "--pipeline", "2", "--profile", page.string()});
  EXPECT_THAT(printed, HasSubstr("wrote " + page.string()));
  EXPECT_THAT(content_of(page), HasSubstr("GC200"));
  const auto json = nlohmann::json::parse(content_of(folder / "a21.json"));
  EXPECT_EQ(json.at("provenance"), "modelled");
  EXPECT_EQ(json.at("pipeline").at("machines"), 2);
}

TEST(ExplainProfile, lists_the_settings_that_it_explains) {
  const ScratchFolder folder("explain_settings");
  const std::filesystem::path page = folder / "a21.html";
  explain({"run.compute_mode=IPU", "--pipeline", "2", "--recompute", "--profile", page.string()});
  EXPECT_THAT(content_of(page),
              AllOf(HasSubstr("cosmictagger explain --recompute --pipeline 2 SETTINGS"),
                    HasSubstr("stages: 2"), HasSubstr("recompute: true"),
                    HasSubstr("gradient_accumulation: 12")));
}

/// The first number of the row of a table of scaling.
std::string row_of(const std::string& table, const std::string& machines) {
  const std::size_t at = table.find("\n" + std::string(8 - machines.size(), ' ') + machines + " ");
  EXPECT_NE(at, std::string::npos) << table;
  return table.substr(at + 1, table.find('\n', at + 1) - at - 1);
}

TEST(ExplainProfile, sixteen_replicas_have_one_answer) {
  for (const char* mode :
       {"run.compute_mode=IPU", "run.compute_mode=HPU", "run.compute_mode=GPU"}) {
    const std::string text = explain({mode, "--replicas", "16", "--scaling"});
    const std::size_t at = text.find("), ", text.find("a step takes")) + 3;
    const std::string events = text.substr(at, text.find(' ', at) - at);  // of 16 replicas
    EXPECT_THAT(row_of(text, "16"), HasSubstr(" " + events + " ")) << mode;
  }
}

TEST(ExplainProfile, refuses_a_page_that_is_not_called_html) {
  EXPECT_THAT(
      [] {
        explain({"run.compute_mode=HPU", "--profile", "page.txt"});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("page.txt"), HasSubstr(".html"))));
}

TEST(ExplainProfile, scaling_starts_from_one_replica_whatever_was_asked_for) {
  const std::string table = explain({"run.compute_mode=GPU", "--scaling", "--replicas", "8"});
  EXPECT_THAT(table, AllOf(HasSubstr("8 replicas\n"), HasSubstr("\n    1024 "),
                           HasSubstr("network_hop_time")));
}

}  // namespace
}  // namespace cosmic::cli
