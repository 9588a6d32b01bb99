#include "run/explain_options.hpp"

#include <fmt/core.h>

namespace cosmic::run {

RunChoice choice_of(const config::Configuration& configuration, const ExplainOptions& options) {
  RunChoice choice = choice_of(configuration);
  choice.replicas = options.replicas;
  choice.pipeline = options.pipeline > 0 ? options.pipeline : choice.pipeline;
  choice.recomputation = options.recompute ? session::Recomputation::yes : choice.recomputation;
  choice.optimizer_state = options.stream_optimizer ? machine::OptimizerState::streamed
                                                    : machine::OptimizerState::on_chip;
  choice.stack = options.stack;
  choice.published = options.published;
  choice.share = options.share;
  choice.iterations_per_call = options.iterations_per_call;
  if (options.temporary_share > 0) {
    choice.temporary_share = options.temporary_share;
  }
  return choice;
}

std::string command_of(const std::vector<std::string>& settings, const ExplainOptions& options) {
  const ExplainOptions usual;
  std::string text = "cosmictagger explain";
  const auto add = [&](bool given, const std::string& words) { text += given ? " " + words : ""; };
  add(options.published != usual.published, "--published " + options.published);
  add(options.stack != usual.stack, "--stack " + options.stack);
  add(options.recompute, "--recompute");
  add(options.stream_optimizer, "--stream-optimizer");
  add(options.replicas != usual.replicas, fmt::format("--replicas {}", options.replicas));
  add(options.pipeline != usual.pipeline, fmt::format("--pipeline {}", options.pipeline));
  add(options.share != usual.share, fmt::format("--share {}", options.share));
  add(options.iterations_per_call != usual.iterations_per_call,
      fmt::format("--iterations-per-call {}", options.iterations_per_call));
  add(options.temporary_share != usual.temporary_share,
      fmt::format("--temporary-share {}", options.temporary_share));
  for (const std::string& setting : settings) {
    text += " " + setting;
  }
  return text;
}

}  // namespace cosmic::run
