// The program as people launch it: mpirun with real processes, which train what one process trains,
// and which end together when one of them is killed, stopped, asked to stop or in trouble.
#include "commands/mpirun.hpp"
#include "core/stopwatch.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class MpirunWith : public Mpirun, public testing::WithParamInterface<int> {};

TEST_P(MpirunWith, processes_trains_what_one_process_trains_with_as_many_replicas) {
  const std::string count = std::to_string(GetParam());
  const Ended alone = folder_.run(training("alone", "run.replicas=" + count));
  ASSERT_EQ(alone.status, 0) << alone.output;
  const Ended together = mpirun(GetParam(), training("together"));
  ASSERT_EQ(together.status, 0) << together.output;
  expect_same_tensors("alone/checkpoints/model-6.safetensors",
                      "together/checkpoints/model-6.safetensors");
  EXPECT_EQ(metrics("together"), metrics("alone"));
}

INSTANTIATE_TEST_SUITE_P(Count, MpirunWith, testing::Values(1, 2, 3, 4),
                         testing::PrintToStringParamName());

TEST_F(Mpirun, speaks_with_one_voice) {
  const Ended run = mpirun(3, training("run", "run.length=2"));
  ASSERT_EQ(run.status, 0) << run.output;
  std::map<std::string, int> lines;
  std::istringstream text(run.output);
  for (std::string line; std::getline(text, line);) {
    const std::size_t message = line.find(" - ");
    if (message != std::string::npos) {
      EXPECT_EQ(++lines[line.substr(message)], 1) << line;
    }
  }
  EXPECT_THAT(run.output, HasSubstr("3 processes work together: 3 on "));
  EXPECT_THAT(run.output, HasSubstr("rank 2 on host "));
  for (const char* rank : {"0", "1", "2"}) {
    EXPECT_TRUE(std::filesystem::exists(
        folder_ / ("run/profiles/profiling_info_rank_" + std::string(rank) + ".npy")));
  }
  // Tables have a row for each of two updates, and TensorBoard one file.
  EXPECT_EQ(column("run", "loss").size(), 2U);
  const std::filesystem::directory_iterator board(folder_ / "run/train");
  EXPECT_EQ(std::distance(begin(board), end(board)), 1);
}

TEST_F(Mpirun, says_once_that_a_setting_was_given_twice) {
  const Ended two = mpirun(2, training("run", "run.length=2"));
  ASSERT_EQ(two.status, 0) << two.output;
  const std::string note = "note: run.length was given twice";
  const std::size_t first = two.output.find(note);
  ASSERT_NE(first, std::string::npos) << two.output;
  EXPECT_EQ(two.output.find(note, first + 1), std::string::npos) << two.output;
}

TEST_F(Mpirun, shares_the_trainings_of_a_sweep_each_made_by_one_process) {
  const Ended sweep = mpirun(2, training("sweep",
                                         "--multirun mode.optimizer.learning_rate="
                                         "0.001,0.002,0.003"));
  ASSERT_EQ(sweep.status, 0) << sweep.output;
  for (const std::string which : {"0", "1", "2"}) {
    const std::string number = std::to_string(std::stoi(which) + 1);
    const std::string said =
        "Training " + number + " of 3: mode.optimizer.learning_rate=0.00" + number;
    const std::size_t first = sweep.output.find(said);
    ASSERT_NE(first, std::string::npos) << sweep.output;
    EXPECT_EQ(sweep.output.find(said, first + 1), std::string::npos) << sweep.output;
    ASSERT_EQ(
        folder_.run(training("alone" + which, "mode.optimizer.learning_rate=0.00" + number)).status,
        0);
    expect_same_tensors("sweep/" + which + "/checkpoints", "alone" + which + "/checkpoints");
  }
  // They share no work by intention; nobody is told that he does what others do.
  EXPECT_THAT(sweep.output, Not(HasSubstr("works alone")));
}

