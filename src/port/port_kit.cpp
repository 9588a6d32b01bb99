#include "port/port_kit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/output_rule.hpp"
#include "core/whole_file.hpp"
#include "model/uresnet.hpp"
#include "port/kit_library.hpp"
#include "port/kit_settings.hpp"
#include "port/port_plan.hpp"
#include "session/model.hpp"
#include "session/safetensors.hpp"

namespace cosmic::port {
namespace {

constexpr const char* kWeightsFile = "weights.safetensors";

std::string program_name() {
  return fmt::format("cosmictagger {} {}", version, revision);
}

void require_possible(const config::Configuration& configuration) {
  COSMIC_REQUIRE(UserError, !configuration.data.detector,
                 "data=detector in a port kit (its events are simulated by this program, which the "
                 "kit does without); write files with `cosmictagger generate` and name them with "
                 "data.file, or choose data=synthetic");
  COSMIC_REQUIRE(UserError, configuration.run.iterations > 0 || configuration.run.length > 0,
                 "run.iterations=0 in a port kit (a run without an end leaves no weights); give "
                 "the number of updates, or run.length");
  COSMIC_REQUIRE(UserError, configuration.mode.weights_average == 0,
                 "mode.weights_average="
                     << configuration.mode.weights_average
                     << " in a port kit (its updates are the other software's, which keeps no "
                        "average); leave it out");
  COSMIC_REQUIRE(UserError,
                 configuration.data.augment_charge == 0 && configuration.data.augment_noise == 0 &&
                     configuration.data.augment_dead_wires == 0,
                 "data.augment_charge, data.augment_noise or data.augment_dead_wires in a port kit "
                 "(its reader knows data.augment=flips alone); leave them out");
  // How the vendors' software shares a batch is its own: means of gradients, in float32, and
  // statistics of each process.
  const auto require_left_out = [](bool given, const char* setting) {
    COSMIC_REQUIRE(UserError, !given,
                   setting << " in a port kit (how processes exchange is the other software's "
                              "business, which does not do this by itself); leave it out");
  };
  require_left_out(configuration.network.synchronized_statistics,
                   "network.synchronized_statistics=true");
  require_left_out(configuration.run.exchange_precision == config::ExchangePrecision::bfloat16,
                   "run.exchange_precision=bfloat16");
  require_left_out(configuration.run.gradient_reduction == config::GradientReduction::sum,
                   "run.gradient_reduction=sum");
}

/// Of a model compiled for the smallest image, because a state exists for a compiled model only.
session::NamedTensors weights_of(const model::UResNet& network,
                                 const run::ExportedWeights& exported) {
  const std::int64_t side = std::int64_t{1} << network.options().depth;
  session::Options options;
  options.seed = static_cast<std::uint64_t>(exported.configuration.framework.seed);
  session::InferenceModel inference(network, options);
  inference.compile({graph::DType::f32, {1, 3, side, side}});
  if (exported.loaded) {
    checkpoint::restore_weights(exported.loaded->checkpoint, *inference.state());
  }
  return inference.state()->read_weights();
}

/// The mode whose machines a platform is for; none for plain PyTorch.
std::optional<config::ComputeMode> compute_mode_of(Platform platform) {
  switch (platform) {
    case Platform::torch:
      return std::nullopt;
    case Platform::ipu:
      return config::ComputeMode::ipu;
    case Platform::hpu:
      return config::ComputeMode::hpu;
    case Platform::rdu:
      return config::ComputeMode::rdu;
  }
  COSMIC_ASSERT(false);
}

/// With the compute mode of the platform, unless they say one.
run::ExportSource source_for(const KitRequest& request) {
  constexpr std::string_view kKey = "run.compute_mode=";
  run::ExportSource source = request.source;
  const bool given = std::any_of(source.settings.begin(), source.settings.end(),
                                 [&](const std::string& word) { return word.starts_with(kKey); });
  if (const auto mode = compute_mode_of(request.platform); mode && !given) {
    source.settings.push_back(std::string(kKey) + model::to_string(*mode));
  }
  return source;
}

void require_platform(Platform platform, const config::Configuration& configuration) {
  const std::optional<config::ComputeMode> mode = compute_mode_of(platform);
  COSMIC_REQUIRE(UserError, !mode || configuration.run.compute_mode == *mode,
                 "--for " << model::to_string(platform) << " with run.compute_mode="
                          << model::to_string(configuration.run.compute_mode)
                          << " (the kit is for another machine); leave run.compute_mode out");
  COSMIC_REQUIRE(UserError,
                 platform != Platform::rdu ||
                     configuration.mode.optimizer.name == config::OptimizerKind::adam ||
                     configuration.mode.optimizer.name == config::OptimizerKind::adamw,
                 "--for rdu with mode.optimizer.name="
                     << model::to_string(configuration.mode.optimizer.name)
                     << " (the kit trains with SambaFlow's AdamW); choose adam or adamw");
  COSMIC_REQUIRE(
      UserError,
      platform != Platform::rdu || configuration.mode.optimizer.gradient_accumulation == 1,
      "--for rdu with mode.optimizer.gradient_accumulation="
          << configuration.mode.optimizer.gradient_accumulation
          << " (a program of SambaFlow updates after each batch); leave it out");
}

/// What a kit has besides what all have.
std::vector<std::string_view> files_for(Platform platform) {
  switch (platform) {
    case Platform::torch:
      return {};
    case Platform::ipu:
      return {"on_ipu.py"};
    case Platform::hpu:
      return {"on_hpu.py", "ops_bfloat16.txt", "ops_float32.txt"};
    case Platform::rdu:
      return {"on_rdu.py", "sections.py"};
  }
  COSMIC_ASSERT(false);
}

nlohmann::ordered_json plan_json(Platform platform, const PortPlan& plan,
                                 const data::DenseShape& image) {
  switch (platform) {
    case Platform::torch:
      return nullptr;
    case Platform::ipu:
      return ipu_plan(plan, image);
    case Platform::hpu:
      return {{"machine", plan.machine}, {"verdict", plan.verdict}};
    case Platform::rdu:
      return rdu_plan(plan);
  }
  COSMIC_ASSERT(false);
}

/// As the kit finds it: a path that is not absolute begins in the kit's folder.
std::string seen_from(const std::filesystem::path& kit, const std::filesystem::path& file) {
  return file.is_absolute()
             ? file.string()
             : std::filesystem::absolute(file)
                   .lexically_normal()
                   .lexically_relative(std::filesystem::absolute(kit).lexically_normal())
                   .string();
}

std::string settings_text(const run::ExportedWeights& exported, const data::DenseShape& image,
                          const nlohmann::ordered_json& plan, const std::filesystem::path& kit) {
  nlohmann::ordered_json settings;
  settings["format"] = "cosmictagger port kit 1";
  settings["program"] = program_name();
  settings["weights"] = {{"file", exported.name()}, {"step", exported.step()}};
  settings["image"] = {{"rows", image.rows}, {"columns", image.columns}};
  settings["files"] = nlohmann::ordered_json::array();
  if (!exported.configuration.data.synthetic) {
    for (const std::filesystem::path& file : exported.configuration.data.file_paths()) {
      settings["files"].push_back(seen_from(kit, file));
    }
  }
  if (!plan.is_null()) {
    settings["plan"] = plan;
  }
  settings["configuration"] = configuration_json(exported.configuration);
  return settings.dump(2) + "\n";
}

std::string filled_in(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string result(text);
  for (const auto& [name, value] : values) {
    const std::string place = "{{" + name + "}}";
    for (std::size_t at = result.find(place); at != std::string::npos; at = result.find(place)) {
      result.replace(at, place.size(), value);
    }
  }
  return result;
}

}  // namespace

WrittenKit write_port_kit(const KitRequest& request, const run::ExportHooks& hooks) {
  run::ExportedWeights exported =
      run::load_for_export(source_for(request), config::Mode::train, config::Command::train, hooks);
  require_possible(exported.configuration);
  require_platform(request.platform, exported.configuration);
  const model::UResNet network(exported.configuration.network);
  const data::DenseShape image =
      run::exported_image(exported.configuration, request.rows, request.columns);
  model::validate(exported.configuration.network, image.rows, image.columns);

  PortPlan plan;
  if (request.platform != Platform::torch) {
    plan = plan_port(exported.configuration, image);
    exported.configuration = plan.configuration;
  }
  const std::string platform = model::to_string(request.platform);
  const bool is_3d = exported.configuration.network.conv_mode == model::ConvMode::conv_3D;
  std::map<std::string, std::string> files{
      {"network.py", std::string(kit_text(is_3d ? "network_3d.py" : "network_2d.py"))},
      {"settings.json",
       settings_text(exported, image, plan_json(request.platform, plan, image), request.output)},
      {"README.md",
       filled_in(kit_text("README_" + platform + ".md"),
                 {{"network", network.name()},
                  {"weights", exported.name()},
                  {"program", program_name()},
                  {"machine", plan.machine},
                  {"verdict", plan.verdict},
                  {"changed", plan.changed.empty() ? "nothing" : "`" + plan.changed + "`"}})},
  };
  std::vector<std::string_view> names{"events.py", "loop.py",     "loss.py",   "on_torch.py",
                                      "record.py", "schedule.py", "weights.py"};
  const std::vector<std::string_view> more = files_for(request.platform);
  names.insert(names.end(), more.begin(), more.end());
  for (const std::string_view name : names) {
    files.emplace(name, kit_text(name));
  }

  const OutputRule rule{request.existing, request.inputs};
  WrittenKit written{.network = network.name(),
                     .files = {kWeightsFile},
                     .verdict = plan.verdict,
                     .changed = plan.changed};
  require_output(request.output / kWeightsFile, rule);
  for (const auto& [name, text] : files) {
    require_output(request.output / name, rule);
    written.files.push_back(name);
  }
  const session::NamedTensors weights = weights_of(network, exported);
  for (const auto& [name, text] : files) {
    write_whole_file(request.output / name, text, request.existing);
  }
  session::save_tensors(request.output / kWeightsFile, weights, {}, {.existing = request.existing});
  std::sort(written.files.begin(), written.files.end());
  return written;
}

}  // namespace cosmic::port
