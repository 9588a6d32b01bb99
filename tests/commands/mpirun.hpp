// A folder in which the program is launched with mpirun, with two files of events.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>

#include "commands/work_folder.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/sparse_events.hpp"

namespace cosmic {

inline constexpr int kRefused = 2;
inline constexpr int kFailed = 3;
inline constexpr int kGoesOn = 75;
inline constexpr double kLongest = 30;  // seconds until all processes of a broken run have ended

/// A file of random events on a grid of 16 x 32 pixels. Of the charges of the last no logarithm can
/// be taken, if asked for.
enum class LastEvent { good, negative };
inline void write_events(const std::filesystem::path& path, std::int64_t count,
                         LastEvent last = LastEvent::good) {
  data::larcv::EventFileWriter writer(path);
  for (std::int64_t i = 0; i < count; ++i) {
    data::SparseEvent event = data::random_event(data::grid_of(16, 32), 0.2, 1, i);
    if (last == LastEvent::negative && i + 1 == count) {
      for (data::SparsePlane& plane : event.image) {
        std::fill(plane.values.begin(), plane.values.end(), -5.0F);
      }
    }
    writer.begin_event(event.id);
    writer.write_sparse("sbndwire", event.image);
    writer.write_sparse("sbnd_cosmicseg", event.labels);
  }
  writer.commit();
}

class Mpirun : public testing::Test {
 protected:
  Mpirun() {
    // What a user of a container has to say; it is no part of the program.
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    write_events(folder_ / "events.h5", 29);
    write_events(folder_ / "test.h5", 13);
  }

  void SetUp() override {
    if (!has_program("mpirun")) {
      GTEST_SKIP() << "needs mpirun";
    }
  }

  static std::string training(const std::string& folder, const std::string& more = "") {
    return "train network=a21 network.depth=2 network.n_initial_filters=2 "
           "network.bottleneck_deepest=3 network.blocks_deepest_layer=1 network.blocks_final=1 "
           "data.downsample=0 run.threads=1 data.threads=1 run.id=tiny run.seed=7 "
           "run.minibatch_size=12 run.units=iteration run.length=6 run.aux_iterations=2 "
           "data.file=events.h5 data.aux_file=test.h5 data.order=shuffled "
           "mode.checkpoint_iteration=1 output_dir=" +
           folder + " " + more;
  }

  Ended mpirun(int processes, const std::string& words) const {
    const CommandResult result =
        run_command("cd '" + folder_.path().string() + "' && " + launcher(processes) +
                    " '" COSMICTAGGER_PROGRAM "' " + words + " </dev/null");
    return {WIFEXITED(result.status) ? WEXITSTATUS(result.status) : -WTERMSIG(result.status),
            result.output};
  }

  /// The same without waiting for it.
  BackgroundProgram start(int processes, const std::string& words) const {
    return {"/bin/sh",
            folder_.path(),
            {"-c", "exec " + launcher(processes) + " '" COSMICTAGGER_PROGRAM "' " + words},
            folder_ / "printed"};
  }
  std::string printed() const { return content_of(folder_ / "printed"); }

  /// Is the mpirun of this test MPICH's? It lets processes share cores without being asked to.
  static bool is_hydra() {
    static const bool is =
        run_command("mpirun --version").output.find("HYDRA") != std::string::npos;
    return is;
  }
  static std::string launcher(int processes) {
    return std::string("mpirun ") + (is_hydra() ? "" : "--oversubscribe --bind-to none ") + "-n " +
           std::to_string(processes);
  }

  /// Both runs ended with the same numbers, whatever else they remember.
  void expect_same_tensors(const std::string& a, const std::string& b) const {
    const Ended difference = folder_.run("checkpoint diff " + a + " " + b);
    EXPECT_THAT(difference.output, testing::HasSubstr(" are identical\n"));
  }

  /// Without the columns of times, which are the four before the learning rate.
  std::string metrics(const std::string& folder) const {
    std::istringstream table(content_of(folder_ / (folder + "/train_metrics.csv")));
    std::string text;
    for (std::string line; std::getline(table, line);) {
      const std::string rate = line.substr(line.rfind(','));
      for (int column = 0; column < 5; ++column) {
        line.resize(line.rfind(','));
      }
      text += line + rate + "\n";
    }
    return text;
  }

