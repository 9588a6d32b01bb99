#include "report/comparison/comparison_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/config.hpp"
#include "core/utc_time.hpp"
#include "report/evaluation/binned_shares.hpp"
#include "report/evaluation/evaluation_style.hpp"
#include "report/evaluation/page_events.hpp"
#include "report/page/document.hpp"
#include "report/page/markup.hpp"
#include "report/page/plot.hpp"

namespace cosmic::report::comparison {
namespace {

using Json = nlohmann::ordered_json;
using evaluation::CurvePoint;
using page::escaped;

constexpr std::size_t kCurvePoints = 200;
constexpr std::size_t kShownEvents = 20;

constexpr page::SeriesTone kTones[] = {page::SeriesTone::first, page::SeriesTone::second,
                                       page::SeriesTone::third, page::SeriesTone::fourth,
                                       page::SeriesTone::fifth, page::SeriesTone::sixth};

std::string letter_of(std::size_t run) {
  return run < 26 ? std::string(1, static_cast<char>('A' + run)) : std::to_string(run + 1);
}

template <class Value>
std::string curves(const std::vector<ComparedRun>& runs, const std::string& title,
                   const Value& value) {
  page::Plot plot{.description = title + " of each run against its updates",
                  .width = page::kWidePlot,
                  .x = {"updates", 0, 1},
                  .y = {title, 0, 0},
                  .series = {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const evaluation::TrainingCurve& curve = runs[i].curve;
    const bool validated = runs[i].validated();
    page::PlotSeries series{
        letter_of(i) + (validated ? "" : " (training)"),
        i < std::size(kTones) ? page::SeriesLook::line : page::SeriesLook::dashed_line,
        kTones[i % std::size(kTones)],
        {}};
    for (const CurvePoint& point :
         evaluation::thinned(validated ? curve.validation : curve.training, kCurvePoints)) {
      const double y = value(point);
      series.points.push_back({.x = static_cast<double>(point.step), .y = y});
      plot.x.high = std::max(plot.x.high, static_cast<double>(point.step));
      plot.y.high = std::max(plot.y.high, y);
    }
    plot.series.push_back(std::move(series));
  }
  plot.y.high = plot.y.high > 0 ? plot.y.high * 1.05 : 1;
  return "<figure>" + page::draw(plot) + "</figure>";
}

std::string row(const std::string& first, const std::vector<std::string>& cells,
                const char* tag = "td") {
  std::string html = "<tr><th>" + first + "</th>";
  for (const std::string& cell : cells) {
    html += fmt::format("<{0}>{1}</{0}>", tag, cell);
  }
  return html + "</tr>";
}

std::string table(const std::vector<ComparedRun>& runs, const std::string& rows) {
  std::vector<std::string> letters;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    letters.push_back(letter_of(i));
  }
  return "<div class=\"wide\"><table><thead>" + row("", letters, "th") + "</thead><tbody>" + rows +
         "</tbody></table></div>";
}

std::string names(const std::vector<ComparedRun>& runs) {
  std::string list = "<dl>";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    list += "<dt>" + letter_of(i) + "</dt><dd>" + escaped(runs[i].name) + "</dd>";
  }
  return list + "</dl>";
}

std::string settings(const std::vector<ComparedRun>& runs) {
  const std::vector<DifferentSetting> different = different_settings(runs);
  if (different.empty()) {
    return "<p>All settings are the same.</p>";
  }
  std::string rows;
  for (const DifferentSetting& setting : different) {
    std::vector<std::string> cells;
    for (const std::string& value : setting.values) {
      cells.push_back(escaped(value));
    }
    rows += row("<code>" + escaped(setting.key) + "</code>", cells);
  }
  return table(runs, rows);
}

std::string mean_text(const Mean& mean) {
  return std::isnan(mean.error) ? fmt::format("{:.4g}", mean.value)
                                : fmt::format("{:.4g} \xc2\xb1 {:.2g}", mean.value, mean.error);
}

std::string share_text(const evaluation::Share& share) {
  return page::percent_text(share.value) +
         (std::isnan(share.value) ? ""
                                  : fmt::format(" ({} to {})", page::percent_text(share.low),
                                                page::percent_text(share.high)));
}

Json share_json(const evaluation::Share& share) {
  return {{"value", share.value}, {"low", share.low}, {"high", share.high}};
}

evaluation::ShareBin all_events(const evaluation::Evaluation& evaluated) {
  evaluation::ShareBin sum;
  for (const evaluation::EventResult& event : evaluated.events) {
    sum.add(event);
  }
  return sum;
}

std::string figures(const std::vector<ComparedRun>& runs) {
  const auto cells = [&](const auto& cell) {
    std::vector<std::string> all;
    for (const ComparedRun& run : runs) {
      all.push_back(cell(run));
    }
    return all;
  };
  std::string rows =
      row("updates", cells([](const ComparedRun& run) {
            return page::count_text(run.curve.training.back().step + 1);
          })) +
      row("loss", cells([](const ComparedRun& run) { return mean_text(run.final_loss()); })) +
      row("mean IoU",
          cells([](const ComparedRun& run) { return mean_text(run.final_mean_iou()); }));
  if (runs.front().evaluated) {
    rows += row("neutrino efficiency", cells([](const ComparedRun& run) {
                  return share_text(all_events(*run.evaluated).efficiency.share());
                })) +
            row("neutrino purity", cells([](const ComparedRun& run) {
                  return share_text(all_events(*run.evaluated).purity.share());
                })) +
            row("neutrino IoU", cells([](const ComparedRun& run) {
                  return page::percent_text(run.evaluated->all().iou(evaluation::kNeutrinoClass));
                }));
  }
  return table(runs, rows) +
         fmt::format(
             "<p>Loss and mean IoU: mean and standard error over the last {} validations "
             "of each run, or the last updates of one without validation. Efficiency and "
             "purity: with their 68 % interval, over the same events.</p>",
             kLastValidations);
}

/// The same events as each run tags them, one below the other.
std::string pictures(const std::vector<ComparedRun>& runs) {
  if (runs.front().views.empty()) {
    return "<p>No event has a neutrino that all runs could see, so none is drawn.</p>";
  }
  std::string html = evaluation::event_legend();
  const std::vector<ShownEvent> shown = events_to_show(runs);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    html += fmt::format("<h3>Event {}, {}</h3>",
                        runs.front().evaluated->events.at(shown[i].number).entry, shown[i].why);
    for (std::size_t run = 0; run < runs.size(); ++run) {
      html += "<p><b>" + letter_of(run) + "</b> " + escaped(runs[run].name) + "</p>" +
              evaluation::event_figure(runs[run].views.at(i),
                                       runs[run].evaluated->provenance.downsample);
    }
  }
  return html;
}