TEST_F(Mpirun, goes_on_with_the_trainings_of_a_sweep_where_one_fails) {
  const Ended sweep = mpirun(2, training("sweep", "--multirun data.file=missing.h5,events.h5"));
  EXPECT_EQ(sweep.status, 1) << sweep.output;
  EXPECT_THAT(sweep.output, HasSubstr("Training 1 failed"));
  EXPECT_EQ(folder_.run("checkpoint show sweep/1/checkpoints").status, 0);
}

TEST_F(Mpirun, resumes_with_the_same_bits) {
  ASSERT_EQ(mpirun(2, training("at_once")).status, 0);
  ASSERT_EQ(mpirun(2, training("in_two", "run.length=3")).status, 0);
  const Ended rest = mpirun(2, training("in_two"));
  ASSERT_EQ(rest.status, 0) << rest.output;
  EXPECT_THAT(rest.output, HasSubstr("Restoring weights from"));
  expect_same_tensors("at_once/checkpoints/model-6.safetensors",
                      "in_two/checkpoints/model-6.safetensors");
}

TEST_F(Mpirun, resumes_with_the_random_flips_that_one_process_would_make) {
  const std::string flips = "data.augment=flips ";
  ASSERT_EQ(folder_.run(training("alone", flips + "run.replicas=3")).status, 0);
  ASSERT_EQ(mpirun(3, training("in_two", flips + "run.length=3")).status, 0);
  const Ended rest = mpirun(3, training("in_two", flips));
  ASSERT_EQ(rest.status, 0) << rest.output;
  expect_same_tensors("alone/checkpoints/model-6.safetensors",
                      "in_two/checkpoints/model-6.safetensors");
  EXPECT_EQ(metrics("in_two"), metrics("alone"));
}

TEST_F(Mpirun, goes_on_with_another_number_of_processes_and_says_so) {
  ASSERT_EQ(mpirun(2, training("run", "run.length=3")).status, 0);
  const Ended rest = mpirun(3, training("run"));
  ASSERT_EQ(rest.status, 0) << rest.output;
  EXPECT_THAT(rest.output, HasSubstr("made with processes x replicas = 2 x 1 and goes on with 3 x "
                                     "1: it starts at the same event"));
  // The same events, in the same order: the loss of the first step differs in rounding alone.
  ASSERT_EQ(mpirun(2, training("same")).status, 0);
  EXPECT_EQ(metrics("run").substr(0, 400), metrics("same").substr(0, 400));
}

TEST_F(Mpirun, with_statistics_of_all_processes_trains_what_one_trains_with_the_whole_batch) {
  const std::string settings =
      "network.synchronized_statistics=true mode.optimizer.name=sgd "
      "mode.optimizer.loss_balance_scheme=none mode.optimizer.schedule=flat "
      "mode.optimizer.learning_rate=0.01 ";
  const Ended alone = folder_.run(training("alone", settings));
  ASSERT_EQ(alone.status, 0) << alone.output;
  EXPECT_THAT(alone.output, HasSubstr("network.synchronized_statistics=true has no effect: there "
                                      "is one process"));
  const Ended together = mpirun(3, training("together", settings));
  ASSERT_EQ(together.status, 0) << together.output;
  const std::vector<double> expected = column("alone", "loss");
  const std::vector<double> losses = column("together", "loss");
  ASSERT_EQ(losses.size(), 6U);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    EXPECT_NEAR(losses[i], expected.at(i), 1e-3 * expected.at(i)) << "update " << i;
  }
}

TEST_F(Mpirun, with_gradients_that_travel_as_bfloat16_trains_what_replicas_train) {
  const std::string narrow = "run.exchange_precision=bfloat16 ";
  ASSERT_EQ(folder_.run(training("alone", narrow + "run.replicas=3")).status, 0);
  const Ended together = mpirun(3, training("together", narrow));
  ASSERT_EQ(together.status, 0) << together.output;
  expect_same_tensors("alone/checkpoints/model-6.safetensors",
                      "together/checkpoints/model-6.safetensors");
  EXPECT_EQ(metrics("together"), metrics("alone"));
}

