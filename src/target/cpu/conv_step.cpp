#include "target/cpu/conv_step.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "target/cpu/aligned_buffer.hpp"
#include "target/cpu/half_sums.hpp"
#include "target/cpu/kernel_gradient_rider.hpp"
#include "target/cpu/kernels/conv_kernels.hpp"
#include "target/cpu/kernels/lane_blocks.hpp"
#include "target/cpu/row_reduction.hpp"
#include "target/cpu/row_sink.hpp"
#include "target/cpu/row_window.hpp"
#include "target/cpu/winograd_conv.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Node;
using graph::ValueId;

enum class Algorithm { direct, winograd };

/// Of a Conv or a ConvTranspose.
graph::Window window_of(const Node& conv) {
  const auto* transpose = graph::op_if<graph::ConvTranspose>(conv);
  return window_on(
      conv.type, transpose != nullptr ? transpose->window : std::get<graph::Conv>(conv.op).window);
}

// Kernels whose weights exceed this do not stay in the second-level cache while a row is computed;
// they are walked through once per band of rows instead of once per row.
constexpr std::int64_t kLargeWeights = 256 * 1024;

// Rows held in scratch by one thread; half a typical second-level cache.
constexpr std::int64_t kLargeScratch = 512 * 1024;

// How long before they are packed the weights of a channel are asked for.
constexpr std::int64_t kChannelsAhead = 8;

struct Extents {
  std::int64_t depth = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  std::int64_t positions() const { return depth * rows * columns; }
};

/// Output columns that use the same taps: first, first + step, ...
struct ColumnClass {
  std::int64_t first = 0;
  std::int64_t count = 0;
  struct ColumnTap {
    std::int64_t kernel_column;
    std::int64_t input_column;  // of the first output column
  };
  std::vector<ColumnTap> taps;
};

class ConvStep final : public PreparedStep {
 public:
  ConvStep(const Memory& memory, const compile::Step& step, const Team& team, Algorithm algorithm);

  void prepare(const Team& team) override;
  void run(const Team& team, const Scratch& scratch) override;
  std::int64_t scratch_bytes() const override;
  std::int64_t prepared_bytes() const override {
    return weights_.bytes() + bias_.bytes() + (winograd_ ? winograd_->bytes() : 0) +
           (kernel_gradient_ ? kernel_gradient_->bytes() : 0);
  }

 private:
  void plan_columns();
  Range rows_of(int thread) const;
  void pack_block(std::int64_t block);
  void pack_channels(float* to, const float* from, std::int64_t lane_stride) const;
  std::int64_t tap_floats() const;
  std::int64_t tile_scratch_floats() const;
  void compute(int thread, const Range& rows, const Range& blocks, float* scratch);
  /// One thread's views and scratch.
  struct Worker {
    int thread = 0;
    RowViews views;
    std::optional<RowWindow::View> kernel_input;
    Tap* taps = nullptr;
    float* tiles = nullptr;
    float* results = nullptr;  // rows that are rounded when they are done
    float* sums = nullptr;     // of one block, where sums are rounded
    float* row = nullptr;
  };

  void compute_row(Worker& worker, std::int64_t output_row, const Range& blocks);
  void compute_tile_rows(Worker& worker, std::int64_t output_row);
  /// The addend of a row: where it is stored, or where it has just been evaluated, in the output.
  const float* addend_row(Worker& worker, const RowSink::Row& out, std::int64_t image,
                          std::int64_t row, const Range& blocks);
  /// Output rows that are computed together and closed together.
  std::int64_t rows_together() const { return winograd_ ? kWinogradTile : 1; }
  void reduce_row(Worker& worker, std::int64_t image, std::int64_t row, const Range& blocks);
  /// Input index of tap k for output index i along one axis, or -1 where there is none.
  std::int64_t input_index(std::size_t axis, std::int64_t i, std::int64_t k,
                           std::int64_t extent) const;

