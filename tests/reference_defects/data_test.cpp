// Defects of the reference's reading of events (docs/reference-defects.md).
#include <gmock/gmock.h>

#include <cmath>

#include "config/parse.hpp"
#include "core/error.hpp"
#include "data/larcv/larcv_source.hpp"
#include "reference_defects/program.hpp"
#include "run/run_data.hpp"

namespace cosmic {
namespace {

using testing::Each;
using testing::ElementsAre;

class DataDefect : public ProgramTest {
 protected:
  config::Configuration configuration(config::Mode mode,
                                      const std::vector<std::string>& more) const {
    std::vector<std::string> words{"run.id=x", "run.minibatch_size=1", "data.downsample=0",
                                   "data.file=events.h5",
                                   "data.data_directory=" + folder_.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    return config::parse(words, {.mode = mode}).configuration;
  }

  /// The images of the first event, as inference and evaluation read them.
  std::vector<float> inferred_image(const std::vector<std::string>& more = {}) const {
    const config::Configuration settings = configuration(config::Mode::inference, more);
    const auto source = run::open_events(settings);
    const data::EventSamples samples = run::one_pass_samples(*source, settings);
    data::BatchLoader loader(samples, run::one_pass_options(settings, {}));
    const std::span<const float> images = loader.next()->images;
    return {images.begin(), images.end()};
  }
};

using Quirk19 = DataDefect;
using Quirk21 = DataDefect;
using Quirk36 = DataDefect;

TEST_F(Quirk19, serial_access_goes_on_after_its_end_without_repeating_an_entry) {
  write_events("events.h5.odd", events(5));
  const auto data = run::open_run_data(
      configuration(config::Mode::train, {"data.order=serial_access", "run.minibatch_size=2",
                                          "data.file=events.h5.odd"}),
      run::Stream::training, std::nullopt, {});
  std::vector<std::int64_t> entries;
  for (int batch = 0; batch < 5; ++batch) {
    const std::span<const std::int64_t> of_batch = data->next().entries;
    entries.insert(entries.end(), of_batch.begin(), of_batch.end());
  }
  EXPECT_THAT(entries, ElementsAre(0, 1, 2, 3, 4, 0, 1, 2, 3, 4));
}

TEST_F(Quirk21, inference_takes_the_logarithm_of_the_charge_once) {
  const std::vector<float> plain = inferred_image();
  const std::vector<float> transformed = inferred_image({"data.img_transform=true"});
  ASSERT_EQ(transformed.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_FLOAT_EQ(transformed[i], std::log(plain[i] + 1));
  }
}

TEST_F(Quirk36, an_event_without_planes_is_empty_and_not_the_one_before) {
  std::vector<data::SparseEvent> with_gap = events(2);
  for (data::SparseImage* const image : {&with_gap[1].image, &with_gap[1].labels}) {
    for (data::SparsePlane& plane : *image) {
      plane.ids.clear();
      plane.values.clear();
    }
  }
  write_events("gap.h5", with_gap);
  const config::Configuration settings =
      configuration(config::Mode::inference, {"data.file=gap.h5"});
  const auto source = run::open_events(settings);
  const data::EventSamples samples = run::one_pass_samples(*source, settings);
  data::BatchLoader loader(samples, run::one_pass_options(settings, {}));
  EXPECT_THAT(loader.next()->images, testing::Contains(testing::Gt(0.0F)));
  const data::Batch* const empty = loader.next();
  EXPECT_THAT(empty->images, Each(0.0F));
  EXPECT_THAT(empty->labels, Each(0));
}

TEST_F(Quirk36, a_pixel_beyond_the_image_is_an_error_and_not_another_pixel) {
  data::SparseEvent event = events(1)[0];
  const data::ImageMeta grid = event.image[0].meta;
  event.image[0].ids.back() = grid.columns() * grid.rows();
  data::DenseConverter converter(grid, {});
  std::vector<float> charge(converter.shape().event_pixels());
  std::vector<std::uint8_t> label(charge.size());
  EXPECT_THROW(converter.convert(event, {charge, label}), DataError);
}

TEST_F(Quirk36, a_charge_of_minus_999_is_a_charge) {
  std::vector<data::SparseEvent> with_sentinel = events(1);
  with_sentinel[0].image[0].values[0] = -999;
  write_events("sentinel.h5", with_sentinel);
  EXPECT_THAT(inferred_image({"data.file=sentinel.h5"}), testing::Contains(-999.0F));
}

TEST_F(Quirk36, no_pixel_is_left_out_of_a_plane_with_more_than_50000) {
  const data::ImageMeta grid = data::grid_of(256, 256);
  data::SparseEvent event = data::random_event(grid, 1, 1, 0);
  ASSERT_GT(event.image[0].ids.size(), 50'000U);
  write_events("full.h5", {event});
  EXPECT_THAT(inferred_image({"data.file=full.h5"}), Each(testing::Gt(0.0F)));
}

}  // namespace
}  // namespace cosmic
