#include "model/sequential.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"

namespace cosmic::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Block::Declare convolve(std::int64_t from, std::int64_t to) {
  return [=](graph::Builder& g, Phase) {
    return convolution(g, "conv", {.from = from, .to = to, .kernel = {3, 3}});
  };
}

Block::Declare normalize(std::int64_t channels) {
  return [=](graph::Builder& g, Phase phase) {
    return batch_norm(g, "norm", {.channels = channels, .phase = phase});
  };
}

TEST(Sequential, names_its_states_by_the_blocks_they_are_in) {
  const Sequential network("small",
                           {{"encoder", {{"first", convolve(1, 4)}, {"second", normalize(4)}}},
                            {"head", convolve(4, 2)}});
  graph::Builder g;
  const graph::ValueId image = g.input("image", {graph::DType::f32, {2, 1, 8, 8}});
  const graph::ValueId logits = network.logits(g, image, Phase::evaluation);
  EXPECT_EQ(g.type(logits).shape, (graph::Shape{2, 2, 4, 4}));
  EXPECT_EQ(g.graph().node(logits).name, "head.conv");
  std::vector<std::string> names;
  for (const graph::StateVariable& state : g.graph().states) {
    names.push_back(state.name);
  }
  EXPECT_THAT(
      names,
      ElementsAre("encoder.first.conv.weight", "encoder.first.conv.bias",
                  "encoder.second.norm.weight", "encoder.second.norm.bias",
                  "encoder.second.norm.running_mean", "encoder.second.norm.running_var",
                  "encoder.second.norm.num_batches_tracked", "head.conv.weight", "head.conv.bias"));
}

TEST(Sequential, refuses_blocks_that_names_cannot_tell_apart) {
  EXPECT_THAT(
      [] {
        Sequential("s", {{"a", convolve(1, 1)}, {"a", convolve(1, 1)}});
      },
      ThrowsMessage<UserError>(HasSubstr("two blocks of network 's' are named 'a'")));
  EXPECT_THAT(
      [] {
        Sequential("s", {{"a", {{"b.c", convolve(1, 1)}}}});
      },
      ThrowsMessage<UserError>(HasSubstr("network 's'.a is named 'b.c'")));
  EXPECT_THAT(
      [] {
        Sequential("s", {{"", convolve(1, 1)}});
      },
      ThrowsMessage<UserError>(HasSubstr("not empty")));
  EXPECT_THAT([] { Sequential("s", {}); }, ThrowsMessage<UserError>(HasSubstr("no blocks")));
}

}  // namespace
}  // namespace cosmic::model
