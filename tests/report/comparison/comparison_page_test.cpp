// Trainings side by side: which events are drawn, and that each is drawn as every run tags it.
#include "report/comparison/comparison_page.hpp"

#include <gmock/gmock.h>

#include "report/evaluation/made_evaluation.hpp"
#include "report/page/well_formed.hpp"

namespace cosmic::report::comparison {
namespace {

using evaluation::EventResult;
using evaluation::made_evaluation;
using evaluation::neutrino_event;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Of its neutrino's 20 pixels a plane, how many a run finds in each event.
ComparedRun run_that_finds(const std::string& name, const std::vector<std::int64_t>& found) {
  ComparedRun run;
  run.name = name;
  run.curve.training.push_back({});
  std::vector<EventResult> events;
  for (const std::int64_t pixels : found) {
    events.push_back(neutrino_event(static_cast<std::int64_t>(events.size()), pixels, 0));
  }
  run.evaluated = made_evaluation(std::move(events));
  return run;
}

std::vector<std::size_t> numbers_of(const std::vector<ShownEvent>& shown) {
  std::vector<std::size_t> numbers;
  for (const ShownEvent& event : shown) {
    numbers.push_back(event.number);
  }
  return numbers;
}

TEST(EventsToShow, are_those_that_differ_most_a_typical_one_and_the_hardest) {
  const std::vector<ComparedRun> runs{run_that_finds("a", {20, 18, 2, 10, 15, 1, 12}),
                                      run_that_finds("b", {20, 3, 12, 11, 15, 2, 12})};
  // 1 differs by 15 of 20 and 2 by 10; the means of the others are 20, 15, 12, 10.5 and 1.5.
  EXPECT_THAT(numbers_of(events_to_show(runs)), ElementsAre(1, 2, 6, 5));
}

TEST(EventsToShow, are_not_those_in_which_a_run_has_no_neutrino_to_find) {
  std::vector<ComparedRun> runs{run_that_finds("a", {20, 10}), run_that_finds("b", {20, 12})};
  runs[1].evaluated->events[0] = evaluation::made_event(0, {{{900, 0, 0}, {0, 100, 0}, {0, 0, 0}}});
  EXPECT_THAT(numbers_of(events_to_show(runs)), ElementsAre(1));
}

TEST(EventsToShow, are_each_shown_once_however_few_there_are) {
  EXPECT_THAT(numbers_of(events_to_show({run_that_finds("a", {1}), run_that_finds("b", {2})})),
              ElementsAre(0));
  EXPECT_THAT(events_to_show({run_that_finds("a", {}), run_that_finds("b", {})}), IsEmpty());
}

evaluation::EventView drawn(const EventResult& event) {
  evaluation::EventView view;
  view.result = event;
  view.shape = {10, 100};
  for (int plane = 0; plane < 3; ++plane) {
    const picture::Picture picture(2, 4);
    view.planes.push_back({{0, 0, 10, 100}, picture, picture, picture});
  }
  return view;
}

TEST(ComparisonPage, draws_the_same_events_as_each_run_tags_them) {
  std::vector<ComparedRun> runs{run_that_finds("runs/<first>", {20, 5}),
                                run_that_finds("runs/second", {10, 5})};
  for (ComparedRun& run : runs) {
    for (const ShownEvent& shown : events_to_show(runs)) {
      run.views.push_back(drawn(run.evaluated->events[shown.number]));
    }
  }
  const std::string html = comparison_page(runs);
  EXPECT_EQ(page::what_is_malformed(html), "");
  EXPECT_THAT(html, HasSubstr("Event 0, where they differ most"));
  EXPECT_THAT(html, HasSubstr("runs/&lt;first&gt;"));
  // Two events, each as two runs tag it, on three planes.
  EXPECT_THAT(html, HasSubstr("Plane 2: 20 neutrino pixels found, 0 missed, 0 false"));
  EXPECT_THAT(html, HasSubstr("Plane 2: 10 neutrino pixels found, 10 missed, 0 false"));
  std::size_t pictures = 0;
  constexpr const char* kPlane = "aria-label=\"Plane";
  for (std::size_t at = html.find(kPlane); at != std::string::npos;
       at = html.find(kPlane, at + 1)) {
    ++pictures;
  }
  EXPECT_EQ(pictures, 12U);
}

TEST(ComparisonPage, says_what_to_do_where_no_events_were_tagged) {
  ComparedRun run = run_that_finds("a", {});
  run.evaluated.reset();
  EXPECT_THAT(comparison_page({run, run}), HasSubstr("<code>--data</code>"));
}

}  // namespace
}  // namespace cosmic::report::comparison
