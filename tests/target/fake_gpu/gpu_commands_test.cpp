// Commands and runs with run.compute_mode=GPU, from words to files, on a device that is the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_folder.hpp"
#include "cli/commands.hpp"
#include "cli/published_job.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "monitor/job_list.hpp"
#include "run/fitting_batch.hpp"
#include "run/run_choices.hpp"
#include "scratch_folder.hpp"
#include "session/model.hpp"
#include "target/fake_gpu/fake_gpu_target.hpp"
#include "target/registry.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::cli {
namespace {

using target::cuda::Answer;
using target::cuda::HostMachine;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

constexpr const char* kGpu = "run.compute_mode=GPU";

void add_commands(Command& app) {
  add_compile(app);
  add_infer(app);
  add_measure_performance(app);
  add_run(app);
  add_targets(app);
  add_test(app);
  add_train(app);
}

/// What `cosmictagger WORDS...` prints.
std::string run(const std::vector<std::string>& words) {
  return printed_by([&] { run_command(add_commands, words); });
}

class GpuCommands : public testing::Test {
 protected:
  GpuCommands() {
    target::fake_gpu::reset_machine();
    setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
    write_random_events(folder_ / "train.h5", 5, 1);
    write_random_events(folder_ / "test.h5", 4, 2);
  }
  ~GpuCommands() override { target::fake_gpu::reset_machine(); }

  static HostMachine& machine() { return *target::fake_gpu::machine(); }

