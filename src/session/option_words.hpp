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
struct EnumText<session::ExecutionStrategy> {
  static constexpr std::string_view key = "execution_strategy";
  static constexpr std::array<std::string_view, 3> names{"none", "pipelined", "sharded"};
};

}  // namespace cosmic::model
