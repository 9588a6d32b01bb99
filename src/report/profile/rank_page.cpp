#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/config.hpp"
#include "report/page/document.hpp"
#include "report/page/facts.hpp"
#include "report/page/markup.hpp"
#include "report/page/plot.hpp"
#include "report/page/quantity_text.hpp"
#include "report/page/style.hpp"
#include "report/profile/rank_profile.hpp"

namespace cosmic::report::profile {
namespace {

constexpr const char* kRankStyle = R"css(
.ranks { margin: 14px 0 10px; }
.rank { display: grid; grid-template-columns: 190px minmax(0, 1fr); gap: 2px 16px; align-items: center; }
.rank .who { font-size: 14.5px; overflow-wrap: anywhere; }
.rank.slowest .who { font-weight: 600; }
.rank .parts { margin: 4px 0; height: 26px; }
.rank .parts span { min-width: 0; }
@media (max-width: 820px) { .rank { grid-template-columns: 1fr; margin-bottom: 8px; } }
)css";

struct Part {
  double RankTimes::*seconds;
  const char* hue;
  const char* name;
  const char* meaning;
};

/// From the left: what has to be done, then what is lost.
constexpr std::array<Part, 6> kParts{{
    {&RankTimes::computing, "hue0", "computing",
     "updates, validations, and all that has no part of its own"},
    {&RankTimes::data, "hue2", "waiting for data", "events that were not read yet"},
    {&RankTimes::writing, "hue4", "writing",
     "checkpoints, logs, metrics: the first rank\xe2\x80\x99s"},
    {&RankTimes::exchange, "hue6", "exchange",
     "messages on their way, as far as computing does not hide them"},
    {&RankTimes::waiting, "hue1", "waiting for others", "for a rank that is not there yet"},
    {&RankTimes::starting, "hue11", "starting",
     "opening files and compiling, before the first update"},
}};

std::string headline(const RankProfile& profile) {
  const std::size_t slowest = profile.slowest();
  return fmt::format(
      "{} processes made {} updates. <b>{}</b> worked longest, {} times as long as the median of "
      "all; {} of their time the processes waited for each other, and {} for messages.",
      profile.ranks.size(), page::count_text(profile.updates), page::escaped(profile.name(slowest)),
      fmt::format("{:.2f}", profile.slowest_factor()),
      page::percent_text(profile.share(&RankTimes::waiting)),
      page::percent_text(profile.share(&RankTimes::exchange)));
}

std::string summary_section(const RankProfile& profile) {
  const RankTimes& slowest = profile.ranks[profile.slowest()];
  std::string html = "<div class=\"cards\">";
  html += page::card("Slowest rank", fmt::format("rank {}", profile.slowest()),
                     fmt::format("on host {}: it worked {}, the median of all {}.",
                                 page::escaped(slowest.host), page::seconds_text(slowest.working()),
                                 page::seconds_text(profile.median_working())));
  html += page::card("Waiting for others", page::percent_text(profile.share(&RankTimes::waiting)),
                     "of the time of all ranks since the first update: lost because some are later "
                     "than others.");
  html += page::card("Exchange", page::percent_text(profile.share(&RankTimes::exchange)),
                     "waiting for gradients and metrics that are on their way. What computing "
                     "hides is not in it.");
  html += page::card("Computing", page::percent_text(profile.share(&RankTimes::computing)),
                     "updates and validations, and all that has no part of its own.");
  html += page::card("Waiting for data", page::percent_text(profile.share(&RankTimes::data)),
                     "events that were not read yet when a rank needed them.");
  html += page::card("Writing", page::percent_text(profile.share(&RankTimes::writing)),
                     "checkpoints, logs and metrics. The others wait meanwhile.");
  return html + "</div>";
}

std::string bars(const RankProfile& profile) {
  double longest = 0;
  for (const RankTimes& rank : profile.ranks) {
    longest = std::max(longest, rank.all());
  }
  std::string html = "<div class=\"legend\">";
  for (const Part& part : kParts) {
    html += page::legend_entry(part.hue, part.name);
  }
  html += "</div><div class=\"ranks\">";
  for (std::size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    const RankTimes& times = profile.ranks[rank];
    html += fmt::format(
        "<div class=\"rank{}\"><span class=\"who\">rank {} \xc2\xb7 {}</span><div "
        "class=\"parts\" role=\"img\" aria-label=\"Time of rank {}\">",
        rank == profile.slowest() ? " slowest" : "", rank, page::escaped(times.host), rank);
    for (const Part& part : kParts) {
      html += fmt::format("<span class=\"{}\" style=\"width:{:.3f}%\" title=\"{}: {}\"></span>",
                          part.hue, longest > 0 ? 100 * times.*part.seconds / longest : 0,
                          part.name, page::seconds_text(times.*part.seconds));
    }
    html += "</div></div>";
  }
  return html + "</div>";
}

std::string table(const RankProfile& profile) {
  std::string html =
      "<div tabindex=\"0\" class=\"scroll figures\"><table><thead><tr><th "
      "scope=\"col\">rank</th><th "
      "scope=\"col\" "
      "class=\"words\">host</th>";
  for (const Part& part : kParts) {
    html +=
        fmt::format("<th scope=\"col\"><span class=\"dot {}\"></span>{}</th>", part.hue, part.name);
  }
  html += "<th scope=\"col\">all</th></tr></thead><tbody>";
  for (std::size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    const RankTimes& times = profile.ranks[rank];
    html += fmt::format(
        "<tr><th scope=\"row\"><a href=\"{}\">rank {}</a></th><td class=\"words\">{}</td>",
        page::escaped(times.page), rank, page::escaped(times.host));
    for (const Part& part : kParts) {
      html += fmt::format("<td>{}</td>", page::seconds_text(times.*part.seconds));
    }
    html += fmt::format("<td>{}</td></tr>", page::seconds_text(times.all()));
  }
  return html + "</tbody></table></div>";
}

std::string ranks_section(const RankProfile& profile) {
  return "<p>The time of each process from its start to the writing of this page. They take "
         "equally "
         "long, because each waits for the others: a rank with a short orange part is one that the "
         "others wait for.</p>" +
         bars(profile) + table(profile);
}

/// Several updates become one point where there are more than a plot has room for: the widest of
/// them is what matters.
std::vector<UpdateSpread> thinned(const std::vector<UpdateSpread>& updates) {
  constexpr std::size_t kPoints = 300;
  const std::size_t points = std::min(kPoints, updates.size());
  std::vector<UpdateSpread> result;
  for (std::size_t point = 0; point < points; ++point) {
    const auto at = [&](std::size_t i) {
      return updates.begin() + static_cast<std::ptrdiff_t>(i * updates.size() / points);
    };
    result.push_back(*std::max_element(at(point), at(point + 1), [](const auto& x, const auto& y) {
      return x.spread() < y.spread();
    }));
  }
  return result;
}

page::Plot plot_of(const std::vector<UpdateSpread>& updates, const std::string& description) {
  page::Plot plot;
  plot.description = description + " against updates";
  const auto first = static_cast<double>(updates.front().step);
  plot.x = {"update", first, std::max(first + 1, static_cast<double>(updates.back().step))};
  return plot;
}

std::string times_plot(const std::vector<UpdateSpread>& updates) {
  page::PlotSeries slowest{"slowest rank", page::SeriesLook::line, page::SeriesTone::second, {}};
  page::PlotSeries fastest{"fastest rank", page::SeriesLook::line, page::SeriesTone::first, {}};
  double most = 1e-6;
  for (const UpdateSpread& update : updates) {
    const auto step = static_cast<double>(update.step);
    slowest.points.push_back({step, 1000 * update.slowest});
    fastest.points.push_back({step, 1000 * update.fastest});
    most = std::max(most, 1000 * update.slowest);
  }
  page::Plot plot = plot_of(updates, "Working time of the slowest and the fastest rank");
  plot.y = {"time in ms", 0, most * 1.05};
  plot.series = {slowest, fastest};
  return page::draw(plot);
}

std::string spread_plot(const std::vector<UpdateSpread>& updates) {
  page::PlotSeries lost{"", page::SeriesLook::line, page::SeriesTone::second, {}};
  for (const UpdateSpread& update : updates) {
    lost.points.push_back({static_cast<double>(update.step),
                           update.slowest > 0 ? update.spread() / update.slowest : 0});
  }
  page::Plot plot = plot_of(updates, "Share of its time that the fastest rank lost");
  plot.y = {"lost by the fastest rank", 0, 1, page::AxisScale::linear, page::AxisUnit::percent};
  plot.series = {lost};
  return page::draw(plot);
}

std::string updates_section(const RankProfile& profile) {
  if (profile.latest.empty()) {
    return "";
  }
  const std::vector<UpdateSpread> updates = thinned(profile.latest);
  std::string html = fmt::format(
      "<p>How long the ranks worked between two updates, without waiting for each other: the "
      "latest "
      "{} updates.</p><div class=\"plots\"><figure>{}<figcaption><b>Slowest and fastest rank</b> "
      "of "
      "each update.</figcaption></figure><figure>{}<figcaption><b>Lost time</b>: how much of the "
      "slowest rank\xe2\x80\x99s time the fastest waited for it.</figcaption></figure></div>"
      "<h3>Updates with the largest spread</h3>"
      "<div tabindex=\"0\" class=\"scroll figures\"><table><thead><tr><th "
      "scope=\"col\">update</th><th "
      "scope=\"col\" class=\"words\">slowest</th><th scope=\"col\">slowest worked</th><th "
      "scope=\"col\">median</th><th scope=\"col\">fastest</th><th "
      "scope=\"col\">spread</th></tr></thead><tbody>",
      page::count_text(static_cast<std::int64_t>(profile.latest.size())), times_plot(updates),
      spread_plot(updates));
  for (const UpdateSpread& update : profile.widest) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"words\">{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td></tr>",
        page::count_text(update.step),
        page::escaped(profile.name(static_cast<std::size_t>(update.slowest_rank))),
        page::seconds_text(update.slowest), page::seconds_text(update.median),
        page::seconds_text(update.fastest), page::seconds_text(update.spread()));
  }
  return html + "</tbody></table></div>";
}

