// Weights as the reference's framework writes them: a zip archive of tensors and a pickle that
// describes them, so that the reference goes on with what was trained here.
#pragma once

#include <filesystem>
#include <string>

#include "checkpoint/checkpoint.hpp"
#include "core/pending_file.hpp"

namespace cosmic::checkpoint {

/// The dictionary that the reference saves: global_step and state_dict, without optimizer and
/// scheduler, whose states belong to a run. A pickle of plain tensors, which runs nothing when it
/// is read (torch.load with weights_only=True). A reader of `path` sees the whole file or none.
/// Throws UserError for more than the 4 GB that such an archive holds.
void save_for_reference(const std::filesystem::path& path, const Checkpoint& checkpoint,
                        Existing existing);

}  // namespace cosmic::checkpoint
