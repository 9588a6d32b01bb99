// The words of options that are one of a few, as files and messages write them.
#pragma once

#include <array>

#include "model/enum_text.hpp"
#include "session/options.hpp"

namespace cosmic::model {

template <>
struct EnumText<session::Reduction> {
  static constexpr std::string_view key = "reduction";
  static constexpr std::array<std::string_view, 2> names{"sum", "mean"};
};

template <>
struct EnumText<session::OutputMode> {
  static constexpr std::string_view key = "output_mode";
  static constexpr std::array<std::string_view, 6> names{"automatic", "all",   "sum",
                                                         "mean",      "final", "every_n"};
};

template <>
struct EnumText<session::ReplicaStatistics> {
  static constexpr std::string_view key = "replica_statistics";
  static constexpr std::array<std::string_view, 2> names{"mean", "first"};
};

template <>
struct EnumText<comm::Exchange> {
  static constexpr std::string_view key = "exchange";
  static constexpr std::array<std::string_view, 3> names{"automatic", "device", "host"};
};

template <>
struct EnumText<session::ExecutionStrategy> {
  static constexpr std::string_view key = "execution_strategy";
  static constexpr std::array<std::string_view, 3> names{"none", "pipelined", "sharded"};
};

template <>
struct EnumText<machine::Launching> {
  static constexpr std::string_view key = "launching";
  static constexpr std::array<std::string_view, 2> names{"whole_program", "per_op"};
};

template <>
struct EnumText<NumberFormat> {
  static constexpr std::string_view key = "number format";
  static constexpr std::array<std::string_view, 3> names{"float32", "bfloat16", "float16"};
};

template <>
struct EnumText<Rounding> {
  static constexpr std::string_view key = "rounding";
  static constexpr std::array<std::string_view, 2> names{"nearest", "stochastic"};
};

template <>
struct EnumText<compile::LossScaling::Kind> {
  static constexpr std::string_view key = "loss_scaling";
  static constexpr std::array<std::string_view, 2> names{"none", "dynamic"};
};

template <>
struct EnumText<compile::Precision::Weights> {
  static constexpr std::string_view key = "weights";
  static constexpr std::array<std::string_view, 2> names{"master", "pure"};
};

}  // namespace cosmic::model
