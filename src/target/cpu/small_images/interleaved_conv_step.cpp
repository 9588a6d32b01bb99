#include "target/cpu/small_images/interleaved_conv_step.hpp"

#include <algorithm>
#include <vector>

#include "core/error.hpp"
#include "target/cpu/aligned_buffer.hpp"
#include "target/cpu/blocked_image.hpp"
#include "target/cpu/kernels/row_kernels.hpp"
#include "target/cpu/small_images/interleaved_image.hpp"
#include "target/cpu/small_images/interleaved_kernels.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Node;
using graph::ValueId;

/// As many threads as the node is worth. Of images this small, moving them is a part of the work.
Team worth(const Team& all, const graph::Graph& graph, ValueId id) {
  const graph::Cost cost = graph::cost_of(graph, id);
  return all.for_work(cost.flops + cost.bytes);
}

/// One axis of a convolution: output i meets input i * stride + k - pad through tap k.
struct Axis {
  std::int64_t outputs = 0;
  std::int64_t inputs = 0;
  std::int64_t taps = 0;
  std::int64_t stride = 1;
  std::int64_t pad = 0;  ///< negative where the first inputs are not read at all

  std::int64_t input(std::int64_t output, std::int64_t tap) const {
    return output * stride + tap - pad;
  }
  /// Taps through which this output meets an input that exists.
  Range taps_inside(std::int64_t output) const {
    const std::int64_t begin = std::clamp<std::int64_t>(-input(output, 0), 0, taps);
    return {begin, std::clamp(inputs - input(output, 0), begin, taps)};
  }
  /// Outputs that meet an input that exists through this tap.
  Range outputs_inside(std::int64_t tap) const {
    Range range{0, outputs};
    while (range.begin < range.end && input(range.begin, tap) < 0) {
      ++range.begin;
    }
    while (range.begin < range.end && input(range.end - 1, tap) >= inputs) {
      --range.end;
    }
    return range;
  }
};

/// Neighbouring outputs that meet inputs through the same taps.
struct OutputRun {
  Range outputs;
  Range taps;
};

std::vector<OutputRun> runs_of(const Axis& axis) {
  std::vector<OutputRun> runs;
  for (std::int64_t output = 0; output < axis.outputs; ++output) {
    const Range taps = axis.taps_inside(output);
    const bool same =
        !runs.empty() && runs.back().taps.begin == taps.begin && runs.back().taps.end == taps.end;
    if (same) {
      runs.back().outputs.end = output + 1;
    } else {
      runs.push_back({{output, output + 1}, taps});
    }
  }
  return runs;
}

class InterleavedConvStep final : public PreparedStep, public Bundled {
 public:
  InterleavedConvStep(const Memory& memory, const compile::Step& step, const Node& node,
                      const Team& team)
      : team_(worth(team, memory.graph(), step.leader.value)),
        input_image_(memory.graph().type(node.operands[0])),
        output_image_(node.type),
        input_(memory.floats(node.operands[0])),
        kernel_(memory.floats(node.operands[1])),
        output_(memory.floats(step.leader.value)) {
    const graph::Graph& graph = memory.graph();
    if (node.operands.size() > 2) {
      bias_ = memory.floats(node.operands[2]);
    }
    if (node.operands.size() > 3) {
      addend_ = memory.floats(node.operands[3]);
    }
    COSMIC_ASSERT(step.riders.size() <= 1);
    if (!step.riders.empty()) {
      const ValueId activation = step.riders.front().computed.value;
      slope_ = static_cast<float>(std::get<graph::LeakyRelu>(graph.node(activation).op).slope);
      activated_ = memory.floats(activation);
    }
    const graph::FeatureMap kernel = graph::feature_map(graph.type(node.operands[1]), "a kernel");
    const auto* transpose = graph::op_if<graph::ConvTranspose>(node);
    mirrored_ = transpose != nullptr;
    const graph::Window& window =
        mirrored_ ? transpose->window : std::get<graph::Conv>(node.op).window;
    const auto axis = [&](std::size_t i, std::int64_t outputs, std::int64_t inputs,
                          std::int64_t taps) {
      return Axis{outputs, inputs, taps, window.stride[i],
                  mirrored_ ? taps - 1 - window.pad[i] : window.pad[i]};
    };
    rows_ = axis(1, output_image_.rows, input_image_.rows, kernel.rows);
    columns_ = axis(2, output_image_.columns, input_image_.columns, kernel.columns);
    column_runs_ = runs_of(columns_);
    filter_blocks_ = (output_image_.channels + kMostFilters - 1) / kMostFilters;
    weights_ = AlignedBuffer(weights_of_a_filter() * output_image_.channels);
    no_bias_.assign(static_cast<std::size_t>(output_image_.channels), 0.0F);
  }

  std::int64_t scratch_bytes() const override { return 0; }
  std::int64_t prepared_bytes() const override { return weights_.bytes(); }

