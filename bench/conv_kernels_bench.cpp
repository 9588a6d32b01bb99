// Whole convolution layers, forward and kernel gradient, through our row kernels and through
// oneDNN. Ours includes what its caller does per row: copying input rows into a zero-padded ring.
// Every answer is checked on a sample of its elements before it is timed.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "hwy/aligned_allocator.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "target/cpu/kernels/conv_kernels.hpp"

namespace {

using cosmic::target::cpu::kBlock;
using std::int64_t;

struct Layer {
  const char* name;
  int64_t inputs;
  int64_t outputs;
  int64_t kernel;
  int64_t height;
  int64_t width;

  int64_t pad() const { return kernel / 2; }
  int64_t taps() const { return kernel * kernel; }
  bool plain() const { return inputs == 1; }
  int64_t pixel_floats() const { return plain() ? 1 : kBlock; }
  int64_t input_blocks() const { return plain() ? 1 : inputs / kBlock; }
  int64_t output_blocks() const { return outputs / kBlock; }
  int64_t input_row() const { return width * pixel_floats(); }
  int64_t padded_row() const { return (width + 2 * pad()) * pixel_floats(); }
  double flops() const {
    return 2.0 * static_cast<double>(inputs * outputs * taps() * height * width);
  }
};

constexpr Layer kLayers[] = {
    {"8to8_3x3_640x1024", 8, 8, 3, 640, 1024},   {"16to16_3x3_640x1024", 16, 16, 3, 640, 1024},
    {"16to16_3x3_320x512", 16, 16, 3, 320, 512}, {"24to24_3x3_160x256", 24, 24, 3, 160, 256},
    {"32to32_3x3_80x128", 32, 32, 3, 80, 128},   {"48to48_3x3_20x32", 48, 48, 3, 20, 32},
    {"256to256_5x5_10x16", 256, 256, 5, 10, 16}, {"1to8_5x5_640x1024", 1, 8, 5, 640, 1024},
    {"16to8_1x1_640x1024", 16, 8, 1, 640, 1024},
};

// Aligned so that a block of channels never straddles two cache lines.
class Floats {
 public:
  explicit Floats(int64_t count)
      : count_(static_cast<std::size_t>(count)), data_(hwy::AllocateAligned<float>(count_)) {
    std::fill_n(data_.get(), count_, 0.0F);
  }
  void randomise(unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
    std::generate_n(data_.get(), count_, [&] { return distribution(engine); });
  }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }

 private:
  std::size_t count_;
  hwy::AlignedFreeUniquePtr<float[]> data_;
};

// Input [block][row][column][8], output likewise, weights [block][row][column][input][8].
class Problem {
 public:
  explicit Problem(const Layer& of)
      : layer(of),
        input(of.inputs * of.height * of.width),
        gradient(of.outputs * of.height * of.width),
        weights(of.outputs * of.taps() * of.inputs) {
    input.randomise(1);
    gradient.randomise(2);
    weights.randomise(3);
  }

  double input_at(int64_t channel, int64_t row, int64_t column) const {
    if (row < 0 || row >= layer.height || column < 0 || column >= layer.width) {
      return 0.0;
    }
    return input.data()[((channel / kBlock * layer.height + row) * layer.width + column) *
                            layer.pixel_floats() +
                        channel % kBlock];
  }
  int64_t output_index(int64_t channel, int64_t row, int64_t column) const {
    return ((channel / kBlock * layer.height + row) * layer.width + column) * kBlock +
           channel % kBlock;
  }
  int64_t weight_index(int64_t out, int64_t in, int64_t tap) const {
    return ((out / kBlock * layer.taps() + tap) * layer.inputs + in) * kBlock + out % kBlock;
  }

