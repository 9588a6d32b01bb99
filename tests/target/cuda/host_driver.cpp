#include "target/cuda/host_driver.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "target/cuda/joined_works.hpp"
#include "target/cuda/launch_geometry.hpp"

namespace cosmic::target::cuda {
namespace {

constexpr int kWarp = 32;

/// From the last element to the first: whoever relies on an order of the threads is found.
template <class Body>
void run_on_host(const Map<Body>& map) {
  if (map.guard != nullptr && !is_finite(*map.guard)) {
    return;
  }
  for (std::int64_t i = map.elements; i-- > 0;) {
    map.body(i);
  }
}

/// In groups of channels, where the device does so.
void run_on_host(const Map<ArrangeBody>& map) {
  const ArrangeBody& body = map.body;
  if (!body.has_groups()) {
    for (std::int64_t i = map.elements; i-- > 0;) {
      body(i);
    }
    return;
  }
  const Image& image = body.counted();
  for (int n = image.images; n-- > 0;) {
    for (int g = body.groups(); g-- > 0;) {
      const ArrangeBody::Group group = body.group(n, g);
      for (std::int64_t p = image.pixels(); p-- > 0;) {
        body.move(group, p);
      }
    }
  }
}

/// As join_threads() of launch.cuh: a tree within each warp, then the warps in their order.
template <int kSums>
void join_threads(const std::vector<std::array<double, kSums>>& threads, double* sums) {
  for (int k = 0; k < kSums; ++k) {
    sums[k] = 0;
    for (int warp = 0; warp < kThreadsPerBlock; warp += kWarp) {
      double lanes[kWarp];
      for (int lane = 0; lane < kWarp; ++lane) {
        lanes[lane] = threads[static_cast<std::size_t>(warp + lane)][static_cast<std::size_t>(k)];
      }
      for (int apart = kWarp / 2; apart > 0; apart /= 2) {
        for (int lane = 0; lane < apart; ++lane) {
          lanes[lane] += lanes[lane + apart];
        }
      }
      sums[k] = warp == 0 ? lanes[0] : sums[k] + lanes[0];
    }
  }
}

template <class Body>
void sum_chunk(const Reduction<Body>& work, const ReductionGeometry& geometry, std::int64_t block) {
  constexpr int kSums = Body::kSums;
  const std::int64_t output = block / geometry.chunks;
  const std::int64_t begin = block % geometry.chunks * geometry.terms_per_chunk;
  const std::int64_t end = std::min(begin + geometry.terms_per_chunk, work.terms);
  std::vector<std::array<double, kSums>> threads(kThreadsPerBlock);
  const auto context = work.body.at(output);
  for (int thread = 0; thread < kThreadsPerBlock; ++thread) {
    std::int64_t term = begin + thread;
    while (term < end) {
      float part[kSums] = {};
      for (std::int64_t k = 0; k < kTermsPerSum && term < end; ++k, term += kThreadsPerBlock) {
        work.body.add(context, term, part);
      }
      for (std::size_t k = 0; k < kSums; ++k) {
        threads[static_cast<std::size_t>(thread)][k] += static_cast<double>(part[k]);
      }
    }
  }
  double sums[kSums];
  join_threads<kSums>(threads, sums);
  if (geometry.chunks == 1) {
    work.body.finish(output, sums);
  } else {
    std::copy_n(sums, kSums, work.partials + block * kSums);
  }
}

template <class Body>
void join_chunks(const Reduction<Body>& work, const ReductionGeometry& geometry,
                 std::int64_t output) {
  constexpr int kSums = Body::kSums;
  std::vector<std::array<double, kSums>> threads(kThreadsPerBlock);
  for (std::int64_t chunk = 0; chunk < geometry.chunks; ++chunk) {
    for (std::int64_t k = 0; k < kSums; ++k) {
      threads[static_cast<std::size_t>(chunk % kThreadsPerBlock)][static_cast<std::size_t>(k)] +=
          work.partials[(output * geometry.chunks + chunk) * kSums + k];
    }
  }
  double sums[kSums];
  join_threads<kSums>(threads, sums);
  work.body.finish(output, sums);
}

template <class Body>
void run_on_host(const Reduction<Body>& work) {
  const ReductionGeometry geometry = reduction_geometry(work.outputs, work.terms);
  for (std::int64_t block = 0; block < work.outputs * geometry.chunks; ++block) {
    sum_chunk(work, geometry, block);
  }
  for (std::int64_t output = 0; geometry.chunks > 1 && output < work.outputs; ++output) {
    join_chunks(work, geometry, output);
  }
}

/// The numbers of a recipe for an image of the batch.
std::vector<Pair> table_of(const Recipe& recipe, int event) {
  std::vector<Pair> table(static_cast<std::size_t>(recipe.table_pairs()) + kBlock);
  for (int i = 0; i < recipe.table_pairs(); ++i) {
    table[static_cast<std::size_t>(i)] = table_entry(recipe, event, i);
  }
  return table;
}

/// Tables for every image of the batch.
class Tables {
 public:
  Tables(const Recipe& recipe, int batch) : recipe_(recipe) {
    for (int event = 0; event < batch; ++event) {
      of_event_.push_back(table_of(recipe, event));
    }
  }
  /// Where an image of the value is given by its place among all slices.
  void evaluate(const Place& at, int block, const float* result, float* out) const {
    const auto event = static_cast<std::size_t>(at.image / recipe_.depth);
    cuda::evaluate<kBlock>(recipe_, of_event_.at(event).data(), at, block * kBlock, result, out);
  }

