// What several processes of mpirun leave behind: the report of an evaluation that one process would
// write, checkpoints under the names of PopDist's instances, and a page that compares the ranks.
#include <nlohmann/json.hpp>
#include <set>

#include "commands/mpirun.hpp"
#include "report/page/well_formed.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class MpirunReports : public Mpirun {
 protected:
  static std::string evaluating(const std::string& more = "") {
    return "evaluate network=a21 network.depth=2 network.n_initial_filters=2 "
           "network.bottleneck_deepest=3 network.blocks_deepest_layer=1 network.blocks_final=1 "
           "data.downsample=0 run.threads=1 data.threads=1 run.id=tiny data.file=events.h5 "
           "run.iterations=0 mode.weights_location=trained/checkpoints output_dir=report " +
           more;
  }

  /// The page and the JSON, without the moment that they were written.
  std::string report() const {
    const std::string json = content_of(folder_ / "report/evaluation.json");
    const std::string date = nlohmann::json::parse(json)["provenance"]["date"];
    std::string both = json + content_of(folder_ / "report/evaluation.html");
    for (std::size_t at = both.find(date); at != std::string::npos; at = both.find(date)) {
      both.erase(at, date.size());
    }
    return both;
  }

  /// Files of the report that are not whole.
  std::set<std::string> pending() const {
    std::set<std::string> names;
    std::error_code none_yet;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "report", none_yet)) {
      const std::string name = entry.path().filename().string();
      if (name.find(".partial-") != std::string::npos) {
        names.insert(name);
      }
    }
    return names;
  }
};

TEST_F(MpirunReports, of_an_evaluation_are_those_of_one_process) {
  ASSERT_EQ(folder_.run(training("trained", "run.length=2")).status, 0);
  // 29 events: in the last round some processes have no batch, and one has fewer events.
  for (const std::string& more :
       {std::string("run.minibatch_size=3"),
        std::string("run.minibatch_size=4 run.iterations=3 mode.start_index=2")}) {
    const Ended alone = folder_.run(evaluating(more + " --overwrite"));
    ASSERT_EQ(alone.status, 0) << alone.output;
    const std::string expected = report();
    const Ended together = mpirun(3, evaluating(more + " --overwrite"));
    ASSERT_EQ(together.status, 0) << together.output;
    EXPECT_TRUE(report() == expected) << more;
    EXPECT_THAT(together.output,
                AllOf(HasSubstr("3 processes work together"),
                      HasSubstr("; they tag batches in turn."), Not(HasSubstr("rank 1 on"))));
  }
  // Nothing is replaced without being asked to, and nothing is said twice.
  const Ended refused = mpirun(2, evaluating());
  EXPECT_EQ(refused.status, kRefused) << refused.output;
  const std::size_t first = refused.output.find("already exists");
  ASSERT_NE(first, std::string::npos) << refused.output;
  EXPECT_EQ(refused.output.find("already exists", first + 1), std::string::npos);
}

TEST_F(MpirunReports, of_an_evaluation_are_whole_or_not_there_when_a_process_is_killed) {
  ASSERT_EQ(folder_.run(training("trained", "run.length=2")).status, 0);
  std::filesystem::remove(folder_ / "events.h5");
  write_events(folder_ / "events.h5", 1500);
  std::set<std::string> left;  // by the process that was killed before
  for (const std::size_t victim : {0U, 1U}) {
    BackgroundProgram run = start(2, evaluating("run.minibatch_size=1"));
    ASSERT_TRUE(comes_true([&] {
      const std::set<std::string> now = pending();
      return !now.empty() && now != left;
    })) << printed();
    const pid_t process = ranks(2).at(victim);
    ASSERT_GT(process, 0) << printed();
    kill(process, SIGKILL);
    EXPECT_NE(end_of_launcher(run), 0);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "report/evaluation.json"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "report/evaluation.html"));
    left = pending();
  }
  const Ended again = mpirun(2, evaluating("run.minibatch_size=8"));
  ASSERT_EQ(again.status, 0) << again.output;
  const std::string together = report();
  EXPECT_THAT(pending(), IsEmpty());
  ASSERT_EQ(folder_.run(evaluating("run.minibatch_size=8 --overwrite")).status, 0);
  EXPECT_TRUE(report() == together);
}

TEST_F(MpirunReports, of_an_evaluation_are_not_written_where_there_are_no_weights) {
  const Ended refused = mpirun(2, evaluating());
  EXPECT_EQ(refused.status, kRefused) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("trained/checkpoints"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "report"));
}

class InstanceCheckpointsOf : public MpirunReports {
 protected:
  static std::string instances(const std::string& folder, const std::string& more = "") {
    return training(folder,
                    "mode.instance_checkpoints=true mode.keep_checkpoints=2 run.length=4 " + more);
  }
};

