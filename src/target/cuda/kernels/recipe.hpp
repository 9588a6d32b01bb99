// A value that is evaluated where it is read: a short program over stored images for a stack of
// three vectors, or the formula that it amounts to. A vector is some neighbouring channels of one
// pixel, so a kernel evaluates what it reads on the way from memory to the chip. All threads run
// the same instructions; numbers per channel come from a table that a block of threads fills once
// for its images.
#pragma once

#include "target/cuda/kernels/formula.hpp"
#include "target/cuda/kernels/image.hpp"
#include "target/cuda/kernels/segmentation.hpp"

namespace cosmic::target::cuda {

/// An image as a recipe reads it.
struct Leaf {
  enum class Kind : std::uint8_t {
    stored,
    bilinear,      ///< an image twice as large as what is stored
    nearest,       ///< the same by any factors, pixels repeated
    spread,        ///< a plain channel: "channel" k of a pixel is the pixel k columns further on
    result,        ///< what the kernel has just computed; no memory
    segmentation,  ///< the gradient of the loss at scores
  };

  Kind kind = Kind::stored;
  std::uint8_t factor_depth = 1;
  std::uint8_t factor_rows = 1;
  std::uint8_t factor_columns = 1;
  int shift = 0;  ///< spread: columns to the first
  Image image;
};

/// Two numbers per channel, s and t.
struct Coefficients {
  enum class Kind : std::uint8_t {
    affine,      ///< of [2, groups, channels]
    scale,       ///< the first half of it, and 0
    bias,        ///< 1 and a number per channel
    constant,    ///< one number for all, and 0
    statistics,  ///< of the gradient through statistics, which is x * s + t
  };

  Kind kind = Kind::constant;
  const float* values = nullptr;
  const float* gradients = nullptr;
  int channels = 0;
  int groups = 1;
  int events_per_group = 1;  ///< images of a batch, whatever their depth
  int pooled = 1;
  float constant = 1;
  double elements = 1;  ///< behind one statistic

  COSMIC_DEVICE Pair of(int event, int channel) const {
    if (channel >= channels) {
      return {0, 0};
    }
    const std::int64_t row = static_cast<std::int64_t>(event / events_per_group) * channels;
    const std::int64_t half = static_cast<std::int64_t>(groups) * channels;
    switch (kind) {
      case Kind::affine:
        return {values[row + channel], values[half + row + channel]};
      case Kind::scale:
        return {values[row + channel], 0};
      case Kind::bias:
        return {1, values[channel]};
      case Kind::constant:
        break;
      case Kind::statistics: {
        const int first = channel / pooled * pooled;
        double dmean = 0;
        double dvariance = 0;
        for (int k = first; k < first + pooled; ++k) {
          dmean += gradients[row + k];
          dvariance += gradients[half + row + k];
        }
        const double s = 2 * dvariance / elements;
        return {static_cast<float>(s),
                static_cast<float>(dmean / elements - values[row + channel] * s)};
      }
    }
    return {constant, 0};
  }
};

struct Instruction {
  enum class Code : std::uint8_t {
    push,         ///< a leaf
    affine,       ///< a s + t
    leaky,        ///< a, or slope a where a is not positive
    add,          ///< b + a, of the two on top
    gate,         ///< a where b is positive, slope a elsewhere
    add_affine,   ///< a + leaf s + t
    gate_affine,  ///< a where leaf s + t is positive, slope a elsewhere
  };

  COSMIC_DEVICE bool reads_leaf() const {
    return code == Code::push || code == Code::add_affine || code == Code::gate_affine;
  }

  Code code = Code::push;
  std::uint8_t leaf = 0;
  std::uint8_t coefficients = 0;
  float slope = 1;
};

struct Recipe {
  static constexpr int kMostLeaves = 4;
  static constexpr int kMostCoefficients = 6;
  static constexpr int kMostInstructions = 14;
  static constexpr int kStack = 3;

  Formula formula;
  std::uint8_t leaves = 0;
  std::uint8_t coefficients = 0;
  std::uint8_t instructions = 0;
  /// The largest of so many pixels, where it is more than one: a pooling on top of it all.
  std::uint8_t pool_depth = 1;
  std::uint8_t pool_rows = 1;
  std::uint8_t pool_columns = 1;
  int channels = 0;
  int depth = 1;  ///< of the value, as are the next two
  int rows = 0;
  int columns = 0;
  int source_depth = 1;  ///< of what is pooled
  Leaf leaf[kMostLeaves];
  Coefficients coefficient[kMostCoefficients];
  Instruction instruction[kMostInstructions];
  Segmentation segmentation;

