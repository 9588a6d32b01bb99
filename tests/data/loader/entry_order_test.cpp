#include "data/loader/entry_order.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "core/error.hpp"

namespace cosmic::data {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::int64_t> batch_at(EntryOrder& order, std::int64_t sample, std::size_t size) {
  std::vector<std::int64_t> batch(size);
  order.select(sample, batch);
  return batch;
}

/// The entries of the first samples, batch by batch.
std::vector<std::int64_t> first_samples(EntryOrder& order, std::size_t batch, std::size_t batches) {
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < batches; ++i) {
    const auto entries = batch_at(order, static_cast<std::int64_t>(i * batch), batch);
    all.insert(all.end(), entries.begin(), entries.end());
  }
  return all;
}

TEST(SerialAccess, wraps_without_repeating_an_entry) {
  EntryOrder order({.kind = OrderKind::serial_access}, 5, 3);
  EXPECT_THAT(first_samples(order, 3, 4), ElementsAre(0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1));
}

TEST(SerialAccess, starts_at_start_index) {
  EntryOrder order({.kind = OrderKind::serial_access, .start_index = 3}, 5, 2);
  EXPECT_THAT(first_samples(order, 2, 3), ElementsAre(3, 4, 0, 1, 2, 3));
}

TEST(SerialAccess, one_pass_uses_each_entry_once_and_pads_the_last_batch) {
  EntryOrder order({.kind = OrderKind::serial_access, .passes = Passes::one}, 5, 3);
  EXPECT_EQ(order.samples(), 5);
  std::vector<std::int64_t> batch(3);
  EXPECT_EQ(order.select(0, batch), 3);
  EXPECT_EQ(order.select(3, batch), 2);
  EXPECT_THAT(batch, ElementsAre(3, 4, kNoEntry));
  EXPECT_EQ(order.select(6, batch), 0);
  EXPECT_THAT(batch, Each(kNoEntry));
}

// Otherwise what was odd in events that nobody asked for was reported if they had been read ahead.
TEST(SerialAccess, one_pass_to_end_index_reads_nothing_beyond_it) {
  EntryOrder order(
      {.kind = OrderKind::serial_access, .passes = Passes::one, .start_index = 1, .end_index = 4},
      9, 2);
  EXPECT_EQ(order.samples(), 3);
  std::vector<std::int64_t> batch(2);
  EXPECT_EQ(order.select(2, batch), 1);
  EXPECT_THAT(batch, ElementsAre(3, kNoEntry));
}

TEST(SerialAccess, one_pass_from_start_index_goes_to_the_last_entry) {
  EntryOrder order({.kind = OrderKind::serial_access, .passes = Passes::one, .start_index = 3}, 5,
                   4);
  std::vector<std::int64_t> batch(4);
  EXPECT_EQ(order.select(0, batch), 2);
  EXPECT_THAT(batch, ElementsAre(3, 4, kNoEntry, kNoEntry));
}

TEST(RandomBlocks, are_consecutive_entries_and_reach_every_start) {
  EntryOrder order({.kind = OrderKind::random_blocks}, 7, 3);
  std::set<std::int64_t> starts;
  for (std::int64_t batch = 0; batch < 200; ++batch) {
    const auto entries = batch_at(order, 3 * batch, 3);
    ASSERT_THAT(entries, ElementsAre(entries[0], entries[0] + 1, entries[0] + 2));
    starts.insert(entries[0]);
  }
  EXPECT_THAT(starts, ElementsAre(0, 1, 2, 3, 4));
}

