#include "infer/input_profile.hpp"

#include <gmock/gmock.h>

#include "core/error.hpp"

namespace cosmic::infer {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr data::DenseShape kShape{160, 256};

/// Events with 1000 to 1199 pixels and charges of about 40.
std::vector<InputFigures> known_events() {
  std::vector<InputFigures> events;
  for (int i = 0; i < 200; ++i) {
    events.push_back({1000.0 + i, 38 + 0.02 * i, 90 + 0.1 * i});
  }
  return events;
}

std::vector<InputFigures> few(const InputFigures& event) {
  return {event, event, event};
}

TEST(InputProfile, finds_nothing_odd_in_events_that_it_was_made_of) {
  const InputProfile profile = profile_of(kShape, known_events());
  EXPECT_THAT(oddities(profile, kShape, known_events()), IsEmpty());
  for (const InputFigures& event : known_events()) {
    EXPECT_THAT(oddities(profile, kShape, {event}), IsEmpty());
  }
}

TEST(InputProfile, names_both_figures_of_charge_in_other_units) {
  const InputProfile profile = profile_of(kShape, known_events());
  EXPECT_THAT(oddities(profile, kShape, few({1100, 400, 1000})),
              ElementsAre(AllOf(HasSubstr("median charge of a pixel: 400"), HasSubstr("40")),
                          HasSubstr("one pixel in ten exceeds: 1000")));
}

TEST(InputProfile, notices_other_sizes_crowded_and_empty_events) {
  const InputProfile profile = profile_of(kShape, known_events());
  EXPECT_THAT(oddities(profile, {80, 128}, few({1100, 40, 95})),
              ElementsAre(HasSubstr("80 x 128 pixels, not 160 x 256")));
  EXPECT_THAT(oddities(profile, kShape, few({9000, 40, 95})),
              ElementsAre(HasSubstr("pixels with charge in an event: 9000")));
  EXPECT_THAT(oddities(profile, kShape, few({0, 0, 0})),
              ElementsAre(HasSubstr("3 of 3 events have no charge")));
}

TEST(InputProfile, survives_being_written) {
  const InputProfile profile = profile_of(kShape, known_events());
  const auto read = input_profile_in({{"inputs", profile.to_text()}});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->to_text(), profile.to_text());
  EXPECT_EQ(read->shape, kShape);
  EXPECT_FALSE(input_profile_in({}));
  EXPECT_THAT([] { InputProfile::from_text("{\"rows\": 1}"); },
              ThrowsMessage<DataError>(HasSubstr("publish them again")));
}

}  // namespace
}  // namespace cosmic::infer