 private:
  const Recipe& recipe_;
  std::vector<std::vector<Pair>> of_event_;
};

template <class Body>
void run_on_host(const PixelMap<Body>& work) {
  for (int slice = work.slices; slice-- > 0;) {
    const std::vector<Pair> table = table_of(work.body.recipe(), slice * work.events_of_slice);
    for (std::int64_t i = work.items; i-- > 0;) {
      work.body(table.data(), slice, i);
    }
  }
}

/// Sums over the pixels of images, in double; the device's order is its own business.
struct HostSums {
  std::vector<double> uv;
  std::vector<double> v;

  HostSums(const PixelSums& sums, int channels)
      : uv(static_cast<std::size_t>(sums.groups * channels)),
        v(static_cast<std::size_t>(sums.groups * channels)) {}
};

void run_on_host(const SumPixels& work) {
  const PixelSums& sums = work.sums;
  const int channels = work.geometry.columns * kBlock;
  const int images = static_cast<int>(work.images) * work.geometry.slices;
  const int batch = images / sums.v.depth;
  const Tables v_tables(sums.v, batch);
  const Tables u_tables(sums.u, batch);
  HostSums total(sums, channels);
  for (int image = 0; image < images; ++image) {
    const int group = image / sums.v.depth / (batch / sums.groups);
    for (int row = 0; row < sums.v.rows; ++row) {
      for (int column = 0; column < sums.v.columns; ++column) {
        for (int block = 0; block < work.geometry.columns; ++block) {
          float v[kBlock];
          float u[kBlock];
          v_tables.evaluate({image, row, column}, block, nullptr, v);
          std::copy_n(v, kBlock, u);
          if (sums.u.exists()) {
            u_tables.evaluate({image, row, column}, block, nullptr, u);
          }
          for (int k = 0; k < kBlock; ++k) {
            const auto at = static_cast<std::size_t>(group * channels + block * kBlock + k);
            total.uv[at] += static_cast<double>(u[k]) * v[k];
            total.v[at] += v[k];
          }
        }
      }
    }
  }
  for (int group = 0; group < sums.groups; ++group) {
    for (int channel = 0; channel < channels; ++channel) {
      const auto at = static_cast<std::size_t>(group * channels + channel);
      sums.finish(group, channel, total.uv[at], total.v[at]);
    }
  }
}

void run_on_host(const PixelMap<MaxPoolGradientPixelsBody>& work) {
  run_on_host<MaxPoolGradientPixelsBody>(work);
  const MaxPoolGradientPixelsBody& body = work.body;
  if (body.sums.wanted()) {
    run_on_host(SumPixels{body.sums, body.sums_geometry, 1});
  }
}

/// What a factor is rounded to before it is multiplied.
float factor(float x, Products products) {
  switch (products) {
    case Products::bf16:
      return rounded_to(x, Format::bf16);
    case Products::f16:
      return rounded_to(x, Format::f16);
    case Products::tf32:
      return to_tf32(x);
    case Products::f32:
      break;
  }
  return x;
}

/// A weight as the kernel finds it: by the thread and the step that use it.
float packed_weight(const ConvTile& conv, int filter, int d, int tap, int channel) {
  const ConvTileGeometry& g = conv.geometry;
  const int per_unit = channels_per_unit(conv.products);
  const int chunk = channel / kBlock / g.chunk_blocks;
  const int plane = channel / per_unit - chunk * g.chunk_blocks * conv.units_of_block();
  const int unit = plane * conv.taps.rows * conv.taps.columns + tap;
  const int step = d * conv.steps_of_slice() + chunk * conv.steps_of_chunk(0) + unit / 2;
  const int column = filter / kBlock;
  const int in_unit = channel % per_unit;
  const int lane = filter % kBlock * 4 + (per_unit == kBlock ? in_unit / 2 : in_unit);
  const std::int64_t word =
      (((static_cast<std::int64_t>(column / g.filter_columns) * conv.steps() + step) *
            g.filter_columns +
        column % g.filter_columns) *
           32 +
       lane) *
          2 +
      unit % 2;
  const std::uint32_t bits = conv.weights[word];
  if (per_unit != kBlock) {
    return float_of(bits);
  }
  const auto half = static_cast<std::uint16_t>(in_unit % 2 == 0 ? bits : bits >> 16);
  return conv.products == Products::bf16 ? from_bf16(half) : from_f16(half);
}

/// All of them, as they are multiplied: [depth tap][tap][channel][filter].
std::vector<float> unpacked_weights(const ConvTile& conv, int filters) {
  const int taps = conv.taps.rows * conv.taps.columns;
  std::vector<float> weights;
  for (int d = 0; d < conv.taps.depth; ++d) {
    for (int tap = 0; tap < taps; ++tap) {
      for (int channel = 0; channel < conv.source.blocks() * kBlock; ++channel) {
        for (int filter = 0; filter < filters; ++filter) {
          weights.push_back(factor(packed_weight(conv, filter, d, tap, channel), conv.products));
        }
      }
    }
  }
  return weights;
}

void run_on_host(const ConvTile& conv) {
  COSMIC_ASSERT(conv.geometry.shared_bytes <= kMostSharedBytes);
  const int channels = conv.out.blocks() * kBlock;
  const std::vector<float> weights = unpacked_weights(conv, channels);
  const Tables source(conv.source, conv.batch);
  const Tables addend(conv.addend, conv.batch);
  const Tables u_tables(conv.sums.u, conv.batch);
  const Tables v_tables(conv.sums.v, conv.batch);
  HostSums total(conv.sums, channels);
  const Extents& result = conv.result;
  for (int image = 0; image < conv.batch * result.depth; ++image) {
    const int event = image / result.depth;
    const int depth = image % result.depth;
    const int group = event / (conv.batch / conv.sums.groups);
    for (int row = 0; row < result.rows; ++row) {
      for (int column = 0; column < result.columns; ++column) {
        std::vector<double> sums(static_cast<std::size_t>(channels));
        for (int tap = 0; tap < conv.taps.count(); ++tap) {
          const int in_slice = tap % (conv.taps.rows * conv.taps.columns);
          const int d = tap / (conv.taps.rows * conv.taps.columns);
          const int from_depth = depth * conv.stride.depth + conv.first.depth + d;
          const Place from{
              event * conv.source.depth + from_depth,
              row * conv.stride.rows + conv.first.rows + in_slice / conv.taps.columns,
              column * conv.stride.columns + conv.first.columns + in_slice % conv.taps.columns};
          if (from_depth < 0 || from_depth >= conv.source.depth || from.row < 0 ||
              from.row >= conv.source.rows || from.column < 0 ||
              from.column >= conv.source.columns) {
            continue;
          }
          for (int block = 0; block < conv.source.blocks(); ++block) {
            float value[kBlock];
            source.evaluate(from, block, nullptr, value);
            for (int k = 0; k < kBlock; ++k) {
              const float a = factor(value[k], conv.products);
              const float* const of_channel =
                  weights.data() + ((tap * conv.source.blocks() + block) * kBlock + k) * channels;
              for (int filter = 0; filter < channels; ++filter) {
                sums[static_cast<std::size_t>(filter)] +=
                    static_cast<double>(a) * of_channel[filter];
              }
            }
          }
        }
        const Place at{event * conv.out.depth + depth * conv.out_step.depth + conv.out_first.depth,
                       row * conv.out_step.rows + conv.out_first.rows,
                       column * conv.out_step.columns + conv.out_first.columns};
        for (int block = 0; block < channels / kBlock; ++block) {
          float value[kBlock];
          for (int k = 0; k < kBlock; ++k) {
            const int channel = block * kBlock + k;
            value[k] = static_cast<float>(sums[static_cast<std::size_t>(channel)]);
            if (conv.bias != nullptr && channel < conv.out.channels) {
              value[k] += rounded_to(conv.bias[channel], conv.bias_format);
            }
          }
          if (conv.addend.exists()) {
            float more[kBlock];
            addend.evaluate(at, block, nullptr, more);
            for (int k = 0; k < kBlock; ++k) {
              value[k] += more[k];
            }
          }
          for (float& x : value) {
            x = leaky(x, conv.slope);
          }
          write_vector(conv.out, at.image, block,
                       static_cast<std::int64_t>(at.row) * conv.out.columns + at.column, value);
          if (!conv.sums.wanted()) {
            continue;
          }
          float v[kBlock];
          float u[kBlock];
          for (int k = 0; k < kBlock; ++k) {
            value[k] = u[k] = v[k] = rounded_to(value[k], conv.out.format);
          }
          if (conv.sums.v.exists()) {
            v_tables.evaluate(at, block, value, v);
          }
          std::copy_n(v, kBlock, u);
          if (conv.sums.u.exists()) {
            u_tables.evaluate(at, block, value, u);
          }
          for (int k = 0; k < kBlock; ++k) {
            const auto to = static_cast<std::size_t>(group * channels + block * kBlock + k);
            total.uv[to] += static_cast<double>(u[k]) * v[k];
            total.v[to] += v[k];
          }
        }
      }
    }
  }
  for (int group = 0; conv.sums.wanted() && group < conv.sums.groups; ++group) {
    for (int channel = 0; channel < channels; ++channel) {
      const auto at = static_cast<std::size_t>(group * channels + channel);
      conv.sums.finish(group, channel, total.uv[at], total.v[at]);
    }
  }
}

void leave_gradient(const KernelGradientTile& work, const Tables& gradients) {
  const Image& to = work.evaluated_dy;
  for (int image = 0; image < to.images; ++image) {
    for (int block = 0; block < to.blocks(); ++block) {
      for (int pixel = 0; pixel < to.pixels(); ++pixel) {
        float dy[kBlock];
        gradients.evaluate({image, pixel / to.columns, pixel % to.columns}, block, nullptr, dy);
        write_vector(to, image, block, pixel, dy);
      }
    }
  }
}

/// Leaves the sums of a part in the first block's place, and zeros in those of the others.
void run_on_host(const KernelGradientTile& work) {
  COSMIC_ASSERT(kernel_gradient_memory(work).bytes <= kMostSharedBytes);
  const Products products = work.products;
  const KernelGradientGeometry& g = work.geometry;
  std::fill_n(work.partials, work.partial_floats(), 0.0F);
  const Tables images(work.image, work.batch);
  const Tables gradients(work.dy, work.batch);
  if (work.leaves_dy()) {
    leave_gradient(work, gradients);
  }
  const int columns = g.filter_columns * kBlock;
  for (int part = 0; part < work.parts(); ++part) {
    const int depth_tap = part % work.taps.depth;
    const int chunk = part / work.taps.depth % g.chunks;
    const int filter_group = part / work.taps.depth / g.chunks;
    const int blocks = work.blocks_of_chunk(chunk);
    std::vector<double> sums(static_cast<std::size_t>(g.elements()));
    for (int image = 0; image < work.batch * work.dy.depth; ++image) {
      const int event = image / work.dy.depth;
      const int from_depth =
          image % work.dy.depth * work.stride.depth + work.first.depth + depth_tap;
      if (from_depth < 0 || from_depth >= work.image.depth) {
        continue;
      }
      for (int pixel = 0; pixel < work.dy.rows * work.dy.columns; ++pixel) {
        const int row = pixel / work.dy.columns;
        const int column = pixel % work.dy.columns;
        for (int entry = 0; entry < work.taps.rows * work.taps.columns * blocks; ++entry) {
          const int tap = entry / blocks;
          const Place from{
              event * work.image.depth + from_depth,
              row * work.stride.rows + work.first.rows + tap / work.taps.columns,
              column * work.stride.columns + work.first.columns + tap % work.taps.columns};
          if (from.row < 0 || from.row >= work.image.rows || from.column < 0 ||
              from.column >= work.image.columns) {
            continue;
          }
          float x[kBlock];
          images.evaluate(from, chunk * g.chunk_blocks + entry % blocks, nullptr, x);
          for (int j = 0; j < g.filter_columns; ++j) {
            const int block = filter_group * g.filter_columns + j;
            if (block >= work.dy.blocks()) {
              continue;
            }
            float dy[kBlock];
            gradients.evaluate({image, row, column}, block, nullptr, dy);
            for (int c = 0; c < kBlock; ++c) {
              for (int f = 0; f < kBlock; ++f) {
                sums[static_cast<std::size_t>((entry * kBlock + c) * columns + j * kBlock + f)] +=
                    static_cast<double>(factor(x[c], products)) * factor(dy[f], products);
              }
            }
          }
        }
      }
    }
    float* const to =
        work.partials + static_cast<std::int64_t>(part) * g.slices * g.blocks * g.elements();
    std::copy(sums.begin(), sums.end(), to);
  }
}

void join_gradient(const JoinKernelGradient& work, std::int64_t output) {
  double sum = 0;
  for (int i = 0; i < work.terms(); ++i) {
    sum += work.term(output, i);
  }
  work.finish(output, sum);
}

void run_on_host(const JoinKernelGradient& work) {
  for (std::int64_t output = work.outputs(); output-- > 0;) {
    join_gradient(work, output);
  }
}

/// A part of an entry of a joined launch.
template <class Body>
void do_part(const JoinedEntry& entry, const Map<Body>& work, std::int64_t part) {
  if (work.guard != nullptr && !is_finite(*work.guard)) {
    return;
  }
  const std::int64_t begin = part * entry.per_part;
  for (std::int64_t i = std::min(begin + entry.per_part, work.elements); i-- > begin;) {
    work.body(i);
  }
}
template <class Body>
void do_part(const JoinedEntry& entry, const Reduction<Body>& work, std::int64_t part) {
  const ReductionGeometry geometry{entry.chunks, entry.terms_per_chunk};
  const std::int64_t all = entry.stage == 0 ? work.outputs * geometry.chunks : work.outputs;
  const std::int64_t begin = part * entry.per_part;
  for (std::int64_t i = std::min(begin + entry.per_part, all); i-- > begin;) {
    if (entry.stage == 0) {
      sum_chunk(work, geometry, i);
    } else {
      join_chunks(work, geometry, i);
    }
  }
}
void do_part(const JoinedEntry& entry, const JoinKernelGradient& work, std::int64_t part) {
  const std::int64_t begin = part * entry.per_part;
  for (std::int64_t i = begin; i < std::min(begin + entry.per_part, work.outputs()); ++i) {
    join_gradient(work, i);
  }
}

/// From the last block to the first: blocks that rely on each other are found.
void run_on_host(const Joined& work) {
  for (std::int32_t b = work.block_count; b-- > 0;) {
    const JoinedBlock& block = work.blocks[b];
    for (std::int32_t i = 0; i < block.count; ++i) {
      const JoinedEntry& entry = work.entries[block.first + i];
      visit_joined(entry, [&](const auto& one) { do_part(entry, one, block.part); });
    }
  }
}

}  // namespace

void run_on_host(const Work& work) {
  std::visit([](const auto& one) { run_on_host(one); }, work);
}

namespace {

using Todo = std::function<void()>;

struct HostRecording final : Recording {
  std::vector<Todo> todo;
};

/// Straight from device to device: in the order of ranks, whatever order NCCL would choose.
class DeviceSums final : public ProcessSums {
 public:
  explicit DeviceSums(comm::Communicator& communicator) : communicator_(communicator) {}