TEST_F(Mpirun, adds_up_the_gradients_of_two_as_if_the_rate_were_twice_as_large) {
  const std::string settings = "mode.optimizer.name=sgd mode.optimizer.schedule=flat ";
  const Ended sum = mpirun(2, training("sum", settings + "run.gradient_reduction=sum "
                                                         "mode.optimizer.learning_rate=0.015625"));
  ASSERT_EQ(sum.status, 0) << sum.output;
  const Ended mean = mpirun(2, training("mean", settings + "mode.optimizer.learning_rate=0.03125"));
  ASSERT_EQ(mean.status, 0) << mean.output;
  expect_same_tensors("sum/checkpoints/model-6.safetensors",
                      "mean/checkpoints/model-6.safetensors");
}

TEST_F(Mpirun, settings_of_the_exchange_are_noted_where_one_process_exchanges_nothing) {
  const Ended alone = folder_.run(
      training("alone", "run.length=1 run.exchange_precision=bfloat16 run.gradient_reduction=sum"));
  ASSERT_EQ(alone.status, 0) << alone.output;
  for (const char* setting : {"run.exchange_precision=bfloat16", "run.gradient_reduction=sum"}) {
    EXPECT_THAT(alone.output, HasSubstr(std::string(setting) +
                                        " has no effect: one process with one replica exchanges "
                                        "no gradients."));
  }
}

std::string tagging(const std::string& folder, const std::string& more) {
  return "infer network=a21 network.depth=2 network.n_initial_filters=2 "
         "network.bottleneck_deepest=3 network.blocks_deepest_layer=1 network.blocks_final=1 "
         "data.downsample=0 run.threads=1 data.threads=1 run.id=tiny data.file=events.h5 "
         "mode.weights_location=trained/checkpoints output_dir=" +
         folder + " " + more;
}

TEST_F(Mpirun, leaves_a_profile_of_every_process_that_tagged) {
  ASSERT_EQ(folder_.run(training("trained", "run.length=2")).status, 0);
  const std::string words = tagging("run", "run.minibatch_size=4 run.profile=true");
  const Ended together = mpirun(3, words);
  ASSERT_EQ(together.status, 0) << together.output;
  for (const char* const place : {"", "rank_1/", "rank_2/"}) {
    for (const char* const file : {"inference_profile.html", "inference_profile.json"}) {
      const auto path = folder_ / ("run/profiles/" + std::string(place) + file);
      EXPECT_TRUE(std::filesystem::exists(path)) << path;
    }
  }
  // They are replaced like everything else that an inference leaves: when asked to.
  EXPECT_EQ(mpirun(3, words).status, kRefused);
  EXPECT_EQ(mpirun(3, words + " --overwrite").status, 0);
}

TEST_F(Mpirun, tags_events_into_the_files_that_one_process_writes) {
  ASSERT_EQ(folder_.run(training("trained", "run.length=2")).status, 0);
  // 29 events in batches of 3: the last round has fewer batches than processes, the last batch
  // fewer events than others.
  for (const std::string& more :
       {std::string("run.minibatch_size=3 run.iterations=0"),
        std::string("run.minibatch_size=4 run.iterations=3 mode.start_index=2")}) {
    const Ended alone = folder_.run(tagging("alone", more + " --overwrite"));
    ASSERT_EQ(alone.status, 0) << alone.output;
    const Ended together = mpirun(3, tagging("together", more + " --overwrite"));
    ASSERT_EQ(together.status, 0) << together.output;
    for (const char* file : {"predictions.h5", "ana_metrics.csv"}) {
      EXPECT_EQ(content_of(folder_ / (std::string("together/") + file)),
                content_of(folder_ / (std::string("alone/") + file)))
          << file << " with " << more;
    }
  }
  // Nothing is replaced without being asked to, and nothing is said twice.
  const Ended refused = mpirun(2, tagging("together", "run.minibatch_size=4"));
  EXPECT_EQ(refused.status, kRefused) << refused.output;
  const std::size_t first = refused.output.find("already exists");
  ASSERT_NE(first, std::string::npos) << refused.output;
  EXPECT_EQ(refused.output.find("already exists", first + 1), std::string::npos);
}

