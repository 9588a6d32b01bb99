#include "target/ipu/tile_memory.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "graph/builder.hpp"
#include "machine/toy_machine.hpp"

namespace cosmic::machine {
namespace {

using target::ipu::Spread;
using target::ipu::spread_linearly;
using target::ipu::spread_over_tiles;
using target::ipu::TileLoad;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(Spread, a_small_tensor_lies_on_one_tile_and_a_middling_one_on_few) {
  EXPECT_THAT(spread_linearly(4, 8, 1472, 0).bytes, ElementsAre(4));
  EXPECT_THAT(spread_linearly(255, 8, 1472, 7).bytes, ElementsAre(255));
  EXPECT_THAT(spread_linearly(384, 8, 1472, 7).bytes, ElementsAre(128, 128, 128));
  EXPECT_EQ(spread_linearly(384, 8, 1472, 7).first, 7U);
}

TEST(Spread, a_large_tensor_takes_all_tiles_in_whole_grains_and_no_byte_is_lost) {
  const double bytes = 4 * 1000003;
  const Spread spread = spread_linearly(bytes, 8, 1472, 0);
  EXPECT_THAT(spread.bytes, SizeIs(1472));
  EXPECT_DOUBLE_EQ(sum(spread.bytes), bytes);
  for (std::size_t tile = 0; tile + 1 < spread.bytes.size(); ++tile) {
    EXPECT_EQ(static_cast<int>(spread.bytes[tile]) % 8, 0) << tile;
    EXPECT_GE(spread.bytes[tile], spread.bytes[tile + 1]) << tile;
  }
  EXPECT_LE(spread.bytes.front() - spread.bytes[1470], 8);
}

/// A state of 1 KiB, and values of 2 and 4 KiB that are alive at node 1 only together.
StageLiveness small_program() {
  StageLiveness liveness;
  liveness.state_tensors = {{.value = {}, .layer = "weights", .op = "state", .bytes = 1024}};
  liveness.tensors = {
      {.value = {}, .layer = "first", .op = "conv", .bytes = 2048, .first = 0, .last = 1},
      {.value = {}, .layer = "second", .op = "conv", .bytes = 4096, .first = 1, .last = 2}};
  return liveness;
}

TEST(TileMemory, tensors_follow_one_another_around_the_tiles_and_bytes_add_up) {
  const TileLoad load{.tiles = 64, .tile_bytes = 1000, .node = 1};
  const MemoryMap map = spread_over_tiles(load, small_program());
  ASSERT_THAT(map.places, SizeIs(64));
  double always_live = 0;
  double transient = 0;
  for (const MemoryPlace& tile : map.places) {
    always_live += tile.always_live.modelled_bytes();
    transient += tile.transient.modelled_bytes();
  }
  EXPECT_DOUBLE_EQ(always_live, 1024);
  EXPECT_DOUBLE_EQ(transient, 2048 + 4096);
  // Eight tiles of weights, then 32 of the larger, then 16 of the smaller; eight stay empty.
  EXPECT_EQ(map.places[7].always_live, ModelledBytes(128));
  EXPECT_EQ(map.places[8].always_live, ModelledBytes(0));
  EXPECT_EQ(map.places[8].transient, ModelledBytes(128));
  EXPECT_EQ(map.places[55].transient, ModelledBytes(128));
  EXPECT_EQ(map.places[56].needed(), ModelledBytes(0));
}

TEST(TileMemory, names_what_fills_the_fullest_tile) {
  const TileLoad load{.tiles = 16, .tile_bytes = 1000, .node = 1};
  const MemoryMap map = spread_over_tiles(load, small_program());
  // 1024 bytes on tiles 0 to 7; the others on all 16.
  EXPECT_LT(map.fullest, 8U);
  ASSERT_THAT(map.in_fullest, SizeIs(3));
  EXPECT_EQ(map.in_fullest[0].layer, "second");
  EXPECT_EQ(map.in_fullest[0].bytes, ModelledBytes(256));
  EXPECT_EQ(map.places[map.fullest].needed(), ModelledBytes(128 + 128 + 256));
}

TEST(TileMemory, keeps_a_share_of_the_mean_free_and_adds_what_every_tile_has) {
  const TileLoad load{.tiles = 16,
                      .tile_bytes = 1000,
                      .node = 1,
                      .temporary = 30,
                      .overhead = 50,
                      .imbalance = 1.25};
  const MemoryMap map = spread_over_tiles(load, small_program());
  for (const MemoryPlace& tile : map.places) {
    EXPECT_DOUBLE_EQ(tile.reserve.modelled_bytes(), 0.25 * (1024 + 2048 + 4096) / 16);
    EXPECT_EQ(tile.temporary, ModelledBytes(30));
    EXPECT_EQ(tile.overhead, ModelledBytes(50));
  }
}

TEST(TileMemory, the_verdict_of_an_ipu_is_its_fullest_tile) {
  graph::Builder g;
  const graph::ValueId image = g.input("image", {graph::DType::f32, {1, 16, 128, 128}});
  const graph::ValueId kernel =
      g.parameter("kernel", {16, 16, 3, 3}, graph::Initializer::constant(0));
  g.output("y", g.add(graph::Conv{{.stride = {1, 1, 1}, .pad = {0, 1, 1}}}, {image, kernel}));
  const Prediction prediction = predict(target::find_machine("gc200"), g.take());
  const MemoryMap& map = prediction.memory_map;
  ASSERT_THAT(map.places, SizeIs(1472));
  EXPECT_NEAR(prediction.memory.needed.modelled_bytes(),
              map.places[map.fullest].needed().modelled_bytes(), 1e-6);
  EXPECT_EQ(prediction.memory.available, map.available);
}

TEST(Liveness, tensors_alive_at_a_node_add_up_to_what_is_alive_there) {
  graph::Builder g;
  const graph::ValueId x = g.input("x", {graph::DType::f32, {1, 1, 10, 10}});
  const graph::ValueId y = g.add(graph::LeakyRelu{}, {x});
  const graph::ValueId z = g.add(graph::LeakyRelu{}, {y});  // in place of y
  g.output("sum", g.add(graph::Add{}, {x, z}));             // in place of x
  const Liveness liveness = liveness_of(g.graph());
  for (std::size_t node = 0; node < liveness.over_program.size(); ++node) {
    double bytes = 0;
    for (const LiveTensor& tensor : alive_at(liveness.tensors, node)) {
      bytes += tensor.bytes;
    }
    EXPECT_EQ(bytes, liveness.over_program[node]) << node;
  }
}

}  // namespace
}  // namespace cosmic::machine
