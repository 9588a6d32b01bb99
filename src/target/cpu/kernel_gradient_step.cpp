#include "target/cpu/kernel_gradient_step.hpp"

#include <algorithm>
#include <vector>

#include "target/cpu/half_sums.hpp"
#include "target/cpu/kernel_sums.hpp"
#include "target/cpu/kernels/conv_kernels.hpp"
#include "target/cpu/row_window.hpp"

namespace cosmic::target::cpu {
namespace {

using compile::TermView;

// Sums are kept in registers over this many pixels before they are added to memory.
constexpr std::int64_t kPixelsPerBand = 256;

// Where sums are rounded, copy 0 has them, and copy 1 the group that is next.
constexpr int kRunningSums = 0;
constexpr int kGroup = 1;

// Above this, each thread takes a share of the filters instead of a copy of all sums.
constexpr std::int64_t kLargeKernel = 1024 * 1024;

class KernelGradientStep final : public PreparedStep {
 public:
  KernelGradientStep(const Memory& memory, const TermView& result, const Team& team);

  void prepare(const Team&) override {}  // images are read as they are
  void run(const Team& team, const Scratch& scratch) override;
  std::int64_t scratch_bytes() const override;
  std::int64_t prepared_bytes() const override { return sums_.bytes(); }

 private:
  void accumulate(const Range& rows, const Range& blocks, int copy, float* scratch);
  /// The products of one row with a slice of the kernel, a group at a time. `input_rows` are moved
  /// along the row.
  void accumulate_in_half(KernelGradientRows products, const float** input_rows,
                          const Range& blocks, std::int64_t slice, std::int64_t row);
  /// Sums of a block of filters and a slice of the kernel.
  std::int64_t slice_floats() const {
    return kernel_.rows * kernel_.columns * kernel_.channels * kBlock;
  }
  /// Pointers to the rows of one call, in front of the scratch.
  std::int64_t pointer_floats() const {
    return round_up((input_.capacity() + band_) * 2, kFloatsPerLine);
  }