  bool output_is_right(const std::function<double(int64_t, int64_t, int64_t)>& output_at) const {
    std::mt19937 engine(4);
    for (int sample = 0; sample < 500; ++sample) {
      const int64_t out = pick(engine, layer.outputs);
      const int64_t row = pick(engine, layer.height);
      const int64_t column = pick(engine, layer.width);
      double expected = 0.0;
      for (int64_t tap = 0; tap < layer.taps(); ++tap) {
        for (int64_t in = 0; in < layer.inputs; ++in) {
          expected += weights.data()[weight_index(out, in, tap)] *
                      input_at(in, row + tap / layer.kernel - layer.pad(),
                               column + tap % layer.kernel - layer.pad());
        }
      }
      if (!(std::abs(output_at(out, row, column) - expected) < 1e-3)) {
        return false;
      }
    }
    return true;
  }

  bool gradient_is_right(const std::function<double(int64_t, int64_t, int64_t)>& at) const {
    std::mt19937 engine(5);
    for (int sample = 0; sample < 12; ++sample) {
      const int64_t out = pick(engine, layer.outputs);
      const int64_t in = pick(engine, layer.inputs);
      const int64_t tap = pick(engine, layer.taps());
      double expected = 0.0;
      for (int64_t row = 0; row < layer.height; ++row) {
        for (int64_t column = 0; column < layer.width; ++column) {
          expected += gradient.data()[output_index(out, row, column)] *
                      input_at(in, row + tap / layer.kernel - layer.pad(),
                               column + tap % layer.kernel - layer.pad());
        }
      }
      if (!(std::abs(at(out, in, tap) - expected) < 0.05)) {
        return false;
      }
    }
    return true;
  }

  Layer layer;
  Floats input;
  Floats gradient;
  Floats weights;

 private:
  static int64_t pick(std::mt19937& engine, int64_t count) {
    return std::uniform_int_distribution<int64_t>(0, count - 1)(engine);
  }
};

// One thread's ring of zero-padded input rows, [block][slot][column][8], or the input itself where
// the kernel needs no padding. The rows of a block lie together, because a power-of-two distance
// between them would make them evict each other.
class Ring {
 public:
  Ring(const Problem& problem, int64_t slots)
      : layer_(problem.layer),
        input_(problem.input.data()),
        slots_(layer_.pad() == 0 ? layer_.height : slots),
        floats_(layer_.input_blocks() * slots * layer_.padded_row()) {}

  /// Channel 0 of the leftmost padding pixel.
  const float* slot(int64_t row) const {
    return (layer_.pad() == 0 ? input_ : floats_.data()) + slot_offset(row);
  }
  int64_t block_stride() const { return slots_ * layer_.padded_row(); }
  void load(int64_t row) {
    if (layer_.pad() == 0 || row < 0 || row >= layer_.height) {
      return;
    }
    float* inside = floats_.data() + slot_offset(row) + layer_.pad() * layer_.pixel_floats();
    for (int64_t block = 0; block < layer_.input_blocks(); ++block) {
      std::memcpy(inside + block * block_stride(),
                  input_ + (block * layer_.height + row) * layer_.input_row(),
                  static_cast<std::size_t>(layer_.input_row()) * sizeof(float));
    }
  }

 private:
  int64_t slot_offset(int64_t row) const { return row % slots_ * layer_.padded_row(); }

  Layer layer_;
  const float* input_;
  int64_t slots_;
  Floats floats_;
};

void our_forward(const Problem& problem, std::vector<Ring>& rings, float* output) {
  const Layer& layer = problem.layer;
  const auto threads = static_cast<int64_t>(rings.size());
#pragma omp parallel num_threads(static_cast <int>(threads))
  {
    const int64_t thread = omp_get_thread_num();
    const int64_t first = layer.height * thread / threads;
    const int64_t last = layer.height * (thread + 1) / threads;
    Ring& ring = rings[static_cast<std::size_t>(thread)];
    std::vector<cosmic::target::cpu::Tap> taps;
    for (int64_t row = first - layer.pad(); row < first + layer.pad(); ++row) {
      ring.load(row);
    }
    for (int64_t row = first; row < last; ++row) {
      ring.load(row + layer.pad());
      taps.clear();
      for (int64_t tap = 0; tap < layer.taps(); ++tap) {
        const int64_t source = row + tap / layer.kernel - layer.pad();
        if (source >= 0 && source < layer.height) {
          taps.push_back({ring.slot(source) + tap % layer.kernel * layer.pixel_floats(),
                          problem.weights.data() + tap * layer.inputs * kBlock});
        }
      }
      cosmic::target::cpu::ConvRow conv;
      conv.taps = taps.data();
      conv.tap_count = static_cast<int64_t>(taps.size());
      conv.input_channels = layer.inputs;
      conv.input_block_stride = ring.block_stride();
      conv.input_pixel_stride = layer.pixel_floats();
      conv.weight_block_stride = layer.taps() * layer.inputs * kBlock;
      conv.output_blocks = layer.output_blocks();
      conv.width = layer.width;
      conv.output = output + row * layer.width * kBlock;
      conv.output_block_stride = layer.height * layer.width * kBlock;
      cosmic::target::cpu::conv_row(conv);
    }
  }
}

