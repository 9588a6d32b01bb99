// Loading takes the same memory however long it goes on: no allocation for a batch, and no growth.
#include <gtest/gtest.h>

#include <filesystem>

#include "allocation_counter.hpp"
#include "core/process_memory.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/loader/event_samples.hpp"
#include "data/sparse_events.hpp"
#include "scratch_folder.hpp"

namespace cosmic::data {
namespace {

LoaderOptions training_options(OrderKind kind, int threads) {
  LoaderOptions options;
  options.batch = 4;
  options.order.kind = kind;
  options.threads = threads;
  return options;
}

EventSamples training_samples(const EventSource& source) {
  return {source,
          {.dense = {.downsample = 1, .scale = ChargeScale::logarithmic},
           .augmentation = {.flips = true}}};
}

void take(BatchLoader& loader, int batches) {
  for (int batch = 0; batch < batches; ++batch) {
    loader.next();
  }
}

/// Events of one size: a thread that meets its largest event late would need more memory then.
std::vector<SparseEvent> equal_events() {
  const SparseEvent event = random_event(grid_of(32, 48), 0.3, 1);
  return std::vector<SparseEvent>(7, event);
}

/// A thread allocates when it gets its first event, which may be late on a busy machine, and which
/// touches two rounds at most.
void expect_no_allocations(BatchLoader& loader, int threads) {
  take(loader, 20);
  int rounds_with_allocations = 0;
  for (int round = 0; round < 50; ++round) {
    rounds_with_allocations += allocations_of([&] { take(loader, 5); }) > 0 ? 1 : 0;
  }
  EXPECT_LE(rounds_with_allocations, 2 * threads);
}

void expect_no_growth(BatchLoader& loader) {
  constexpr int kBatches = 2500;  // of four
  take(loader, kBatches / 10);
  const std::int64_t before = resident_bytes();
  take(loader, kBatches);
  // Fifty bytes for each event would show.
  EXPECT_LT(resident_bytes() - before, 50 * 4 * kBatches);
}

class LoaderMemory : public testing::TestWithParam<std::tuple<OrderKind, int>> {
 protected:
  void SetUp() override {
    if (!counts_allocations()) {
      GTEST_SKIP() << "a sanitizer replaces the allocator, and keeps what was freed";
    }
  }

  LoaderOptions options_ =
      training_options(std::get<OrderKind>(GetParam()), std::get<int>(GetParam()));
};

TEST_P(LoaderMemory, batch_allocates_nothing_after_warming_up) {
  const MemorySource source(equal_events());
  const EventSamples samples = training_samples(source);
  BatchLoader loader(samples, options_);
  expect_no_allocations(loader, options_.threads);
}

TEST_P(LoaderMemory, batch_of_pixels_allocates_nothing_after_warming_up) {
  const MemorySource source(equal_events());
  const EventSamples samples = training_samples(source);
  options_.form = BatchForm::pixels;
  options_.in_use = 2;
  BatchLoader loader(samples, options_);
  // Memory for the largest flipped event of each place: equal events differ once they are flipped.
  take(loader, 100);
  expect_no_allocations(loader, options_.threads);
}

TEST_P(LoaderMemory, stays_flat_over_ten_thousand_events) {
  const MemorySource source(grid_of(32, 48), 9, 0.3);
  const EventSamples samples = training_samples(source);
  BatchLoader loader(samples, options_);
  expect_no_growth(loader);
}

TEST_P(LoaderMemory, calls_of_a_model_allocate_nothing_after_warming_up) {
  const MemorySource source(equal_events());
  const EventSamples samples = training_samples(source);
  options_.batch = 1;
  options_.micro_batches = 3;
  if (options_.order.kind != OrderKind::random_blocks) {
    options_.order.passes = Passes::epochs;
  }
  BatchLoader loader(samples, options_);
  expect_no_allocations(loader, options_.threads);
}

class FileLoaderMemory : public LoaderMemory {
 protected:
  void SetUp() override {
    LoaderMemory::SetUp();
    larcv::EventFileWriter writer(path_);
    const larcv::LarcvOptions products;
    for (const SparseEvent& event : equal_events()) {
      writer.begin_event(event.id);
      writer.write_sparse(products.image_producer, event.image);
      writer.write_sparse(products.label_producer, event.labels);
    }
    writer.commit();
  }
  ScratchFolder folder_{"loader_memory"};
  std::filesystem::path path_ = folder_ / "events.h5";
};

TEST_P(FileLoaderMemory, batch_allocates_nothing_after_warming_up) {
  const larcv::LarcvSource source({.files = {path_}});
  const EventSamples samples = training_samples(source);
  BatchLoader loader(samples, options_);
  expect_no_allocations(loader, options_.threads);
}

TEST_P(FileLoaderMemory, stays_flat_over_ten_thousand_events) {
  const larcv::LarcvSource source({.files = {path_}});
  const EventSamples samples = training_samples(source);
  BatchLoader loader(samples, options_);
  expect_no_growth(loader);
}

std::string name_of(const testing::TestParamInfo<std::tuple<OrderKind, int>>& test) {
  return std::string(to_string(std::get<0>(test.param))) + "_" +
         std::to_string(std::get<1>(test.param)) + "_threads";
}

INSTANTIATE_TEST_SUITE_P(Orders, LoaderMemory,
                         testing::Combine(testing::Values(OrderKind::random_blocks,
                                                          OrderKind::serial_access,
                                                          OrderKind::shuffled),
                                          testing::Values(0, 1, 2)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Orders, FileLoaderMemory,
                         testing::Combine(testing::Values(OrderKind::shuffled),
                                          testing::Values(0, 2)),
                         name_of);

}  // namespace
}  // namespace cosmic::data
