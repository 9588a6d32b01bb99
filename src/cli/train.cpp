// `cosmictagger train`: a training run from the command line.
#include <fmt/core.h>

#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/published_job.hpp"
#include "cli/run_command.hpp"
#include "cli/settings_help.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stop_signal.hpp"
#include "cli/sweep.hpp"
#include "cli/together.hpp"
#include "cli/training_display.hpp"
#include "cli/what_fits.hpp"
#include "run/output_folder.hpp"
#include "run/processes.hpp"
#include "run/run_data.hpp"
#include "train/training.hpp"

namespace cosmic::cli {
namespace {

std::string progress_text(const train::TrainingProgress& p) {
  return fmt::format("step {}{} | {} | loss {:.3g}, accuracy {:.3g}, mIoU {:.3g} | data {:.0f} %",
                     p.step, p.last_step > 0 ? fmt::format(" of {}", p.last_step) : "",
                     marked(fmt::format("{:.3g} events/s", p.images_per_second), p.provenance),
                     p.loss, p.accuracy, p.mean_iou, 100 * p.waiting_share);
}

/// Of several processes, any may have been asked to stop.
std::string asked_by(const StopSignal& stop) {
  return stop.requested() ? fmt::format("by {}", stop.name()) : "of another process";
}

std::string ending_text(train::Ending ending, const StopSignal& stop) {
  switch (ending) {
    case train::Ending::complete:
      return "complete";
    case train::Ending::stopped:
      return "stopped as requested " + asked_by(stop);
    case train::Ending::out_of_time:
      return "stopped at the time limit (run.max_time)";
    case train::Ending::no_improvement:
      return "stopped early (validation no longer improves)";
  }
  return "";
}

/// Stopped where it is not at its end, and will go on.
bool goes_on(train::Ending ending) {
  return ending == train::Ending::stopped || ending == train::Ending::out_of_time;
}

void print_summary(RunConsole& console, const train::TrainingSummary& summary,
                   const StopSignal& stop) {
  console.print(
      "\nRun {} after {} steps ({} of them this time, in {}; {:.0f} % of it waiting for data).\n",
      ending_text(summary.ending, stop), summary.steps, summary.steps - summary.first_step,
      marked(fmt::format("{:.1f} s", summary.seconds), summary.provenance),
      100 * summary.waiting_share);
  console.print("  files       {}\n", summary.output_folder.string());
  if (!summary.checkpoint.empty()) {
    console.print("  checkpoint  {}\n", summary.checkpoint.string());
  }
  if (goes_on(summary.ending)) {
    console.print("  To resume, rerun the same command.\n");
  }
}

nlohmann::ordered_json numbers_of(const output::Metrics& metrics) {
  nlohmann::ordered_json numbers = nlohmann::ordered_json::object();
  for (const output::Metric& metric : metrics) {
    numbers[metric.key] = metric.value;
  }
  return numbers;
}

nlohmann::ordered_json summary_json(const train::TrainingSummary& summary) {
  return {{"ending", summary.ending == train::Ending::complete      ? "complete"
                     : summary.ending == train::Ending::stopped     ? "stopped"
                     : summary.ending == train::Ending::out_of_time ? "out_of_time"
                                                                    : "no_improvement"},
          {"steps", summary.steps},
          {"first_step", summary.first_step},
          {"seconds", summary.seconds},
          {"waiting_share", summary.waiting_share},
          {"provenance", to_string(summary.provenance)},
          {"last_training", numbers_of(summary.last_training)},
          {"last_validation", numbers_of(summary.last_validation)},
          {"output_dir", summary.output_folder.string()},
          {"checkpoint", summary.checkpoint.string()}};
}

/// One process of those that train together: it computes and is heard of only if it is in trouble.
void follow_training(const config::Configuration& configuration, comm::Communicator& others) {
  RunConsole console = RunConsole::of_follower(run::Processes(&others).name());
  StopSignal stop;
  train::TrainingHooks hooks;
  hooks.stop_requested = [&] { return stop.requested(); };
  const train::TrainingSummary summary = train::train(
      configuration, target_for(configuration.run.compute_mode), console.log(), hooks, &others);
  if (goes_on(summary.ending)) {
    stop.listen_to_the_end();
    throw ExitStatus(kStopped);
  }
}

/// The process that speaks: one that is alone, or the first of several.
void lead_training(const config::Configuration& configuration, comm::Communicator* others,
                   Watching watching) {
  const std::string target = target_for(configuration.run.compute_mode);
  const std::filesystem::path folder = run::output_folder(configuration);
  RunConsole console(folder / "process.log");
  console.log().set_console_pause(configuration.run.log_every.seconds);
  console.log().info("Running Training");
  StopSignal stop;
  PublishedJob job("train", configuration, target, console.log());
  std::optional<TrainingDisplay>
      display;  // from the first update on, when there is something to see
  train::TrainingHooks hooks;
  hooks.compiling = [&](double done, const std::string& what) {
    job.compiling();
    console.show(done, "compiling: " + what);
  };
  hooks.progress = [&](const train::TrainingProgress& progress) {
    job.show(progress);
    if (watching == Watching::in_browser) {
      if (!display) {
        display.emplace(folder, console.log());
      }
      display->look();
    }
    const auto steps = static_cast<double>(progress.step - progress.first_step);
    const auto all = static_cast<double>(progress.last_step - progress.first_step);
    console.show(progress.last_step > 0 ? steps / all : 0, progress_text(progress));
  };
  hooks.stop_requested = [&] {
    if (stop.requested()) {
      console.log().info(fmt::format("Received {}.", stop.name()));
    }
    return stop.requested();
  };
  const train::TrainingSummary summary =
      train::train(configuration, target, console.log(), hooks, others);
  console.finish();
  print_summary(console, summary, stop);
  if (watching == Watching::in_browser) {
    console.print("  look at it  cosmictagger view {}\n", summary.output_folder.string());
  }
  console.print_json(summary_json(summary));
  if (goes_on(summary.ending)) {
    stop.listen_to_the_end();
    throw ExitStatus(kStopped);
  }
}

void run_training(const config::Configuration& configuration, Watching watching) {
  work_together(configuration,
                [&](const config::Configuration& settled, comm::Communicator* others) {
                  if (run::Processes(others).lead()) {
                    lead_training(settled, others, watching);
                  } else {
                    follow_training(settled, *others);
                  }
                });
}

TrainingPrograms programs_of(const config::Configuration& configuration) {
  return run::has_validation_data(configuration) ? TrainingPrograms::step_and_validation
                                                 : TrainingPrograms::step;
}

void look_at_training(const config::Configuration& configuration) {
  constexpr double kGigabyte = 1e9;
  const std::string target = target_for(configuration.run.compute_mode);
  RunConsole console = RunConsole::without_file(output::LogLevel::warning);
  train::TrainingHooks hooks;
  hooks.compiling = [&](double done, const std::string& what) {
    console.show(done, "compiling: " + what);
  };
  const train::DryRun looked = train::dry_run(configuration, target, console.log(), hooks);
  console.finish();
  console.print("Nothing was written. The run would make {} in {}.\n",
                looked.last_step == 0
                    ? fmt::format("updates from {} on without end", looked.first_step)
                    : fmt::format("updates {} to {}", looked.first_step, looked.last_step),
                run::output_folder(configuration).string());
  console.print(
      "  memory  {:.2f} GB for its programs{}\n",
      static_cast<double>(looked.memory_bytes) / kGigabyte,
      looked.available_bytes
          ? fmt::format(
                ", their state and the batches in memory, of {:.2f} GB that this host has free",
                static_cast<double>(*looked.available_bytes) / kGigabyte)
          : " and their state, which the device has");
  console.print_json(
      {{"first_step", looked.first_step},
       {"last_step", looked.last_step},
       {"output_dir", run::output_folder(configuration).string()},
       {"memory_bytes", looked.memory_bytes},
       {"available_bytes", looked.available_bytes ? nlohmann::ordered_json(*looked.available_bytes)
                                                  : nlohmann::ordered_json()},
       {"fits", looked.fits()}});
  if (!looked.fits()) {
    throw DoesNotFit(
        "the run would need more memory than this host has free; use a smaller "
        "run.minibatch_size or a larger data.downsample, or end other programs");
  }
}

/// The settings of one training of a sweep, which this process makes without the others, but on
/// its part of their host.
config::Configuration configuration_of(SweepJob job, const run::Processes& processes) {
  if (processes.size() == 1) {
    return configuration_from(job.words, config::Command::train);
  }
  job.words.emplace_back("run.distributed=false");
  const config::Configuration configuration = configuration_from(job.words, config::Command::train);
  return run::with_own_part(configuration, target_for(configuration.run.compute_mode), processes);
}

/// One after the other, or those of this process where a launcher has started several. One that
/// fails does not keep the others from running.
void sweep(const std::vector<std::string>& words) {
  const std::vector<SweepJob> jobs = sweep_jobs(words);
  const std::unique_ptr<comm::Communicator> all = launched_processes();
  const run::Processes processes(all.get());
  std::size_t failed = 0;
  for (auto i = static_cast<std::size_t>(processes.rank()); i < jobs.size();
       i += static_cast<std::size_t>(processes.size())) {
    std::string what;
    for (const std::string& setting : jobs[i].changed) {
      what += " " + setting;
    }
    tell("\nTraining {} of {}:{}\n", i + 1, jobs.size(), what);
    try {
      const config::Configuration configuration = configuration_of(jobs[i], processes);
      run_or_say_what_fits(configuration, programs_of(configuration),
                           [&] { lead_training(configuration, nullptr, Watching::no); });
    } catch (const Error& error) {
      ++failed;
      tell("Training {} failed: {}\n", i + 1, error.what());
    }
  }
  if (failed > 0) {
    tell("{} of {} trainings failed\n", failed, jobs.size());
    throw ExitStatus(kAnswerIsNo);
  }
}

}  // namespace

void train_as(const config::Configuration& configuration, Watching watching) {
  run_or_say_what_fits(configuration, programs_of(configuration),
                       [&] { run_training(configuration, watching); });
}

void add_train(Command& app) {
  Command* command = app.add_subcommand("train", "Train a network on labelled events");
  const QuietFlag quiet(*command);
  const JsonFlag json(*command);
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return settings_help(); });
  auto dry_run = std::make_shared<bool>(false);  // the callback holds it too
  command->add_flag("--dry-run", *dry_run,
                    "Check everything, compile, say how much memory it takes, and write nothing");
  auto multirun = std::make_shared<bool>(false);
  command->add_flag("-m,--multirun", *multirun,
                    "A training of every combination of values that are separated by commas");
  auto view = std::make_shared<bool>(false);
  command->add_flag("--view", *view,
                    "Show the training in a browser of this machine while it runs: curves, and "
                    "validation events tagged with every checkpoint");
  command->callback([command, dry_run, multirun, view] {
    COSMIC_REQUIRE(
        UserError, !*view || !(*dry_run || *multirun),
        (*dry_run ? "--view with --dry-run (nothing would be written that could be seen)"
                  : "--view with --multirun (it shows one training)")
            << "; leave one of them out, or run `cosmictagger view FOLDER...` beside it");
    if (*multirun) {
      COSMIC_REQUIRE(UserError, !*dry_run,
                     "--dry-run and --multirun were both given (a dry run looks at one training); "
                     "leave one of them out");
      sweep(command->remaining());
      return;
    }
    const config::Configuration configuration =
        configuration_from(command->remaining(), config::Command::train);
    if (*dry_run) {
      run_or_say_what_fits(configuration, programs_of(configuration),
                           [&] { look_at_training(configuration); });
    } else {
      train_as(configuration, *view ? Watching::in_browser : Watching::no);
    }
  });
}

}  // namespace cosmic::cli
