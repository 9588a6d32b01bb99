#include "tagger/tagging_settings.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "run/weights.hpp"
#include "tagger/box.hpp"

namespace cosmic::tagger {

namespace {

bool gives(const std::vector<std::string>& words, std::string_view key) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word.starts_with(key); });
}

void default_to(std::string_view setting, std::vector<std::string>& words) {
  if (!gives(words, setting.substr(0, setting.find('=') + 1))) {
    words.emplace_back(setting);
  }
}

std::vector<std::string> with_defaults(std::vector<std::string> words) {
  default_to("run.id=tag", words);
  default_to("mode.output_resolution=original", words);
  return words;
}

config::Resolved settings_of(const std::string& location, std::vector<std::string> words) {
  words.push_back("mode.weights_location=" + location);
  words = with_defaults(std::move(words));
  // One event keeps a CPU as busy as several, in a fraction of their memory, and a file of one
  // event would leave the rest of a batch empty. Other machines want batches; a recipe has its own.
  if (!gives(words, "run.compute_mode=") && !gives(words, "--config-name")) {
    default_to("run.minibatch_size=1", words);
  }
  const config::ParseOptions options{.mode = config::Mode::inference,
                                     .command = config::Command::infer,
                                     .weights = run::weights_record};
  constexpr std::string_view images = "data.image_producer=";
  if (!gives(words, images)) {
    return config::parse(words, options);
  }
  // All else has to be as the weights want it; what the file calls its images is the file's matter.
  std::vector<std::string> others = words;
  std::erase_if(others, [&](const std::string& word) { return word.starts_with(images); });
  config::parse(others, options);
  const std::string insist = "mode.insist_on_settings=true";
  if (std::find(words.begin(), words.end(), insist) == words.end()) {
    words.push_back(insist);
  }
  return config::parse(words, options);
}

}  // namespace

config::Resolved tagging_settings(const std::string& weights, std::vector<std::string> words) {
  const std::string location = weights_or_boxed(weights);
  config::Resolved resolved = settings_of(location, std::move(words));
  if (const auto name = boxed_name(location)) {
    // Of a network in the box nobody has to know its settings.
    std::erase_if(resolved.notes,
                  [](const std::string& note) { return note.starts_with("from the weights in "); });
    resolved.notes.insert(resolved.notes.begin(), "tagging with the network '" +
                                                      std::string(*name) +
                                                      "' that comes with the program, " + location);
  }
  return resolved;
}

config::Resolved remote_tagging_settings(std::vector<std::string> words) {
  return config::parse(with_defaults(std::move(words)),
                       {.mode = config::Mode::inference, .command = config::Command::infer});
}

}  // namespace cosmic::tagger