std::string meaning_section() {
  page::FactList facts;
  for (const Part& part : kParts) {
    facts.add(fmt::format("<span class=\"dot {}\"></span>{}", part.hue, part.name), part.meaning);
  }
  return "<p>The rank that waits least in an update is the one that the others wait for. What even "
         "that one waits counts as exchange for all of them, and what the others wait beyond it as "
         "waiting for others. Several messages in one update, with another rank late each time, "
         "make the first part a little too large.</p>" +
         facts.html();
}

std::string provenance_section(const RankProfile& profile) {
  page::FactList facts;
  facts.add("Program", fmt::format("CosmicTagger {}, revision <code>{}</code>",
                                   page::escaped(version), page::escaped(revision)));
  facts.add("Date", page::escaped(profile.facts.date));
  facts.add("Processes", fmt::format("{}, with {} thread{} each", profile.ranks.size(),
                                     profile.threads, profile.threads == 1 ? "" : "s"));
  facts.add("Network", page::escaped(profile.facts.network));
  facts.add("Data", page::escaped(profile.facts.data));
  facts.add("Batch",
            fmt::format("{} events of all processes, <code>{}</code> at a time in each",
                        profile.facts.events_per_batch, page::escaped(profile.facts.batch)));
  return facts.html() + page::configuration_listing(profile.facts.configuration);
}

}  // namespace