TEST_F(InstanceCheckpointsOf, every_process_hold_what_the_run_s_own_holds) {
  const Ended run = mpirun(2, instances("run"));
  ASSERT_EQ(run.status, 0) << run.output;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run/checkpoints")) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("checkpoint", "model-3.safetensors",
                                                   "model-4.safetensors", "model-3-0.safetensors",
                                                   "model-4-0.safetensors", "model-3-1.safetensors",
                                                   "model-4-1.safetensors"));
  // Weights, moments, statistics, place in the data, fingerprints, notes: all of it.
  const std::string own = content_of(folder_ / "run/checkpoints/model-4.safetensors");
  EXPECT_TRUE(content_of(folder_ / "run/checkpoints/model-4-0.safetensors") == own);
  EXPECT_TRUE(content_of(folder_ / "run/checkpoints/model-4-1.safetensors") == own);
  EXPECT_THAT(content_of(folder_ / "run/checkpoints/checkpoint"), Not(HasSubstr("-4-")));
}

TEST_F(InstanceCheckpointsOf, a_run_make_no_difference_to_how_it_resumes) {
  ASSERT_EQ(mpirun(2, instances("run")).status, 0);
  const Ended without = mpirun(2, training("run", "mode.keep_checkpoints=2 run.length=6"));
  ASSERT_EQ(without.status, 0) << without.output;
  EXPECT_THAT(without.output, HasSubstr("Restoring weights from run/checkpoints/model-4.safe"));
  ASSERT_EQ(mpirun(2, training("undisturbed")).status, 0);
  expect_same_tensors("run/checkpoints/model-6.safetensors",
                      "undisturbed/checkpoints/model-6.safetensors");
}

TEST_F(InstanceCheckpointsOf, a_run_whose_own_are_gone_resume_it) {
  ASSERT_EQ(mpirun(2, instances("run")).status, 0);
  for (const char* name :
       {"checkpoint", "model-3.safetensors", "model-4.safetensors", "model-4-0.safetensors"}) {
    std::filesystem::remove(folder_ / "run/checkpoints" / name);
  }
  const Ended resumed = mpirun(2, instances("run", "run.length=6"));
  ASSERT_EQ(resumed.status, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("Restoring weights from run/checkpoints/model-4-1.safe"));
  ASSERT_EQ(mpirun(2, training("undisturbed")).status, 0);
  expect_same_tensors("run/checkpoints/model-6-1.safetensors",
                      "undisturbed/checkpoints/model-6.safetensors");
}

TEST_F(InstanceCheckpointsOf, a_process_that_cannot_write_them_end_the_run_which_keeps_its_own) {
  ASSERT_EQ(mpirun(2, instances("run", "run.length=1")).status, 0);
  std::filesystem::create_directories(folder_ / "run/checkpoints/model-2-1.safetensors/in_the_way");
  const Ended run = mpirun(2, instances("run"));
  EXPECT_EQ(run.status, kRefused) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("cosmictagger: error: rank 1 on host "),
                                HasSubstr("model-2-1.safetensors")));
  EXPECT_THAT(folder_.run("checkpoint show run/checkpoints").output, HasSubstr("model-2.safe"));
}

TEST_F(InstanceCheckpointsOf, one_process_are_a_copy_and_the_log_says_so) {
  const Ended run = folder_.run(instances("run"));
  ASSERT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output,
              HasSubstr("mode.instance_checkpoints=true: there is one process, so each checkpoint "
                        "is also written as model-<step>-0.safetensors."));
  EXPECT_TRUE(content_of(folder_ / "run/checkpoints/model-4-0.safetensors") ==
              content_of(folder_ / "run/checkpoints/model-4.safetensors"));
}

TEST_F(MpirunReports, of_a_profiled_run_compare_the_ranks) {
  const Ended run = mpirun(2, training("run", "run.profile=true"));
  ASSERT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("The comparison of all ranks is in run/profiles/ranks.html"));
  EXPECT_EQ(report::page::what_is_malformed(content_of(folder_ / "run/profiles/ranks.html")), "");
  const auto json = nlohmann::json::parse(content_of(folder_ / "run/profiles/ranks.json"));
  EXPECT_EQ(json["updates"], 6);
  EXPECT_EQ(json["latest_updates"].size(), 6U);
  ASSERT_EQ(json["ranks"].size(), 2U);
  for (const auto& rank : json["ranks"]) {
    const std::string page = rank["profile"];
    EXPECT_TRUE(std::filesystem::exists(folder_ / ("run/profiles/" + page))) << page;
    for (const char* part : {"computing_seconds", "exchange_seconds", "starting_seconds",
                             "waiting_for_others_seconds", "waiting_for_data_seconds"}) {
      EXPECT_GE(rank[part].get<double>(), 0) << part;
    }
    EXPECT_GT(rank["computing_seconds"].get<double>(), 0);
  }
  EXPECT_LT(json["ranks"][1]["writing_seconds"].get<double>(), 1e-3);  // files are the first one's
  // All of them together take as long.
  EXPECT_NEAR(json["ranks"][0]["seconds"].get<double>(), json["ranks"][1]["seconds"].get<double>(),
              0.5);
}

TEST_F(MpirunReports, of_a_run_that_is_not_profiled_compare_nothing) {
  ASSERT_EQ(mpirun(2, training("run", "run.length=1")).status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/profiles/ranks.html"));
}

}  // namespace
}  // namespace cosmic