  Team team_;  // as many threads as the work is worth
  bool transposed_;
  graph::Window window_;
  Extents kernel_;
  RowSource source_;
  BlockedImage output_image_;
  std::int64_t input_channels_;
  const float* kernel_values_;
  const float* bias_values_ = nullptr;
  std::optional<RowSource> addend_;
  RowSink output_;
  AlignedBuffer weights_;  // [output block][depth][row][column][input channel][8]
  AlignedBuffer bias_;     // [output block][8]
  std::vector<ColumnClass> column_classes_;
  std::int64_t column_step_ = 1;
  std::int64_t left_ = 0;   // zeros needed on the left of an input row
  std::int64_t right_ = 0;  // and on the right
  std::int64_t band_ = 1;   // output rows computed together
  std::optional<RowWindow> rows_;
  bool split_blocks_ = false;
  std::vector<std::unique_ptr<RowReduction>> riders_;
  std::optional<KernelGradientRider> kernel_gradient_;
  std::optional<WinogradConv> winograd_;
  std::optional<HalfSums> half_sums_;
};

ConvStep::ConvStep(const Memory& memory, const compile::Step& step, const Team& team,
                   Algorithm algorithm)
    : team_(team.for_work(graph::cost_of(memory.graph(), step.leader.value).flops)),
      source_(memory, memory.term(step.leader).operand(0)),
      output_image_(memory.graph().type(step.leader.value)),
      output_(memory, step.leader.value) {
  const graph::Graph& graph = memory.graph();
  const Node& node = graph.node(step.leader.value);
  transposed_ = graph::op_if<graph::ConvTranspose>(node) != nullptr;
  window_ = window_of(node);
  const graph::FeatureMap shape = graph::feature_map(graph.type(node.operands[1]), "a kernel");
  kernel_ = {shape.depth, shape.rows, shape.columns};
  input_channels_ = source_.image().channels;
  kernel_values_ = memory.floats(node.operands[1]);
  if (node.operands.size() > 2) {
    bias_values_ = memory.floats(node.operands[2]);
  }
  if (node.operands.size() > 3) {
    addend_.emplace(memory, memory.term(step.leader).operand(3));
  }
  const std::int64_t blocks = output_image_.blocks();
  bias_ = AlignedBuffer(blocks * kBlock);
  plan_columns();
  half_sums_ = HalfSums::of(memory, step.leader.value);
  if (algorithm == Algorithm::winograd) {
    winograd_.emplace(source_.image(), output_image_);
    band_ = kWinogradTile;
  } else {
    weights_ = AlignedBuffer(blocks * kernel_.positions() * input_channels_ * kBlock);
  }

  const std::int64_t row_bytes =
      (source_.image().columns + left_ + right_) * source_.image().blocks() * kBlock * 4;
  if (weights_.bytes() > kLargeWeights) {
    band_ = std::clamp(kLargeScratch / row_bytes - kernel_.rows + 1, std::int64_t{1},
                       output_image_.rows);
    // With few rows and many blocks, each thread takes blocks, so that it reads only its own share
    // of the weights.
    split_blocks_ = blocks >= 2 * team_.size() && output_image_.images() * output_image_.rows < 64;
  }
  const std::int64_t stride = transposed_ ? 1 : window_.stride[1];
  rows_.emplace(source_, (band_ - 1) * stride + kernel_.rows, left_, right_);
  for (const compile::Rider& rider : step.riders) {
    if (rider.ride == compile::Ride::shares_operand) {
      kernel_gradient_.emplace(memory, memory.term(rider.computed), team_.size(),
                               winograd_.has_value());
    } else {
      riders_.push_back(make_row_reduction(memory, rider.computed, team_.size()));
    }
  }
}

std::int64_t ConvStep::input_index(std::size_t axis, std::int64_t i, std::int64_t k,
                                   std::int64_t extent) const {
  const std::int64_t stride = window_.stride[axis];
  const std::int64_t pad = window_.pad[axis];
  std::int64_t input = i * stride + k - pad;
  if (transposed_) {
    const std::int64_t whole = i + pad - k;
    if (whole < 0 || whole % stride != 0) {
      return -1;
    }
    input = whole / stride;
  }
  return input >= 0 && input < extent ? input : -1;
}