  void prepare(const Team&) override {
    for (std::int64_t block = 0; block < filter_blocks_; ++block) {
      const Range filters = filters_of(block);
      float* to = weights_.data() + filters.begin * weights_of_a_filter();
      for (std::int64_t channel = 0; channel < input_image_.channels; ++channel) {
        for (std::int64_t tap = 0; tap < rows_.taps * columns_.taps; ++tap) {
          for (std::int64_t filter = filters.begin; filter < filters.end; ++filter) {
            *to++ = kernel_value(filter, channel, tap);
          }
        }
      }
    }
  }

  // The images of a bundle stay with the thread that made them, if each thread has a bundle.
  void run(const Team&, const Scratch&) override {
    team_.run([&](int thread) {
      compute(slice_of(output_image_.bundles * rows_of_bundle(), thread, team_.size()));
    });
  }
  void run_bundles(const Range& bundles) override {
    compute({bundles.begin * rows_of_bundle(), bundles.end * rows_of_bundle()});
  }
  void join_bundles() override {}  // no image is made from another's

 private:
  std::int64_t rows_of_bundle() const { return filter_blocks_ * output_image_.rows; }
  /// Rows are counted over all blocks of filters and all bundles.
  void compute(const Range& all_rows) const {
    const std::int64_t rows = output_image_.rows;
    for (std::int64_t i = all_rows.begin; i < all_rows.end; ++i) {
      compute_row(i / rows / filter_blocks_, i / rows % filter_blocks_, i % rows);
    }
  }
  std::int64_t weights_of_a_filter() const {
    return input_image_.channels * rows_.taps * columns_.taps;
  }
  Range filters_of(std::int64_t block) const {
    return slice_of(output_image_.channels, static_cast<int>(block),
                    static_cast<int>(filter_blocks_));
  }
  float kernel_value(std::int64_t filter, std::int64_t channel, std::int64_t tap) const {
    const std::int64_t taps = rows_.taps * columns_.taps;
    return mirrored_ ? kernel_[(channel * output_image_.channels + filter) * taps + taps - 1 - tap]
                     : kernel_[(filter * input_image_.channels + channel) * taps + tap];
  }

  void compute_row(std::int64_t bundle, std::int64_t block, std::int64_t row) const {
    const Range filters = filters_of(block);
    const Range taps = rows_.taps_inside(row);
    const std::int64_t output_row =
        (bundle * output_image_.channels + filters.begin) * output_image_.sheet_stride() +
        row * output_image_.row_floats();
    const float* const input_row = input_ +
                                   bundle * input_image_.channels * input_image_.sheet_stride() +
                                   rows_.input(row, taps.begin) * input_image_.row_floats();
    const float* const weights = weights_.data() + filters.begin * weights_of_a_filter();
    for (const OutputRun& run : column_runs_) {
      const std::int64_t offset = output_row + run.outputs.begin * kBundle;
      interleaved_conv(
          {.input = input_row + columns_.input(run.outputs.begin, run.taps.begin) * kBundle,
           .input_channels = input_image_.channels,
           .input_channel_stride = input_image_.sheet_stride(),
           .input_row_stride = input_image_.row_floats(),
           .input_pixel_stride = columns_.stride * kBundle,
           .kernel_rows = taps.size(),
           .kernel_columns = run.taps.size(),
           .weights = weights + (taps.begin * columns_.taps + run.taps.begin) * filters.size(),
           .weight_channel_stride = rows_.taps * columns_.taps * filters.size(),
           .weight_row_stride = columns_.taps * filters.size(),
           .filters = filters.size(),
           .bias = (bias_ == nullptr ? no_bias_.data() : bias_) + filters.begin,
           .addend = addend_ == nullptr ? nullptr : addend_ + offset,
           .output = output_ + offset,
           .activated = activated_ == nullptr ? nullptr : activated_ + offset,
           .slope = slope_,
           .output_filter_stride = output_image_.sheet_stride(),
           .pixels = run.outputs.size()});
    }
  }

  Team team_;  // as many threads as the work is worth
  InterleavedImage input_image_;
  InterleavedImage output_image_;
  const float* input_;
  const float* kernel_;
  const float* bias_ = nullptr;
  const float* addend_ = nullptr;
  float* output_;
  float* activated_ = nullptr;
  float slope_ = 0;
  bool mirrored_ = false;
  Axis rows_;
  Axis columns_;
  std::vector<OutputRun> column_runs_;
  std::int64_t filter_blocks_ = 1;
  AlignedBuffer weights_;  // [filter block][channel][row][column][filter]
  std::vector<float> no_bias_;
};

/// Each bundle has sums of its own, so that what is added to what does not depend on threads.
class InterleavedKernelGradientStep final : public PreparedStep, public Bundled {
 public:
  InterleavedKernelGradientStep(const Memory& memory, ValueId id, const Team& team)
      : team_(worth(team, memory.graph(), id)),
        input_image_(memory.graph().type(memory.graph().node(id).operands[0])),
        gradient_image_(memory.graph().type(memory.graph().node(id).operands[1])),
        input_(memory.floats(memory.graph().node(id).operands[0])),
        gradient_(memory.floats(memory.graph().node(id).operands[1])),
        result_(memory.floats(id)) {
    const Node& node = memory.graph().node(id);
    const graph::FeatureMap kernel = graph::feature_map(node.type, "a kernel");
    const graph::Window& window = std::get<graph::ConvKernelGradient>(node.op).window;
    rows_ = {gradient_image_.rows, input_image_.rows, kernel.rows, window.stride[1], window.pad[1]};
    columns_ = {gradient_image_.columns, input_image_.columns, kernel.columns, window.stride[2],
                window.pad[2]};
    column_runs_ = runs_of(columns_);
    weights_ = node.type.elements();
    sums_ = AlignedBuffer(gradient_image_.bundles * weights_);
  }