TEST(RandomBlocks, may_be_the_whole_set) {
  EntryOrder order({.kind = OrderKind::random_blocks}, 3, 3);
  EXPECT_THAT(first_samples(order, 3, 2), ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(Shuffled, every_epoch_is_another_permutation_of_all_entries) {
  constexpr std::size_t kEntries = 101;  // a prime, so that batches straddle epochs
  EntryOrder order({.kind = OrderKind::shuffled, .seed = 4}, kEntries, 8);
  const auto samples = first_samples(order, 8, kEntries);
  std::set<std::vector<std::int64_t>> epochs;
  for (std::size_t epoch = 0; epoch < 8; ++epoch) {
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(epoch * kEntries);
    std::vector<std::int64_t> entries(begin, begin + kEntries);
    epochs.insert(entries);
    std::sort(entries.begin(), entries.end());
    for (std::size_t i = 0; i < kEntries; ++i) {
      ASSERT_EQ(entries[i], static_cast<std::int64_t>(i));
    }
  }
  EXPECT_EQ(epochs.size(), 8U);
}

TEST(Shuffled, one_pass_uses_each_entry_once) {
  EntryOrder order({.kind = OrderKind::shuffled, .passes = Passes::one}, 10, 4);
  auto samples = first_samples(order, 4, 3);
  std::sort(samples.begin(), samples.end());
  EXPECT_THAT(samples, ElementsAre(kNoEntry, kNoEntry, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(Shuffled, set_smaller_than_a_batch_is_used_again_within_it_and_said_so) {
  EntryOrder order({.kind = OrderKind::shuffled}, 3, 8);
  const auto batch = batch_at(order, 0, 8);
  for (const std::int64_t entry : {0, 1, 2}) {
    EXPECT_GE(std::count(batch.begin(), batch.end(), entry), 2);
  }
  EXPECT_THAT(order.remark(), AllOf(HasSubstr("8"), HasSubstr("3")));
  EXPECT_EQ(EntryOrder({.kind = OrderKind::shuffled}, 8, 8).remark(), "");
}

class AnyOrder : public testing::TestWithParam<OrderKind> {};

TEST_P(AnyOrder, batch_depends_on_the_sample_only_not_on_what_was_asked_before) {
  EntryOrder forward({.kind = GetParam(), .seed = 9}, 13, 4);
  EntryOrder jumping({.kind = GetParam(), .seed = 9}, 13, 4);
  const auto samples = first_samples(forward, 4, 20);
  for (const std::size_t batch : {19U, 3U, 0U, 7U}) {
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(4 * batch);
    EXPECT_EQ(batch_at(jumping, static_cast<std::int64_t>(4 * batch), 4),
              std::vector(begin, begin + 4));
  }
}

TEST_P(AnyOrder, state_survives_as_text_and_is_that_of_one_order_only) {
  const OrderOptions options{.kind = GetParam(), .seed = ~std::uint64_t{0}};
  const EntryOrder order(options, 13, 4);
  const OrderState state = order.state(28);
  EXPECT_EQ(order_state_from_text(to_text(state)), state);
  EXPECT_EQ(order.resume(state), 28);
  EXPECT_THAT([&] { EntryOrder(options, 14, 4).resume(state); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("entries=13"), HasSubstr("entries=14"))));
  OrderOptions other = options;
  other.seed = 2;
  EXPECT_THROW(EntryOrder(other, 13, 4).resume(state), UserError);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AnyOrder,
                         testing::Values(OrderKind::random_blocks, OrderKind::serial_access,
                                         OrderKind::shuffled),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST(EntryOrder, seeds_give_different_orders) {
  for (const OrderKind kind : {OrderKind::random_blocks, OrderKind::shuffled}) {
    EntryOrder first({.kind = kind, .seed = 1}, 100, 4);
    EntryOrder second({.kind = kind, .seed = 2}, 100, 4);
    EXPECT_NE(first_samples(first, 4, 5), first_samples(second, 4, 5));
  }
}

TEST(EntryOrder, names_can_be_read_back) {
  EXPECT_EQ(order_kind("serial_access"), OrderKind::serial_access);
  EXPECT_THAT([] { order_kind("sorted"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("sorted"), HasSubstr("shuffled"))));
}

TEST(EntryOrder, refuses_what_no_order_can_be_made_of) {
  EXPECT_THAT([] { EntryOrder({}, 0, 1); }, ThrowsMessage<DataError>(HasSubstr("0 events")));
  EXPECT_THAT([] { EntryOrder({}, 5, 0); }, ThrowsMessage<UserError>(HasSubstr("batch of 0")));
  EXPECT_THAT([] { EntryOrder({.kind = OrderKind::random_blocks}, 5, 6); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("6 events"), HasSubstr("source of 5"))));
  EXPECT_THAT([] { EntryOrder({.kind = OrderKind::random_blocks, .passes = Passes::one}, 5, 2); },
              ThrowsMessage<UserError>(HasSubstr("replacement")));
  EXPECT_THAT([] { EntryOrder({.kind = OrderKind::shuffled, .start_index = 1}, 5, 2); },
              ThrowsMessage<UserError>(HasSubstr("start_index is 1 with the order shuffled")));
  for (const std::int64_t start : {-1, 5}) {
    EXPECT_THAT([&] { EntryOrder({.kind = OrderKind::serial_access, .start_index = start}, 5, 2); },
                ThrowsMessage<UserError>(HasSubstr("choose 0 to 4")));
  }
}

TEST(OrderState, refuses_a_text_that_is_none) {
  for (const char* text :
       {"", "order=shuffled", "order= entries=1 seed=1 start_index=0 next_sample=0",
        "order=shuffled entries=five seed=1 start_index=0 next_sample=0",
        "order=shuffled entries=5x seed=1 start_index=0 next_sample=0",
        "entries=5 order=shuffled seed=1 start_index=0 next_sample=0"}) {
    EXPECT_THROW(order_state_from_text(text), DataError) << text;
  }
  const EntryOrder order({.kind = OrderKind::shuffled}, 5, 2);
  EXPECT_THROW(order.resume(order.state(-1)), UserError);
}

}  // namespace
}  // namespace cosmic::data