void ConvStep::plan_columns() {
  const std::int64_t stride = window_.stride[2];
  const std::int64_t pad = window_.pad[2];
  const std::int64_t classes = transposed_ ? stride : 1;
  column_step_ = classes;
  const std::int64_t input_step = transposed_ ? 1 : stride;
  for (std::int64_t first = 0; first < std::min(classes, output_image_.columns); ++first) {
    ColumnClass columns{first, (output_image_.columns - first + classes - 1) / classes, {}};
    for (std::int64_t k = 0; k < kernel_.columns; ++k) {
      std::int64_t input = first * stride + k - pad;
      if (transposed_) {
        const std::int64_t whole = first + pad - k;
        if (whole % stride != 0) {
          continue;
        }
        input = whole / stride;
      }
      columns.taps.push_back({k, input});
      const std::int64_t last = input + (columns.count - 1) * input_step;
      left_ = std::max(left_, -input);
      right_ = std::max(right_, last - source_.image().columns + 1);
    }
    column_classes_.push_back(std::move(columns));
  }
}

std::int64_t ConvStep::tap_floats() const {
  return round_up(kernel_.positions() * static_cast<std::int64_t>(sizeof(Tap) / sizeof(float)),
                  kFloatsPerLine);
}

// The products of a convolution and those of a kernel gradient are not needed at the same time.
std::int64_t ConvStep::tile_scratch_floats() const {
  return std::max(winograd_ ? winograd_->scratch_floats() : 0,
                  kernel_gradient_ ? kernel_gradient_->tile_scratch_floats() : 0);
}

std::int64_t ConvStep::scratch_bytes() const {
  std::int64_t floats = tap_floats() + kernel_.depth * rows_->scratch_floats();
  if (kernel_gradient_) {
    floats += kernel_gradient_->input().scratch_floats();
  }
  floats += tile_scratch_floats();
  floats += rows_together() * output_.scratch_floats(output_image_.blocks());
  floats += half_sums_ ? HalfSums::scratch_floats(output_image_.columns) : 0;
  std::int64_t per_row = addend_ ? addend_->scratch_floats() : 0;
  for (const auto& rider : riders_) {
    per_row = std::max(per_row, rider->scratch_floats());
  }
  return (floats + per_row) * static_cast<std::int64_t>(sizeof(float));
}

// Weights arrive as [filter][channel][position], or [channel][filter][position] when transposed.
void ConvStep::prepare(const Team& all) {
  for (std::int64_t f = 0; f < output_image_.channels && bias_values_ != nullptr; ++f) {
    bias_.data()[f] = bias_values_[f];
  }
  if (winograd_) {
    winograd_->prepare(all, kernel_values_, transposed_);
    return;
  }
  const Team team = all.for_work(static_cast<double>(weights_.bytes()));
  team.run([&](int thread) {
    const Range blocks = slice_of(output_image_.blocks(), thread, team.size());
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
      pack_block(block);
    }
  });
}

// [position][channel][8] from [filter][channel][position], or from [channel][filter][position].
void ConvStep::pack_block(std::int64_t block) {
  const std::int64_t positions = kernel_.positions();
  const std::int64_t filters = output_image_.channels;
  const std::int64_t lanes = std::min(kBlock, filters - block * kBlock);
  const std::int64_t lane_stride = (transposed_ ? 1 : input_channels_) * positions;
  const std::int64_t channel_stride = (transposed_ ? filters : 1) * positions;
  const float* const from = kernel_values_ + block * kBlock * lane_stride;
  float* const to = weights_.data() + block * positions * input_channels_ * kBlock;
  if (lanes < kBlock || positions > kJoinedNumbers) {
    for (std::int64_t c = 0; c < input_channels_; ++c) {
      for (std::int64_t k = 0; k < positions; ++k) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          to[(k * input_channels_ + c) * kBlock + lane] =
              from[lane * lane_stride + c * channel_stride + k];
        }
      }
    }
  } else if (transposed_ || goes_straight(positions)) {
    for (std::int64_t c = 0; c < input_channels_; ++c) {
      if (transposed_ && c + kChannelsAhead < input_channels_) {
        // Of each channel there are few numbers here, far from those of the next.
        fetch_soon(from + (c + kChannelsAhead) * channel_stride, kBlock * positions);
      }
      join_lanes(to + c * kBlock, input_channels_ * kBlock, from + c * channel_stride, lane_stride,
                 positions);
    }
  } else {
    pack_channels(to, from, lane_stride);
  }
}