  /// There may be none where one is optional.
  COSMIC_DEVICE bool exists() const { return leaves > 0; }
  COSMIC_DEVICE int blocks() const { return (channels + kBlock - 1) / kBlock; }
  /// Of the table: a pair for each coefficient and channel.
  COSMIC_DEVICE int table_pairs() const { return coefficients * blocks() * kBlock; }
  COSMIC_DEVICE bool pools() const { return pool_depth * pool_rows * pool_columns > 1; }
  /// Of coefficient i, from a channel on.
  COSMIC_DEVICE const Pair* pairs(const Pair* table, int i, int channel) const {
    return table + i * blocks() * kBlock + channel;
  }
};

/// Entry i of the table for the group that an image of the batch is in.
COSMIC_DEVICE inline Pair table_entry(const Recipe& recipe, int event, int i) {
  const int channels = recipe.blocks() * kBlock;
  return recipe.coefficient[i / channels].of(event, i % channels);
}

struct BilinearTaps {
  int low;
  int high;
  float beyond;  ///< the weight of `high`; that of `low` is what is left of 1
};

/// Which pixels of the small image make pixel i of one twice as large, source coordinate
/// (i + 0.5) / 2 - 0.5, clamped at the edges.
COSMIC_DEVICE inline BilinearTaps taps_of(int i, int extent) {
  if (i == 0) {
    return {0, 0, 0.0F};
  }
  const int low = (i - 1) / 2;
  const int high = low + 1 < extent ? low + 1 : extent - 1;
  return {low, high, i % 2 == 1 ? 0.25F : 0.75F};
}

/// kLanes channels of a pixel, from `channel` on, which is a multiple of kLanes.
template <int kLanes>
COSMIC_DEVICE inline void read_stored(const Image& image, std::int64_t at, int row, int column,
                                      int channel, float* out) {
  const std::int64_t pixel = static_cast<std::int64_t>(row) * image.columns + column;
  const int block = channel / image.lanes;
  const std::int64_t first = image.vector_offset(at, block, pixel) + channel % image.lanes;
  if (image.lanes == kNarrowBlock) {
    if constexpr (kLanes <= kNarrowBlock) {
      if (block > 0) {
        for (int k = 0; k < kLanes; ++k) {
          out[k] = 0;
        }
      } else {
        read_numbers<kLanes>(image.base, image.format, first, out);
      }
    } else {
      read_numbers<kNarrowBlock>(image.base, image.format, first, out);
      for (int k = kNarrowBlock; k < kLanes; ++k) {
        out[k] = 0;
      }
    }
    return;
  }
  read_numbers<kLanes>(image.base, image.format, first, out);
}

/// Between four pixels, weighted by how far beyond the first row and column the place is.
COSMIC_DEVICE inline float between(float low_low, float low_high, float high_low, float high_high,
                                   float rows_beyond, float columns_beyond) {
  const float low = (1 - columns_beyond) * low_low + columns_beyond * low_high;
  const float high = (1 - columns_beyond) * high_low + columns_beyond * high_high;
  return (1 - rows_beyond) * low + rows_beyond * high;
}

template <int kLanes>
COSMIC_DEVICE inline void read_bilinear(const Image& image, const Place& at, int channel,
                                        float* out) {
  const BilinearTaps rows = taps_of(at.row, image.rows);
  const BilinearTaps columns = taps_of(at.column, image.columns);
  float corner[4][kLanes];
  read_stored<kLanes>(image, at.image, rows.low, columns.low, channel, corner[0]);
  read_stored<kLanes>(image, at.image, rows.low, columns.high, channel, corner[1]);
  read_stored<kLanes>(image, at.image, rows.high, columns.low, channel, corner[2]);
  read_stored<kLanes>(image, at.image, rows.high, columns.high, channel, corner[3]);
  COSMIC_UNROLLED
  for (int k = 0; k < kLanes; ++k) {
    out[k] = between(corner[0][k], corner[1][k], corner[2][k], corner[3][k], rows.beyond,
                     columns.beyond);
  }
}

template <int kLanes>
COSMIC_DEVICE COSMIC_CALLED void read_segmentation(const Segmentation& loss, int channels,
                                                   std::int64_t image, std::int64_t pixel,
                                                   int channel, float* out) {
  const SegmentationPixel known = loss.pixel_at(image, pixel);
  for (int k = 0; k < kLanes; ++k) {
    out[k] = channel + k < channels ? loss.gradient_at(known, image, pixel, channel + k) : 0.0F;
  }
}

template <int kLanes>
COSMIC_DEVICE inline void read_leaf(const Recipe& recipe, const Leaf& leaf, const Place& at,
                                    int channel, const float* result, float* out) {
  const Image& image = leaf.image;
  switch (leaf.kind) {
    case Leaf::Kind::stored:
      read_stored<kLanes>(image, at.image, at.row, at.column, channel, out);
      return;
    case Leaf::Kind::bilinear:
      read_bilinear<kLanes>(image, at, channel, out);
      return;
    case Leaf::Kind::nearest: {
      const Division slice = divide(at.image, image.depth * leaf.factor_depth);
      read_stored<kLanes>(image,
                          slice.whole * image.depth + quotient(slice.rest, leaf.factor_depth),
                          at.row / leaf.factor_rows, at.column / leaf.factor_columns, channel, out);
      return;
    }
    case Leaf::Kind::spread: {
      const std::int64_t row =
          image.offset(at.image, 0, static_cast<std::int64_t>(at.row) * image.columns);
      COSMIC_UNROLLED
      for (int k = 0; k < kLanes; ++k) {
        const int column = at.column + leaf.shift + channel + k;
        out[k] = column >= 0 && column < image.columns
                     ? read_number(image.base, image.format, row + column)
                     : 0.0F;
      }
      return;
    }
    case Leaf::Kind::result:
      COSMIC_UNROLLED
      for (int k = 0; k < kLanes; ++k) {
        out[k] = result[k];
      }
      return;
    case Leaf::Kind::segmentation:
      read_segmentation<kLanes>(recipe.segmentation, image.channels, at.image,
                                static_cast<std::int64_t>(at.row) * image.columns + at.column,
                                channel, out);
      return;
  }
}

/// kLanes channels of the value of a recipe that has a formula, without the pooling on top.
template <int kLanes>
COSMIC_DEVICE inline void evaluate_formula(const Recipe& recipe, const Pair* table, const Place& at,
                                           int channel, const float* result, float* out) {
  const Formula& formula = recipe.formula;
  const auto read = [&](int role, float* to) {
    const Leaf& leaf = recipe.leaf[role];
    if (leaf.kind == Leaf::Kind::stored) {
      read_stored<kLanes>(leaf.image, at.image, at.row, at.column, channel, to);
    } else if (leaf.kind == Leaf::Kind::bilinear) {
      read_bilinear<kLanes>(leaf.image, at, channel, to);
    } else {
      COSMIC_UNROLLED
      for (int k = 0; k < kLanes; ++k) {
        to[k] = result[k];
      }
    }
  };
  float a[kLanes];
  read(0, a);
  if (formula.kind == Formula::Kind::plain) {
    COSMIC_UNROLLED
    for (int k = 0; k < kLanes; ++k) {
      out[k] = a[k];
    }
    return;
  }
  const Pair* const first = recipe.pairs(table, 0, channel);
  const Pair* const second = recipe.pairs(table, 1, channel);
  float b[kLanes];
  if (formula.kind == Formula::Kind::gradient || formula.is_long) {
    read(1, b);
  }
  if (formula.kind == Formula::Kind::sum) {
    COSMIC_UNROLLED
    for (int k = 0; k < kLanes; ++k) {
      out[k] = sum_value(formula, a[k], b[k], first[k], second[k]);
    }
    return;
  }
  const Pair* const third = recipe.pairs(table, 2, channel);
  float c[kLanes];
  if (!formula.c_is_b) {
    read(2, c);
  } else {
    COSMIC_UNROLLED
    for (int k = 0; k < kLanes; ++k) {
      c[k] = b[k];
    }
  }
  COSMIC_UNROLLED
  for (int k = 0; k < kLanes; ++k) {
    out[k] = gradient_value(formula, a[k], b[k], c[k], first[k], second[k], third[k]);
  }
}

/// The same by interpreting the recipe. It is a call: what else a kernel keeps in registers stays
/// there.
template <int kLanes>
COSMIC_DEVICE COSMIC_CALLED void interpret(const Recipe& recipe, const Pair* table, const Place& at,
                                           int channel, const float* result, float* out) {
  float second[kLanes] = {};
  float third[kLanes] = {};
  COSMIC_UNROLLED
  for (int k = 0; k < kLanes; ++k) {
    out[k] = 0;
  }
  const int channels = recipe.blocks() * kBlock;
  COSMIC_ONE_BY_ONE
  for (int i = 0; i < recipe.instructions; ++i) {
    const Instruction& step = recipe.instruction[i];
    const Pair* const pairs = table + step.coefficients * channels + channel;
    float leaf[kLanes];
    if (step.reads_leaf()) {
      read_leaf<kLanes>(recipe, recipe.leaf[step.leaf], at, channel, result, leaf);
    }
    switch (step.code) {
      case Instruction::Code::push:
        COSMIC_UNROLLED
        for (int k = 0; k < kLanes; ++k) {
          third[k] = second[k];
          second[k] = out[k];
          out[k] = leaf[k];
        }
        break;
      case Instruction::Code::affine:
        COSMIC_UNROLLED
        for (int k = 0; k < kLanes; ++k) {
          out[k] = out[k] * pairs[k].s + pairs[k].t;
        }
        break;
      case Instruction::Code::leaky:
        COSMIC_UNROLLED
        for (int k = 0; k < kLanes; ++k) {
          out[k] = out[k] > 0 ? out[k] : step.slope * out[k];
        }
        break;
      case Instruction::Code::add:
        COSMIC_UNROLLED
        for (int k = 0; k < kLanes; ++k) {
          out[k] = second[k] + out[k];
          second[k] = third[k];
        }
        break;
      case Instruction::Code::gate:
        COSMIC_UNROLLED
        for (int k = 0; k < kLanes; ++k) {
          out[k] = second[k] > 0 ? out[k] : step.slope * out[k];
          second[k] = third[k];
        }
        break;
      case Instruction::Code::add_affine:
        COSMIC_UNROLLED
        for (int k = 0; k < kLanes; ++k) {
          out[k] = out[k] + (leaf[k] * pairs[k].s + pairs[k].t);
        }
        break;
      case Instruction::Code::gate_affine:
        COSMIC_UNROLLED
        for (int k = 0; k < kLanes; ++k) {
          out[k] = leaf[k] * pairs[k].s + pairs[k].t > 0 ? out[k] : step.slope * out[k];
        }
        break;
    }
  }
}

/// kLanes channels of the value, without the pooling on top. `table` is the group's; `result` what
/// a Leaf::Kind::result stands for.
template <int kLanes>
COSMIC_DEVICE inline void evaluate_pixel(const Recipe& recipe, const Pair* table, const Place& at,
                                         int channel, const float* result, float* out) {
  if (recipe.formula.kind == Formula::Kind::none) {
    interpret<kLanes>(recipe, table, at, channel, result, out);
  } else {
    evaluate_formula<kLanes>(recipe, table, at, channel, result, out);
  }
}

/// kLanes channels of the value.
template <int kLanes>
COSMIC_DEVICE inline void evaluate(const Recipe& recipe, const Pair* table, const Place& at,
                                   int channel, const float* result, float* out) {
  const Division slice = divide(at.image, recipe.depth);
  const int pool = recipe.pool_depth * recipe.pool_rows * recipe.pool_columns;
  COSMIC_ONE_BY_ONE
  for (int i = 0; i < pool; ++i) {
    const int column = i % recipe.pool_columns;
    const int row = i / recipe.pool_columns % recipe.pool_rows;
    const int depth = i / recipe.pool_columns / recipe.pool_rows;
    const Place from{slice.whole * recipe.source_depth + slice.rest * recipe.pool_depth + depth,
                     at.row * recipe.pool_rows + row, at.column * recipe.pool_columns + column};
    float pixel[kLanes];
    evaluate_pixel<kLanes>(recipe, table, from, channel, result, pixel);
    COSMIC_UNROLLED
    for (int k = 0; k < kLanes; ++k) {
      out[k] = i == 0 || pixel[k] > out[k] ? pixel[k] : out[k];
    }
  }
}

}  // namespace cosmic::target::cuda
