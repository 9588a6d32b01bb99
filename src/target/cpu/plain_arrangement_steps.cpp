#include "target/cpu/plain_step_kinds.hpp"

#include <cstring>

namespace cosmic::target::cpu {
namespace {

/// Copies a [a][b][c] array of slabs to [order of axes]; each slab is `bytes` long.
std::unique_ptr<PreparedStep> permute(const std::byte* in, std::byte* out,
                                      std::array<std::int64_t, 3> extent,
                                      std::array<std::size_t, 3> order, std::int64_t bytes) {
  return step([=](const Team&) {
    std::array<std::int64_t, 3> i{};
    std::byte* to = out;
    for (i[order[0]] = 0; i[order[0]] < extent[order[0]]; ++i[order[0]]) {
      for (i[order[1]] = 0; i[order[1]] < extent[order[1]]; ++i[order[1]]) {
        for (i[order[2]] = 0; i[order[2]] < extent[order[2]]; ++i[order[2]]) {
          const std::int64_t slab = (i[0] * extent[1] + i[1]) * extent[2] + i[2];
          std::memcpy(to, in + slab * bytes, static_cast<std::size_t>(bytes));
          to += bytes;
        }
      }
    }
  });
}

}  // namespace

std::unique_ptr<PreparedStep> plain_step(const graph::Concat& op, const PlainNode& n) {
  const auto axis = static_cast<std::size_t>(op.axis);
  struct Part {
    const std::byte* from;
    std::int64_t bytes;
  };
  std::vector<Part> parts;
  for (std::size_t i = 0; i < n.node().operands.size(); ++i) {
    const graph::TensorType& part = n.type(i);
    parts.push_back({n.raw(i), product(part.shape, axis, part.rank()) * size_of(part.dtype)});
  }
  return step(
      [out = n.raw_out(), parts, outer = product(n.node().type.shape, 0, axis)](const Team&) {
        std::byte* to = out;
        for (std::int64_t o = 0; o < outer; ++o) {
          for (const Part& part : parts) {
            std::memcpy(to, part.from + o * part.bytes, static_cast<std::size_t>(part.bytes));
            to += part.bytes;
          }
        }
      });
}

std::unique_ptr<PreparedStep> plain_step(const graph::Slice& op, const PlainNode& n) {
  const auto axis = static_cast<std::size_t>(op.axis);
  const std::int64_t inner =
      product(n.node().type.shape, axis + 1, n.node().type.rank()) * size_of(n.node().type.dtype);
  if (n.raw(0) + op.begin * inner == n.raw_out()) {
    return step([](const Team&) {});  // it lies in its operand
  }
  return step([out = n.raw_out(), from = n.raw(0) + op.begin * inner,
               outer = product(n.node().type.shape, 0, axis), stride = n.type(0).dim(axis) * inner,
               bytes = (op.end - op.begin) * inner](const Team&) {
    for (std::int64_t o = 0; o < outer; ++o) {
      std::memcpy(out + o * bytes, from + o * stride, static_cast<std::size_t>(bytes));
    }
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::Embed& op, const PlainNode& n) {
  const auto axis = static_cast<std::size_t>(op.axis);
  const std::int64_t inner =
      product(n.node().type.shape, axis + 1, n.node().type.rank()) * size_of(n.node().type.dtype);
  return step([out = n.raw_out(), from = n.raw(0), before = op.begin * inner,
               outer = product(n.node().type.shape, 0, axis), stride = op.extent * inner,
               bytes = n.type(0).dim(axis) * inner](const Team&) {
    for (std::int64_t o = 0; o < outer; ++o) {
      std::byte* const to = out + o * stride;
      std::memset(to, 0, static_cast<std::size_t>(stride));
      std::memcpy(to + before, from + o * bytes, static_cast<std::size_t>(bytes));
    }
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::Reshape&, const PlainNode& n) {
  if (n.raw(0) == n.raw_out()) {
    return step([](const Team&) {});  // it has taken over its operand's place
  }
  return permute(n.raw(0), n.raw_out(), {1, 1, 1}, {0, 1, 2}, n.node().type.bytes());
}

std::unique_ptr<PreparedStep> plain_step(const graph::Copy&, const PlainNode& n) {
  const std::int64_t size = size_of(n.node().type.dtype);
  return elementwise(n.node().type.elements(),
                     [out = n.raw_out(), x = n.raw(0), size](std::int64_t begin, std::int64_t end) {
                       std::memcpy(out + begin * size, x + begin * size,
                                   static_cast<std::size_t>((end - begin) * size));
                     });
}

std::unique_ptr<PreparedStep> plain_step(const graph::PlanesToChannels& op, const PlainNode& n) {
  const std::int64_t batch = n.node().type.dim(0);
  return permute(n.raw(0), n.raw_out(), {op.planes, batch, 1}, {1, 0, 2},
                 n.node().type.bytes() / op.planes / batch);
}

std::unique_ptr<PreparedStep> plain_step(const graph::ChannelsToPlanes& op, const PlainNode& n) {
  const std::int64_t batch = n.type(0).dim(0);
  return permute(n.raw(0), n.raw_out(), {batch, op.planes, 1}, {1, 0, 2},
                 n.node().type.bytes() / op.planes / batch);
}

std::unique_ptr<PreparedStep> plain_step(const graph::DepthToPlanes&, const PlainNode& n) {
  const graph::TensorType& from = n.type(0);
  return permute(n.raw(0), n.raw_out(), {from.dim(0), from.dim(1), from.dim(2)}, {2, 0, 1},
                 from.bytes() / (from.dim(0) * from.dim(1) * from.dim(2)));
}

std::unique_ptr<PreparedStep> plain_step(const graph::PlanesToDepth& op, const PlainNode& n) {
  const graph::TensorType& to = n.node().type;
  return permute(n.raw(0), n.raw_out(), {op.planes, to.dim(0), to.dim(1)}, {1, 2, 0},
                 to.bytes() / (op.planes * to.dim(0) * to.dim(1)));
}

}  // namespace cosmic::target::cpu
