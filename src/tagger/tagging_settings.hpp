// The settings of whoever tags: those that belong to the weights come from them, so that a file of
// weights is all that has to be named. The command, the libraries and a server ask here.
#pragma once

#include <string>
#include <vector>

#include "config/parse.hpp"

namespace cosmic::tagger {

/// Settings for tagging with weights: a checkpoint, a folder of them, a .safetensors file or a
/// .ckpt of the reference; the network in the box (box.hpp) if there are none. `words` are further
/// ones, as on the command line: "run.threads=4". Of what they leave open, run.id is `tag` and
/// mode.output_resolution is `original`. Throws UserError where there are no weights, and for words
/// that contradict them.
config::Resolved tagging_settings(const std::string& weights, std::vector<std::string> words);

/// The same where somebody else has the weights and computes.
config::Resolved remote_tagging_settings(std::vector<std::string> words);

}  // namespace cosmic::tagger
