// The top of the page: a sentence, warnings, and the figures that people quote.
#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "report/evaluation/binned_shares.hpp"
#include "report/evaluation/page_sections.hpp"
#include "report/evaluation/share_text.hpp"
#include "report/page/document.hpp"
#include "report/page/markup.hpp"

namespace cosmic::report::evaluation {
namespace {

// What the reference asks of a trained network.
constexpr double kAccuracyBar = 0.95;
constexpr double kCosmicBar = 0.90;
constexpr double kNeutrinoBar = 0.70;

// The card's cut for rejecting events.
constexpr double kNeutrinosKept = 0.95;

// Below, single events move every figure.
constexpr std::size_t kFewEvents = 30;

ShareBin all_events(const Evaluation& evaluation) {
  ShareBin sum;
  for (const EventResult& event : evaluation.events) {
    sum.add(event);
  }
  return sum;
}

std::string bar_mark(double value, double bar) {
  if (std::isnan(value)) {
    return "";
  }
  const bool reached = value > bar;
  return fmt::format("<span class=\"bar-mark {}\">{} the reference\xe2\x80\x99s bar of {}</span>",
                     reached ? "reached" : "missed",
                     reached ? "\xe2\x96\xb2 above" : "\xe2\x96\xbc below", percent_text(bar, 0));
}

std::string figure_of(const Share& share) {
  if (std::isnan(share.value)) {
    return percent_text(share.value);
  }
  return percent_text(share.value) +
         fmt::format("<span class=\"error\">68 % interval {} to {}</span>", percent_text(share.low),
                     percent_text(share.high));
}

std::string rejection_card(const Evaluation& evaluation) {
  const std::string title = "Cosmic-only events rejected";
  const auto kept =
      evaluation.selection ? evaluation.selection->keeping(kNeutrinosKept) : std::nullopt;
  if (!kept) {
    return page::card(
        title, percent_text(std::nan("")),
        fmt::format("No cut keeps {} of the events with a neutrino, or there are none.",
                    percent_text(kNeutrinosKept, 0)));
  }
  const Share passed = evaluation.selection->cosmic_only_share(*kept);
  return page::card(
      title, figure_of({1 - passed.value, 1 - passed.high, 1 - passed.low}),
      fmt::format("by a cut on the event\xe2\x80\x99s score that keeps {} of the events "
                  "with a neutrino.",
                  percent_text(evaluation.selection->neutrino_share(*kept).value)));
}

}  // namespace

std::string headline(const Evaluation& evaluation) {
  const infer::Confusion all = evaluation.all();
  const std::string events = fmt::format(
      "{} event{}", page::count_text(static_cast<std::int64_t>(evaluation.events.size())),
      evaluation.events.size() == 1 ? "" : "s");
  if (all.of_class(kNeutrinoClass) == 0) {
    return fmt::format(
        "The network <b>{}</b> tagged {} without any neutrino pixel; {} of the cosmic pixels were "
        "recognised.",
        page::escaped(evaluation.provenance.network), events,
        percent_text(all.efficiency(kCosmicClass)));
  }
  return fmt::format(
      "The network <b>{}</b> finds {} of the neutrino pixels in {}; {} of the pixels it tags as "
      "neutrino are correct.",
      page::escaped(evaluation.provenance.network), percent_text(all.efficiency(kNeutrinoClass)),
      events, percent_text(all.purity(kNeutrinoClass)));
}

std::vector<std::string> notices(const Evaluation& evaluation) {
  std::vector<std::string> result;
  if (evaluation.provenance.trained_on_these.value_or(false)) {
    result.push_back(
        "<b>The network was trained on these events.</b> Figures on training events are too good; "
        "evaluate it on other events.");
  }
  for (const data::ReadNote& note : evaluation.read_notes) {
    result.push_back(fmt::format("<b>Reading the events found {} {}.</b> The first: {}.",
                                 page::count_text(static_cast<std::int64_t>(note.count)),
                                 page::escaped(note.what), page::escaped(note.first)));
  }
  if (static_cast<std::int64_t>(evaluation.events.size()) < evaluation.entries) {
    result.push_back(fmt::format(
        "Only {} of the file\xe2\x80\x99s {} events were evaluated, as the settings ask.",
        page::count_text(static_cast<std::int64_t>(evaluation.events.size())),
        page::count_text(evaluation.entries)));
  }
  if (evaluation.events.size() < kFewEvents) {
    result.push_back(
        fmt::format("With {} events, single events change every figure; intervals are wide, and "
                    "differences between networks mean little.",
                    evaluation.events.size()));
  }
  return result;
}

std::string summary_section(const Evaluation& evaluation) {
  const ShareBin all = all_events(evaluation);
  const double accuracy = evaluation.score("Average/Non_Bkg_Accuracy");
  const double cosmic = evaluation.score("Average/Cosmic_IoU");
  const double neutrino = evaluation.score("Average/Neutrino_IoU");
  std::string html = "<div class=\"cards\">";
  html += page::card("Neutrino efficiency", figure_of(all.efficiency.share()),
                     "of the true neutrino pixels are tagged as neutrino.");
  html += page::card("Neutrino purity", figure_of(all.purity.share()),
                     "of the pixels tagged as neutrino are true neutrino pixels.");
  html += rejection_card(evaluation);
  html += page::card(
      "Neutrino IoU", percent_text(neutrino),
      "intersection over union of true and tagged neutrino pixels; mean over events and planes.",
      bar_mark(neutrino, kNeutrinoBar));
  html += page::card("Cosmic IoU", percent_text(cosmic),
                     "the same for cosmic rays, which make most of the charge.",
                     bar_mark(cosmic, kCosmicBar));
  html += page::card(
      "Accuracy without background", percent_text(accuracy),
      "of the pixels made by particles have the right class; mean over events and planes.",
      bar_mark(accuracy, kAccuracyBar));
  html += "</div>";
  html +=
      "<p class=\"note\">Efficiency and purity count pixels of all events and planes together. "
      "Their intervals take into account that pixels of one event are correlated (68 %, Wilson, "
      "with the "
      "number of independent pixels estimated from the spread between events). The means in the "
      "second row are the reference\xe2\x80\x99s metrics.</p>";
  return html;
}

}  // namespace cosmic::report::evaluation
