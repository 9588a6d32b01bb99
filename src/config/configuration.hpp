// All settings of a run, with the reference's names and defaults; ours differ where the reference's
// are defects, and docs/configuration.md says so. schema.hpp describes every member as a key: its
// type, what it may be, and what it means.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/choices.hpp"
#include "config/value.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet_options.hpp"

namespace cosmic::config {

/// Stands for a value that has to be given and was not.
inline constexpr std::string_view kMissing = "???";

/// Of run.device: nobody has chosen one.
inline constexpr std::int64_t kAutomaticDevice = -1;

struct RunConfig {
  std::string id = std::string(kMissing);
  ComputeMode compute_mode = ComputeMode::cpu;
  std::string machine;
  std::int64_t device = kAutomaticDevice;
  std::int64_t threads = 0;
  std::int64_t iterations = 500;
  Restart restart = Restart::until;
  Duration log_every{10};
  std::int64_t length = 0;
  LengthUnit units = LengthUnit::epoch;
  Duration max_time;
  std::int64_t minibatch_size = 2;
  std::int64_t aux_iterations = 10;
  Precision precision = Precision::float32;
  bool master_weights = true;
  Rounding rounding = Rounding::nearest;
  Partials partials = Partials::float32;
  bool tf32 = false;
  std::int64_t seed = 0;
  bool distributed = true;
  Duration max_wait;
  bool profile = false;
  bool saver = true;
  bool broadcast_buffers = true;
  Exchange exchange = Exchange::automatic;
  std::int64_t replicas = 1;
  GradientReduction gradient_reduction = GradientReduction::mean;
  ExchangePrecision exchange_precision = ExchangePrecision::float32;
  std::int64_t horovod_num_groups = 0;
  std::string executable;
  std::string executable_cache;
  double executable_cache_gigabytes = 1;
  bool lazy_mode = true;
  std::int64_t stages = 1;
  bool recompute = false;
  std::string section_plan;

  bool operator==(const RunConfig&) const = default;
};

struct OptimizerConfig {
  OptimizerKind name = OptimizerKind::adam;
  double learning_rate = 3e-4;
  Schedule schedule = Schedule::reference;
  double minimum_learning_rate = 1e-4;
  double floor_learning_rate = 1e-4;
  std::int64_t decay_epochs = 5;
  std::int64_t warmup_iterations = 0;
  model::BalanceScheme loss_balance_scheme = model::BalanceScheme::focal;
  model::ClassWeights class_weights;
  std::int64_t gradient_accumulation = 1;
  GradientReduction accumulation_reduction = GradientReduction::sum;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double alpha = 0.99;
  double momentum = 0;
  double epsilon = 1e-8;
  double weight_decay = 0;

  bool operator==(const OptimizerConfig&) const = default;
};

struct ModeConfig {
  Mode name = Mode::train;
  std::string weights_location;
  bool insist_on_settings = false;
  std::int64_t start_index = 0;
  bool no_summary_images = true;
  std::int64_t summary_iteration = 1;
  std::int64_t logging_iteration = 1;
  std::int64_t checkpoint_iteration = 500;
  std::int64_t keep_checkpoints = 5;
  bool keep_best = false;
  bool final_checkpoint = true;
  bool instance_checkpoints = false;
  std::int64_t early_stopping_patience = 0;
  bool quantization_aware = false;
  double weights_average = 0;
  bool averaged_weights = true;
  std::string output_file;
  OutputResolution output_resolution = OutputResolution::network;
  OptimizerConfig optimizer;

  bool operator==(const ModeConfig&) const = default;
};

struct DataConfig {
  bool synthetic = false;
  bool detector = false;  ///< never both
  std::int64_t downsample = 1;
  bool img_transform = false;
  std::int64_t seed = 0;
  EventOrder order = EventOrder::random_blocks;
  Augmentation augment = Augmentation::none;
  double augment_charge = 0;
  double augment_noise = 0;
  double augment_dead_wires = 0;
  std::int64_t threads = 1;
  std::int64_t epoch_events = 43'075;  ///< as many as the reference's training file has
  std::string data_directory;
  std::vector<std::string> file{"cosmic_tagging_train.h5"};
  std::vector<std::string> aux_file{"cosmic_tagging_val.h5"};
  std::string image_producer = "sbndwire";
  std::string label_producer = "sbnd_cosmicseg";
  DataFormat data_format = DataFormat::channels_last;

  DataKind kind() const {
    if (detector) {
      return DataKind::detector;
    }
    return synthetic ? DataKind::synthetic : DataKind::real;
  }
  /// Where the events are: files, and patterns of files. The directory may end with a slash or not.
  std::vector<std::filesystem::path> file_paths() const;
  std::vector<std::filesystem::path> aux_file_paths() const;

  bool operator==(const DataConfig&) const = default;
};

struct FrameworkConfig {
  Framework name = Framework::torch;
  std::int64_t seed = 0;
  bool sparse = false;
  DistributedMode distributed_mode = DistributedMode::ddp;
  std::int64_t inter_op_parallelism_threads = 2;
  std::int64_t intra_op_parallelism_threads = 24;

  bool operator==(const FrameworkConfig&) const = default;
};

struct Configuration {
  RunConfig run;
  ModeConfig mode;
  DataConfig data;
  FrameworkConfig framework;
  model::UResNetOptions network = model::preset("uresnet");
  std::string output_dir;

  bool operator==(const Configuration&) const = default;

  /// By dotted name: get<std::int64_t>("run.minibatch_size"). Choices are std::string, durations
  /// double. Throws UserError for an unknown key.
  template <class T>
  T get(std::string_view key) const {
    return std::get<T>(value(key));
  }
  Value value(std::string_view key) const;
};

}  // namespace cosmic::config