constexpr int64_t kGradientRows = 8;

// Rings hold kGradientRows + kernel - 1 rows; kernels holds one kernel gradient per thread.
void our_kernel_gradient(const Problem& problem, std::vector<Ring>& rings, Floats& kernels) {
  const Layer& layer = problem.layer;
  const auto threads = static_cast<int64_t>(rings.size());
  const int64_t kernel_floats = layer.outputs * layer.taps() * layer.inputs;
#pragma omp parallel num_threads(static_cast <int>(threads))
  {
    const int64_t thread = omp_get_thread_num();
    const int64_t first = layer.height * thread / threads;
    const int64_t last = layer.height * (thread + 1) / threads;
    Ring& ring = rings[static_cast<std::size_t>(thread)];
    float* kernel = kernels.data() + thread * kernel_floats;
    std::fill_n(kernel, kernel_floats, 0.0F);
    const float* inputs[kGradientRows + 16];
    const float* gradients[kGradientRows];
    for (int64_t row = first - layer.pad(); row < first + layer.pad(); ++row) {
      ring.load(row);
    }
    for (int64_t row = first; row < last; row += kGradientRows) {
      const int64_t count = std::min(kGradientRows, last - row);
      for (int64_t r = 0; r < count; ++r) {
        ring.load(row + r + layer.pad());
        gradients[r] = problem.gradient.data() + (row + r) * layer.width * kBlock;
      }
      for (int64_t r = 0; r < count + layer.kernel - 1; ++r) {
        const int64_t source = row + r - layer.pad();
        inputs[r] = source < 0 || source >= layer.height ? nullptr : ring.slot(source);
      }
      cosmic::target::cpu::KernelGradientRows rows;
      rows.rows = count;
      rows.kernel_rows = layer.kernel;
      rows.kernel_columns = layer.kernel;
      rows.input_rows = inputs;
      rows.input_channels = layer.inputs;
      rows.input_block_stride = ring.block_stride();
      rows.input_pixel_stride = layer.pixel_floats();
      rows.input_column_stride = layer.pixel_floats();
      rows.gradient_rows = gradients;
      rows.gradient_block_stride = layer.height * layer.width * kBlock;
      rows.output_blocks = layer.output_blocks();
      rows.width = layer.width;
      rows.kernel_gradient = kernel;
      rows.kernel_block_stride = layer.taps() * layer.inputs * kBlock;
      cosmic::target::cpu::accumulate_kernel_gradient(rows);
    }
#pragma omp barrier
    const int64_t end = kernel_floats * (thread + 1) / threads;
    for (int64_t other = 1; other < threads; ++other) {
      const float* addend = kernels.data() + other * kernel_floats;
      for (int64_t i = kernel_floats * thread / threads; i < end; ++i) {
        kernels.data()[i] += addend[i];
      }
    }
  }
}

std::vector<Ring> make_rings(const Problem& problem, int threads, int64_t rows) {
  std::vector<Ring> rings;
  for (int thread = 0; thread < threads; ++thread) {
    rings.emplace_back(problem, rows);
  }
  return rings;
}

