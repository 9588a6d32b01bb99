// `cosmictagger find-learning-rate`: the loss against a rising learning rate, as a picture.
#include "train/find_learning_rate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/run_command.hpp"
#include "cli/settings_help.hpp"
#include "cli/what_fits.hpp"
#include "config/dump.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/utc_time.hpp"
#include "core/whole_file.hpp"
#include "report/page/document.hpp"
#include "report/page/facts.hpp"
#include "report/page/markup.hpp"
#include "report/page/plot.hpp"

namespace cosmic::cli {
namespace {

namespace page = report::page;

struct FinderFlags {
  bool json = false;
  std::filesystem::path output = "learning_rate.html";
  train::RateSearch search;
};

std::string plot_of(const train::FoundRate& found) {
  page::PlotSeries losses{
      "loss of each update", page::SeriesLook::faint_line, page::SeriesTone::second, {}};
  page::PlotSeries smoothed{"smoothed", page::SeriesLook::line, page::SeriesTone::first, {}};
  double highest = 0;
  for (const train::RatePoint& point : found.points) {
    losses.points.push_back({.x = point.rate, .y = point.loss});
    smoothed.points.push_back({.x = point.rate, .y = point.smoothed});
    highest = std::max({highest, point.loss, point.smoothed});
  }
  page::Plot plot{
      .description = "The loss against the learning rate, which rises from left to right",
      .width = page::kWidePlot,
      .x = {"learning rate", found.points.front().rate, found.points.back().rate,
            page::AxisScale::logarithmic},
      .y = {"loss", 0, highest},
      .series = {losses, smoothed}};
  if (const auto rate = found.suggestion()) {
    plot.series.push_back({"suggested",
                           page::SeriesLook::dashed_line,
                           page::SeriesTone::plain,
                           {{.x = *rate, .y = 0}, {.x = *rate, .y = highest}}});
  }
  return page::draw(plot);
}

std::string suggestion_text(const train::FoundRate& found) {
  const auto rate = found.suggestion();
  return rate ? fmt::format("{:.2g}", *rate) : "none: the loss never fell";
}

std::string page_of(const train::FoundRate& found, const config::Configuration& configuration) {
  page::Document document;
  document.title = "Learning rate of " + configuration.network.name;
  document.program = "cosmictagger";
  document.overline = "Learning rate";
  document.heading = page::escaped(suggestion_text(found));
  document.lead =
      "The loss falls while the rate is useful and explodes where it is too large. Suggested is a "
      "tenth of the rate with the lowest smoothed loss, as mode.optimizer.learning_rate.";
  document.byline = fmt::format(
      "{} updates of {} events{}", found.points.size(), configuration.run.minibatch_size,
      found.diverged ? "; ended where the loss was twice its lowest, or no number" : "");
  document.sections = {
      {"loss", "Loss", "Loss against learning rate", "<figure>" + plot_of(found) + "</figure>"},
      {"settings", "Settings", "Settings",
       page::configuration_listing(config::to_yaml(configuration))}};
  document.footer = fmt::format(
      "Written by cosmictagger {} (revision {}) on {}. This page is a single file and "
      "needs no network.",
      version, revision, utc_now());
  return page::to_html(document);
}

nlohmann::ordered_json found_rate_json(const train::FoundRate& found,
                                       const std::filesystem::path& page) {
  using Json = nlohmann::ordered_json;
  Json points = Json::array();
  for (const train::RatePoint& point : found.points) {
    points.push_back({{"rate", point.rate}, {"loss", point.loss}, {"smoothed", point.smoothed}});
  }
  const auto rate = found.suggestion();
  return {{"suggestion", rate ? Json(*rate) : Json()},
          {"diverged", found.diverged},
          {"points", std::move(points)},
          {"picture", page.string()}};
}

void find(const config::Configuration& configuration, const FinderFlags& flags,
          const OutputRule& rule) {
  require_output(flags.output, rule);
  RunConsole console = RunConsole::without_file(output::LogLevel::warning);
  const train::FoundRate found = train::find_learning_rate(
      configuration, target_for(configuration.run.compute_mode), flags.search, console.log(),
      [&](double done, const std::string& what) { console.show(done, what); });
  console.finish();
  COSMIC_REQUIRE(DataError, found.points.size() > 1,
                 "the loss was not finite at a learning rate of "
                     << flags.search.from
                     << " (there is nothing to draw); choose a smaller --from, or check the events "
                        "with `cosmictagger data check`");
  write_whole_file(flags.output, page_of(found, configuration), rule.existing);
  if (flags.json) {
    fmt::print("{}\n", found_rate_json(found, flags.output).dump(2));
  } else {
    fmt::print("Suggested learning rate: {}\n  picture  {}\n", suggestion_text(found),
               flags.output.string());
  }
}

}  // namespace

void add_find_learning_rate(Command& app) {
  auto flags = std::make_shared<FinderFlags>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "find-learning-rate",
      "Train with a rising learning rate and draw the loss, to choose a rate by");
  command->add_option("--output", flags->output, "The page to write")->capture_default_str();
  command->add_option("--from", flags->search.from, "The first rate")
      ->capture_default_str()
      ->positive();
  command->add_option("--to", flags->search.to, "The last rate")->capture_default_str()->positive();
  command->add_option("--updates", flags->search.updates, "Updates to make at most")
      ->capture_default_str()
      ->positive();
  command->add_flag("--json", flags->json, "Print one JSON object, beside writing the page");
  const OverwriteFlag overwrite(*command);
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return settings_help(); });
  command->callback([flags, command, overwrite] {
    const config::Configuration configuration = configuration_from(
        command->remaining(), config::ParseOptions{.mode = config::Mode::train,
                                                   .command = config::Command::train,
                                                   .missing = config::MissingKeys::leave});
    const OutputRule rule = output_rule(overwrite, configuration, command->remaining());
    run_or_say_what_fits(configuration, TrainingPrograms::step,
                         [&] { find(configuration, *flags, rule); });
  });
}

}  // namespace cosmic::cli
