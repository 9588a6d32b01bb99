// `view` of files on a web server, and `train --view`: by the program itself.
#include <gmock/gmock.h>

#include "commands/work_folder.hpp"
#include "web_server.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kRefused = 2;
constexpr int kBadData = 3;

/// Of the text from `before` on to the first blank: "http://127.0.0.1:8420/".
std::string address_after(const std::string& text, const std::string& before) {
  const std::size_t begin = text.find(before);
  if (begin == std::string::npos) {
    return "";
  }
  const std::size_t end = text.find_first_of(" \n", begin + before.size());
  return end == std::string::npos ? ""
                                  : text.substr(begin + before.size(), end - begin - before.size());
}

std::string get(const std::string& address, const std::string& path) {
  httplib::Client client(address.substr(0, address.size() - 1));
  const httplib::Result result = client.Get(path);
  return result ? result->body : "";
}

bool nobody_answers(const std::string& address) {
  return comes_true([&] { return get(address, "/api/session").empty(); });
}

/// Gives the files of a folder.
std::function<void(httplib::Server&)> files_of(const std::filesystem::path& folder) {
  return [folder](httplib::Server& server) { server.set_mount_point("/data", folder.string()); };
}

TEST(View, shows_a_file_that_lies_on_a_web_server) {
  const WorkFolder folder;
  folder.make_events("events.h5");
  const WebServer web(files_of(folder.path()));
  const BackgroundProgram viewer = folder.start("view " + web.url("/data/events.h5") + " --port 0");
  std::string address;
  ASSERT_TRUE(comes_true([&] {
    address = address_after(folder.printed(), "removed at the end.\n");
    return !address.empty();
  })) << folder.printed();
  EXPECT_THAT(get(address, "/api/session"),
              AllOf(HasSubstr(R"("events":3)"),
                    HasSubstr("\"title\":\"" + web.url("/data/events.h5") + "\"")));
  EXPECT_FALSE(get(address, "/api/event?entry=2").empty());
}

TEST(View, says_why_a_file_on_a_web_server_cannot_be_shown) {
  const WorkFolder folder;
  const WebServer web(files_of(folder.path()));
  const Ended missing = folder.run("view " + web.url("/data/none.h5"));
  EXPECT_EQ(missing.status, kBadData);
  EXPECT_THAT(missing.output, HasSubstr("status 404"));
  const Ended page = folder.run("view 'http://127.0.0.1:8420/#event=3'");
  EXPECT_EQ(page.status, kRefused);
  EXPECT_THAT(page.output, HasSubstr("not the address of a file"));
}

class TrainView : public testing::Test {
 protected:
  TrainView() { folder_.make_events("events.h5"); }

  BackgroundProgram start_long_training() {
    return folder_.start(
        "train --view data.file=events.h5 data.aux_file=events.h5 output_dir=run run.seed=1 "
        "run.units=iteration run.length=1000000" +
        kTinySettings);
  }
  /// Empty if it does not come.
  std::string address() {
    std::string found;
    comes_true([&] {
      found = address_after(folder_.printed(), "Watch this training at ");
      return !found.empty();
    });
    return found;
  }

  WorkFolder folder_;
};

TEST_F(TrainView, shows_a_training_for_as_long_as_it_runs) {
  BackgroundProgram training = start_long_training();
  const std::string display = address();
  ASSERT_FALSE(display.empty()) << folder_.printed();
  EXPECT_THAT(get(display, "/api/run?run=0"),
              AllOf(HasSubstr(R"("columns":["step",)"), HasSubstr(R"("state":"running")")));
  EXPECT_THAT(get(display, "/api/session"), HasSubstr(R"("events":3)"));
  training.end(SIGTERM);
  EXPECT_THAT(folder_.printed(), HasSubstr("cosmictagger view "));
  EXPECT_TRUE(nobody_answers(display));
}

TEST_F(TrainView, leaves_no_process_behind_when_the_training_is_killed) {
  BackgroundProgram training = start_long_training();
  const std::string display = address();
  ASSERT_FALSE(display.empty()) << folder_.printed();
  training.end(SIGKILL);
  EXPECT_TRUE(nobody_answers(display));
  const Ended again = folder_.run(
      "train data.file=events.h5 data.aux_file=events.h5 output_dir=run run.iterations=1" +
      kTinySettings);
  EXPECT_EQ(again.status, 0) << again.output;  // it holds nothing of the run either
}

TEST_F(TrainView, is_refused_where_there_is_nothing_to_see) {
  const Ended ended = folder_.run("train --view --dry-run data.file=events.h5" + kTinySettings);
  EXPECT_EQ(ended.status, kRefused);
  EXPECT_THAT(ended.output, HasSubstr("--view with --dry-run"));
}

}  // namespace
}  // namespace cosmic
