#include "target/cpu/plain_step_kinds.hpp"

#include <algorithm>
#include <cstring>
#include "target/cpu/kernels/row_kernels.hpp"

namespace cosmic::target::cpu {
namespace {

void fill_integers(std::byte* out, const graph::TensorType& type, double value) {
  for (std::int64_t i = 0; i < type.elements(); ++i) {
    if (type.dtype == graph::DType::i64) {
      const auto whole = static_cast<std::int64_t>(value);
      std::memcpy(out + i * 8, &whole, sizeof(whole));
    } else {
      out[i] = static_cast<std::byte>(static_cast<std::uint8_t>(value));
    }
  }
}

std::unique_ptr<PreparedStep> affine(const PlainNode& n, bool with_shift) {
  const graph::FeatureMap map =
      graph::feature_map(n.node().type, "the operand of a per-channel op");
  const std::int64_t groups = n.type(1).dim(1);
  return step([out = n.out(), x = n.in(0), k = n.in(1), map, groups, with_shift](const Team&) {
    for (std::int64_t i = 0; i < map.batch * map.channels; ++i) {
      const std::int64_t at =
          i / map.channels / (map.batch / groups) * map.channels + i % map.channels;
      const float shift = with_shift ? k[groups * map.channels + at] : 0;
      for (std::int64_t p = i * map.pixels(); p < (i + 1) * map.pixels(); ++p) {
        out[p] = x[p] * k[at] + shift;
      }
    }
  });
}

}  // namespace

std::unique_ptr<PreparedStep> plain_step(const graph::Fill& op, const PlainNode& n) {
  const std::int64_t count = n.node().type.elements();
  if (n.node().type.dtype == graph::DType::f32) {
    return elementwise(count, [out = n.out(), value = static_cast<float>(op.value)](
                                  std::int64_t begin, std::int64_t end) {
      std::fill(out + begin, out + end, value);
    });
  }
  return step([out = n.raw_out(), type = n.node().type, value = op.value](const Team&) {
    fill_integers(out, type, value);
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::Add&, const PlainNode& n) {
  return elementwise(n.node().type.elements(), [out = n.out(), a = n.in(0), b = n.in(1)](
                                                   std::int64_t begin, std::int64_t end) {
    scale_add(out + begin, a + begin, b + begin, 1, end - begin);
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::Scale& op, const PlainNode& n) {
  return elementwise(n.node().type.elements(),
                     [out = n.out(), x = n.in(0), factor = static_cast<float>(op.factor)](
                         std::int64_t begin, std::int64_t end) {
                       scale_floats(out + begin, x + begin, factor, end - begin);
                     });
}

std::unique_ptr<PreparedStep> plain_step(const graph::LeakyRelu& op, const PlainNode& n) {
  return elementwise(n.node().type.elements(),
                     [out = n.out(), x = n.in(0), slope = static_cast<float>(op.slope)](
                         std::int64_t begin, std::int64_t end) {
                       gate_floats(out + begin, x + begin, x + begin, slope, end - begin);
                     });
}

std::unique_ptr<PreparedStep> plain_step(const graph::LeakyReluGradient& op, const PlainNode& n) {
  return elementwise(n.node().type.elements(),
                     [out = n.out(), x = n.in(0), dy = n.in(1),
                      slope = static_cast<float>(op.slope)](std::int64_t begin, std::int64_t end) {
                       gate_floats(out + begin, x + begin, dy + begin, slope, end - begin);
                     });
}

std::unique_ptr<PreparedStep> plain_step(const graph::ChannelBias&, const PlainNode& n) {
  const graph::FeatureMap map =
      graph::feature_map(n.node().type, "the operand of a per-channel op");
  if (map.pixels() == 1) {
    return step([out = n.out(), x = n.in(0), bias = n.in(1), map](const Team&) {
      for (std::int64_t row = 0; row < map.batch; ++row) {
        const std::int64_t at = row * map.channels;
        scale_add(out + at, x + at, bias, 1, map.channels);
      }
    });
  }
  return step([out = n.out(), x = n.in(0), bias = n.in(1), map](const Team&) {
    for (std::int64_t i = 0; i < map.batch * map.channels; ++i) {
      for (std::int64_t p = i * map.pixels(); p < (i + 1) * map.pixels(); ++p) {
        out[p] = x[p] + bias[i % map.channels];
      }
    }
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::ChannelAffine&, const PlainNode& n) {
  return affine(n, true);
}

std::unique_ptr<PreparedStep> plain_step(const graph::ChannelScale&, const PlainNode& n) {
  return affine(n, false);
}

}  // namespace cosmic::target::cpu
