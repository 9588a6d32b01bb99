// Groups of channels go where single channels go.
#include "target/cuda/kernels/arrange_images.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "core/random.hpp"
#include "target/cuda/kernels/loss.hpp"

namespace cosmic::target::cuda {
namespace {

using Kind = ArrangeBody::Kind;

/// An image with memory of its own.
struct OwnImage {
  Image image;
  std::vector<float> memory;  // of any format: enough of it, on a boundary

  OwnImage(int images, int depth, int channels, int lanes, Format format)
      : memory(static_cast<std::size_t>(images * (channels + 8) * kRows * kColumns) + 8, 77.0F) {
    image.format = format;
    image.lanes = static_cast<std::uint8_t>(lanes);
    image.channels = channels;
    image.depth = depth;
    image.rows = kRows;
    image.columns = kColumns;
    image.images = images;
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    image.base = memory.data() + (32 - address % 32) % 32 / sizeof(float);
  }
  OwnImage(OwnImage&&) = default;
  OwnImage(const OwnImage&) = delete;

  void draw(std::uint64_t seed) {
    RandomStream random(seed, "image");
    for (int n = 0; n < image.images; ++n) {
      for (int c = 0; c < image.blocks() * image.lanes; ++c) {
        for (std::int64_t p = 0; p < image.pixels(); ++p) {
          image.store(n, c, p,
                      c < image.channels ? static_cast<float>(random.uniform(-1, 1)) : 0.0F);
        }
      }
    }
  }

  /// With the channels that fill up blocks.
  std::vector<float> numbers() const {
    std::vector<float> numbers;
    for (int n = 0; n < image.images; ++n) {
      for (int c = 0; c < image.blocks() * image.lanes; ++c) {
        for (std::int64_t p = 0; p < image.pixels(); ++p) {
          numbers.push_back(image.load(n, c, p));
        }
      }
    }
    return numbers;
  }

  static constexpr int kRows = 3;
  static constexpr int kColumns = 5;
};

struct Shape {
  int images;
  int depth;
  int channels;
};

struct Move {
  Kind kind;
  bool along_channels;
  int first;
  int planes;
  Shape x;
  Shape y;
};

int narrowest_lanes(int channels, Format format) {
  return channels <= kNarrowBlock && format == Format::f32 ? kNarrowBlock : kBlock;
}

TEST(ArrangedGroups, go_where_single_channels_go) {
  const std::vector<Move> moves{
      {Kind::copy, true, 0, 1, {4, 2, 11}, {4, 2, 11}},
      {Kind::copy, true, 0, 1, {2, 1, 3}, {2, 1, 3}},
      {Kind::put, true, 0, 1, {2, 1, 8}, {2, 1, 19}},
      {Kind::put, true, 8, 1, {2, 1, 3}, {2, 1, 19}},
      {Kind::put, true, 5, 1, {2, 1, 9}, {2, 1, 19}},
      {Kind::put, false, 1, 1, {4, 2, 6}, {6, 2, 6}},
      {Kind::take, true, 8, 1, {2, 1, 19}, {2, 1, 11}},
      {Kind::take, true, 3, 1, {2, 1, 19}, {2, 1, 9}},
      {Kind::take, false, 1, 1, {6, 2, 6}, {4, 2, 6}},
      {Kind::embed, true, 8, 1, {2, 1, 5}, {2, 1, 29}},
      {Kind::embed, true, 3, 1, {2, 1, 10}, {2, 1, 20}},
      {Kind::embed, false, 1, 1, {4, 2, 6}, {8, 2, 6}},
      {Kind::planes_to_channels, true, 0, 3, {6, 1, 8}, {2, 1, 24}},
      {Kind::channels_to_planes, true, 0, 3, {2, 1, 15}, {6, 1, 5}},
      {Kind::channels_to_planes, true, 0, 3, {2, 1, 24}, {6, 1, 8}},
      {Kind::depth_to_planes, true, 0, 1, {6, 3, 10}, {6, 1, 10}},
      {Kind::planes_to_depth, true, 0, 1, {6, 1, 10}, {6, 3, 10}},
  };
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    for (const Format from : {Format::f32, Format::bf16}) {
      for (const Format to : {Format::f32, Format::f16}) {
        for (const bool from_plain : {true, false}) {
          for (const bool to_plain : {true, false}) {
            const auto make = [](const Shape& shape, bool plain, Format format) {
              return OwnImage(shape.images, shape.depth, shape.channels,
                              plain ? 1 : narrowest_lanes(shape.channels, format), format);
            };
            OwnImage x = make(move.x, from_plain, from);
            OwnImage one_by_one = make(move.y, to_plain, to);
            OwnImage in_groups = make(move.y, to_plain, to);
            x.draw(i);
            one_by_one.draw(100);
            in_groups.draw(100);
            ArrangeBody body{move.kind, move.along_channels, move.first, move.planes,
                             x.image,   one_by_one.image};
            for (std::int64_t k = 0; k < body.items(); ++k) {
              body(k);
            }
            body.y = in_groups.image;
            ASSERT_TRUE(body.has_groups());
            for (int n = 0; n < body.counted().images; ++n) {
              for (int g = 0; g < body.groups(); ++g) {
                const ArrangeBody::Group group = body.group(n, g);
                for (std::int64_t p = 0; p < body.counted().pixels(); ++p) {
                  body.move(group, p);
                }
              }
            }
            EXPECT_EQ(in_groups.numbers(), one_by_one.numbers())
                << "move " << i << " from " << (from_plain ? "plain" : "blocked") << " to "
                << (to_plain ? "plain" : "blocked");
          }
        }
      }
    }
  }
}

TEST(ArrangedGroups, are_not_for_channels_that_come_from_several_images) {
  const OwnImage x(6, 1, 5, 8, Format::f32);
  const OwnImage y(2, 1, 15, 8, Format::f32);
  EXPECT_FALSE((ArrangeBody{Kind::planes_to_channels, true, 0, 3, x.image, y.image}.has_groups()));
}

TEST(EvenClassWeights, count_every_label_once_however_many_there_are) {
  for (const std::int64_t per_group : {1, 8, 23, 64}) {
    for (const std::int64_t classes : {2, 3, 4, 5, 9}) {
      RandomStream random(7, "labels");
      std::vector<std::uint64_t> aligned(32);
      auto* const labels = reinterpret_cast<std::uint8_t*>(aligned.data());
      std::vector<float> expected;
      for (int group = 0; group < 2; ++group) {
        std::vector<int> counts(static_cast<std::size_t>(classes));
        for (std::int64_t i = 0; i < per_group; ++i) {
          const auto label = static_cast<std::uint8_t>(random.next() % 10);
          labels[group * per_group + i] = label;
          if (label < classes) {  // one that is no class belongs to none
            ++counts[label];
          }
        }
        for (const int count : counts) {
          expected.push_back(static_cast<float>(0.3333 / (count + 1)));
        }
      }
      std::vector<float> weights(expected.size(), -1.0F);
      const EvenClassWeightsBody body{labels, weights.data(), classes, per_group};
      for (std::int64_t output = 0; output < 2 * body.outputs_per_group(); ++output) {
        float sums[EvenClassWeightsBody::kSums] = {};
        for (std::int64_t term = 0; term < body.terms(); ++term) {
          body.add(body.at(output), term, sums);
        }
        const std::array<double, 4> total{sums[0], sums[1], sums[2], sums[3]};
        body.finish(output, total.data());
      }
      EXPECT_EQ(weights, expected) << per_group << " labels of " << classes << " classes";
    }
  }
}

}  // namespace
}  // namespace cosmic::target::cuda