  /// Of a run on the GPU, on the events of this test; later words win.
  std::vector<std::string> words(const std::string& command,
                                 const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{command};
    all.insert(all.end(), kTinyNetwork.begin(), kTinyNetwork.end());
    all.insert(all.end(), {kGpu, "data.data_directory=" + folder_.path().string(),
                           "data.file=train.h5", "run.minibatch_size=2"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<std::string> train_words(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all =
        words("train", {"run.id=tiny", "run.seed=7", "run.distributed=false",
                        "output_dir=" + out().string(), "data.aux_file=test.h5",
                        "run.units=iteration", "run.length=6", "run.aux_iterations=2"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::filesystem::path out() const { return folder_ / "out"; }
  std::filesystem::path artifact() const { return folder_ / "tiny.cosmicx"; }
  checkpoint::Checkpoint newest(const std::string& of = "out") const {
    return checkpoint::load_newest(folder_ / of / "checkpoints").checkpoint;
  }
  config::Configuration configuration(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{kGpu};
    all.insert(all.end(), more.begin(), more.end());
    return tiny_configuration(folder_.path(), config::Mode::train, all);
  }

  ScratchFolder folder_{"gpu_commands"};
};

std::map<std::string, std::vector<std::byte>> bytes_of(const checkpoint::Checkpoint& checkpoint) {
  std::map<std::string, std::vector<std::byte>> result;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    result[name] = tensor.bytes;
  }
  return result;
}

TEST_F(GpuCommands, targets_lists_the_device) {
  EXPECT_THAT(run({"targets"}),
              AllOf(HasSubstr("compute capability 9.0; device 0 (Host GPU)"), HasSubstr("GPU")));
}

TEST_F(GpuCommands, targets_says_why_a_device_cannot_be_used) {
  machine().facts.name = "Tesla T4";
  machine().facts.major = 7;
  machine().facts.minor = 5;
  EXPECT_THAT(run({"targets"}), AllOf(HasSubstr("no: "), HasSubstr("device 0 (Tesla T4)"),
                                      HasSubstr("compute capability 7.5")));
  EXPECT_THAT([&] { run(train_words()); },
              ThrowsMessage<TargetError>(HasSubstr("choose another run.device")));
}

TEST_F(GpuCommands, one_process_that_exchanges_with_itself_trains_to_the_same_bits) {
  run(train_words({"run.length=2"}));
  EXPECT_EQ(machine().sums_recorded, 0);
  for (const std::string exchange : {"device", "host"}) {
    run(train_words({"run.length=2", "run.exchange=" + exchange,
                     "output_dir=" + (folder_ / exchange).string()}));
    EXPECT_EQ(bytes_of(newest(exchange)), bytes_of(newest())) << exchange;
    EXPECT_EQ(machine().connections, 1) << "by the first of the two alone";
    EXPECT_GT(machine().sums_recorded, 0);
  }
}

TEST_F(GpuCommands, train_says_what_of_the_device_s_memory_it_needs_and_infer_does) {
  EXPECT_THAT(
      run(train_words()),
      AllOf(HasSubstr("Device memory for the training step: "),
            HasSubstr(" planned of 4.29 GB free on device 0 (Host GPU): values "),
            HasSubstr("weights and moments "), HasSubstr("Device memory for the validation"),
            HasSubstr("complete after 6 steps")));
  EXPECT_EQ(machine().allocated, 0) << "all of it is given back";
  EXPECT_THAT(
      run(words("infer", {"run.id=tiny", "run.distributed=false", "output_dir=" + out().string()})),
      AllOf(HasSubstr("Device memory for the inference: "), HasSubstr("Tagged 5 events")));
}

TEST_F(GpuCommands, plan_as_many_bytes_as_are_allocated_then) {
  const model::UResNet network(configuration().network);
  const model::SegmentationLoss loss;
  session::TrainingModel model(
      network, loss, compile::Adam{},
      run::training_options(configuration({"mode.optimizer.gradient_accumulation=2"}), "cuda"));
  const session::CompileReport& report = model.compile(run::batch_types(configuration(), {16, 32}));
  ASSERT_TRUE(report.device_memory.has_value());
  EXPECT_EQ(report.device_memory->need.bytes(), machine().allocated);
  EXPECT_EQ(report.device_memory->room.free, machine().facts.memory_bytes);
}

TEST_F(GpuCommands, models_give_the_device_s_memory_back_when_detached_and_go_on_when_attached) {
  const config::Configuration tiny = configuration();
  const model::UResNet network(tiny.network);
  const model::SegmentationLoss loss;
  const std::vector<float> image(2 * 3 * 16 * 32, 0.25F);
  const std::vector<std::uint8_t> label(image.size(), 1);
  const auto make = [&] {
    auto model = std::make_unique<session::TrainingModel>(network, loss, compile::Adam{},
                                                          run::training_options(tiny, "cuda"));
    model->compile(run::batch_types(tiny, {16, 32}));
    (*model)(image, label, 1e-3);
    return model;
  };
  const std::unique_ptr<session::TrainingModel> whole = make();
  const std::int64_t others = machine().allocated;
  const std::unique_ptr<session::TrainingModel> model = make();
  model->detach();
  EXPECT_EQ(machine().allocated, others);
  model->attach();
  EXPECT_EQ((*model)(image, label, 1e-3).loss, (*whole)(image, label, 1e-3).loss);
}

/// What the words are refused with.
std::string refusal_of(const std::vector<std::string>& words) {
  try {
    run(words);
  } catch (const TargetError& error) {
    return error.what();
  }
  return "nothing";
}

TEST_F(GpuCommands, refuse_a_batch_that_does_not_fit_before_anything_is_allocated) {
  machine().facts.memory_bytes = 4'000'000;
  for (const std::string mode : {"train", "inference"}) {
    const std::vector<std::string> many =
        words("measure-performance", {"mode=" + mode, "--rows", "16", "--columns", "32", "--calls",
                                      "1", "run.minibatch_size=1000"});
    const std::string refusal = refusal_of(many);
    EXPECT_THAT(refusal, AllOf(HasSubstr("a batch of 1000 events needs "), HasSubstr("values "),
                               HasSubstr("device 0 (Host GPU) has 4.0 MB free of 4.0 MB"),
                               HasSubstr("nothing was allocated"),
                               HasSubstr("Or choose another device (run.device).")));
    EXPECT_EQ(machine().allocations, 0);

    const std::string key = "run.minibatch_size=";
    const std::size_t at = refusal.find(key);
    ASSERT_NE(at, std::string::npos) << refusal;
    const std::int64_t largest = std::stoll(refusal.substr(at + key.size()));
    EXPECT_GT(largest, 1);
    std::vector<std::string> fitting = many;
    fitting.back() = key + std::to_string(largest);
    EXPECT_THAT(run(fitting), HasSubstr("device memory  "));
    fitting.back() = key + std::to_string(largest + 1);
    EXPECT_THAT(refusal_of(fitting),
                HasSubstr("largest batch that fits: " + key + std::to_string(largest)));
    machine().allocations = 0;
  }
}

TEST_F(GpuCommands, refuse_a_training_whose_validation_does_not_fit_with_a_batch_for_both) {
  const config::Configuration four = configuration({"run.minibatch_size=4"});
  const model::UResNet network(four.network);
  const model::SegmentationLoss loss;
  session::Options options = run::training_options(four, "cuda");
  options.offline_compile = true;
  session::TrainingModel step(network, loss, compile::Adam{}, options);
  const std::int64_t step_alone =
      step.compile(run::batch_types(four, {16, 32})).device_memory->need.bytes();
  machine().facts.memory_bytes = step_alone + 1'000;

  const std::string key = "run.minibatch_size=";
  const std::string refusal = refusal_of(train_words({key + "4"}));
  EXPECT_THAT(refusal, HasSubstr("a batch of 4 events needs"));
  EXPECT_EQ(machine().allocated, 0) << "the step was given back";
  const std::size_t at = refusal.find(key);
  ASSERT_NE(at, std::string::npos) << refusal;
  const std::string largest = refusal.substr(at, key.size() + 1);
  EXPECT_THAT(run(train_words({largest, "run.length=2"})), HasSubstr("complete after 2 steps"));

  machine().facts.memory_bytes = 1'000;
  EXPECT_THAT(refusal_of(train_words()), HasSubstr("Not even a batch of one event fits"));
}

TEST_F(GpuCommands, name_who_else_has_memory_of_a_device_that_is_too_full) {
  machine().used_by_others = machine().facts.memory_bytes - 100'000;
  const config::Configuration asked = configuration({"run.minibatch_size=64"});
  const model::UResNet network(asked.network);
  const model::SegmentationLoss loss;
  session::TrainingModel model(network, loss, compile::Adam{},
                               run::training_options(asked, "cuda"));
  try {
    model.compile(run::batch_types(asked, {16, 32}));
    FAIL() << "64 events need more than 100 kB";
  } catch (const session::DeviceMemoryError& error) {
    EXPECT_THAT(error.what(), HasSubstr("choose another device (run.device)"));
    EXPECT_THAT(run::fitting_batch(asked, run::TrainingPrograms::step, error,
                                   {{4711, "python3", 41'000'000'000}, {4712, "", std::nullopt}}),
                AllOf(HasSubstr("has 100.0 kB free of 4.29 GB"),
                      HasSubstr("Others use this device: process 4711 ('python3') with 41.00 GB, "
                                "process 4712 ('')."),
                      HasSubstr("or wait until the others have finished")));
  }
}

TEST_F(GpuCommands, without_a_driver_or_for_a_device_that_is_not_there_end_before_they_begin) {
  EXPECT_THAT([&] { run(train_words({"run.device=3"})); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("device 3 was chosen for target 'cuda'"),
                                             HasSubstr("has 1 device here, counted from 0"))));
  machine().presence = {.answer = {Answer::Kind::no_driver, "cudaErrorInsufficientDriver"}};
  EXPECT_THAT([&] { run(train_words()); },
              ThrowsMessage<TargetError>(AllOf(HasSubstr("target 'cuda' cannot be used here"),
                                               HasSubstr("there is no NVIDIA driver"))));
  EXPECT_FALSE(std::filesystem::exists(out()));
  EXPECT_EQ(exit_status(TargetError("")), 5);
}

TEST_F(GpuCommands, train_whose_device_is_lost_keeps_its_last_checkpoint_and_goes_on_from_it) {
  KeptLog log;
  const std::vector<std::string> saves{"mode.checkpoint_iteration=2"};
  train::train(
      configuration({"mode.checkpoint_iteration=2", "output_dir=" + (folder_ / "whole").string()}),
      "cuda", log.log());
  train::TrainingHooks hooks;
  hooks.progress = [](const train::TrainingProgress& progress) {
    if (progress.step == 5) {
      machine().end_of_work = {Answer::Kind::device_lost, "cudaErrorECCUncorrectable, ..."};
    }
  };
  try {
    train::train(configuration(saves), "cuda", log.log(), hooks);
    FAIL() << "the device is lost in step 5";
  } catch (const TargetError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("device 0 (Host GPU) was lost in a run"),
                                    HasSubstr("goes on from the last checkpoint")));
    EXPECT_EQ(exit_status(error), 5);
  }
  const std::int64_t saved = newest().step;
  EXPECT_GE(saved, 4);
  EXPECT_LT(saved, 6);
  machine().end_of_work = {};
  EXPECT_EQ(train::train(configuration(saves), "cuda", log.log()).first_step, saved);
  EXPECT_EQ(bytes_of(newest()), bytes_of(newest("whole")));
}

TEST_F(GpuCommands, train_whose_device_is_lost_while_a_checkpoint_is_made_keeps_the_one_before) {
  KeptLog log;
  std::int64_t updates = 0;
  train::TrainingHooks hooks;
  hooks.stop_requested = [&] {  // then it makes a checkpoint, for which it reads the states
    const bool stop = ++updates == 5;
    if (stop) {
      machine().end_of_work = {Answer::Kind::device_lost, "cudaErrorECCUncorrectable, ..."};
    }
    return stop;
  };
  EXPECT_THAT(
      [&] {
        train::train(configuration({"mode.checkpoint_iteration=2"}), "cuda", log.log(), hooks);
      },
      ThrowsMessage<TargetError>(AllOf(HasSubstr("was lost in reading a state"),
                                       HasSubstr("goes on from the last checkpoint"))));
  EXPECT_EQ(newest().step, 4);
}

TEST_F(GpuCommands, train_goes_on_from_the_cpu_s_checkpoint_and_the_cpu_from_its) {
  KeptLog log;
  const auto go_on = [&](const std::string& mode, const std::string& target,
                         const std::string& length) {
    return train::train(configuration({"run.compute_mode=" + mode, "run.length=" + length}), target,
                        log.log());
  };
  go_on("CPU", "cpu", "2");
  EXPECT_EQ(go_on("GPU", "cuda", "4").first_step, 2);
  EXPECT_EQ(go_on("CPU", "cpu", "6").first_step, 4);
  EXPECT_EQ(newest().step, 6);
}

TEST_F(GpuCommands, train_computes_the_losses_of_the_cpu) {
  for (const std::string accumulation : {"1", "2"}) {
    const auto last_loss = [&](const std::string& mode, const std::string& target) {
      KeptLog log;
      return train::train(
                 configuration({"run.compute_mode=" + mode,
                                "mode.optimizer.gradient_accumulation=" + accumulation,
                                "output_dir=" + (folder_ / (mode + accumulation)).string()}),
                 target, log.log())
          .last_training.front()
          .value;
    };
    const double cpu = last_loss("CPU", "cpu");
    EXPECT_NEAR(last_loss("GPU", "cuda"), cpu, 1e-3 * cpu) << accumulation;
  }
}

TEST_F(GpuCommands, test_finds_no_wrong_value) {
  EXPECT_THAT(run(words("test", {"--rows", "16", "--columns", "32"})),
              AllOf(HasSubstr("Target cuda against reference, value by value"),
                    HasSubstr("WRONG          0;")));
}

TEST_F(GpuCommands, measure_performance_has_the_device_s_memory_in_its_json) {
  const auto json = nlohmann::json::parse(
      run(words("measure-performance",
                {"mode=train", "--rows", "16", "--columns", "32", "--calls", "2", "--json"})));
  EXPECT_EQ(json.at("target"), "cuda");
  const nlohmann::json& memory = json.at("device_memory");
  EXPECT_EQ(memory.at("device"), "Host GPU");
  EXPECT_EQ(memory.at("total_bytes"), machine().facts.memory_bytes);
  std::int64_t sum = 0;
  for (const nlohmann::json& part : memory.at("parts")) {
    sum += part.get<std::int64_t>();
  }
  EXPECT_EQ(memory.at("planned_bytes"), sum);
  EXPECT_GT(sum, 0);
}

TEST_F(GpuCommands, compile_writes_what_run_trains_with_on_such_a_card_alone) {
  const std::vector<std::string> compile =
      words("compile", {"mode=train", "data.aux_file=test.h5", "--output", artifact().string()});
  EXPECT_THAT(run(compile), AllOf(HasSubstr("for target cuda"), HasSubstr("2 programs")));
  const std::vector<std::string> train{"run",
                                       "--artifact",
                                       artifact().string(),
                                       "run.id=tiny",
                                       "run.distributed=false",
                                       "output_dir=" + out().string(),
                                       "run.units=iteration",
                                       "run.length=2"};
  machine().facts.major = 8;
  EXPECT_THAT([&] { run(train); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("was compiled for something else"),
                        HasSubstr("machine: there 'compute capability 9.0', here 'compute "
                                  "capability 8.0'"))));
  machine().facts.major = 9;
  EXPECT_THAT(run(train), AllOf(HasSubstr("Found the training step compiled in"),
                                HasSubstr("complete after 2 steps")));
}

TEST_F(GpuCommands, compile_without_a_device_says_that_it_needs_one) {
  machine().presence = {.answer = {Answer::Kind::no_driver, "cudaErrorInsufficientDriver"}};
  EXPECT_THAT(
      [&] {
        run(words("compile", {"mode=inference", "--output", artifact().string()}));
      },
      ThrowsMessage<TargetError>(AllOf(HasSubstr("compiled for the device that it will run on"),
                                       HasSubstr("there is no NVIDIA driver"))));
  EXPECT_FALSE(std::filesystem::exists(artifact()));
}

TEST_F(GpuCommands, find_in_the_cache_what_was_compiled_for_the_same_kind_of_card) {
  const auto log_of = [&](const std::string& folder) {
    KeptLog log;
    train::train(configuration({"run.executable_cache=" + (folder_ / "cache").string(),
                                "output_dir=" + (folder_ / folder).string(), "run.length=1"}),
                 "cuda", log.log());
    return log.text();
  };
  EXPECT_THAT(log_of("first"), HasSubstr("The executable cache had 0 of 1 programs."));
  EXPECT_THAT(log_of("second"), HasSubstr("Found the training step compiled in"));
  machine().facts.minor = 6;
  machine().facts.major = 8;
  EXPECT_THAT(log_of("other"), HasSubstr("Compiled the training step in"));
}

TEST_F(GpuCommands, profile_has_time_bytes_flops_and_the_share_of_the_roofline_of_every_step) {
  KeptLog log;
  train::train(configuration({"run.profile=true"}), "cuda", log.log());
  const std::filesystem::path profiles = out() / "profiles";
  const auto json = nlohmann::json::parse(content_of(profiles / "profile.json"));
  EXPECT_EQ(json.at("machine").at("target"), "cuda");
  EXPECT_EQ(json.at("machine").at("peak").at("bytes_per_second"), 1e12);
  EXPECT_EQ(json.at("machine").at("peak").at("origin"), "as the device describes itself");
  bool convolved = false;
  for (const nlohmann::json& op : json.at("ops")) {
    EXPECT_GE(op.at("seconds"), 0);
    EXPECT_GE(op.at("flops"), 0);
    EXPECT_GE(op.at("bytes"), 0);
    if (op.at("op") == "conv") {
      convolved = true;
      EXPECT_GT(op.at("seconds"), 0);
      EXPECT_GT(op.at("flops"), 0);
      EXPECT_GT(op.at("bytes"), 0);
      EXPECT_GT(op.at("roofline_share"), 0);
    }
  }
  EXPECT_TRUE(convolved);
  for (const nlohmann::json& part : json.at("run_time").at("parts")) {
    EXPECT_GE(part.at("seconds"), 0) << part.at("what");
  }
  EXPECT_THAT(content_of(profiles / "profile.html"), HasSubstr("as the device describes itself"));
  EXPECT_TRUE(std::filesystem::exists(profiles / "timeline.json"));
}

TEST_F(GpuCommands, tell_the_monitor_their_device) {
  machine().facts.bus_id = "00000000:18:00.0";
  const PublishedJob job("train", configuration(), "cuda");
  const monitor::JobList list = monitor::list_jobs();
  ASSERT_EQ(list.jobs.size(), 1U);
  EXPECT_EQ(list.jobs[0].record.description.device, "Host GPU");
  EXPECT_EQ(list.jobs[0].record.description.bus_id, "00000000:18:00.0");
  const PublishedJob other("train", configuration(), "cpu");
  EXPECT_EQ(monitor::list_jobs().jobs.at(1).record.description.device, "");
}

}  // namespace
}  // namespace cosmic::cli