TEST_F(Mpirun, leaves_no_half_of_its_predictions_when_a_process_is_killed_and_repeats_them) {
  ASSERT_EQ(folder_.run(training("trained", "run.length=2")).status, 0);
  std::filesystem::remove(folder_ / "events.h5");
  write_events(folder_ / "events.h5", 1500);
  std::vector<std::string> left;  // by the process that was killed before
  for (const std::size_t victim : {0U, 1U}) {
    BackgroundProgram run = start(2, tagging("together", "run.minibatch_size=1 run.iterations=0"));
    ASSERT_TRUE(comes_true([&] {
      const std::vector<std::string> now = folder_.unfinished_files();
      return !now.empty() && now != left;
    })) << printed();
    const pid_t process = ranks(2).at(victim);
    ASSERT_GT(process, 0) << printed();
    kill(process, SIGKILL);
    EXPECT_NE(end_of_launcher(run), 0);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "together/predictions.h5"));
    left = folder_.unfinished_files();
  }
  const std::string words = "run.minibatch_size=8 run.iterations=0";
  const Ended again = mpirun(2, tagging("together", words));
  ASSERT_EQ(again.status, 0) << again.output;
  EXPECT_THAT(folder_.unfinished_files(), testing::IsEmpty());
  ASSERT_EQ(folder_.run(tagging("alone", words)).status, 0);
  EXPECT_TRUE(content_of(folder_ / "together/predictions.h5") ==
              content_of(folder_ / "alone/predictions.h5"));
}

TEST_F(Mpirun, refuses_a_batch_that_cannot_be_divided_once_and_names_batches_that_can) {
  const Ended refused = mpirun(3, training("run", "run.minibatch_size=4"));
  EXPECT_EQ(refused.status, kRefused) << refused.output;
  const std::string text =
      "run.minibatch_size is 4 for 3 processes with 1 replica each (every "
      "replica takes an equal part of a batch); choose 3 or 6";
  const std::size_t first = refused.output.find(text);
  ASSERT_NE(first, std::string::npos) << refused.output;
  EXPECT_EQ(refused.output.find(text, first + 1), std::string::npos) << refused.output;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

TEST_F(Mpirun, of_another_mpi_is_found_out) {
  setenv("PMI_SIZE", "4", 1);
  const Ended refused = folder_.run(training("run"));
  const Ended copies = folder_.run(training("run", "run.distributed=false run.length=1"));
  unsetenv("PMI_SIZE");
  EXPECT_EQ(refused.status, kRefused);
  EXPECT_THAT(refused.output, AllOf(HasSubstr("PMI_SIZE is 4, but MPI sees one process"),
                                    HasSubstr("run.distributed=false")));
  EXPECT_EQ(copies.status, 0) << copies.output;
}

TEST_F(Mpirun, as_poprun_sets_it_up_gives_each_process_its_replicas) {
  ASSERT_EQ(folder_.run(training("alone", "run.replicas=2")).status, 0);
  setenv("POPDIST_NUM_TOTAL_REPLICAS", "2", 1);
  setenv("POPDIST_NUM_LOCAL_REPLICAS", "2", 1);
  const Ended instance = folder_.run(training("instance"));
  unsetenv("POPDIST_NUM_TOTAL_REPLICAS");
  unsetenv("POPDIST_NUM_LOCAL_REPLICAS");
  ASSERT_EQ(instance.status, 0) << instance.output;
  expect_same_tensors("alone/checkpoints/model-6.safetensors",
                      "instance/checkpoints/model-6.safetensors");
}

/// A job script of examples/ as a user has edited it, and a folder with the batch system's
/// commands.
class JobScript : public Mpirun {
 protected:
  void edit(const std::string& name,
            const std::vector<std::pair<std::string, std::string>>& lines) {
    std::string text = content_of("examples/" + name);
    for (const auto& [line, edited] : lines) {
      const std::size_t begin = text.find("\n" + line) + 1;
      ASSERT_NE(begin, std::string::npos + 1) << line;
      text.replace(begin, text.find('\n', begin) - begin, edited);
    }
    write_program(name, text);
  }
  /// Settings of a tiny run in place of the script's.
  static std::string settings() {
    std::string text = "settings=(" + training("run", "run.length=2") + ")\nignored=(";
    return text.replace(text.find("train "), 6, "");
  }
  void write_program(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }
  Ended submit(const std::string& script) const {
    const std::string place = folder_.path().string();
    const CommandResult result =
        run_command("cd '" + place + "' && PATH=\"" + place + ":$PATH\" ./" + script);
    return {WIFEXITED(result.status) ? WEXITSTATUS(result.status) : -1, result.output};
  }
};

TEST_F(JobScript, for_slurm_starts_the_processes_and_submits_itself_again_where_time_was_short) {
  edit("slurm.sh",
       {{"program=", "program='" COSMICTAGGER_PROGRAM "'"}, {"settings=(", settings()}});
  write_program("srun", "#!/bin/sh\nwhile [ \"${1#--}\" != \"$1\" ]; do shift; done\nexec " +
                            launcher(2) + " \"$@\"\n");
  write_program("sbatch", "#!/bin/sh\necho submitted \"$1\"\n");
  const Ended run = submit("slurm.sh");
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("2 processes work together"),
                                HasSubstr("Run complete after 2 steps")));
  write_program("srun", "#!/bin/sh\nexit 75\n");
  EXPECT_THAT(submit("slurm.sh").output, HasSubstr("submitted ./slurm.sh"));
  write_program("srun", "#!/bin/sh\nexit 3\n");
  EXPECT_EQ(submit("slurm.sh").status, kFailed);
}

