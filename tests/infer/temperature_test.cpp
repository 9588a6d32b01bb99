// Probabilities that mean what they say, on pixels whose truth was drawn from known ones.
#include "infer/temperature.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "core/error.hpp"
#include "core/random.hpp"

namespace cosmic::infer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Scores of a network that is `surer` times as sure as it should be.
TemperatureFit fit_of(double surer) {
  TemperatureFit fit;
  RandomStream random(1, "pixels");
  for (int pixel = 0; pixel < 20'000; ++pixel) {
    std::array<double, kClasses> honest{};
    std::array<float, kClasses> scores{};
    double sum = 0;
    for (std::size_t c = 0; c < kClasses; ++c) {
      honest[c] = 2 * random.normal();
      scores[c] = static_cast<float>(surer * honest[c]);
      sum += std::exp(honest[c]);
    }
    double rest = random.uniform() * sum;
    std::size_t label = 0;
    while (label + 1 < kClasses && rest > std::exp(honest[label])) {
      rest -= std::exp(honest[label++]);
    }
    fit.add(scores, label);
  }
  return fit;
}

TEST(Temperature, is_how_much_surer_a_network_is_than_it_should_be) {
  for (const double surer : {0.5, 1.0, 3.0}) {
    const TemperatureFit fit = fit_of(surer);
    const double best = fit.best();
    EXPECT_NEAR(best, surer, 0.05 * surer);
    EXPECT_LE(fit.loss(best), fit.loss(1));
    EXPECT_LE(fit.loss(best), fit.loss(1.05 * best));
    EXPECT_LE(fit.loss(best), fit.loss(0.95 * best));
  }
}

TEST(Temperature, takes_most_of_the_calibration_error) {
  const TemperatureFit fit = fit_of(3);
  EXPECT_GT(fit.calibration_error(1), 0.1);
  EXPECT_LT(fit.calibration_error(fit.best()), 0.02);
}

TEST(Temperature, survives_being_written) {
  const double best = fit_of(3).best();
  EXPECT_EQ(temperature_of({{"temperature", temperature_text(best)}}), best);
  EXPECT_EQ(temperature_of({}), 1);
}

TEST(Temperature, of_nonsense_is_refused) {
  for (const char* const text : {"0", "-1", "warm", "nan", "1.5 degrees", ""}) {
    EXPECT_THAT(
        [&] {
          temperature_of({{"temperature", text}});
        },
        ThrowsMessage<DataError>(HasSubstr("temperature")))
        << text;
  }
  EXPECT_THAT([] { TemperatureFit().best(); }, ThrowsMessage<DataError>(HasSubstr("no pixel")));
}

}  // namespace
}  // namespace cosmic::infer
