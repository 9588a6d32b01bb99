#include "tagger/tagging_settings.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "run/weights.hpp"
#include "tagger/box.hpp"

namespace cosmic::tagger {

namespace {

std::vector<std::string> with_defaults(std::vector<std::string> words) {
  constexpr std::array<std::string_view, 2> defaults{"run.id=tag",
                                                     "mode.output_resolution=original"};
  for (const std::string_view setting : defaults) {
    const std::string_view key = setting.substr(0, setting.find('=') + 1);
    if (std::none_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word.starts_with(key); })) {
      words.emplace_back(setting);
    }
  }
  return words;
}

}  // namespace

config::Resolved tagging_settings(const std::string& weights, std::vector<std::string> words) {
  words.push_back("mode.weights_location=" +
                  (weights.empty() ? boxed_network().string() : weights));
  return config::parse(with_defaults(std::move(words)), {.mode = config::Mode::inference,
                                                         .command = config::Command::infer,
                                                         .weights = run::weights_record});
}

config::Resolved remote_tagging_settings(std::vector<std::string> words) {
  return config::parse(with_defaults(std::move(words)),
                       {.mode = config::Mode::inference, .command = config::Command::infer});
}

}  // namespace cosmic::tagger