TEST_F(JobScript, for_pbs_starts_the_processes) {
  edit("pbs.sh", {{"program=", "program='" COSMICTAGGER_PROGRAM "'"},
                  {"nodes=", "nodes=1"},
                  {"processes_per_node=", "processes_per_node=2"},
                  {"cores_per_process=", "cores_per_process=1"},
                  {"settings=(", settings()}});
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
  const Ended run = submit("pbs.sh");
  unsetenv("OMPI_MCA_rmaps_base_oversubscribe");
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("2 processes work together"));
}

TEST_F(JobScript, for_pbs_gives_every_launcher_its_own_words) {
  const std::vector<std::pair<std::string, std::string>> launchers = {
      {"mpiexec (OpenRTE) 4.1.4", "-n 6 --map-by ppr:3:node:PE=4 --bind-to core --mca oob_tcp"},
      {"HYDRA build details:", "-n 6 -ppn 3 -bind-to core:4 cosmictagger train run.id=pbs"},
      {"PALS 1.2", "-n 6 -ppn 3 --depth 4 --cpu-bind depth cosmictagger train run.id=pbs"}};
  edit("pbs.sh", {{"nodes=", "nodes=2"},
                  {"processes_per_node=", "processes_per_node=3"},
                  {"cores_per_process=", "cores_per_process=4"}});
  for (const auto& [version, words] : launchers) {
    write_program("mpiexec", "#!/bin/sh\n[ \"$1\" = --version ] && echo '" + version +
                                 "' || echo given \"$@\"\n");
    EXPECT_THAT(submit("pbs.sh").output, HasSubstr(words)) << version;
  }
}

TEST_F(Mpirun, is_what_launch_becomes) {
  const Ended run = folder_.run("launch --num-instances 2 -- " + training("run", "run.length=1"));
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("2 instances with 1 replica each"),
                    HasSubstr(is_hydra() ? "[0] " : "[1,0]<stdout>:"), HasSubstr("Run complete")));
}

