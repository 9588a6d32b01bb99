// What `cosmictagger checkpoint` shows, for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_difference.hpp"
#include "checkpoint/checkpoint_folder.hpp"

namespace cosmic::cli {

enum class TensorList { left_out, with_statistics };

nlohmann::ordered_json checkpoint_json(const checkpoint::LoadedCheckpoint& loaded, TensorList tensors);

nlohmann::ordered_json difference_json(const checkpoint::CheckpointDifference& difference);

}  // namespace cosmic::cli