// A few channels at a time: joined, they stay in the cache until each position has taken its own.
void ConvStep::pack_channels(float* to, const float* from, std::int64_t lane_stride) const {
  std::array<float, kJoinedNumbers * kBlock> joined;
  const std::int64_t positions = kernel_.positions();
  const std::int64_t together = kJoinedNumbers / positions;
  for (std::int64_t first = 0; first < input_channels_; first += together) {
    const std::int64_t channels = std::min(together, input_channels_ - first);
    join_lanes(joined.data(), kBlock, from + first * positions, lane_stride, channels * positions);
    for (std::int64_t k = 0; k < positions; ++k) {
      float* const run = to + (k * input_channels_ + first) * kBlock;
      for (std::int64_t c = 0; c < channels; ++c) {
        std::copy_n(joined.data() + (c * positions + k) * kBlock, kBlock, run + c * kBlock);
      }
    }
  }
}

void ConvStep::run(const Team&, const Scratch& scratch) {
  const std::int64_t rows = output_image_.images() * output_image_.rows;
  const Range all_rows{0, rows};
  const Range all_blocks{0, output_image_.blocks()};
  team_.run([&](int thread) {
    for (const auto& rider : riders_) {
      rider->clear(thread);
    }
    if (kernel_gradient_) {
      kernel_gradient_->clear(thread);
    }
    compute(thread, split_blocks_ ? all_rows : rows_of(thread),
            split_blocks_ ? slice_of(all_blocks.end, thread, team_.size()) : all_blocks,
            scratch.floats(thread));
  });
  for (const auto& rider : riders_) {
    rider->finish();
  }
  if (kernel_gradient_) {
    kernel_gradient_->finish(team_);
  }
}

Range ConvStep::rows_of(int thread) const {
  // Rows that are computed together are handed out together.
  const std::int64_t together = rows_together();
  const std::int64_t rows = output_image_.images() * output_image_.rows;
  const Range share = slice_of(rows / together, thread, team_.size());
  return {share.begin * together, share.end * together};
}

void ConvStep::compute(int thread, const Range& rows, const Range& blocks, float* scratch) {
  Worker worker;
  worker.thread = thread;
  worker.taps = reinterpret_cast<Tap*>(scratch);
  float* memory = scratch + tap_floats();
  for (std::int64_t d = 0; d < kernel_.depth; ++d) {
    worker.views[static_cast<std::size_t>(d)].emplace(*rows_, memory);
    memory += rows_->scratch_floats();
  }
  if (kernel_gradient_) {
    worker.kernel_input.emplace(kernel_gradient_->input(), memory);
    memory += kernel_gradient_->input().scratch_floats();
  }
  worker.tiles = memory;
  memory += tile_scratch_floats();
  worker.results = memory;
  memory += rows_together() * output_.scratch_floats(output_image_.blocks());
  worker.sums = memory;
  memory += half_sums_ ? HalfSums::scratch_floats(output_image_.columns) : 0;
  worker.row = memory;
  if (winograd_) {
    for (std::int64_t row = rows.begin; row < rows.end; row += kWinogradTile) {
      compute_tile_rows(worker, row);
    }
    return;
  }
  // Two blocks at a time when the weights of all do not fit the cache.
  const std::int64_t blocks_together = band_ > 1 ? 2 : blocks.size();
  for (std::int64_t band = rows.begin; band < rows.end;) {
    const std::int64_t left_in_image = output_image_.rows - band % output_image_.rows;
    const std::int64_t end = std::min({band + band_, rows.end, band + left_in_image});
    for (std::int64_t block = blocks.begin; block < blocks.end; block += blocks_together) {
      const Range together{block, std::min(block + blocks_together, blocks.end)};
      for (std::int64_t row = band; row < end; ++row) {
        compute_row(worker, row, together);
      }
    }
    band = end;
  }
}