  void prepare(const Team&) override {}  // images are read as they are
  std::int64_t scratch_bytes() const override { return 0; }
  std::int64_t prepared_bytes() const override { return sums_.bytes(); }

  void run(const Team&, const Scratch&) override {
    team_.run([&](int thread) {
      compute(slice_of(input_image_.bundles * rows_of_bundle(), thread, team_.size()));
    });
    join_bundles();
  }
  void run_bundles(const Range& bundles) override {
    compute({bundles.begin * rows_of_bundle(), bundles.end * rows_of_bundle()});
  }
  void join_bundles() override {
    std::copy_n(sums_.data(), weights_, result_);
    for (std::int64_t bundle = 1; bundle < gradient_image_.bundles; ++bundle) {
      scale_add(result_, result_, sums_.data() + bundle * weights_, 1, weights_);
    }
  }

 private:
  std::int64_t rows_of_bundle() const { return input_image_.channels * rows_.taps; }
  /// Rows of the kernel are counted over all channels and all bundles.
  void compute(const Range& all_rows) const {
    for (std::int64_t i = all_rows.begin; i < all_rows.end; ++i) {
      const std::int64_t sheet = i / rows_.taps;
      add_up(sheet / input_image_.channels, sheet % input_image_.channels, i % rows_.taps);
    }
  }
  /// One row of the kernel of one channel, for all filters.
  void add_up(std::int64_t bundle, std::int64_t channel, std::int64_t tap_row) const {
    const std::int64_t of_filter = input_image_.channels * rows_.taps * columns_.taps;
    float* const sums =
        sums_.data() + bundle * weights_ + (channel * rows_.taps + tap_row) * columns_.taps;
    for (std::int64_t filter = 0; filter < gradient_image_.channels; ++filter) {
      std::fill_n(sums + filter * of_filter, columns_.taps, 0.0F);
    }
    const Range rows = rows_.outputs_inside(tap_row);
    if (rows.empty()) {
      return;
    }
    const float* const input =
        input_ + (bundle * input_image_.channels + channel) * input_image_.sheet_stride() +
        rows_.input(rows.begin, tap_row) * input_image_.row_floats();
    const float* const gradient =
        gradient_ + bundle * gradient_image_.channels * gradient_image_.sheet_stride() +
        rows.begin * gradient_image_.row_floats();
    for (const OutputRun& run : column_runs_) {
      interleaved_kernel_gradient(
          {.input = input + columns_.input(run.outputs.begin, run.taps.begin) * kBundle,
           .input_row_stride = rows_.stride * input_image_.row_floats(),
           .input_pixel_stride = columns_.stride * kBundle,
           .gradient = gradient + run.outputs.begin * kBundle,
           .gradient_row_stride = gradient_image_.row_floats(),
           .gradient_filter_stride = gradient_image_.sheet_stride(),
           .rows = rows.size(),
           .pixels = run.outputs.size(),
           .filters = gradient_image_.channels,
           .kernel_columns = run.taps.size(),
           .sums = sums + run.taps.begin,
           .sum_filter_stride = of_filter});
    }
  }

  Team team_;  // as many threads as the work is worth
  InterleavedImage input_image_;
  InterleavedImage gradient_image_;
  const float* input_;
  const float* gradient_;
  float* result_;
  Axis rows_;
  Axis columns_;
  std::vector<OutputRun> column_runs_;
  std::int64_t weights_ = 0;
  AlignedBuffer sums_;  // [bundle][filter][channel][row][column]
};

}  // namespace

Support takes_activation(const graph::Graph& graph, ValueId conv, ValueId map) {
  if (graph::op_if<graph::LeakyRelu>(graph.node(map)) == nullptr) {
    return Support::no("only activations are computed from rows that are still in the cache");
  }
  if (graph.node(conv).format != NumberFormat::f32) {
    return Support::no("it reads what it activates rounded, from where it is stored");
  }
  return Support::yes();
}

std::unique_ptr<PreparedStep> make_interleaved_conv_step(const Memory& memory,
                                                         const compile::Step& step,
                                                         const Team& team) {
  return std::make_unique<InterleavedConvStep>(memory, step, memory.graph().node(step.leader.value),
                                               team);
}

std::unique_ptr<PreparedStep> make_interleaved_kernel_gradient_step(const Memory& memory,
                                                                    const compile::Step& step,
                                                                    const Team& team) {
  return std::make_unique<InterleavedKernelGradientStep>(memory, step.leader.value, team);
}

}  // namespace cosmic::target::cpu