std::string events(const std::vector<ComparedRun>& runs) {
  if (!runs.front().evaluated) {
    return "<p>Give a file of labelled events with <code>--data</code> to see how each run tags "
           "the same events.</p>";
  }
  std::string rows;
  const auto& first = runs.front().evaluated->events;
  for (std::size_t i = 0; i < std::min(first.size(), kShownEvents); ++i) {
    std::vector<std::string> cells;
    for (const ComparedRun& run : runs) {
      cells.push_back(
          page::percent_text(run.evaluated->events.at(i).all().iou(evaluation::kNeutrinoClass)));
    }
    rows += row("event " + std::to_string(first[i].entry), cells);
  }
  return pictures(runs) + "<p>IoU of the neutrino pixels, three planes together.</p>" +
         table(runs, rows);
}

}  // namespace

std::string comparison_page(const std::vector<ComparedRun>& runs) {
  page::Document document;
  document.title = "Comparison of " + std::to_string(runs.size()) + " runs";
  document.program = "cosmictagger";
  document.style = evaluation::evaluation_style();
  document.overline = "Comparison";
  document.heading = document.title;
  document.lead = names(runs);
  document.sections = {
      {"curves", "Curves", "Curves",
       curves(runs, "loss", [](const CurvePoint& point) { return point.loss; }) +
           curves(runs, "mean IoU", [](const CurvePoint& point) { return point.mean_iou; })},
      {"figures", "Figures", "At the end", figures(runs)},
      {"settings", "Settings", "Settings that differ", settings(runs)},
      {"events", "Events", "The same events", events(runs)}};
  document.footer = fmt::format(
      "Written by cosmictagger {} (revision {}) on {}. This page is a single file and needs no "
      "network.",
      version, revision, utc_now());
  return page::to_html(document);
}

std::string to_json(const std::vector<ComparedRun>& runs) {
  Json list = Json::array();
  for (const ComparedRun& run : runs) {
    const Mean loss = run.final_loss();
    const Mean mean_iou = run.final_mean_iou();
    Json json{{"run", run.name},
              {"updates", run.curve.training.back().step + 1},
              {"validated", run.validated()},
              {"loss", {{"mean", loss.value}, {"standard_error", loss.error}}},
              {"mean_iou", {{"mean", mean_iou.value}, {"standard_error", mean_iou.error}}}};
    if (run.evaluated) {
      const evaluation::ShareBin all = all_events(*run.evaluated);
      json["neutrino_efficiency"] = share_json(all.efficiency.share());
      json["neutrino_purity"] = share_json(all.purity.share());
      json["neutrino_iou"] = run.evaluated->all().iou(evaluation::kNeutrinoClass);
      Json& events = json["events"] = Json::array();
      for (const evaluation::EventResult& event : run.evaluated->events) {
        events.push_back({{"entry", event.entry},
                          {"neutrino_iou", event.all().iou(evaluation::kNeutrinoClass)}});
      }
    }
    list.push_back(std::move(json));
  }
  Json settings;
  for (const DifferentSetting& setting : different_settings(runs)) {
    settings[setting.key] = setting.values;
  }
  return Json{{"runs", list}, {"different_settings", settings}}.dump(2) + "\n";
}

}  // namespace cosmic::report::comparison
