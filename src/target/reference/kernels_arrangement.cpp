#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {
namespace {

/// Copies the elements of `part` to position `begin` of an axis of `whole`.
void put(const Tensor& part, std::int64_t axis, std::int64_t begin, Tensor& whole) {
  const AxisView from = around_axis(part.type, axis);
  const AxisView to = around_axis(whole.type, axis);
  for (std::int64_t before = 0; before < from.outer; ++before) {
    for (std::int64_t at = 0; at < from.extent; ++at) {
      for (std::int64_t after = 0; after < from.inner; ++after) {
        whole.data[to.element(before, begin + at, after)] =
            part.data[from.element(before, at, after)];
      }
    }
  }
}

/// Extents in which all four "planes" ops agree: everything behind batch and channel is `inner`.
struct PlaneExtents {
  std::int64_t planes = 1;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t inner = 1;
};

/// Calls visit(plane, image, channel, inner).
template <class Visit>
void for_each(const PlaneExtents& extents, const Visit& visit) {
  for (std::int64_t plane = 0; plane < extents.planes; ++plane) {
    for (std::int64_t image = 0; image < extents.batch; ++image) {
      for (std::int64_t channel = 0; channel < extents.channels; ++channel) {
        for (std::int64_t inner = 0; inner < extents.inner; ++inner) {
          visit(plane, image, channel, inner);
        }
      }
    }
  }
}

/// Where an element is in [planes * batch, channels, inner].
auto plane_major(const PlaneExtents& e) {
  return [e](std::int64_t plane, std::int64_t image, std::int64_t channel, std::int64_t inner) {
    return ((plane * e.batch + image) * e.channels + channel) * e.inner + inner;
  };
}

/// Where it is in [batch, planes * channels, inner].
auto in_channels(const PlaneExtents& e) {
  return [e](std::int64_t plane, std::int64_t image, std::int64_t channel, std::int64_t inner) {
    return ((image * e.planes + plane) * e.channels + channel) * e.inner + inner;
  };
}

/// Where it is in [batch, channels, planes, inner].
auto in_depth(const PlaneExtents& e) {
  return [e](std::int64_t plane, std::int64_t image, std::int64_t channel, std::int64_t inner) {
    return ((image * e.channels + channel) * e.planes + plane) * e.inner + inner;
  };
}

template <class From, class To>
Tensor rearranged(const PlaneExtents& extents, const Tensor& x, const From& from, const To& to,
                  const graph::TensorType& out) {
  Tensor y = zeros(out);
  for_each(extents,
           [&](std::int64_t plane, std::int64_t image, std::int64_t channel, std::int64_t inner) {
             y.data[to(plane, image, channel, inner)] = x.data[from(plane, image, channel, inner)];
           });
  return y;
}

/// `plane_major_type` is [planes * batch, channels, ...].
PlaneExtents extents_of(const graph::TensorType& plane_major_type, std::int64_t planes) {
  const std::int64_t images = plane_major_type.dim(0);
  const std::int64_t channels = plane_major_type.dim(1);
  return {planes, images / planes, channels, plane_major_type.elements() / (images * channels)};
}

}  // namespace

Tensor run(const graph::Concat& op, Operands in, const graph::TensorType& out) {
  Tensor y = zeros(out);
  std::int64_t begin = 0;
  for (const Tensor* part : in) {
    put(*part, op.axis, begin, y);
    begin += part->type.dim(static_cast<std::size_t>(op.axis));
  }
  return y;
}

Tensor run(const graph::Slice& op, Operands in, const graph::TensorType& out) {
  const AxisView from = around_axis(in[0]->type, op.axis);
  const AxisView to = around_axis(out, op.axis);
  Tensor y = zeros(out);
  for (std::int64_t before = 0; before < to.outer; ++before) {
    for (std::int64_t at = 0; at < to.extent; ++at) {
      for (std::int64_t after = 0; after < to.inner; ++after) {
        y.data[to.element(before, at, after)] =
            in[0]->data[from.element(before, op.begin + at, after)];
      }
    }
  }
  return y;
}

Tensor run(const graph::Embed& op, Operands in, const graph::TensorType& out) {
  Tensor y = zeros(out);
  put(*in[0], op.axis, op.begin, y);
  return y;
}

Tensor run(const graph::Reshape&, Operands in, const graph::TensorType& out) {
  return {out, in[0]->data};
}

Tensor run(const graph::PlanesToChannels& op, Operands in, const graph::TensorType& out) {
  const PlaneExtents extents = extents_of(in[0]->type, op.planes);
  return rearranged(extents, *in[0], plane_major(extents), in_channels(extents), out);
}

Tensor run(const graph::ChannelsToPlanes& op, Operands in, const graph::TensorType& out) {
  const PlaneExtents extents = extents_of(out, op.planes);
  return rearranged(extents, *in[0], in_channels(extents), plane_major(extents), out);
}

Tensor run(const graph::DepthToPlanes&, Operands in, const graph::TensorType& out) {
  const PlaneExtents extents = extents_of(out, in[0]->type.dim(2));
  return rearranged(extents, *in[0], in_depth(extents), plane_major(extents), out);
}

Tensor run(const graph::PlanesToDepth& op, Operands in, const graph::TensorType& out) {
  const PlaneExtents extents = extents_of(in[0]->type, op.planes);
  return rearranged(extents, *in[0], plane_major(extents), in_depth(extents), out);
}

Tensor run(const graph::Copy&, Operands in, const graph::TensorType&) {
  return *in[0];
}

// Every tensor here is in plain row-major order; a layout is how a target stores one, not its
// value.
Tensor run(const graph::Reorder&, Operands in, const graph::TensorType&) {
  return *in[0];
}

}  // namespace cosmic::target::reference
