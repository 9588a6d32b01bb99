#include "picture/event_picture.hpp"

#include <gmock/gmock.h>
#include <libdeflate.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "core/error.hpp"
#include "picture/axis.hpp"
#include "picture/color_map.hpp"
#include "picture/vector_font.hpp"
#include "scratch_folder.hpp"

namespace cosmic::picture {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Color kWhite{255, 255, 255};

std::int64_t count(const Picture& picture, const auto& is_counted) {
  return std::count_if(picture.pixels.begin(), picture.pixels.end(), is_counted);
}

std::int64_t ink(const Picture& picture) {
  return count(picture, [](const Color& color) { return color != kWhite; });
}

TEST(Axis, has_round_ticks_up_to_both_ends) {
  EXPECT_THAT(linear_ticks(0, 2048, 5), ElementsAre(0, 500, 1000, 1500, 2000));
  EXPECT_THAT(linear_ticks(0, 1, 4), ElementsAre(0, 0.25, 0.5, 0.75, 1));
  EXPECT_THAT(linear_ticks(-30, 30, 3), ElementsAre(-20, 0, 20));
  EXPECT_THAT(linear_ticks(3, 3, 5), IsEmpty());
  EXPECT_THAT(logarithmic_ticks(5, 120), ElementsAre(5, 10, 20, 50, 100));
}

TEST(Axis, writes_numbers_short) {
  EXPECT_EQ(tick_text(500), "500");
  EXPECT_EQ(tick_text(0.25), "0.25");
  EXPECT_EQ(tick_text(-0.0), "0");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-123456), "-123,456");
}

TEST(ColorMap, gets_lighter_all_the_way) {
  const auto luminance = [](const Color& color) {
    return 0.2126 * color.red + 0.7152 * color.green + 0.0722 * color.blue;
  };
  double before = -1;
  for (int step = 0; step <= 100; ++step) {
    const double now = luminance(heat_color(step / 100.0));
    EXPECT_GT(now, before) << "at " << step << " %";
    before = now;
  }
  EXPECT_EQ(heat_color(-3), heat_color(0));
  EXPECT_EQ(heat_color(7), heat_color(1));
}

TEST(VectorFont, draws_every_printable_letter_of_its_own) {
  std::vector<std::vector<Color>> drawn;
  for (char letter = '!'; letter <= '~'; ++letter) {
    if (std::string_view("$&@`^{}").find(letter) != std::string_view::npos) {
      continue;  // drawn as an empty box
    }
    Picture picture(60, 60, kWhite);
    draw_text(picture, 40, 10, std::string(1, letter), {.size = 28});
    EXPECT_GT(ink(picture), 10) << letter;
    drawn.push_back(picture.pixels);
  }
  std::sort(drawn.begin(), drawn.end(), [](const auto& a, const auto& b) {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(), [](const Color& x, const Color& y) {
          return std::tie(x.red, x.green, x.blue) < std::tie(y.red, y.green, y.blue);
        });
  });
  EXPECT_EQ(std::adjacent_find(drawn.begin(), drawn.end()), drawn.end()) << "two look the same";
}

TEST(VectorFont, takes_a_letter_of_several_bytes_for_one) {
  EXPECT_EQ(text_width("\xc3\xa9", {}), text_width("\xe2\x82\xac", {}));
}

TEST(VectorFont, is_as_wide_as_it_says) {
  for (const Align align : {Align::left, Align::centre, Align::right}) {
    Picture picture(60, 400, kWhite);
    const TextStyle style{.size = 28, .align = align};
    draw_text(picture, 40, 200, "HnHnH", style);
    std::int64_t first = picture.columns;
    std::int64_t last = 0;
    for (std::int64_t column = 0; column < picture.columns; ++column) {
      for (std::int64_t row = 0; row < picture.rows; ++row) {
        if (picture.at(row, column) != kWhite) {
          first = std::min(first, column);
          last = std::max(last, column);
        }
      }
    }
    const double width = text_width("HnHnH", style);
    const double left = 200 - (align == Align::left    ? 0
                               : align == Align::right ? width
                                                       : width / 2);
    EXPECT_NEAR(static_cast<double>(first), left, 3);
    EXPECT_NEAR(static_cast<double>(last), left + width, 3);
  }
}

TEST(VectorFont, is_cut_off_at_the_edges) {
  Picture picture(20, 20, kWhite);
  for (const auto& [row, column] :
       {std::pair(-5.0, -30.0), {25.0, 15.0}, {1e6, 1e6}, {10.0, 2.0}}) {
    draw_text(picture, row, column, "text", {.size = 30});
    draw_text(picture, row, column, "text", {.size = 30, .direction = Direction::upwards});
  }
  EXPECT_GT(ink(picture), 0);
}

data::SparseEvent small_event() {
  data::SparseEvent event;
  event.labelled = true;
  for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
    event.image[plane].meta = {plane, {100, 50}, {100, 50}, {0, 0}};
    event.image[plane].ids = {0, 99 * 50 + 49};  // bottom left, top right
    event.image[plane].values = {5, 500};
    event.labels[plane] = event.image[plane];
    event.labels[plane].values = {1, 2};
  }
  return event;
}