TEST_F(Mpirun, launch_says_first_where_each_process_will_compute) {
  const std::string words = "launch --num-instances 2 --num-replicas 3 --dry-run -- train --quiet ";
  EXPECT_THAT(folder_.run(words + "run.id=1").output,
              AllOf(HasSubstr("host                     instance replicas    cores   device\n"
                              "this one                        0        3 "),
                    HasSubstr(" CPU\nthis one                        1        3 ")));
  EXPECT_THAT(folder_.run(words + "run.compute_mode=IPU").output, HasSubstr(" IPU\n"));
  // The command itself will say what is wrong with that.
  EXPECT_THAT(folder_.run(words + "run.compute_mode=abacus").output, HasSubstr(" unknown\n"));
}

TEST_F(Mpirun, ends_when_a_process_is_killed_and_goes_on_with_the_same_bits) {
  const Broken run = broken(3, 2, [](pid_t process) { kill(process, SIGKILL); });
  EXPECT_NE(run.status, 0);
  // MPICH's mpirun does not say which one it was.
  EXPECT_THAT(run.printed, HasSubstr(is_hydra() ? "EXIT CODE: 9" : "rank 2"));
  // However far it had come: one that was never killed is there too.
  const Ended newest = folder_.run("checkpoint show run/checkpoints");
  std::string step = newest.output.substr(newest.output.find("model-") + 6);
  step.resize(step.find('.'));
  const std::string length = "run.length=" + std::to_string(std::stoi(step) + 2);
  ASSERT_EQ(mpirun(3, training("run", length)).status, 0);
  ASSERT_EQ(mpirun(3, training("undisturbed", length)).status, 0);
  expect_same_tensors("run/checkpoints", "undisturbed/checkpoints");
}

TEST_F(Mpirun, ends_when_a_process_is_stopped_and_names_it) {
  const Broken run = broken(3, 1, [](pid_t process) { kill(process, SIGSTOP); });
  EXPECT_NE(run.status, 0);
  EXPECT_THAT(run.printed, AllOf(HasSubstr("rank 2 on host "), HasSubstr(": rank 1 on host "),
                                 HasSubstr("has not been heard of for 20 s")));
}

TEST_F(Mpirun, stops_with_a_checkpoint_when_any_process_is_asked_to) {
  const Broken run = broken(2, 1, [](pid_t process) { kill(process, SIGTERM); });
  EXPECT_EQ(run.status, kGoesOn) << run.printed;
  EXPECT_THAT(run.printed, AllOf(HasSubstr("Asked to stop after step"), HasSubstr("(rank 1 on"),
                                 HasSubstr("To resume, rerun the same command")));
}

TEST_F(Mpirun, stops_with_a_checkpoint_when_all_processes_are_asked_to) {
  const Broken run = broken(3, 1, [&](pid_t) {
    for (const pid_t process : programs()) {
      kill(process, SIGTERM);
    }
  });
  EXPECT_EQ(run.status, kGoesOn) << run.printed;
  EXPECT_THAT(run.printed, HasSubstr("To resume, rerun the same command"));
}

TEST_F(Mpirun, that_has_stopped_as_asked_says_so_though_another_process_is_asked_late) {
  const Broken run = broken(3, 0, [&](pid_t process) {
    const std::vector<pid_t> all = ranks(3);
    kill(process, SIGTERM);
    EXPECT_TRUE(comes_true([&] { return printed().find("To resume, rerun") != std::string::npos; }))
        << printed();
    kill(all.at(1), SIGTERM);
    kill(all.at(2), SIGTERM);
  });
  EXPECT_EQ(run.status, kGoesOn) << run.printed;
}

TEST_F(Mpirun, names_a_process_that_keeps_the_others_waiting) {
  const Broken run = broken(3, 1, [&](pid_t process) {
    EXPECT_TRUE(comes_true([&] {
      kill(process, SIGSTOP);
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
      kill(process, SIGCONT);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return printed().find("The others wait for rank 1 on host ") != std::string::npos;
    })) << printed();
    kill(process, SIGTERM);
  });
  EXPECT_EQ(run.status, kGoesOn) << run.printed;
}

