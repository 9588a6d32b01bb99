// The reference's own checkpoints: a zip archive with a pickle that describes the tensors. Reading
// one runs nothing that it says; see unpickler.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/tensor_storage.hpp"
#include "session/tensor.hpp"

namespace cosmic::checkpoint {

/// What an optimizer remembers about one parameter.
struct ParameterMoments {
  std::int64_t step = 0;          ///< updates of this parameter so far
  session::NamedTensors tensors;  ///< "exp_avg", "exp_avg_sq", "square_avg", "momentum_buffer"
};

struct ReferenceCheckpoint {
  std::int64_t global_step = 0;
  /// Parameters and buffers, without the prefix "module." of distributed training.
  session::NamedTensors weights;
  /// Names of the parameters in the order they were registered: the optimizer numbers them so.
  std::vector<std::string> parameters;
  /// By parameter; empty if the file has no optimizer or it has no state.
  std::map<std::string, ParameterMoments> moments;
  /// Numbers of the optimizer's first group, such as "lr", "eps", "beta1".
  std::map<std::string, double> optimizer_settings;
  std::optional<std::int64_t> schedule_step;  ///< the scheduler's last_epoch
};

/// What distributed training puts in front of every name.
inline constexpr std::string_view kDistributedPrefix = "module.";
std::string_view without_distributed_prefix(std::string_view name);

/// Throws DataError naming the file, the place in it and what is wrong.
ReferenceCheckpoint load_reference_checkpoint(const std::filesystem::path& path);

/// The same from the pickle alone, for those who have no archive.
ReferenceCheckpoint read_reference_checkpoint(std::span<const std::byte> pickle,
                                              const StorageSource& storages);

}  // namespace cosmic::checkpoint
