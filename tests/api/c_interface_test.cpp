// The interface for C: the same tags, and errors as statuses and texts.
#include <gmock/gmock.h>

#include <array>
#include <string>

#include "api/tiny_weights.hpp"
#include "cosmictagger/cosmictagger.h"
#include "cosmictagger/tagger.hpp"

namespace cosmic::api {
namespace {

using testing::HasSubstr;

class TaggerForC : public testing::Test {
 protected:
  TaggerForC() {
    cosmictagger_default_options(&options_, sizeof options_);
    options_.weights = path_.c_str();
    options_.rows = kRows;
    options_.columns = kColumns;
  }
  ~TaggerForC() override { cosmictagger_free(tagger_); }

  cosmictagger_status load() {
    return cosmictagger_load(&options_, &tagger_, error_.data(), error_.size());
  }
  std::string error() const { return error_.data(); }

  TinyWeights weights_;
  std::string path_ = weights_.path();
  cosmictagger_options options_;
  cosmictagger_tagger* tagger_ = nullptr;
  std::array<char, 512> error_{'x'};
};

/// Rows, columns and charges of the first plane.
struct Pixels {
  explicit Pixels(const data::SparsePlane& plane) : charges(plane.values) {
    for (const std::uint64_t id : plane.ids) {
      rows.push_back(static_cast<std::uint32_t>(id % kRows));
      columns.push_back(static_cast<std::uint32_t>(id / kRows));
    }
  }
  cosmictagger_pixels view() const {
    return {charges.size(), rows.data(), columns.data(), charges.data()};
  }

  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> columns;
  std::vector<float> charges;
};

TEST_F(TaggerForC, says_what_the_one_for_cpp_says) {
  ASSERT_EQ(load(), COSMICTAGGER_OK) << error();
  EXPECT_EQ(error(), "");
  const Pixels plane(an_event(0).image[0]);
  const cosmictagger_pixels none{0, nullptr, nullptr, nullptr};
  const std::array<cosmictagger_pixels, 3> pixels{plane.view(), none, none};
  std::vector<std::uint8_t> tag(plane.charges.size(), 9);
  std::vector<float> neutrino(plane.charges.size(), 9);
  const std::array<cosmictagger_tags, 3> tags{
      cosmictagger_tags{tag.data(), nullptr, neutrino.data()}, {}, {}};
  ASSERT_EQ(
      cosmictagger_tag_events(tagger_, pixels.data(), tags.data(), 1, error_.data(), error_.size()),
      COSMICTAGGER_OK)
      << error();
  cosmictagger::Tagger expected({.weights = path_, .rows = kRows, .columns = kColumns});
  const cosmictagger::EventTags found =
      expected.tag(cosmictagger::Event{{{plane.rows, plane.columns, plane.charges}, {}, {}}});
  EXPECT_EQ(tag, found[0].tag);
  EXPECT_EQ(neutrino, found[0].neutrino);
}

TEST_F(TaggerForC, tags_dense_images_into_the_arrays_that_are_wanted) {
  ASSERT_EQ(load(), COSMICTAGGER_OK) << error();
  const std::size_t pixels = 2 * 3 * kRows * kColumns;
  std::vector<float> charges(pixels, 0);
  charges[5] = 30;
  std::vector<std::uint8_t> tags(pixels, 9);
  std::vector<float> cosmic(pixels, 9);
  ASSERT_EQ(cosmictagger_tag_images(tagger_, charges.data(), 2, tags.data(), cosmic.data(), nullptr,
                                    error_.data(), error_.size()),
            COSMICTAGGER_OK)
      << error();
  EXPECT_LE(tags[5], COSMICTAGGER_NEUTRINO);
  EXPECT_GT(cosmic[5], 0);
  EXPECT_EQ(tags[6], COSMICTAGGER_BACKGROUND);
  EXPECT_EQ(cosmic[6], 0);
}

TEST_F(TaggerForC, tells_threads_memory_and_weights_beforehand) {
  ASSERT_EQ(load(), COSMICTAGGER_OK) << error();
  EXPECT_EQ(cosmictagger_threads(tagger_), 1);
  EXPECT_GT(cosmictagger_memory_bytes(tagger_), 0);
  EXPECT_THAT(cosmictagger_description(tagger_), HasSubstr("step 2: images of 16 rows"));
  EXPECT_EQ(cosmictagger_abi(), COSMICTAGGER_ABI);
  EXPECT_THAT(cosmictagger_version(), HasSubstr("."));
}

TEST_F(TaggerForC, returns_a_status_and_a_text_for_weights_that_are_not_there) {
  const std::string nothing = weights_.nothing();
  options_.weights = nothing.c_str();
  EXPECT_EQ(load(), COSMICTAGGER_USER_ERROR);
  EXPECT_THAT(error(), HasSubstr("names no weights"));
  EXPECT_EQ(tagger_, nullptr);
  // A short buffer has the beginning, and its end.
  std::array<char, 8> small{};
  EXPECT_EQ(cosmictagger_load(&options_, &tagger_, small.data(), small.size()),
            COSMICTAGGER_USER_ERROR);
  EXPECT_EQ(std::string(small.data()), error().substr(0, 7));
  EXPECT_EQ(cosmictagger_load(&options_, &tagger_, nullptr, 0), COSMICTAGGER_USER_ERROR);
}

TEST_F(TaggerForC, has_a_network_that_comes_with_it) {
  cosmictagger_default_options(&options_, sizeof options_);
  EXPECT_EQ(options_.weights, nullptr) << "which is the best network in the box";
  options_.weights = "fast";
  ASSERT_EQ(load(), COSMICTAGGER_OK) << error();
  EXPECT_THAT(cosmictagger_description(tagger_), HasSubstr("weights/fast.safetensors"));
}

TEST_F(TaggerForC, tells_of_events_that_the_network_does_not_know) {
  cosmictagger_default_options(&options_, sizeof options_);
  options_.weights = "fast";
  ASSERT_EQ(load(), COSMICTAGGER_OK) << error();
  const std::uint32_t place = 5;
  const float charge = 40;
  const cosmictagger_pixels one{1, &place, &place, &charge};
  const std::array<cosmictagger_pixels, 3> pixels{one, one, one};
  const std::array<cosmictagger_tags, 3> unwanted{};
  ASSERT_EQ(cosmictagger_tag_events(tagger_, pixels.data(), unwanted.data(), 1, error_.data(),
                                    error_.size()),
            COSMICTAGGER_OK)
      << error();
  std::array<char, 512> text{'x'};
  ASSERT_EQ(cosmictagger_oddities(tagger_, text.data(), text.size(), error_.data(), error_.size()),
            COSMICTAGGER_OK)
      << error();
  EXPECT_THAT(text.data(), HasSubstr("pixels with charge in an event: 3, against "));
  EXPECT_EQ(cosmictagger_oddities(nullptr, text.data(), text.size(), error_.data(), error_.size()),
            COSMICTAGGER_USER_ERROR);
  EXPECT_STREQ(text.data(), "");
}

TEST_F(TaggerForC, refuses_what_was_never_filled) {
  cosmictagger_options empty{};
  EXPECT_EQ(cosmictagger_load(&empty, &tagger_, error_.data(), error_.size()),
            COSMICTAGGER_USER_ERROR);
  EXPECT_THAT(error(), HasSubstr("cosmictagger_default_options"));
  EXPECT_EQ(cosmictagger_load(nullptr, &tagger_, error_.data(), error_.size()),
            COSMICTAGGER_USER_ERROR);
  EXPECT_EQ(cosmictagger_tag_events(nullptr, nullptr, nullptr, 1, error_.data(), error_.size()),
            COSMICTAGGER_USER_ERROR);
  EXPECT_THAT(error(), HasSubstr("tagger is NULL"));
  cosmictagger_free(nullptr);
}

TEST_F(TaggerForC, takes_settings_as_the_command_line_does) {
  const std::array<const char*, 2> settings{"run.no_such_setting=1", nullptr};
  options_.settings = settings.data();
  EXPECT_EQ(load(), COSMICTAGGER_USER_ERROR);
  EXPECT_THAT(error(), HasSubstr("no_such_setting"));
}

}  // namespace
}  // namespace cosmic::api
