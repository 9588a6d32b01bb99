// Settings that are one word out of a few. The words are the reference's where it has the setting.
#pragma once

#include <array>
#include <string_view>

#include "model/enum_text.hpp"

namespace cosmic::config {

enum class Mode { train, inference, iotest };
/// Commands of the program that take settings. `run` is train or infer, and `config` is no one's.
enum class Command {
  train,
  infer,
  evaluate,
  iotest,
  compile,
  test,
  measure_performance,
  explain,
  export_network
};
enum class ComputeMode { cpu, gpu, dpcpp, xpu, hpu, ipu, rdu };
enum class Precision { float32, mixed, bfloat16, float16 };
enum class Rounding { nearest, stochastic };
enum class Partials { float32, float16 };
enum class Exchange { automatic, device, host };
enum class ExchangePrecision { float32, bfloat16 };
enum class LengthUnit { iteration, epoch };
/// What run.iterations means to a run that has made some already.
enum class Restart { until, again };

enum class OptimizerKind { adam, rmsprop, sgd, adamw };
enum class Schedule { reference, flat, warmup_flat_decay, one_cycle, cosine };
enum class GradientReduction { sum, mean };

/// The grid that predictions are written on: that of the network's image, or the input's own too.
enum class OutputResolution { network, original };

/// Where events come from: files, noise, or a detector that makes them.
enum class DataKind { real, synthetic, detector };
enum class EventOrder { random_blocks, serial_access, shuffled };
enum class Augmentation { none, flips };
enum class DataFormat { channels_last, channels_first };

enum class Framework { torch, tensorflow };
enum class DistributedMode { ddp, horovod };

}  // namespace cosmic::config

namespace cosmic::model {

template <>
struct EnumText<config::Mode> {
  static constexpr std::string_view key = "mode";
  static constexpr std::array<std::string_view, 3> names{"train", "inference", "iotest"};
};
template <>
struct EnumText<config::Command> {
  static constexpr std::string_view key = "command";
  static constexpr std::array<std::string_view, 9> names{
      "train",   "infer", "evaluate", "iotest", "compile", "test", "measure-performance",
      "explain", "export"};
};
template <>
struct EnumText<config::ComputeMode> {
  static constexpr std::string_view key = "run.compute_mode";
  static constexpr std::array<std::string_view, 7> names{"CPU", "GPU", "DPCPP", "XPU",
                                                         "HPU", "IPU", "RDU"};
};
template <>
struct EnumText<config::Precision> {
  static constexpr std::string_view key = "run.precision";
  static constexpr std::array<std::string_view, 4> names{"float32", "mixed", "bfloat16", "float16"};
};
template <>
struct EnumText<config::Rounding> {
  static constexpr std::string_view key = "run.rounding";
  static constexpr std::array<std::string_view, 2> names{"nearest", "stochastic"};
};
template <>
struct EnumText<config::Partials> {
  static constexpr std::string_view key = "run.partials";
  static constexpr std::array<std::string_view, 2> names{"float32", "float16"};
};
template <>
struct EnumText<config::Exchange> {
  static constexpr std::string_view key = "run.exchange";
  static constexpr std::array<std::string_view, 3> names{"automatic", "device", "host"};
};
template <>
struct EnumText<config::ExchangePrecision> {
  static constexpr std::string_view key = "run.exchange_precision";
  static constexpr std::array<std::string_view, 2> names{"float32", "bfloat16"};
};
template <>
struct EnumText<config::LengthUnit> {
  static constexpr std::string_view key = "run.units";
  static constexpr std::array<std::string_view, 2> names{"iteration", "epoch"};
};
template <>
struct EnumText<config::Restart> {
  static constexpr std::string_view key = "run.restart";
  static constexpr std::array<std::string_view, 2> names{"until", "again"};
};
template <>
struct EnumText<config::OptimizerKind> {
  static constexpr std::string_view key = "mode.optimizer.name";
  static constexpr std::array<std::string_view, 4> names{"adam", "rmsprop", "sgd", "adamw"};
};
template <>
struct EnumText<config::Schedule> {
  static constexpr std::string_view key = "mode.optimizer.schedule";
  static constexpr std::array<std::string_view, 5> names{"reference", "flat", "warmup_flat_decay",
                                                         "one_cycle", "cosine"};
};
template <>
struct EnumText<config::OutputResolution> {
  static constexpr std::string_view key = "mode.output_resolution";
  static constexpr std::array<std::string_view, 2> names{"network", "original"};
};
template <>
struct EnumText<config::GradientReduction> {
  static constexpr std::string_view key = "mode.optimizer.accumulation_reduction";
  static constexpr std::array<std::string_view, 2> names{"sum", "mean"};
};
template <>
struct EnumText<config::DataKind> {
  static constexpr std::string_view key = "data";
  static constexpr std::array<std::string_view, 3> names{"real", "synthetic", "detector"};
};
template <>
struct EnumText<config::EventOrder> {
  static constexpr std::string_view key = "data.order";
  static constexpr std::array<std::string_view, 3> names{"random_blocks", "serial_access",
                                                         "shuffled"};
};
template <>
struct EnumText<config::Augmentation> {
  static constexpr std::string_view key = "data.augment";
  static constexpr std::array<std::string_view, 2> names{"none", "flips"};
};
template <>
struct EnumText<config::DataFormat> {
  static constexpr std::string_view key = "data.data_format";
  static constexpr std::array<std::string_view, 2> names{"channels_last", "channels_first"};
};
template <>
struct EnumText<config::Framework> {
  static constexpr std::string_view key = "framework";
  static constexpr std::array<std::string_view, 2> names{"torch", "tensorflow"};
};
template <>
struct EnumText<config::DistributedMode> {
  static constexpr std::string_view key = "framework.distributed_mode";
  static constexpr std::array<std::string_view, 2> names{"DDP", "horovod"};
};

}  // namespace cosmic::model