TEST_F(Mpirun, ends_when_the_disk_of_one_process_is_full_and_goes_on_when_there_is_room) {
  if (run_command("unshare --mount mount -t tmpfs tmpfs /mnt").status != 0) {
    GTEST_SKIP() << "needs the right to mount";
  }
  // The second process sees a small disk in the place of the folder that all write to.
  const std::string wrapper = (folder_ / "on_a_small_disk").string();
  std::ofstream(wrapper)
      << "#!/bin/sh\n"
         "if [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 0 ]; then exec \"$@\"; fi\n"
         "exec unshare --mount sh -c 'mount -t tmpfs -o size=16k tmpfs run/checkpoints; exec "
         "\"$@\"' sh \"$@\"\n";
  std::filesystem::permissions(wrapper, std::filesystem::perms::owner_all);
  const std::string words = training("run", "mode.instance_checkpoints=true");
  ASSERT_EQ(mpirun(2, words + " run.length=1").status, 0);
  const Stopwatch watch;
  const CommandResult full =
      run_command("cd '" + folder_.path().string() + "' && " + launcher(2) +
                  " ./on_a_small_disk '" + COSMICTAGGER_PROGRAM "' " + words + " </dev/null");
  EXPECT_LT(watch.seconds(), kLongest);
  EXPECT_EQ(WEXITSTATUS(full.status), kFailed) << full.output;
  EXPECT_THAT(full.output, AllOf(HasSubstr("cosmictagger: error: rank 1 on host "),
                                 HasSubstr("No space left on device")));
  const Ended rest = mpirun(2, words);
  ASSERT_EQ(rest.status, 0) << rest.output;
  EXPECT_THAT(rest.output, HasSubstr("Restoring weights from"));
  ASSERT_EQ(mpirun(2, training("undisturbed")).status, 0);
  expect_same_tensors("run/checkpoints/model-6.safetensors",
                      "undisturbed/checkpoints/model-6.safetensors");
}

TEST_F(Mpirun, ends_when_a_process_cannot_write) {
  const Broken run = broken(2, 0, [&](pid_t) {
    // The folder of checkpoints becomes a file: nothing can be written there any more.
    std::filesystem::rename(folder_ / "run/checkpoints", folder_ / "run/kept");
    std::ofstream(folder_ / "run/checkpoints");
    while (!programs().empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    std::filesystem::remove(folder_ / "run/checkpoints");
    std::filesystem::rename(folder_ / "run/kept", folder_ / "run/checkpoints");
  });
  EXPECT_EQ(run.status, kFailed) << run.printed;
  EXPECT_THAT(run.printed, HasSubstr("cosmictagger: error: rank 0 on host "));
}

TEST_F(Mpirun, ends_when_a_process_has_lost_its_loss_and_names_it) {
  std::filesystem::remove(folder_ / "events.h5");
  write_events(folder_ / "events.h5", 12, LastEvent::negative);
  const Stopwatch watch;
  const Ended run = mpirun(3, training("run", "data.order=serial_access data.img_transform=true"));
  EXPECT_LT(watch.seconds(), kLongest);
  EXPECT_EQ(run.status, kFailed) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("The loss was lost on rank 2 on host "),
                                HasSubstr("the update was not made"), HasSubstr("events 0")));
  const Ended kept = folder_.run("checkpoint show run/before_lost_loss.safetensors");
  EXPECT_EQ(kept.status, 0) << kept.output;
  // Statistics of all processes spread it, so nobody is blamed.
  const Ended together = mpirun(3, training("together",
                                            "data.order=serial_access data.img_transform=true "
                                            "network.synchronized_statistics=true"));
  EXPECT_EQ(together.status, kFailed) << together.output;
  EXPECT_THAT(together.output,
              AllOf(HasSubstr("it is not known whose it was"), HasSubstr("the update was not made"),
                    Not(HasSubstr("The loss was lost on rank"))));
}

}  // namespace
}  // namespace cosmic
