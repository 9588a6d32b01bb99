// Which works share a launch, and that nothing changes by it. On the host's device, whose blocks of
// threads run from the last to the first.
#include "target/cuda/join_launches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "compile/optimizer.hpp"
#include "compile/pipeline.hpp"
#include "core/random.hpp"
#include "graph/builder.hpp"
#include "model/fashion_mnist.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "target/cuda/cuda_target.hpp"
#include "target/cuda/host_driver.hpp"
#include "target/cuda/launch_geometry.hpp"

namespace cosmic::target::cuda {
namespace {

using graph::ValueId;

using Buffer = std::vector<float>;

Touch reading(const Buffer& buffer) {
  const auto bytes = std::as_bytes(std::span(buffer));
  return {bytes.data(), bytes.data() + bytes.size(), false};
}

Touch writing(const Buffer& buffer) {
  Touch touch = reading(buffer);
  touch.writes = true;
  return touch;
}

std::int64_t size_of(const Buffer& buffer) {
  return static_cast<std::int64_t>(buffer.size());
}

/// y = factor x.
TouchingWork scaled(const Buffer& x, Buffer& y, float factor) {
  return {Map<ScaleBody>{{x.data(), y.data(), factor}, size_of(y), nullptr},
          {reading(x), writing(y)}};
}

/// The first number of y is the sum of x.
TouchingWork summed(const Buffer& x, Buffer& y, std::vector<double>* partials = nullptr) {
  TouchingWork work{
      Reduction<ChannelSumBody>{{x.data(), y.data(), 1, size_of(x)}, 1, size_of(x), nullptr},
      {reading(x), writing(y)}};
  if (partials != nullptr) {
    std::get<Reduction<ChannelSumBody>>(std::get<Work>(work.work)).partials = partials->data();
  }
  return work;
}

/// y = x by a kernel that always has a launch of its own.
TouchingWork large(const Buffer& x, Buffer& y) {
  return {Map<CopyBody<std::uint8_t>>{{reinterpret_cast<const std::uint8_t*>(x.data()),
                                       reinterpret_cast<std::uint8_t*>(y.data())},
                                      size_of(y) * 4,
                                      nullptr},
          {reading(x), writing(y)}};
}

std::int64_t room_of(std::span<const TouchingWork> works) {
  std::int64_t bytes = 0;
  for (const TouchingWork& work : works) {
    bytes += table_bytes(std::get<Work>(work.work));
  }
  return bytes;
}

/// Blocks of each launch; 0 for one that is not joined.
std::vector<int> blocks_of(const std::vector<Deed>& launches) {
  std::vector<int> blocks;
  for (const Deed& launch : launches) {
    const auto* const work = std::get_if<Work>(&launch);
    const auto* const joined = work == nullptr ? nullptr : std::get_if<Joined>(work);
    blocks.push_back(joined == nullptr ? 0 : joined->block_count);
  }
  return blocks;
}

class JoinLaunches : public testing::Test {
 protected:
  /// Joins them, and runs that.
  std::vector<Deed> run(const std::vector<TouchingWork>& works) {
    table_.assign(static_cast<std::size_t>(room_of(works)) / sizeof(Room) + 1, {});
    auto* const table = reinterpret_cast<std::byte*>(table_.data());
    const JoinedLaunches joined = join_launches(works, table);
    EXPECT_LE(static_cast<std::int64_t>(joined.table.size()), room_of(works));
    std::copy(joined.table.begin(), joined.table.end(), table);
    const std::unique_ptr<Queue> queue =
        host_driver(std::make_shared<HostMachine>())->open(0)->make_queue(0);
    queue->replay(*queue->record(joined.deeds));
    return joined.deeds;
  }

  struct alignas(16) Room {
    std::byte bytes[16];
  };