const float* ConvStep::addend_row(Worker& worker, const RowSink::Row& out, std::int64_t image,
                                  std::int64_t row, const Range& blocks) {
  if (!addend_) {
    return nullptr;
  }
  // Kernels want the addend laid out as the output.
  if (addend_->in_place() && output_.in_place()) {
    return addend_->row(image, blocks.begin, row);
  }
  for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
    addend_->write(out.first + (block - blocks.begin) * out.block_stride, image, block, row, 0,
                   output_image_.columns, worker.row);
  }
  return out.first;
}

void ConvStep::compute_row(Worker& worker, std::int64_t output_row, const Range& blocks) {
  const BlockedImage& input = source_.image();
  const std::int64_t image = output_row / output_image_.rows;
  const std::int64_t row = output_row % output_image_.rows;
  const std::int64_t event = image / output_image_.depth;
  const std::int64_t slice = image % output_image_.depth;
  const std::int64_t weight_stride = kernel_.positions() * input_channels_ * kBlock;
  const float* const weights = weights_.data() + blocks.begin * weight_stride;
  const RowSink::Row out = output_.open(image, row, blocks, worker.results);
  const float* const addend = addend_row(worker, out, image, row, blocks);
  for (const ColumnClass& columns : column_classes_) {
    std::int64_t count = 0;
    for (std::int64_t d = 0; d < kernel_.depth; ++d) {
      const std::int64_t input_slice = input_index(0, slice, d, input.depth);
      for (std::int64_t r = 0; r < kernel_.rows && input_slice >= 0; ++r) {
        const std::int64_t input_row = input_index(1, row, r, input.rows);
        if (input_row < 0) {
          continue;
        }
        const float* const values = worker.views[static_cast<std::size_t>(d)]->row(
            event * input.depth + input_slice, input_row);
        for (const ColumnClass::ColumnTap& tap : columns.taps) {
          const std::int64_t position =
              (d * kernel_.rows + r) * kernel_.columns + tap.kernel_column;
          worker.taps[count++] = {values + tap.input_column * source_.pixel_stride(),
                                  weights + position * input_channels_ * kBlock};
        }
      }
    }
    const std::int64_t first = columns.first * kBlock;
    const ConvRow products{
        .taps = worker.taps,
        .tap_count = count,
        .input_channels = input_channels_,
        .input_block_stride = rows_->block_stride(),
        .input_pixel_stride = (transposed_ ? 1 : window_.stride[2]) * source_.pixel_stride(),
        .weight_block_stride = weight_stride,
        .output_blocks = blocks.size(),
        .width = columns.count,
        .output = out.first + first,
        .output_block_stride = out.block_stride,
        .output_pixel_stride = column_step_ * kBlock,
        .bias = bias_.data() + blocks.begin * kBlock,
        .addend = addend == nullptr ? nullptr : addend + first};
    if (half_sums_) {
      const std::int64_t rows_before = output_row * column_step_ + columns.first;
      half_sums_->conv_row(products, rows_before * output_image_.blocks() + blocks.begin,
                           worker.sums);
    } else {
      conv_row(products);
    }
  }
  output_.close(out, image, row, blocks);
  reduce_row(worker, image, row, blocks);
  if (kernel_gradient_) {
    kernel_gradient_->add_row(worker.thread, image, row, *worker.kernel_input, *rows_,
                              *worker.views[0]);
  }
}

