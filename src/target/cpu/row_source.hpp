// Rows of a value, whether it is stored or not. A stored value is read in place, or widened if it
// is stored in a narrow format. A value that is not stored is an expression over stored ones,
// evaluated a short run of pixels at a time, so that its intermediate results never leave the
// first-level cache. Patterns that occur in every layer (a normalisation and its activation, and
// their gradients) are one pass each.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/expression.hpp"
#include "target/cpu/blocked_image.hpp"
#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

/// Pixels per evaluation: eight kilobytes of intermediate result per operand.
inline constexpr std::int64_t kRun = 256;

/// Rows of one pooling window, over depth and rows.
inline constexpr std::int64_t kMostPooledRows = 16;

class RowSource {
 public:
  /// Reads a blocked feature map, or a plain one with a single channel: an operand of a step, or,
  /// as the root of an expression, the value of a local op that the step is to write.
  RowSource(const Memory& memory, const compile::TermView& value);

  const BlockedImage& image() const { return image_; }
  /// Rows can be read where they lie: stored, as floats.
  bool in_place() const {
    return terms_[root_].kind == Kind::stored && terms_[root_].format == NumberFormat::f32;
  }
  /// Floats from one pixel to the next: 8, or 1 for a plain single channel.
  std::int64_t pixel_stride() const { return pixel_stride_; }
  /// Scratch for one reader.
  std::int64_t scratch_floats() const { return scratch_floats_; }

  /// Address of a row. Only if in_place().
  const float* row(std::int64_t image, std::int64_t block, std::int64_t row) const {
    return terms_[root_].floats() + terms_[root_].offset(image, block, row);
  }

  /// Writes pixels [first, first + count) of a row to `out`.
  void write(float* out, std::int64_t image, std::int64_t block, std::int64_t row,
             std::int64_t first, std::int64_t count, float* scratch) const;

  /// Pixels [first, first + count), count at most kRun: in place if it can be, else in scratch.
  const float* read(std::int64_t image, std::int64_t block, std::int64_t row, std::int64_t first,
                    std::int64_t count, float* scratch) const {
    return evaluate(root_, {image, block, row, first, count}, scratch, nullptr);
  }

 private:
  enum class Kind {
    stored,
    affine_leaky,                   // leaky(a * scale + shift)
    leaky,                          // leaky(a)
    add_leaky,                      // leaky(a + b)
    affine_leaky_add,               // leaky(a * scale + shift) + b
    affine_add_leaky,               // leaky(a * scale + shift + b)
    leaky_gradient,                 // b where a > 0, slope * b elsewhere
    affine_leaky_gradient,          // the same at a * scale + shift
    combine,                        // b * scale + a * q + r
    affine_leaky_gradient_combine,  // the two above in one pass
    upsample_bilinear,
    upsample_nearest,
    max_pool,
    segmentation_gradient,
    depth_to_planes,
    planes_to_depth,
  };

  /// Where numbers per group and channel come from.
  enum class From {
    none,
    coefficients,  // [2, G, C]: scale, shift
    scale_only,    // [2, G, C]: scale
    bias,          // [C]: shift
    constant,      // the same scale everywhere
    statistics,    // the gradient through statistics: x * q + r
  };

  struct ChannelNumbers {
    From from = From::none;
    const float* values = nullptr;     // coefficients, bias, or statistics
    const float* gradients = nullptr;  // of the statistics
    double constant = 1;
    std::int64_t groups = 1;
    std::int64_t pooled = 1;
    double elements = 1;  // behind one statistic
  };

  struct Term {
    explicit Term(const BlockedImage& shape) : image(shape) {}

    Kind kind = Kind::stored;
    BlockedImage image;
    std::vector<std::size_t> operands;
    const std::byte* base = nullptr;
    NumberFormat format = NumberFormat::f32;  // of what is stored
    std::int64_t pixel_stride = kBlock;
    float slope = 1;
    ChannelNumbers affine;    // scale and shift
    ChannelNumbers gradient;  // q and r of a combine
    graph::Factors factor{1, 1, 1};
    const std::uint8_t* labels = nullptr;
    const float* class_weights = nullptr;
    const float* loss_factors = nullptr;
    bool focal = false;
    std::int64_t groups = 1;
    std::int64_t slot = 0;  // offset of its result in scratch

    const float* floats() const { return reinterpret_cast<const float*>(base); }
    /// Elements before a row of a stored value.
    std::int64_t offset(std::int64_t in_image, std::int64_t block, std::int64_t row) const {
      return pixel_stride == 1 ? (in_image * image.rows + row) * image.columns
                               : image.offset(in_image, block, row);
    }
  };

  struct Run {
    std::int64_t image;
    std::int64_t block;
    std::int64_t row;
    std::int64_t first;
    std::int64_t count;
  };

  struct Numbers;

  std::size_t build(const Memory& memory, const compile::TermView& value, std::int64_t run);
  std::size_t build_stored(const Memory& memory, graph::ValueId id, std::int64_t run);
  ChannelNumbers coefficients(const Memory& memory, graph::ValueId id, From from) const;
  /// Is this value an affine map per channel of its first operand, evaluated here?
  bool affine_of(const Memory& memory, const compile::TermView& value,
                 ChannelNumbers& numbers) const;
  std::size_t build_add(const Memory& memory, const compile::TermView& sum, float slope, Term term,
                        std::int64_t run);

  /// Pixels of a stored value: in place, or widened to `room`.
  static const float* stored_pixels(const Term& term, const Run& run, float* room);
  static void load(const ChannelNumbers& numbers, const Term& term, const Run& run, float* scale,
                   float* shift);
  const float* evaluate(std::size_t index, const Run& run, float* scratch, float* out) const;

  std::vector<Term> terms_;
  std::size_t root_ = 0;
  BlockedImage image_;
  std::int64_t pixel_stride_ = kBlock;
  std::int64_t scratch_floats_ = 0;
};

}  // namespace cosmic::target::cpu
