#include "data/larcv/predictions.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <limits>

#include "core/error.hpp"
#include "data/larcv/written_content.hpp"
#include "scratch_folder.hpp"

namespace cosmic::data::larcv {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A file of one event, with these probabilities on every plane at the pixels 3, 5 and 9.
std::filesystem::path file_with(const ScratchFolder& folder, const std::vector<float>& cosmic,
                                const std::vector<float>& neutrino,
                                const EventFileWriterOptions& options = {}) {
  constexpr std::array<std::uint64_t, 3> kPixels{3, 5, 9};
  const auto image_of = [&](const std::vector<float>& values) {
    SparseImage image;
    for (std::size_t plane = 0; plane < image.size(); ++plane) {
      image[plane].meta = grid_of(8, 12);
      image[plane].meta.projection = plane;
      image[plane].ids.assign(kPixels.begin(),
                              kPixels.begin() + static_cast<std::ptrdiff_t>(values.size()));
      image[plane].values = values;
    }
    return image;
  };
  std::filesystem::path path = folder / "tagged.h5";
  EventFileWriter writer(path, options);
  writer.begin_event({1, 2, 3});
  writer.write_sparse(kCosmicPrediction, image_of(cosmic));
  writer.write_sparse(kNeutrinoPrediction, image_of(neutrino));
  writer.commit();
  return path;
}

TEST(Predictions, become_the_most_likely_label) {
  const ScratchFolder folder;
  const std::optional<SparseImage> tags =
      read_tags(file_with(folder, {0.1F, 0.6F, 0.2F}, {0.1F, 0.3F, 0.7F}), 0);
  ASSERT_TRUE(tags);
  for (const SparsePlane& plane : *tags) {
    EXPECT_THAT(plane.ids, ElementsAre(3, 5, 9));
    EXPECT_THAT(plane.values, ElementsAre(0, 1, 2));
  }
}

TEST(Predictions, are_not_in_a_file_that_was_never_tagged) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "events.h5";
  EventFileWriter writer(path);
  write(writer, some_event(1));
  writer.commit();
  EXPECT_FALSE(read_tags(path, 0));
}

TEST(Predictions, that_do_not_agree_are_an_error_that_names_the_plane) {
  const ScratchFolder folder;
  const std::filesystem::path path = file_with(folder, {0.1F, 0.6F, 0.2F}, {0.1F, 0.3F});
  EXPECT_THAT([&] { read_tags(path, 0); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("event 0, plane 0"), HasSubstr("cosmic_prediction has 3 pixels"),
                        HasSubstr("neutrino_prediction has 2"), HasSubstr("inference again"))));
}

TEST(Predictions, that_are_not_finite_are_an_error_and_not_a_label) {
  const ScratchFolder folder;
  // Our own writer refuses such numbers, so one is put into the bytes of a file.
  constexpr float kProbability = 0.123456F;
  constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
  const std::filesystem::path path =
      file_with(folder, {0.1F, kProbability, 0.2F}, {0.1F, 0.3F, 0.7F}, {.deflate_level = 0});
  const auto bytes_of = [](const float& number) {
    return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  std::string bytes = content_of(path);
  const std::size_t at = bytes.find(bytes_of(kProbability));
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, sizeof(float), bytes_of(kNotANumber));
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THAT([&] { read_tags(path, 0); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("not finite"), HasSubstr("tagged.h5"))));
}

}  // namespace
}  // namespace cosmic::data::larcv
