// Several hosts for real, as far as one machine has them: network namespaces with a cable between
// them and names of their own, mpirun in the one and its daemon in the other.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>

#include "commands/work_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kLongest = 30;  // seconds until all processes of a broken run have ended

bool succeeds(const std::string& command) {
  return run_command(command + " 2>&1").status == 0;
}

/// Two network namespaces, "here" and "there", that only see each other. They go with the test, and
/// so does what still runs in them.
class TwoHosts {
 public:
  TwoHosts() : name_("cosmic" + std::to_string(getpid())) {
    made_ = succeeds("ip netns add " + space("here")) && succeeds("ip netns add " + space("there"));
    made_ = made_ && succeeds("ip link add cable netns " + space("here") +
                              " type veth peer name cable netns " + space("there"));
    for (const char* const host : {"here", "there"}) {
      const std::string ip = "ip -n " + space(host);
      made_ = made_ && succeeds(ip + " addr add " + address(host) + "/24 dev cable") &&
              succeeds(ip + " link set lo up") && succeeds(ip + " link set cable up");
    }
  }
  ~TwoHosts() {
    for (const char* const host : {"here", "there"}) {
      run_command("for process in $(ip netns pids " + space(host) +
                  " 2>/dev/null); do kill -9 $process; done; ip netns del " + space(host) +
                  " 2>&1");
    }
  }
  TwoHosts(const TwoHosts&) = delete;
  TwoHosts& operator=(const TwoHosts&) = delete;

  bool made() const { return made_; }
  /// Addresses that nobody else sees.
  static std::string address(const std::string& host) {
    return host == "here" ? "10.213.7.1" : "10.213.7.2";
  }
  static std::string both() { return address("here") + "," + address("there"); }
  /// A command as the shell of that host would run it.
  std::string on(const std::string& host, const std::string& command) const {
    return "ip netns exec " + space(host) + " unshare --uts sh -c 'hostname " + host + "; exec " +
           command + "'";
  }
  void pull_cable() const {
    EXPECT_TRUE(succeeds("ip -n " + space("there") + " link set cable down"));
  }
  /// How many processes run on both.
  std::size_t processes() const {
    const std::string list =
        run_command("ip netns pids " + space("here") + "; ip netns pids " + space("there")).output;
    return static_cast<std::size_t>(std::count(list.begin(), list.end(), '\n'));
  }

 private:
  std::string space(const std::string& host) const { return name_ + host; }

  std::string name_;
  bool made_ = false;
};

class Hosts : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("mpirun")) {
      GTEST_SKIP() << "needs mpirun";
    }
    if (!has_program("ip")) {
      GTEST_SKIP() << "needs iproute2";
    }
    hosts_.emplace();
    if (!hosts_->made()) {
      GTEST_SKIP() << "needs the right to make network namespaces (root, ip netns add)";
    }
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    // mpirun reaches the other host through this instead of ssh.
    std::ofstream(folder_ / "remote_shell")
        << "#!/bin/sh\nshift\nprintf '%s\\n' \"$*\" > '" << (folder_ / "daemon").string()
        << "'\nexec " << hosts_->on("there", "sh \"" + (folder_ / "daemon").string() + "\"")
        << "\n";
    std::filesystem::permissions(folder_ / "remote_shell", std::filesystem::perms::owner_all);
    setenv("OMPI_MCA_plm_rsh_agent", (folder_ / "remote_shell").c_str(), 1);
    folder_.make_events("events.h5");
  }
  void TearDown() override { unsetenv("OMPI_MCA_plm_rsh_agent"); }

  static std::string training(const std::string& folder, const std::string& more) {
    return "train data.file=events.h5 data.aux_file= mode.checkpoint_iteration=1 run.seed=7 "
           "output_dir=" +
           folder + kTinySettings + "run.minibatch_size=2 run.distributed=true " + more;
  }

  /// Where mpirun runs.
  BackgroundProgram start(const std::string& command) const {
    return {"/bin/sh",
            folder_.path(),
            {"-c", "exec " + hosts_->on("here", command)},
            folder_ / "printed"};
  }
  std::string printed() const { return content_of(folder_ / "printed"); }

  WorkFolder folder_;
  std::optional<TwoHosts> hosts_;
};

TEST_F(Hosts, train_what_one_process_trains_with_as_many_replicas) {
  const Ended alone = folder_.run(training("alone", "run.length=3 run.replicas=2"));
  ASSERT_EQ(alone.status, 0) << alone.output;
  BackgroundProgram run =
      start("mpirun -n 2 --bind-to none --host " + TwoHosts::both() + " " COSMICTAGGER_PROGRAM " " +
            training("together", "run.length=3"));
  ASSERT_EQ(run.end(), 0) << printed();
  EXPECT_THAT(printed(), HasSubstr("2 processes work together: 1 on here, 1 on there"));
  EXPECT_THAT(printed(), HasSubstr("note: mpirun itself would not notice"));
  EXPECT_THAT(printed(), HasSubstr("Of an update, in ms (medians): the sums over processes on "
                                   "their way, waited for them"));
  const Ended difference = folder_.run(
      "checkpoint diff alone/checkpoints/model-3.safetensors "
      "together/checkpoints/model-3.safetensors");
  EXPECT_THAT(difference.output, HasSubstr(" are identical\n"));
}

TEST_F(Hosts, end_by_themselves_when_the_cable_between_them_is_pulled) {
  BackgroundProgram run = start(COSMICTAGGER_PROGRAM " launch --num-instances 2 --host " +
                                TwoHosts::both() + " -- " + training("run", "run.length=100000"));
  const std::filesystem::path third = folder_ / "run/checkpoints/model-3.safetensors";
  const auto is_over = [&] {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(run.number()), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid != 0;
  };
  comes_true([&] { return std::filesystem::exists(third) || is_over(); });
  ASSERT_TRUE(std::filesystem::exists(third)) << printed();
  hosts_->pull_cable();
  const auto pulled = std::chrono::steady_clock::now();
  const int status = run.end();
  EXPECT_TRUE(comes_true([&] { return hosts_->processes() == 0; })) << "a process stayed behind";
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - pulled).count();
  EXPECT_NE(status, 0);
  EXPECT_LT(seconds, kLongest) << printed();
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_THAT(printed(), AllOf(HasSubstr("lost communication with a remote daemon"),
                               HasSubstr(TwoHosts::address("there")),
                               Not(HasSubstr("mpirun itself would not notice"))));
  const Ended newest = folder_.run("checkpoint show run/checkpoints");
  EXPECT_EQ(newest.status, 0) << newest.output;
}

}  // namespace
}  // namespace cosmic
