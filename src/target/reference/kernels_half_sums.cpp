// One result after the other, its products in the order that graph::partials_of lays down.
#include "graph/graph.hpp"
#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {
namespace {

using graph::FeatureMap;
using graph::kPartialsGroup;
using graph::Transposed;

/// Rounded whenever a group is full, or is ended before.
class RoundedSum {
 public:
  explicit RoundedSum(const RoundSum& round) : round_(round) {}

  void add(double product) {
    group_ += product;
    if (++products_ == kPartialsGroup) {
      end_group();
    }
  }
  void end_group() {
    sum_ = round_(sum_ + group_);
    group_ = 0;
    products_ = 0;
  }
  double value() const { return sum_; }

 private:
  const RoundSum& round_;
  double sum_ = 0;
  double group_ = 0;
  std::int64_t products_ = 0;
};

/// The pixel of a convolution's image that result `to` meets through `tap`.
Position image_pixel(const graph::Window& window, const Position& to, const Position& tap) {
  return {to.depth * window.stride[0] - window.pad[0] + tap.depth,
          to.row * window.stride[1] - window.pad[1] + tap.row,
          to.column * window.stride[2] - window.pad[2] + tap.column};
}

/// The other way round: the result that meets pixel `from` through `tap`. Outside of every map
/// where there is none.
Position result_pixel(const graph::Window& window, const Position& from, const Position& tap) {
  constexpr std::int64_t kNone = -1;
  const auto along = [&](std::size_t axis, std::int64_t i, std::int64_t k) {
    const std::int64_t distance = i + window.pad[axis] - k;
    return distance < 0 || distance % window.stride[axis] != 0 ? kNone
                                                               : distance / window.stride[axis];
  };
  return {along(0, from.depth, tap.depth), along(1, from.row, tap.row),
          along(2, from.column, tap.column)};
}

}  // namespace

Tensor run(const graph::Conv& op, Operands in, const graph::TensorType& out,
           const RoundSum& round) {
  const graph::Window window = window_for(out, op.window);
  const FeatureMap image = graph::feature_map(in[0]->type, "an image");
  const FeatureMap kernel = graph::feature_map(in[1]->type, "a kernel");
  const FeatureMap result = graph::feature_map(out, "a result");
  Tensor y = zeros(out);
  for (std::int64_t n = 0; n < result.batch; ++n) {
    for (std::int64_t filter = 0; filter < result.channels; ++filter) {
      for_each_position(result, [&](const Position& to) {
        RoundedSum sum(round);
        for_each_position(kernel, [&](const Position& tap) {
          const Position from = image_pixel(window, to, tap);
          for (std::int64_t c = 0; inside(image, from) && c < image.channels; ++c) {
            sum.add(in[0]->data[element(image, n, c, from)] *
                    in[1]->data[element(kernel, filter, c, tap)]);
          }
          sum.end_group();
        });
        y.data[element(result, n, filter, to)] = sum.value();
      });
    }
  }
  add_bias_and_addend(in, y);
  activate(op, y);
  return y;
}

Tensor run(const graph::ConvTranspose& op, Operands in, const graph::TensorType& out,
           const RoundSum& round) {
  const graph::Window window = window_for(out, op.window);
  const FeatureMap y = graph::feature_map(in[0]->type, "an image");
  const FeatureMap kernel = graph::feature_map(in[1]->type, "a kernel");
  const FeatureMap result = graph::feature_map(out, "a result");
  Tensor image = zeros(out);
  for (std::int64_t n = 0; n < result.batch; ++n) {
    for (std::int64_t channel = 0; channel < result.channels; ++channel) {
      for_each_position(result, [&](const Position& to) {
        RoundedSum sum(round);
        for_each_position(kernel, [&](const Position& tap) {
          const Position from = result_pixel(window, to, tap);
          for (std::int64_t c = 0; inside(y, from) && c < y.channels; ++c) {
            sum.add(in[0]->data[element(y, n, c, from)] *
                    in[1]->data[element(kernel, c, channel, tap)]);
          }
          sum.end_group();
        });
        image.data[element(result, n, channel, to)] = sum.value();
      });
    }
  }
  add_bias_and_addend(in, image);
  return image;
}

Tensor run(const graph::ConvKernelGradient& op, Operands in, const graph::TensorType& out,
           const RoundSum& round) {
  const graph::Window window = window_for(out, op.window);
  const FeatureMap image = graph::feature_map(in[0]->type, "an image");
  const FeatureMap dy = graph::feature_map(in[1]->type, "a gradient");
  const FeatureMap kernel = graph::feature_map(out, "a kernel");
  Tensor dkernel = zeros(out);
  for (std::int64_t filter = 0; filter < dy.channels; ++filter) {
    for (std::int64_t channel = 0; channel < image.channels; ++channel) {
      for_each_position(kernel, [&](const Position& tap) {
        RoundedSum sum(round);
        for (std::int64_t n = 0; n < dy.batch; ++n) {
          for_each_position(dy, [&](const Position& to) {
            const Position from = image_pixel(window, to, tap);
            sum.add(inside(image, from) ? in[0]->data[element(image, n, channel, from)] *
                                              in[1]->data[element(dy, n, filter, to)]
                                        : 0);
            if (to.column + 1 == dy.columns) {
              sum.end_group();
            }
          });
        }
        dkernel.data[element(kernel, filter, channel, tap)] = sum.value();
      });
    }
  }
  return dkernel;
}

Tensor run(const graph::MatMul& op, Operands in, const graph::TensorType& out,
           const RoundSum& round) {
  const std::int64_t inner = in[0]->type.dim(op.a == Transposed::yes ? 0 : 1);
  Tensor y = zeros(out);
  for (std::int64_t row = 0; row < out.dim(0); ++row) {
    for (std::int64_t column = 0; column < out.dim(1); ++column) {
      RoundedSum sum(round);
      for (std::int64_t k = 0; k < inner; ++k) {
        sum.add(matrix_element(*in[0], op.a, row, k) * matrix_element(*in[1], op.b, k, column));
      }
      sum.end_group();
      y.data[row * out.dim(1) + column] = sum.value();
    }
  }
  return y;
}

}  // namespace cosmic::target::reference