void ConvStep::compute_tile_rows(Worker& worker, std::int64_t output_row) {
  const std::int64_t image = output_row / output_image_.rows;
  const std::int64_t row = output_row % output_image_.rows;
  const Range blocks{0, output_image_.blocks()};
  WinogradConv::Rows rows;
  for (std::int64_t i = 0; i < kWinogradWindow; ++i) {
    const std::int64_t input_row = row - 1 + i;
    if (input_row >= 0 && input_row < source_.image().rows) {
      rows.input[i] = worker.views[0]->row(image, input_row);
    }
  }
  rows.input_block_stride = rows_->block_stride();
  rows.bias = bias_.data();
  RowSink::Row out[kWinogradTile];
  for (std::int64_t i = 0; i < kWinogradTile; ++i) {
    out[i] = output_.open(image, row + i, blocks,
                          worker.results + i * output_.scratch_floats(blocks.end));
    rows.output[i] = out[i].first;
    rows.addend[i] = addend_row(worker, out[i], image, row + i, blocks);
  }
  rows.output_block_stride = out[0].block_stride;
  winograd_->run(rows, worker.tiles);
  for (std::int64_t i = 0; i < kWinogradTile; ++i) {
    output_.close(out[i], image, row + i, blocks);
    reduce_row(worker, image, row + i, blocks);
  }
  if (kernel_gradient_) {
    kernel_gradient_->add_tile_rows(worker.thread, image, row, *worker.kernel_input, *rows_,
                                    *worker.views[0], worker.tiles);
  }
}

void ConvStep::reduce_row(Worker& worker, std::int64_t image, std::int64_t row,
                          const Range& blocks) {
  for (const auto& rider : riders_) {
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
      rider->add(worker.thread, image, block, row, worker.row);
    }
  }
}

}  // namespace

Support takes_kernel_gradient(const graph::Graph& graph, ValueId conv, ValueId kernel_gradient) {
  const Node& transpose = graph.node(conv);
  const Node& gradient = graph.node(kernel_gradient);
  const auto* op = graph::op_if<graph::ConvTranspose>(transpose);
  const auto& wanted = std::get<graph::ConvKernelGradient>(gradient.op);
  if (op == nullptr) {
    return Support::no("only the gradient of the image hands its rows on");
  }
  if (graph.type(transpose.operands[1]) != gradient.type || !(op->window == wanted.window)) {
    return Support::no("it is the gradient of another convolution's kernel");
  }
  if (op->window.stride != std::array<std::int64_t, 3>{1, 1, 1} || op->window.pad[0] != 0) {
    return Support::no("the stride is not 1, or the depth is padded");
  }
  if (graph::partials_of(graph, conv) != NumberFormat::f32 ||
      graph::partials_of(graph, kernel_gradient) != NumberFormat::f32) {
    return Support::no("sums are rounded, which fixes their order");
  }
  const graph::FeatureMap kernel = graph::feature_map(gradient.type, "a kernel");
  // Large kernels are computed in bands and blocks, in which a row is not seen once and whole.
  if (worth_winograd(graph, conv).ok ||
      (kernel.depth == 1 && gradient.type.bytes() * 2 < kLargeWeights)) {
    return Support::yes();
  }
  return Support::no("the kernel is so large that no row is seen once and whole");
}

Support worth_winograd(const graph::Graph& graph, ValueId conv) {
  const Node& node = graph.node(conv);
  // The algorithm adds up other products than those whose sums are rounded.
  if (graph::partials_of(graph, conv) != NumberFormat::f32) {
    return Support::no("its sums are rounded");
  }
  return WinogradConv::worth(graph::feature_map(graph.type(node.operands[1]), "a kernel"),
                             window_of(node), BlockedImage(graph.type(node.operands[0])),
                             BlockedImage(node.type));
}

std::unique_ptr<PreparedStep> make_winograd_conv_step(const Memory& memory,
                                                      const compile::Step& step, const Team& team) {
  return std::make_unique<ConvStep>(memory, step, team, Algorithm::winograd);
}

std::unique_ptr<PreparedStep> make_direct_conv_step(const Memory& memory, const compile::Step& step,
                                                    const Team& team) {
  return std::make_unique<ConvStep>(memory, step, team, Algorithm::direct);
}

}  // namespace cosmic::target::cpu
