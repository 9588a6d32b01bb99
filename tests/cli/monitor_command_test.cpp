// A training in another process, seen by `cosmictagger monitor`.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/sparse_events.hpp"
#include "monitor/process.hpp"
#include "scratch_folder.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A test that waits for longer has failed.
constexpr auto kPatience = std::chrono::seconds(60);

class MonitorCommand : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
    data::larcv::EventFileWriter writer(folder_ / "events.h5");
    for (std::int64_t number = 0; number < 4; ++number) {
      const data::SparseEvent event = data::random_event(data::grid_of(8, 16), 0.3, 1, number);
      writer.begin_event(event.id);
      writer.write_sparse("sbndwire", event.image);
      writer.write_sparse("sbnd_cosmicseg", event.labels);
    }
    writer.commit();
  }
  void TearDown() override {
    if (training_ > 0) {
      end_training(SIGKILL);
    }
  }

  /// In a process of its own, for as long as it is let.
  void start_training() {
    training_ = fork();
    if (training_ != 0) {
      return;
    }
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    std::vector<std::string> words{"train",
                                   "network=a21",
                                   "network.depth=1",
                                   "network.n_initial_filters=2",
                                   "network.bottleneck_deepest=4",
                                   "network.blocks_deepest_layer=1",
                                   "network.blocks_per_layer=1",
                                   "run.id=seen",
                                   "run.distributed=false",
                                   "run.minibatch_size=1",
                                   "run.threads=1",
                                   "run.units=iteration",
                                   "run.length=1000000",
                                   "data.downsample=0",
                                   "data.file=events.h5",
                                   "data.aux_file=",
                                   "data.data_directory=" + folder_.path().string(),
                                   "output_dir=" + (folder_ / "run").string()};
    Command app;
    add_train(app);
    int status = 0;
    try {
      app.parse(words);
    } catch (const ExitStatus& ended) {
      status = ended.status();
    } catch (...) {
      status = 1;
    }
    _exit(status);
  }

  /// The exit status, or -1 if the signal ended it.
  int end_training(int signal) {
    kill(training_, signal);
    int status = 0;
    waitpid(training_, &status, 0);
    training_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  static std::string monitor(const std::string& option) {
    Command app;
    add_monitor(app);
    testing::internal::CaptureStdout();
    app.parse({"monitor", option});
    return testing::internal::GetCapturedStdout();
  }

  /// The job, once it has made steps.
  static nlohmann::json running_job() {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      const nlohmann::json jobs =
          nlohmann::json::parse(monitor("--json")).at("targets").front().at("jobs");
      if (!jobs.empty() && jobs[0].at("state") == "running" && jobs[0].at("done") > 0) {
        return jobs[0];
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return {};
  }

  std::vector<std::string> records() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cosmictagger")) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  ScratchFolder folder_{"monitor"};
  pid_t training_ = 0;
};

TEST_F(MonitorCommand, shows_a_training_of_another_process_until_it_ends) {
  start_training();
  const nlohmann::json job = running_job();
  ASSERT_FALSE(job.empty());
  EXPECT_EQ(job.at("pid"), training_);
  EXPECT_EQ(job.at("command"), "train");
  EXPECT_EQ(job.at("run"), "seen");
  EXPECT_EQ(job.at("target"), target::target_names().front());
  EXPECT_EQ(job.at("machine"), monitor::this_process_table().host);
  EXPECT_EQ(job.at("compute_mode"), "CPU");
  EXPECT_EQ(job.at("provenance"), "measured");
  EXPECT_EQ(job.at("folder"), (folder_ / "run").string());
  EXPECT_EQ(job.at("total"), 1'000'000);
  EXPECT_GT(job.at("measured_on_host").at("events_per_second"), 0);
  EXPECT_TRUE(job.at("modelled").is_null());
  EXPECT_GT(job.at("loss"), 0);
  EXPECT_GT(job.at("measured_on_host").at("resident_bytes"), 1'000'000);
  EXPECT_THAT(monitor("--once"), AllOf(HasSubstr(std::to_string(training_)), HasSubstr("seen"),
                                       HasSubstr("of 1000000 steps"), Not(HasSubstr("\033"))));
  EXPECT_EQ(end_training(SIGTERM), kStopped);
  EXPECT_THAT(records(), IsEmpty());
  EXPECT_THAT(monitor("--once"), Not(HasSubstr("seen")));
}

TEST_F(MonitorCommand, forgets_a_training_that_was_killed) {
  start_training();
  ASSERT_FALSE(running_job().empty());
  EXPECT_EQ(end_training(SIGKILL), -1);
  EXPECT_THAT(records(), Not(IsEmpty()));
  EXPECT_THAT(monitor("--once"), Not(HasSubstr("seen")));
  EXPECT_THAT(records(), IsEmpty());
}

TEST_F(MonitorCommand, prints_plain_text_where_there_is_no_terminal) {
  Command app;
  add_monitor(app);
  testing::internal::CaptureStdout();
  app.parse({"monitor"});
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              AllOf(HasSubstr("no jobs"), Not(HasSubstr("\033"))));
}

}  // namespace
}  // namespace cosmic::cli
