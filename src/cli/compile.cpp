// `cosmictagger compile`: the programs of a run as a file, for `cosmictagger run --artifact`.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>

#include "artifact/artifact_file.hpp"
#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "cli/what_fits.hpp"
#include "config/dump.hpp"
#include "config/help.hpp"
#include "core/error.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"
#include "train/run_choices.hpp"

namespace cosmic::cli {
namespace {

struct CompileFlags {
  std::filesystem::path output;
  data::DenseShape shape{0, 0};
  Existing existing = Existing::refuse;
};

/// All models whose programs a run needs. They live as long as their plans are used.
class RunPrograms {
 public:
  RunPrograms(const config::Configuration& configuration, const std::string& target,
              const data::DenseShape& shape, ProgressBar& bar)
      : network_(configuration.network), loss_(train::loss_of(configuration.mode.optimizer)) {
    const session::BatchTypes types = train::batch_types(configuration, shape);
    const auto show = [&](double done, const std::string& what) { bar.update(done, what); };
    // A run looks for its programs in a file; here they are made.
    config::Configuration compiled_here = configuration;
    compiled_here.run.executable.clear();
    if (configuration.mode.name == config::Mode::train) {
      session::Options options = train::training_options(compiled_here, target);
      options.progress = show;
      training_.emplace(network_, loss_, train::optimizer_of(configuration.mode.optimizer),
                        options);
      add_compiled(*training_, types);
      validation_.emplace(network_, loss_, train::validation_options(compiled_here, target),
                          training_->state());
      add_compiled(*validation_, types);
    } else {
      session::Options options = train::inference_options(compiled_here, target);
      options.progress = show;
      inference_.emplace(network_, options);
      add_compiled(*inference_, types.image);
    }
    bar.finish();
  }

  const std::vector<const compile::Plan*>& plans() const { return plans_; }
  double seconds() const { return seconds_; }
  Provenance provenance() const { return provenance_; }
  std::int64_t memory_bytes() const { return memory_bytes_; }

 private:
  template <class Model, class Types>
  void add_compiled(Model& model, const Types& types) {
    const session::CompileReport& report = model.compile(types);
    seconds_ += report.seconds;
    provenance_ = report.provenance;
    memory_bytes_ += report.memory_bytes;
    const std::vector<const compile::Plan*> plans = model.plans();
    plans_.insert(plans_.end(), plans.begin(), plans.end());
  }

  model::UResNet network_;
  model::SegmentationLoss loss_;
  std::optional<session::TrainingModel> training_;
  std::optional<session::EvaluationModel> validation_;
  std::optional<session::InferenceModel> inference_;
  std::vector<const compile::Plan*> plans_;
  double seconds_ = 0;
  Provenance provenance_ = Provenance::measured;  ///< of the seconds
  std::int64_t memory_bytes_ = 0;
};

void compile_as(const config::Configuration& configuration, const CompileFlags& flags) {
  COSMIC_REQUIRE(UserError, configuration.mode.name != config::Mode::iotest,
                 "mode=iotest has no program to compile (it only reads events); use mode=train or "
                 "mode=inference");
  const std::string target = target_for(configuration.run.compute_mode);
  const data::DenseShape shape = image_shape(configuration, flags.shape);
  ProgressBar bar(0.3);  // small networks are compiled before anyone could read it
  const RunPrograms programs(configuration, target, shape, bar);
  artifact::save_artifact(flags.output, programs.plans(), flags.existing,
                          {{artifact::kConfigurationNote, config::to_yaml(configuration)}});
  fmt::print("Compiled  mode={} of {} for target {}, {} events of {} x {}, in {}\n",
             model::to_string(configuration.mode.name),
             model::UResNet(configuration.network).name(), target, configuration.run.minibatch_size,
             shape.rows, shape.columns,
             marked(fmt::format("{:.2f} s", programs.seconds()), programs.provenance()));
  fmt::print("Written   {} ({} programs, {:.1f} MB; running them takes {:.1f} MB{})\n",
             flags.output.string(), programs.plans().size(),
             1e-6 * static_cast<double>(std::filesystem::file_size(flags.output)),
             1e-6 * static_cast<double>(programs.memory_bytes()),
             programs.provenance() == Provenance::measured ? "" : " on the host of a modelled run");
}

}  // namespace

void add_compile(CLI::App& app) {
  auto flags = std::make_shared<CompileFlags>();  // the callback holds it too
  CLI::App* command = app.add_subcommand(
      "compile", "Compile the programs of a run (mode=train or mode=inference) into a file");
  command->add_option("--output", flags->output, "The file to write, such as a21.cosmicx")
      ->required();
  command->add_option("--rows", flags->shape.rows,
                      "Rows of the images; by default those of data.file, if it is there, or of "
                      "the detector");
  command->add_option("--columns", flags->shape.columns, "Columns of the images");
  command->add_flag_callback(
      "--overwrite", [flags] { flags->existing = Existing::replace; },
      "Replace the file if it exists");
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return config::help(); });
  command->callback([flags, command] {
    const config::Configuration configuration = configuration_from(
        command->remaining(), config::ParseOptions{.missing = config::MissingKeys::leave});
    run_or_say_what_fits(configuration, TrainingPrograms::step_and_validation,
                         [&] { compile_as(configuration, *flags); });
  });
}

}  // namespace cosmic::cli
