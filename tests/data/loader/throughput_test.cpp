#include "data/loader/throughput.hpp"

#include <gmock/gmock.h>

#include "data/loader/event_samples.hpp"
#include "data/sparse_events.hpp"

namespace cosmic::data {
namespace {

LoaderOptions options_with(Passes passes) {
  LoaderOptions options;
  options.batch = 4;
  options.order = {.kind = OrderKind::serial_access, .passes = passes};
  return options;
}

TEST(Throughput, takes_whole_batches_until_there_were_enough_events) {
  const MemorySource source(grid_of(16, 16), 5);
  const EventSamples samples(source, {});
  std::vector<std::int64_t> seen;
  const Throughput result =
      measure_throughput(samples, options_with(Passes::endless), 10,
                         [&](const Throughput& so_far) { seen.push_back(so_far.events); });
  EXPECT_EQ(result.batches, 3);
  EXPECT_EQ(result.events, 12);
  EXPECT_THAT(seen, testing::ElementsAre(4, 8, 12));
  EXPECT_GE(result.times.events, 12);
  EXPECT_DOUBLE_EQ(result.events_per_second(), 12 / result.seconds);
  EXPECT_GT(result.megabytes_per_second(), 0);
  EXPECT_GT(result.reading_ms_per_event(), 0);
  EXPECT_GT(result.converting_ms_per_event(), 0);
}

TEST(Throughput, of_one_pass_ends_with_the_source_and_does_not_count_padding) {
  const MemorySource source(grid_of(16, 16), 5);
  const EventSamples samples(source, {});
  const Throughput result =
      measure_throughput(samples, options_with(Passes::one), 1000, [](const Throughput&) {});
  EXPECT_EQ(result.batches, 2);
  EXPECT_EQ(result.events, 5);
}

TEST(Throughput, passes_on_what_the_loader_remarks) {
  const MemorySource source(grid_of(16, 16), 3);
  const EventSamples samples(source, {});
  const Throughput result =
      measure_throughput(samples, options_with(Passes::endless), 4, [](const Throughput&) {});
  EXPECT_THAT(result.remark, testing::HasSubstr("more than once"));
}

TEST(Throughput, of_nothing_is_zero) {
  const MemorySource source(grid_of(16, 16), 5);
  const EventSamples samples(source, {});
  const Throughput result =
      measure_throughput(samples, options_with(Passes::endless), 0, [](const Throughput&) {});
  EXPECT_EQ(result.events_per_second(), 0);
  EXPECT_EQ(result.megabytes_per_second(), 0);
}

}  // namespace
}  // namespace cosmic::data