void run(benchmark::State& state, const Layer& layer, bool right,
         const std::function<void()>& compute) {
  if (!right) {
    state.SkipWithError("wrong answer");
    return;
  }
  using Clock = std::chrono::steady_clock;
  double best_seconds = std::numeric_limits<double>::infinity();
  for (auto iteration : state) {
    (void)iteration;
    const Clock::time_point start = Clock::now();
    compute();
    best_seconds =
        std::min(best_seconds, std::chrono::duration<double>(Clock::now() - start).count());
  }
  // The best iteration, because other programs on a busy machine only ever make one slower.
  state.counters["GFLOP/s"] = layer.flops() * 1e-9 / best_seconds;
}

void bench_our_forward(benchmark::State& state, const Layer& layer, int threads) {
  const Problem problem(layer);
  std::vector<Ring> rings = make_rings(problem, threads, layer.kernel);
  Floats output(layer.outputs * layer.height * layer.width);
  const auto compute = [&] { our_forward(problem, rings, output.data()); };
  compute();
  const bool right = problem.output_is_right([&](int64_t out, int64_t row, int64_t column) {
    return output.data()[problem.output_index(out, row, column)];
  });
  run(state, layer, right, compute);
}

void bench_our_kernel_gradient(benchmark::State& state, const Layer& layer, int threads) {
  const Problem problem(layer);
  std::vector<Ring> rings = make_rings(problem, threads, kGradientRows + layer.kernel - 1);
  Floats kernels(threads * layer.outputs * layer.taps() * layer.inputs);
  const auto compute = [&] { our_kernel_gradient(problem, rings, kernels); };
  compute();
  const bool right = problem.gradient_is_right([&](int64_t out, int64_t in, int64_t tap) {
    return kernels.data()[problem.weight_index(out, in, tap)];
  });
  run(state, layer, right, compute);
}

using dnnl::memory;

// oneDNN in the layouts it prefers; reordering into and out of them is not timed.
class OneDnn {
 public:
  explicit OneDnn(const Problem& problem)
      : layer_(problem.layer),
        input_dims_{1, layer_.inputs, layer_.height, layer_.width},
        kernel_dims_{layer_.outputs, layer_.inputs, layer_.kernel, layer_.kernel},
        output_dims_{1, layer_.outputs, layer_.height, layer_.width},
        problem_(problem) {}

  dnnl::convolution_forward::primitive_desc forward(dnnl::prop_kind kind) const {
    return {{kind,
             dnnl::algorithm::convolution_direct,
             any(input_dims_),
             any(kernel_dims_),
             any(output_dims_),
             {1, 1},
             pads(),
             pads()},
            engine_};
  }
  dnnl::convolution_backward_weights::primitive_desc backward_weights() const {
    return {{dnnl::algorithm::convolution_direct,
             any(input_dims_),
             any(kernel_dims_),
             any(output_dims_),
             {1, 1},
             pads(),
             pads()},
            engine_,
            forward(dnnl::prop_kind::forward_training)};
  }

  memory input(const memory::desc& desc) {
    const auto tag = layer_.plain() ? memory::format_tag::nchw : memory::format_tag::nChw8c;
    return reordered(problem_.input, {input_dims_, memory::data_type::f32, tag}, desc);
  }
  memory gradient(const memory::desc& desc) {
    return reordered(problem_.gradient,
                     {output_dims_, memory::data_type::f32, memory::format_tag::nChw8c}, desc);
  }
  memory kernel(const memory::desc& desc) {
    Floats plain(layer_.outputs * layer_.inputs * layer_.taps());
    for (int64_t i = 0; i < layer_.outputs * layer_.inputs * layer_.taps(); ++i) {
      plain.data()[i] =
          problem_.weights
              .data()[problem_.weight_index(i / (layer_.inputs * layer_.taps()),
                                            i / layer_.taps() % layer_.inputs, i % layer_.taps())];
    }
    return reordered(plain, {kernel_dims_, memory::data_type::f32, memory::format_tag::oihw}, desc);
  }
  std::vector<float> plain_output(const memory& from) { return plain(from, output_dims_); }
  std::vector<float> plain_kernel(const memory& from) { return plain(from, kernel_dims_); }