  Team team_;  // as many threads as the work is worth
  graph::Window window_;
  graph::FeatureMap kernel_;
  RowSource input_source_;
  RowSource gradient_;
  std::optional<HalfSums> half_sums_;
  std::int64_t band_;  // output rows per call
  RowWindow input_;
  RowWindow gradient_rows_;
  bool split_blocks_;
  KernelSums sums_;
  float* result_;
};

std::int64_t padding_right(const RowSource& input, const RowSource& gradient,
                           const graph::Window& window, const graph::FeatureMap& kernel) {
  const std::int64_t last =
      (gradient.image().columns - 1) * window.stride[2] + kernel.columns - 1 - window.pad[2];
  return std::max<std::int64_t>(last - input.image().columns + 1, 0);
}

KernelGradientStep::KernelGradientStep(const Memory& memory, const TermView& result,
                                       const Team& team)
    : team_(team.for_work(graph::cost_of(memory.graph(), result.value()).flops)),
      window_(window_on(result.node().type,
                        std::get<graph::ConvKernelGradient>(result.node().op).window)),
      kernel_(graph::feature_map(result.node().type, "a kernel")),
      input_source_(memory, result.operand(0)),
      gradient_(memory, result.operand(1)),
      half_sums_(HalfSums::of(memory, result.value())),
      band_(half_sums_ ? 1
                       : std::clamp(kPixelsPerBand / gradient_.image().columns, std::int64_t{1},
                                    gradient_.image().rows)),
      input_(input_source_, (band_ - 1) * window_.stride[1] + kernel_.rows, window_.pad[2],
             padding_right(input_source_, gradient_, window_, kernel_)),
      gradient_rows_(gradient_, band_, 0, 0),
      // Where sums are rounded, the order of what is added to each matters.
      split_blocks_(half_sums_ || (result.node().type.bytes() > kLargeKernel &&
                                   gradient_.image().blocks() >= team_.size())),
      sums_(kernel_, half_sums_ ? 2 : (split_blocks_ ? 1 : team_.size())),
      result_(memory.floats(result.value())) {}

std::int64_t KernelGradientStep::scratch_bytes() const {
  return (pointer_floats() + input_.scratch_floats() * kernel_.depth +
          gradient_rows_.scratch_floats()) *
         4;
}

void KernelGradientStep::run(const Team&, const Scratch& scratch) {
  const BlockedImage& gradient = gradient_.image();
  const std::int64_t rows = gradient.images() * gradient.rows;
  team_.run([&](int thread) {
    const Range blocks = split_blocks_ ? slice_of(gradient.blocks(), thread, team_.size())
                                       : Range{0, gradient.blocks()};
    if (blocks.empty()) {
      return;
    }
    const Range mine = split_blocks_ ? Range{0, rows} : slice_of(rows, thread, team_.size());
    const int copy = half_sums_ ? kGroup : (split_blocks_ ? 0 : thread);
    sums_.clear(copy, blocks);
    if (half_sums_) {
      sums_.clear(kRunningSums, blocks);
    }
    accumulate(mine, blocks, copy, scratch.floats(thread));
  });
  team_.run([&](int thread) {
    sums_.unpack(slice_of(gradient.blocks(), thread, team_.size()), result_);
  });
}

void KernelGradientStep::accumulate(const Range& rows, const Range& blocks, int copy,
                                    float* scratch) {
  const BlockedImage& input = input_source_.image();
  const BlockedImage& gradient = gradient_.image();
  const auto** const input_rows = reinterpret_cast<const float**>(scratch);
  const auto** const gradient_rows = input_rows + input_.capacity();
  float* memory = scratch + pointer_floats();
  RowViews inputs;
  for (std::int64_t d = 0; d < kernel_.depth; ++d) {
    inputs[static_cast<std::size_t>(d)].emplace(input_, memory);
    memory += input_.scratch_floats();
  }
  RowWindow::View gradients(gradient_rows_, memory);
  for (std::int64_t band = rows.begin; band < rows.end;) {
    const std::int64_t image = band / gradient.rows;
    const std::int64_t first = band % gradient.rows;
    const std::int64_t count = std::min({band_, rows.end - band, gradient.rows - first});
    for (std::int64_t r = 0; r < count; ++r) {
      gradient_rows[r] =
          gradients.row(image, first + r) + blocks.begin * gradient_rows_.block_stride();
    }
    for (std::int64_t d = 0; d < kernel_.depth; ++d) {
      const std::int64_t slice = image % gradient.depth * window_.stride[0] + d - window_.pad[0];
      if (slice < 0 || slice >= input.depth) {
        continue;
      }
      const std::int64_t input_image = image / gradient.depth * input.depth + slice;
      const std::int64_t top = first * window_.stride[1] - window_.pad[1];
      for (std::int64_t r = 0; r < (count - 1) * window_.stride[1] + kernel_.rows; ++r) {
        const bool inside = top + r >= 0 && top + r < input.rows;
        input_rows[r] = inside ? inputs[static_cast<std::size_t>(d)]->row(input_image, top + r) -
                                     window_.pad[2] * input_.pixel_stride()
                               : nullptr;
      }
      const KernelGradientRows products{
          .rows = count,
          .row_stride = window_.stride[1],
          .kernel_rows = kernel_.rows,
          .kernel_columns = kernel_.columns,
          .input_rows = input_rows,
          .input_channels = kernel_.channels,
          .input_block_stride = input_.block_stride(),
          .input_pixel_stride = window_.stride[2] * input_.pixel_stride(),
          .input_column_stride = input_.pixel_stride(),
          .gradient_rows = gradient_rows,
          .gradient_block_stride = gradient_rows_.block_stride(),
          .output_blocks = blocks.size(),
          .width = gradient.columns,
          .kernel_gradient =
              sums_.copy(copy) + blocks.begin * sums_.block_stride() + d * slice_floats(),
          .kernel_block_stride = sums_.block_stride()};
      if (half_sums_) {
        accumulate_in_half(products, input_rows, blocks, d, band);
      } else {
        accumulate_kernel_gradient(products);
      }
    }
    band += count;
  }
}

void KernelGradientStep::accumulate_in_half(KernelGradientRows products, const float** input_rows,
                                            const Range& blocks, std::int64_t slice,
                                            std::int64_t row) {
  const float* gradient = products.gradient_rows[0];
  products.gradient_rows = &gradient;
  const std::int64_t groups =
      (gradient_.image().columns + graph::kPartialsGroup - 1) / graph::kPartialsGroup;
  for (std::int64_t g = 0; g < groups; ++g) {
    products.width =
        std::min(graph::kPartialsGroup, gradient_.image().columns - g * graph::kPartialsGroup);
    accumulate_kernel_gradient(products);
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
      const std::int64_t first = block * sums_.block_stride() + slice * slice_floats();
      float* const group = sums_.copy(kGroup) + first;
      const std::int64_t noise_row =
          ((row * groups + g) * kernel_.depth + slice) * gradient_.image().blocks() + block;
      half_sums_->add(sums_.copy(kRunningSums) + first, group, slice_floats(), noise_row, 0);
      std::fill_n(group, slice_floats(), 0.0F);
    }
    gradient += graph::kPartialsGroup * products.gradient_pixel_stride;
    for (std::int64_t r = 0; r < kernel_.rows; ++r) {
      if (input_rows[r] != nullptr) {
        input_rows[r] += graph::kPartialsGroup * products.input_pixel_stride;
      }
    }
  }
}

}  // namespace

std::unique_ptr<PreparedStep> make_kernel_gradient_step(const Memory& memory,
                                                        const compile::Step& step,
                                                        const Team& team) {
  return std::make_unique<KernelGradientStep>(memory, memory.term(step.leader), team);
}

}  // namespace cosmic::target::cpu