  /// One column of that table.
  std::vector<double> column(const std::string& folder, const std::string& name) const {
    std::istringstream table(content_of(folder_ / (folder + "/train_metrics.csv")));
    const auto cells_of = [](const std::string& line) {
      std::vector<std::string> cells;
      std::istringstream text(line);
      for (std::string cell; std::getline(text, cell, ',');) {
        cells.push_back(cell);
      }
      return cells;
    };
    std::string line;
    std::getline(table, line);
    const std::vector<std::string> names = cells_of(line);
    const auto at = std::find(names.begin(), names.end(), name) - names.begin();
    std::vector<double> numbers;
    while (std::getline(table, line)) {
      numbers.push_back(std::stod(cells_of(line).at(static_cast<std::size_t>(at))));
    }
    return numbers;
  }

  /// The processes of this test's program, by their rank; 0 for one that is not there.
  std::vector<pid_t> ranks(int processes) const {
    std::vector<pid_t> found(static_cast<std::size_t>(processes), 0);
    for (const pid_t number : programs()) {
      const std::string environment = content_of("/proc/" + std::to_string(number) + "/environ");
      const std::string name = is_hydra() ? "PMI_RANK=" : "OMPI_COMM_WORLD_RANK=";
      const std::size_t at = environment.find(name);
      if (at != std::string::npos) {
        found.at(static_cast<std::size_t>(std::stoi(environment.substr(at + name.size())))) =
            number;
      }
    }
    return found;
  }

  /// Processes that run the program in this test's folder.
  std::vector<pid_t> programs() const {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) {
        continue;
      }
      std::error_code gone;
      const std::filesystem::path program =
          std::filesystem::read_symlink(entry.path() / "exe", gone);
      const std::filesystem::path place = std::filesystem::read_symlink(entry.path() / "cwd", gone);
      if (!gone && program == std::filesystem::path(COSMICTAGGER_PROGRAM) &&
          place == std::filesystem::canonical(folder_.path())) {
        found.push_back(std::stoi(name));
      }
    }
    return found;
  }

  /// Waits for the program's processes to end, and for mpirun. That of Open MPI 4.1 may hang in
  /// itself if a process is killed while it starts; then it is ended.
  int end_of_launcher(BackgroundProgram& run) const {
    const auto is_over = [&] {
      siginfo_t info{};
      waitid(P_PID, static_cast<id_t>(run.number()), &info, WEXITED | WNOHANG | WNOWAIT);
      return info.si_pid != 0;
    };
    EXPECT_TRUE(comes_true([&] { return is_over() || programs().empty(); }));
    const auto hangs = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!is_over()) {
      if (std::chrono::steady_clock::now() > hangs && programs().empty()) {
        return run.end(SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(comes_true([&] { return programs().empty(); })) << "a process stayed behind";
    return run.end();
  }

  /// Starts a run without end, does something to one of its processes, and waits for all to end.
  struct Broken {
    int status = 0;
    double seconds = 0;
    std::string printed;
  };
  Broken broken(int processes, int rank, const std::function<void(pid_t)>& harm) const {
    return broken(processes, rank, "", harm);
  }
  Broken broken(int processes, int rank, const std::string& settings,
                const std::function<void(pid_t)>& harm) const {
    BackgroundProgram run = start(processes, training("run", "run.length=100000 " + settings));
    const bool trains = comes_true(
        [&] { return std::filesystem::exists(folder_ / "run/checkpoints/model-3.safetensors"); });
    EXPECT_TRUE(trains) << printed();
    harm(ranks(processes).at(static_cast<std::size_t>(rank)));
    const auto start = std::chrono::steady_clock::now();
    Broken result;
    result.status = run.end();
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.printed = printed();
    EXPECT_TRUE(comes_true([&] { return programs().empty(); })) << "a process stayed behind";
    EXPECT_LT(result.seconds, kLongest) << result.printed;
    // Of ctest's report, for docs/distributed.md.
    RecordProperty("seconds_until_all_had_ended", std::to_string(result.seconds));
    const Ended newest = folder_.run("checkpoint show run/checkpoints");
    EXPECT_EQ(newest.status, 0) << newest.output;
    return result;
  }

  WorkFolder folder_;
};

}  // namespace cosmic