  dnnl::engine& engine() { return engine_; }
  dnnl::stream& stream() { return stream_; }

 private:
  static memory::desc any(const memory::dims& dims) {
    return {dims, memory::data_type::f32, memory::format_tag::any};
  }
  memory::dims pads() const { return {layer_.pad(), layer_.pad()}; }
  memory reordered(const Floats& from, const memory::desc& from_desc, const memory::desc& desc) {
    memory source(from_desc, engine_, const_cast<float*>(from.data()));  // oneDNN only reads it
    memory result(desc, engine_);
    dnnl::reorder(source, result).execute(stream_, source, result);
    stream_.wait();
    return result;
  }
  std::vector<float> plain(const memory& from, const memory::dims& dims) {
    std::vector<float> values(static_cast<std::size_t>(dims[0] * dims[1] * dims[2] * dims[3]));
    memory source = from;
    memory result({dims, memory::data_type::f32, memory::format_tag::nchw}, engine_, values.data());
    dnnl::reorder(source, result).execute(stream_, source, result);
    stream_.wait();
    return values;
  }

  Layer layer_;
  memory::dims input_dims_;
  memory::dims kernel_dims_;
  memory::dims output_dims_;
  const Problem& problem_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
};

void bench_onednn_forward(benchmark::State& state, const Layer& layer, int threads) {
  omp_set_num_threads(threads);
  const Problem problem(layer);
  OneDnn onednn(problem);
  const auto desc = onednn.forward(dnnl::prop_kind::forward_inference);
  const memory output(desc.dst_desc(), onednn.engine());
  const dnnl::convolution_forward primitive(desc);
  const std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, onednn.input(desc.src_desc())},
      {DNNL_ARG_WEIGHTS, onednn.kernel(desc.weights_desc())},
      {DNNL_ARG_DST, output}};
  const auto compute = [&] {
    primitive.execute(onednn.stream(), arguments);
    onednn.stream().wait();
  };
  compute();
  const std::vector<float> plain = onednn.plain_output(output);
  const bool right = problem.output_is_right([&](int64_t out, int64_t row, int64_t column) {
    return plain[static_cast<std::size_t>((out * layer.height + row) * layer.width + column)];
  });
  state.SetLabel(desc.impl_info_str());
  run(state, layer, right, compute);
}

void bench_onednn_kernel_gradient(benchmark::State& state, const Layer& layer, int threads) {
  omp_set_num_threads(threads);
  const Problem problem(layer);
  OneDnn onednn(problem);
  const auto desc = onednn.backward_weights();
  const memory kernel(desc.diff_weights_desc(), onednn.engine());
  const dnnl::convolution_backward_weights primitive(desc);
  const std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, onednn.input(desc.src_desc())},
      {DNNL_ARG_DIFF_DST, onednn.gradient(desc.diff_dst_desc())},
      {DNNL_ARG_DIFF_WEIGHTS, kernel}};
  const auto compute = [&] {
    primitive.execute(onednn.stream(), arguments);
    onednn.stream().wait();
  };
  compute();
  const std::vector<float> plain = onednn.plain_kernel(kernel);
  const bool right = problem.gradient_is_right([&](int64_t out, int64_t in, int64_t tap) {
    return plain[static_cast<std::size_t>((out * layer.inputs + in) * layer.taps() + tap)];
  });
  state.SetLabel(desc.impl_info_str());
  run(state, layer, right, compute);
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*function)(benchmark::State&, const Layer&, int);
  } kinds[] = {{"forward/ours", bench_our_forward},
               {"forward/onednn", bench_onednn_forward},
               {"kernel_gradient/ours", bench_our_kernel_gradient},
               {"kernel_gradient/onednn", bench_onednn_kernel_gradient}};
  for (const Layer& layer : kLayers) {
    for (const auto& kind : kinds) {
      for (const int threads : {1, 2}) {
        const std::string name =
            std::string(layer.name) + "/" + kind.name + "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(name.c_str(), kind.function, layer, threads)
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
