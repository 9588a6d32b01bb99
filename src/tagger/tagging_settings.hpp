// The settings of whoever tags: those that belong to the weights come from them, so that a file of
// weights is all that has to be named. The command, the libraries and a server ask here.
#pragma once

#include <string>
#include <vector>

#include "config/parse.hpp"

namespace cosmic::tagger {

/// Settings for tagging with weights: a checkpoint, a folder of them, a .safetensors file, a .ckpt
/// of the reference, or the name of a network in the box (box.hpp), whose default it is if there
/// are none. `words` are further ones, as on the command line: "run.threads=4". Of what they leave
/// open, run.id is `tag`, mode.output_resolution is `original`, and run.minibatch_size is 1 unless
/// another machine than the default or a recipe is named. Throws UserError where there are no
/// weights, and for words that contradict them, except data.image_producer: other files may call
/// their images otherwise.
config::Resolved tagging_settings(const std::string& weights, std::vector<std::string> words);

/// The same where somebody else has the weights and computes.
config::Resolved remote_tagging_settings(std::vector<std::string> words);

}  // namespace cosmic::tagger