  void get_ready(Queue&, std::span<const BeginSum>) override {}
  void add_up(Queue& queue, const BeginSum& sum) override {
    functions_.emplace_back([this, sum] {
      communicator_.wait(
          communicator_.begin_sum({sum.numbers, static_cast<std::size_t>(sum.count)}, sum.format));
    });
    queue.call(functions_.back());
  }
  void require_done() override {}

 private:
  comm::Communicator& communicator_;
  std::deque<Todo> functions_;
};

class HostQueue final : public Queue {
 public:
  HostQueue(std::shared_ptr<HostMachine> machine, int marks)
      : machine_(std::move(machine)), marks_(static_cast<std::size_t>(marks)) {}
  ~HostQueue() override { catch_up(); }
  HostQueue(const HostQueue&) = delete;
  HostQueue& operator=(const HostQueue&) = delete;

  void upload(void* device, const void* host, std::int64_t bytes) override {
    if (recording_ == nullptr) {
      write_down("upload ", bytes);
      machine_->bytes_uploaded += bytes;
    }
    copy(device, host, bytes);
  }
  void download(void* host, const void* device, std::int64_t bytes) override {
    worked_ = true;  // what a lost device has cannot be read either
    copy(host, device, bytes);
  }
  void copy(void* to, const void* from, std::int64_t bytes) override {
    do_in_turn([=] {
      if (bytes > 0) {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
      }
    });
  }
  void run(const Work& work) override {
    ++machine_->works_outside_recordings;
    worked_ = true;
    do_in_turn([this, work] { machine_->run(work); });
  }
  void call(const std::function<void()>& function) override {
    do_in_turn([&function] { function(); });
  }
  /// A sum is made when it begins, or as late as may be, when it is awaited.
  std::unique_ptr<Recording> record(std::span<const Deed> deeds, ProcessSums* sums) override {
    auto recording = std::make_unique<HostRecording>();
    std::map<int, std::vector<Todo>> begun;
    std::vector<BeginSum> all;
    for (const Deed& deed : deeds) {
      if (const auto* const sum = std::get_if<BeginSum>(&deed)) {
        all.push_back(*sum);
      }
    }
    if (!all.empty()) {
      sums->get_ready(*this, all);
    }
    const std::int64_t allocations = machine_->allocations;
    for (const Deed& deed : deeds) {
      if (const auto* const sum = std::get_if<BeginSum>(&deed)) {
        ++machine_->sums_recorded;
        HostQueue queue(machine_, 0);
        queue.recording_ = machine_->works_late ? &begun[sum->number] : &recording->todo;
        sums->add_up(queue, *sum);
      } else if (const auto* const await = std::get_if<AwaitSum>(&deed)) {
        const std::vector<Todo>& late = begun[await->number];
        recording->todo.insert(recording->todo.end(), late.begin(), late.end());
      } else {
        recording->todo.emplace_back(
            [machine = machine_, work = std::get<Work>(deed)] { machine->run(work); });
      }
    }
    COSMIC_ASSERT(machine_->allocations == allocations);  // CUDA refuses it while it records
    machine_->launches_recorded = static_cast<std::int64_t>(deeds.size());
    return recording;
  }
  void replay(const Recording& recording) override {
    write_down("replay");
    ++machine_->replays;
    worked_ = true;
    do_in_turn([&recording] {
      for (const Todo& one : static_cast<const HostRecording&>(recording).todo) {
        one();
      }
    });
  }
  void mark(int number) override {
    do_in_turn([this, number] {
      marks_.at(static_cast<std::size_t>(number)) = std::chrono::steady_clock::now();
    });
  }
  void after(const Queue& other, int) override {
    do_in_turn([&other] { static_cast<const HostQueue&>(other).catch_up(); });
  }
  double seconds_between(int from, int to) const override {
    return std::chrono::duration<double>(marks_.at(static_cast<std::size_t>(to)) -
                                         marks_.at(static_cast<std::size_t>(from)))
        .count();
  }
  Answer wait() override {
    write_down("wait");
    catch_up();
    return std::exchange(worked_, false) ? machine_->end_of_work : Answer{};
  }
  Answer wait_for(int) override { return wait(); }