std::string to_page(const RankProfile& profile) {
  const std::string program = "CosmicTagger " + std::string(version);
  page::Document document;
  document.title = "run " + profile.facts.run_id + " \xc2\xb7 CosmicTagger ranks";
  document.program = program;
  document.style = std::string(page::share_style()) + kRankStyle;
  document.overline = "CosmicTagger \xc2\xb7 ranks side by side \xc2\xb7 every time measured";
  document.heading = "Who computes, and who waits for whom";
  document.lead = headline(profile);
  document.byline = fmt::format(
      "{} \xc2\xb7 run {} \xc2\xb7 network {} \xc2\xb7 {} processes "
      "\xc2\xb7 {}",
      page::escaped(profile.facts.data), page::escaped(profile.facts.run_id),
      page::escaped(profile.facts.network), profile.ranks.size(),
      page::escaped(profile.facts.date));
  if (profile.provenance == Provenance::modelled) {
    document.overline = "CosmicTagger \xc2\xb7 ranks side by side \xc2\xb7 every time " +
                        std::string(kHostClockMark);
    document.notices.push_back(
        "The machine of this run is modelled. These are the times of the hosts that computed in "
        "its "
        "place, and say nothing about the machine.");
  }
  document.sections = {
      {"summary", "Summary", "Summary", summary_section(profile)},
      {"ranks", "Ranks", "Ranks side by side", ranks_section(profile)},
      {"updates", "Updates", "Update by update", updates_section(profile)},
      {"meaning", "Meaning", "What the parts mean", meaning_section()},
      {"provenance", "Provenance", "Provenance", provenance_section(profile)},
  };
  document.footer = page::written_by(program, std::string(revision), profile.facts.date);
  return page::to_html(document);
}

}  // namespace cosmic::report::profile
