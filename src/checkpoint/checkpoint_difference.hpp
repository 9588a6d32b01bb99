// What differs between two checkpoints, and by how much: a resumed run must show no difference at
// all; otherwise people look for where two versions or machines diverge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.hpp"

namespace cosmic::checkpoint {

/// Two tensors of one name that are not the same bit for bit.
struct TensorDifference {
  std::string name;
  std::optional<graph::TensorType> left;  ///< nothing if the tensor is only on the right
  std::optional<graph::TensorType> right;
  // If both tensors have the same type:
  std::int64_t different = 0;     ///< elements
  std::int64_t incomparable = 0;  ///< of those, where one is infinite or NaN
  double largest = 0;             ///< absolute difference of the others
  double largest_relative = 0;    ///< difference over the larger magnitude
};

/// Two texts: the lines that are only in one of them, in their order.
struct TextDifference {
  std::string what;
  std::vector<std::string> left;
  std::vector<std::string> right;
};

struct CheckpointDifference {
  std::optional<std::pair<std::int64_t, std::int64_t>> step;
  std::vector<TextDifference> texts;
  std::vector<TensorDifference> tensors;
  std::size_t tensors_in_both = 0;

  bool nothing() const { return !step && texts.empty() && tensors.empty(); }
};

CheckpointDifference compare(const Checkpoint& left, const Checkpoint& right);

/// The lines of two texts that differ; both lists are empty if none does.
TextDifference compare_lines(const std::string& what, const std::string& left,
                             const std::string& right);

}  // namespace cosmic::checkpoint