 private:
  void write_down(const char* what, std::optional<std::int64_t> bytes = {}) {
    if (machine_->writes_down) {
      machine_->given.push_back(what + (bytes ? std::to_string(*bytes) : std::string()));
    }
  }

  template <class Function>
  void do_in_turn(const Function& todo) {
    if (recording_ != nullptr) {
      recording_->emplace_back(todo);
    } else if (machine_->works_late) {
      todo_.push_back(todo);
    } else {
      todo();
    }
  }

  /// Does all that it was given. Of a queue that another waits for as well, although it knows it as
  /// one that it cannot give work to.
  void catch_up() const {
    for (const Todo& todo : std::exchange(todo_, {})) {
      todo();
    }
  }

  std::shared_ptr<HostMachine> machine_;  // shared with the test
  std::vector<std::chrono::steady_clock::time_point> marks_;
  mutable std::vector<Todo> todo_;
  std::vector<Todo>* recording_ = nullptr;  // what it is given goes there instead
  bool worked_ = false;
};

class HostDevice final : public Device {
 public:
  explicit HostDevice(std::shared_ptr<HostMachine> machine) : machine_(std::move(machine)) {}

  const DeviceFacts& facts() const override { return machine_->facts; }
  FreeMemory free_memory() const override {
    return {machine_->facts.memory_bytes - machine_->used_by_others - machine_->allocated,
            machine_->facts.memory_bytes};
  }
  Allocation allocate(std::int64_t bytes) override {
    if (bytes > free_memory().free) {
      return {nullptr, {Answer::Kind::out_of_memory, "cudaErrorMemoryAllocation"}};
    }
    const Allocation made = allocate_pinned(bytes);
    if (made.answer.ok()) {
      machine_->allocated += bytes;
      sizes_[made.memory] = bytes;
    }
    return made;
  }
  void release(std::byte* memory) override {
    machine_->allocated -= sizes_.at(memory);
    sizes_.erase(memory);
    release_pinned(memory);
  }
  Allocation allocate_pinned(std::int64_t bytes) override {
    if (!machine_->allocating.ok()) {
      return {nullptr, machine_->allocating};
    }
    ++machine_->allocations;
    const auto size = static_cast<std::size_t>((bytes + 255) / 256 * 256);
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(256, size));
    std::memset(memory, 0, size);
    return {memory, {}};
  }
  void release_pinned(std::byte* memory) override { std::free(memory); }
  std::unique_ptr<Queue> make_queue(int marks) override {
    return std::make_unique<HostQueue>(machine_, marks);
  }
  std::shared_ptr<ProcessSums> connect(comm::Communicator& communicator) override {
    ++machine_->connections;
    return std::make_shared<DeviceSums>(communicator);
  }

 private:
  std::shared_ptr<HostMachine> machine_;  // shared with the test
  std::map<std::byte*, std::int64_t> sizes_;
};

class HostDriver final : public Driver {
 public:
  explicit HostDriver(std::shared_ptr<HostMachine> machine) : machine_(std::move(machine)) {}

  Presence presence() const override { return machine_->presence; }
  DeviceFacts facts(int ordinal) const override {
    DeviceFacts facts = machine_->facts;
    facts.ordinal = ordinal;
    return facts;
  }
  std::shared_ptr<Device> open(int) const override {
    return std::make_shared<HostDevice>(machine_);
  }

 private:
  std::shared_ptr<HostMachine> machine_;  // shared with the test
};

}  // namespace

std::shared_ptr<const Driver> host_driver(std::shared_ptr<HostMachine> machine) {
  return std::make_shared<HostDriver>(std::move(machine));
}

}  // namespace cosmic::target::cuda