  std::vector<Room> table_;
  Buffer x_ = Buffer(1000, 1.0F);
  Buffer a_ = Buffer(1000, 0.0F);
  Buffer b_ = Buffer(1000, 0.0F);
  Buffer c_ = Buffer(1000, 0.0F);
  Buffer d_ = Buffer(1000, 0.0F);
  Buffer one_ = Buffer(1, 0.0F);
};

TEST_F(JoinLaunches, take_works_together_that_do_not_touch_each_other) {
  EXPECT_EQ(blocks_of(run({scaled(x_, a_, 2), scaled(x_, b_, 3), scaled(x_, c_, 4)})),
            std::vector<int>{12});
  EXPECT_EQ(a_, Buffer(1000, 2.0F));
  EXPECT_EQ(b_, Buffer(1000, 3.0F));
  EXPECT_EQ(c_, Buffer(1000, 4.0F));
}

TEST_F(JoinLaunches, leave_a_work_alone_as_it_is) {
  EXPECT_EQ(blocks_of(run({scaled(x_, a_, 2)})), std::vector<int>{0});
  EXPECT_EQ(a_, Buffer(1000, 2.0F));
}

TEST_F(JoinLaunches, do_works_element_by_element_in_the_threads_of_the_first) {
  EXPECT_EQ(blocks_of(run({scaled(x_, a_, 2), scaled(a_, b_, 3), scaled(b_, a_, 5)})),
            std::vector<int>{4});
  EXPECT_EQ(b_, Buffer(1000, 6.0F));
  EXPECT_EQ(a_, Buffer(1000, 30.0F));
}

TEST_F(JoinLaunches, do_tiny_works_that_need_each_other_in_one_block) {
  Buffer two(300, 0.0F);
  Buffer few(300, 1.0F);
  Buffer other(1, 0.0F);
  EXPECT_EQ(blocks_of(run({scaled(few, two, 2), summed(two, one_), scaled(one_, other, 3)})),
            std::vector<int>{1});
  EXPECT_EQ(one_, Buffer(1, 600.0F));
  EXPECT_EQ(other, Buffer(1, 1800.0F));
}

TEST_F(JoinLaunches, keep_works_apart_that_need_all_of_another) {
  Buffer many(100000, 1.0F);
  Buffer doubled(100000, 0.0F);
  std::vector<double> partials(7);
  EXPECT_THAT(blocks_of(run({scaled(many, doubled, 2), summed(doubled, one_, &partials)})),
              testing::ElementsAre(0, 7, 1));
  EXPECT_EQ(one_, Buffer(1, 200000.0F));
}

TEST_F(JoinLaunches, bring_works_forward_past_large_ones_that_do_not_touch_them) {
  EXPECT_EQ(blocks_of(run({scaled(x_, a_, 2), large(a_, b_), scaled(x_, d_, 7), large(d_, b_),
                           scaled(x_, c_, 3), large(c_, b_)})),
            (std::vector<int>{12, 0, 0, 0}));
  EXPECT_EQ(b_, Buffer(1000, 3.0F));
}

TEST_F(JoinLaunches, let_a_tiny_work_in_a_chain_wait_for_no_other) {
  EXPECT_EQ(blocks_of(run({large(x_, b_), scaled(b_, a_, 2), large(a_, b_), scaled(x_, d_, 7),
                           scaled(x_, c_, 3)})),
            (std::vector<int>{0, 0, 0, 8}));
  EXPECT_EQ(b_, Buffer(1000, 2.0F));
}

TEST_F(JoinLaunches, put_works_off_until_somebody_needs_them) {
  EXPECT_EQ(blocks_of(run({scaled(x_, a_, 2), large(x_, b_), scaled(x_, c_, 3), large(x_, b_),
                           scaled(x_, d_, 4)})),
            (std::vector<int>{0, 0, 12}));
}

TEST_F(JoinLaunches, write_nothing_that_an_earlier_work_has_yet_to_read) {
  EXPECT_EQ(blocks_of(run({large(x_, b_), scaled(b_, c_, 2), large(x_, a_), scaled(a_, b_, 3)})),
            (std::vector<int>{0, 0, 4}));
  EXPECT_EQ(c_, Buffer(1000, 2.0F));
  EXPECT_EQ(b_, Buffer(1000, 3.0F));
}

TEST_F(JoinLaunches, hold_back_what_a_guard_says) {
  const float loss = std::numeric_limits<float>::quiet_NaN();
  std::vector<TouchingWork> works{scaled(x_, a_, 2), scaled(x_, b_, 3)};
  std::get<Map<ScaleBody>>(std::get<Work>(works[0].work)).guard = &loss;
  EXPECT_EQ(run(works).size(), 1U);
  EXPECT_EQ(a_, Buffer(1000, 0.0F));
  EXPECT_EQ(b_, Buffer(1000, 3.0F));
}

/// Some hundred works on a few buffers, in all orders of reading and writing.
TEST_F(JoinLaunches, change_no_bit_of_any_program) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "program");
    const auto draw = [&](std::size_t below) {
      return static_cast<std::size_t>(random.next() % below);
    };
    const std::array<std::size_t, 10> sizes{1, 7, 7, 300, 300, 300, 300, 2000, 2000, 9000};
    std::array<Buffer, 10> start;
    for (std::size_t i = 0; i < start.size(); ++i) {
      for (std::size_t k = 0; k < sizes[i]; ++k) {
        start[i].push_back(static_cast<float>(random.uniform(-1, 1)));
      }
    }
    std::array<Buffer, 10> buffers = start;
    std::vector<TouchingWork> works;
    for (int i = 0; i < 150; ++i) {
      const std::size_t to = draw(buffers.size());
      const std::size_t from = draw(buffers.size());
      const std::size_t other = draw(buffers.size());
      Buffer& y = buffers[to];
      if (buffers[from].size() == y.size() && buffers[other].size() == y.size()) {
        works.push_back(
            {Map<AddBody>{
                 {buffers[from].data(), buffers[other].data(), y.data()}, size_of(y), nullptr},
             {reading(buffers[from]), reading(buffers[other]), writing(y)}});
      } else if (buffers[from].size() == y.size()) {
        works.push_back(draw(4) == 0 && from != to ? large(buffers[from], y)
                                                   : scaled(buffers[from], y, 0.75F));
      } else {
        works.push_back(summed(buffers[from], y));
      }
    }
    const std::unique_ptr<Queue> queue =
        host_driver(std::make_shared<HostMachine>())->open(0)->make_queue(0);
    for (const TouchingWork& work : works) {
      queue->run(std::get<Work>(work.work));
    }
    const std::array<Buffer, 10> expected = buffers;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      std::copy(start[i].begin(), start[i].end(), buffers[i].begin());
    }
    EXPECT_LT(run(works).size(), works.size());
    EXPECT_EQ(buffers, expected) << seed;
  }
}

