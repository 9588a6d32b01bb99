#include <algorithm>

#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {

using graph::FeatureMap;

graph::Window window_for(const graph::TensorType& image, graph::Window window) {
  if (image.rank() == 4) {
    window.stride[0] = 1;
    window.pad[0] = 0;
  }
  return window;
}

void add_bias_and_addend(Operands in, Tensor& y) {
  for_each_element(graph::feature_map(y.type, "the result"),
                   [&](std::int64_t, std::int64_t channel, std::int64_t i) {
                     if (in.size() > 2) {
                       y.data[i] += in[2]->data[channel];
                     }
                     if (in.size() > 3) {
                       y.data[i] += in[3]->data[i];
                     }
                   });
}

void activate(const graph::Conv& op, Tensor& y) {
  if (op.slope == 1) {
    return;
  }
  for (double& x : y.data) {
    x = x > 0 ? x : op.slope * x;
  }
}

namespace {

/// The results along one axis that meet a pixel of the image through kernel element `tap`.
struct Reach {
  std::int64_t first = 0;
  std::int64_t end = 0;

  Reach(std::int64_t results, std::int64_t pixels, std::int64_t stride, std::int64_t pad,
        std::int64_t tap)
      : first(std::max<std::int64_t>(0, (pad - tap + stride - 1) / stride)),
        end(std::min(results, (pixels - 1 + pad - tap) / stride + 1)) {
    if (pixels - 1 + pad - tap < 0) {
      end = 0;
    }
  }
};

/// Calls visit(image element, kernel element, result element) for every product a convolution adds
/// up. Convolution is linear in the image and in the kernel, so its adjoints are sums over the very
/// same triples. Padding is left out; along a row of results the image is walked with the stride.
template <class Visit>
void for_each_product(const graph::Window& given_window, const graph::TensorType& image_type,
                      const graph::TensorType& kernel_type, const graph::TensorType& result_type,
                      const Visit& visit) {
  const graph::Window window = window_for(image_type, given_window);
  const FeatureMap image = graph::feature_map(image_type, "an image");
  const FeatureMap kernel = graph::feature_map(kernel_type, "a kernel");
  const FeatureMap result = graph::feature_map(result_type, "a result");
  const std::int64_t filters = kernel.batch;
  const auto for_each_tap = [&](std::int64_t n, std::int64_t filter, std::int64_t channel,
                                const Position& tap) {
    const auto reach = [&](std::size_t axis, std::int64_t results, std::int64_t pixels,
                           std::int64_t at) {
      return Reach(results, pixels, window.stride[axis], window.pad[axis], at);
    };
    const Reach slices = reach(0, result.depth, image.depth, tap.depth);
    const Reach rows = reach(1, result.rows, image.rows, tap.row);
    const Reach columns = reach(2, result.columns, image.columns, tap.column);
    const std::int64_t weight = element(kernel, filter, channel, tap);
    for (std::int64_t depth = slices.first; depth < slices.end; ++depth) {
      for (std::int64_t row = rows.first; row < rows.end; ++row) {
        const std::int64_t from =
            element(image, n, channel,
                    {depth * window.stride[0] - window.pad[0] + tap.depth,
                     row * window.stride[1] - window.pad[1] + tap.row, tap.column - window.pad[2]});
        const std::int64_t to = element(result, n, filter, {depth, row, 0});
        for (std::int64_t column = columns.first; column < columns.end; ++column) {
          visit(from + column * window.stride[2], weight, to + column);
        }
      }
    }
  };
  for (std::int64_t n = 0; n < image.batch; ++n) {
    for (std::int64_t filter = 0; filter < filters; ++filter) {
      for (std::int64_t channel = 0; channel < image.channels; ++channel) {
        for_each_position(kernel,
                          [&](const Position& tap) { for_each_tap(n, filter, channel, tap); });
      }
    }
  }
}

}  // namespace

Tensor run(const graph::Conv& op, Operands in, const graph::TensorType& out) {
  const Tensor& image = *in[0];
  const Tensor& kernel = *in[1];
  Tensor y = zeros(out);
  for_each_product(op.window, image.type, kernel.type, out,
                   [&](std::int64_t from, std::int64_t tap, std::int64_t to) {
                     y.data[to] += image.data[from] * kernel.data[tap];
                   });
  add_bias_and_addend(in, y);
  activate(op, y);
  return y;
}

Tensor run(const graph::ConvTranspose& op, Operands in, const graph::TensorType& out) {
  const Tensor& y = *in[0];
  const Tensor& kernel = *in[1];
  Tensor image = zeros(out);
  for_each_product(op.window, out, kernel.type, y.type,
                   [&](std::int64_t from, std::int64_t tap, std::int64_t to) {
                     image.data[from] += y.data[to] * kernel.data[tap];
                   });
  add_bias_and_addend(in, image);
  return image;
}

Tensor run(const graph::ConvKernelGradient& op, Operands in, const graph::TensorType& out) {
  const Tensor& image = *in[0];
  const Tensor& dy = *in[1];
  Tensor dkernel = zeros(out);
  for_each_product(op.window, image.type, out, dy.type,
                   [&](std::int64_t from, std::int64_t tap, std::int64_t to) {
                     dkernel.data[tap] += image.data[from] * dy.data[to];
                   });
  return dkernel;
}

Tensor run(const graph::ScaleFilters& op, Operands in, const graph::TensorType& out) {
  const AxisView view = around_axis(out, op.filter_axis);
  Tensor scaled = zeros(out);
  for (std::int64_t before = 0; before < view.outer; ++before) {
    for (std::int64_t filter = 0; filter < view.extent; ++filter) {
      for (std::int64_t after = 0; after < view.inner; ++after) {
        const std::int64_t i = view.element(before, filter, after);
        // The scales are the first half of the coefficients [2, 1, filters].
        scaled.data[i] = in[0]->data[i] * in[1]->data[filter];
      }
    }
  }
  return scaled;
}

}  // namespace cosmic::target::reference