bool is_blue(const Color& color) {
  return color.blue > 200 && color.red < 100;
}
bool is_orange(const Color& color) {
  return color.red > 200 && color.green > 100 && color.green < 200 && color.blue < 60;
}

TEST(EventPicture, shows_each_label_in_its_colour_and_place) {
  data::SparseEvent event = small_event();
  const Picture picture = draw_event(event, {"file", 0});
  // One pixel of 100 columns is 7 x 7 in the picture, on three planes; a swatch is 24 x 24.
  constexpr std::int64_t kPixel = 49;
  constexpr std::int64_t kSwatch = 576;
  EXPECT_EQ(count(picture, is_blue), 3 * kPixel + kSwatch);
  std::int64_t highest_blue = picture.rows;
  std::int64_t lowest_orange = 0;
  for (std::int64_t row = 0; row < picture.rows; ++row) {
    for (std::int64_t column = 0; column < picture.columns / 3; ++column) {
      highest_blue = is_blue(picture.at(row, column)) ? std::min(highest_blue, row) : highest_blue;
      lowest_orange = is_orange(picture.at(row, column)) ? row : lowest_orange;
    }
  }
  EXPECT_LT(lowest_orange, highest_blue) << "time runs upwards";
}

TEST(EventPicture, without_labels_has_one_line_of_panels) {
  data::SparseEvent event = small_event();
  const Picture with = draw_event(event, {"file", 0});
  event.labelled = false;
  event.labels = {};
  const Picture without = draw_event(event, {"file", 0});
  EXPECT_EQ(without.columns, with.columns);
  EXPECT_LT(without.rows, with.rows * 2 / 3);
  EXPECT_EQ(count(without, is_blue), 0);
}

TEST(EventPicture, keeps_the_strongest_of_the_pixels_that_become_one) {
  data::SparseEvent event = small_event();
  for (data::SparsePlane& plane : event.labels) {
    plane.meta.pixels = {7000, 3500};
    plane.ids = {1000, 1001, 1002, 1003};
    plane.values = {0, 2, 1, 0};
  }
  event.image = event.labels;
  constexpr std::int64_t kSwatch = 576;
  EXPECT_EQ(count(draw_event(event, {"file", 0}), is_blue), kSwatch);
}

TEST(EventPicture, shows_tags_of_a_halved_image_in_the_place_of_their_square) {
  const data::SparseEvent event = small_event();
  data::SparseImage tags;
  for (std::size_t plane = 0; plane < tags.size(); ++plane) {
    tags[plane].meta = {plane, {50, 25}, {50, 25}, {0, 0}};
    tags[plane].ids = {0, 49 * 25 + 24};  // bottom left, top right
    tags[plane].values = {2, 1};          // the wrong way round
  }
  const Picture without = draw_event(event, {"file", 0});
  const Picture with = draw_event(event, {"file", 0}, &tags);
  EXPECT_EQ(with.columns, without.columns);
  EXPECT_GT(with.rows, without.rows);
  // A pixel of the image is 7 x 7 in the picture, one of the tags 14 x 14, on three planes.
  constexpr std::int64_t kSquare = 196;
  constexpr std::int64_t kSwatch = 576;
  EXPECT_EQ(count(with, is_blue), count(without, is_blue) + 3 * kSquare + kSwatch);
  EXPECT_EQ(count(with, is_orange), count(without, is_orange) + 3 * kSquare + kSwatch);
}

TEST(EventPicture, survives_events_of_any_kind) {
  data::SparseEvent event;
  EXPECT_GT(ink(draw_event(event, {"", -1})), 0);  // nothing at all
  event = small_event();
  for (data::SparsePlane& plane : event.image) {
    plane.meta.pixels = {1ULL << 31, 1ULL << 31};
    plane.meta.size = {-1, 1e300};
    plane.values = {-5, 0};
  }
  event.labelled = false;
  EXPECT_GT(ink(draw_event(event, {std::string(1000, 'x'), 0})), 0);
  event = small_event();
  event.image[1] = {};  // a plane that was not stored
  event.labels[1] = {};
  EXPECT_GT(ink(draw_event(event, {"file", 0})), 0);
}

TEST(PngFile, holds_the_lines_of_the_picture) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "picture.png";
  Picture picture(2, 3, {1, 2, 3});
  picture.at(1, 2) = {200, 100, 50};
  write_png(path, picture);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(bytes, testing::StartsWith("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(bytes.substr(16, 8), std::string("\0\0\0\3\0\0\0\2", 8));  // columns, rows
  const std::size_t data = bytes.find("IDAT") + 4;
  std::string lines(20, '\xff');
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)>
      decompressor(libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  ASSERT_EQ(libdeflate_zlib_decompress(decompressor.get(), bytes.data() + data,
                                       bytes.find("IEND") - 8 - data, lines.data(), lines.size(),
                                       nullptr),
            LIBDEFLATE_SUCCESS);
  EXPECT_EQ(lines, std::string("\0\1\2\3\1\2\3\1\2\3\0\1\2\3\1\2\3\xc8\x64\x32", 20));
}

TEST(PngFile, needs_a_folder_to_be_in) {
  EXPECT_THAT([] { write_png("/missing/folder/event.png", Picture(1, 1)); },
              testing::ThrowsMessage<DataError>(HasSubstr("event.png")));
}

}  // namespace
}  // namespace cosmic::picture