TEST_F(JoinLaunches, begin_a_sum_over_processes_once_its_numbers_are_there_and_await_it_last) {
  const std::vector<TouchingWork> works{
      scaled(x_, a_, 2),
      {BeginSum{a_.data(), size_of(a_), 0}, {writing(a_)}},
      scaled(x_, c_, 3),
      large(x_, b_),
      {AwaitSum{0}, {writing(a_)}},
      scaled(a_, d_, 5),
  };
  std::vector<Room> table(1000);
  const std::vector<Deed> deeds =
      join_launches(works, reinterpret_cast<const std::byte*>(table.data())).deeds;
  ASSERT_EQ(deeds.size(), 5U);
  EXPECT_TRUE(std::holds_alternative<Work>(deeds[0])) << "what the sum is of";
  EXPECT_TRUE(std::holds_alternative<BeginSum>(deeds[1]));
  EXPECT_TRUE(std::holds_alternative<Work>(deeds[2])) << "what need not wait";
  EXPECT_TRUE(std::holds_alternative<AwaitSum>(deeds[3]));
  EXPECT_TRUE(std::holds_alternative<Work>(deeds[4])) << "what reads it, and what nobody waits for";
}

graph::Graph network_of_planes() {
  model::UResNetOptions options;
  options.n_initial_filters = 4;
  options.depth = 2;
  options.blocks_per_layer = 1;
  options.blocks_deepest_layer = 1;
  options.blocks_final = 1;
  options.filter_size_deepest = 3;
  options.bottleneck_deepest = 6;
  graph::Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {2, 3, 8, 12}});
  const ValueId label = g.input("label", {graph::DType::u8, {2, 3, 8, 12}});
  const ValueId logits = model::UResNet(options).logits(g, image, model::Phase::training);
  g.output(compile::kLossOutput, model::SegmentationLoss().loss(g, logits, label));
  return g.take();
}

graph::Graph network_of_pictures() {
  graph::Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {16, 1, 28, 28}});
  const ValueId label = g.input("label", {graph::DType::u8, {16}});
  const ValueId logits = model::FashionMnist().logits(g, image, model::Phase::training);
  g.output(compile::kLossOutput, model::NegativeLogLikelihoodLoss().loss(g, logits, label));
  return g.take();
}

struct Counts {
  std::int64_t launches = 0;
  std::int64_t steps = 0;
};

Counts counts_of(const graph::Graph& network, const compile::Optimizer& optimizer,
                 const compile::Precision& precision) {
  const auto machine = std::make_shared<HostMachine>();
  const std::unique_ptr<Target> target = make_cuda_target(host_driver(machine), 0);
  const compile::Plan plan = compile::make_plan(
      network, compile::training_passes(target->info(), {optimizer}, {}, precision), target->info(),
      {});
  std::vector<std::pair<std::string, graph::TensorType>> states;
  for (const graph::StateVariable& state : plan.graph.states) {
    states.emplace_back(state.name, plan.graph.type(state.value));
  }
  target->compile(plan, target->make_bank(states), {});
  return {machine->launches_recorded, static_cast<std::int64_t>(plan.steps.steps.size())};
}

TEST(TrainingSteps, take_few_launches_for_all_that_is_small) {
  const Counts planes = counts_of(network_of_planes(), compile::Adam{}, {});
  EXPECT_LT(3 * planes.launches, planes.steps);
  const Counts scaled = counts_of(network_of_planes(), compile::Adam{},
                                  {.loss_scaling = {compile::LossScaling::Kind::dynamic, 1024, 3}});
  EXPECT_LT(3 * scaled.launches, scaled.steps);
  const Counts pictures = counts_of(network_of_pictures(), compile::Sgd{.momentum = 0.9}, {});
  EXPECT_LE(pictures.launches, 22);
}

}  // namespace
}  // namespace cosmic::target::cuda
