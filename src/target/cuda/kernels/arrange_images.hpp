// Moving channels of images: between layouts and formats, out of one image into another, between
// planes, depth and channels.
#pragma once

#include "target/cuda/kernels/image.hpp"

namespace cosmic::target::cuda {

/// i: a pixel of a channel of an image of the result. Where neighbouring channels of the result are
/// neighbours where they come from, which is nearly always, a kernel moves a group of them at once.
struct ArrangeBody {
  enum class Kind : std::uint8_t {
    copy,                ///< also from one layout to another
    put,                 ///< i counts the operand: at `first` of the result's channels or images
    take,                ///< from `first` of the operand's channels or images on
    embed,               ///< at `first`, zeros around
    planes_to_channels,  ///< image (p, b), channel c is image b, channel p * C + c
    channels_to_planes,
    depth_to_planes,  ///< slice (b, d) is image (d, b)
    planes_to_depth,
  };

  /// Channels of a group.
  static constexpr int kGroup = kBlock;

  Kind kind;
  bool along_channels;
  int first;
  int planes;
  Image x;
  Image y;

  COSMIC_DEVICE const Image& counted() const { return kind == Kind::put ? x : y; }
  /// Channels that fill up a block are written too, as zeros.
  COSMIC_DEVICE static int padded(const Image& image) { return image.blocks() * image.lanes; }
  COSMIC_DEVICE std::int64_t items() const {
    const Image& image = counted();
    return static_cast<std::int64_t>(image.images) *
           (kind == Kind::put ? image.channels : padded(image)) * image.pixels();
  }

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Image& image = counted();
    const Division channel = divide(i, image.pixels());
    const Division at = divide(channel.whole, kind == Kind::put ? image.channels : padded(image));
    const std::int64_t n = at.whole;
    const int c = static_cast<int>(at.rest);
    const std::int64_t p = channel.rest;
    if (kind == Kind::put) {
      y.store(put_image(n), put_channel(c), p, x.load(n, c, p));
      return;
    }
    const Source from = source(n, c);
    y.store(n, c, p,
            c < y.channels && is_inside(from) ? x.load(from.image, from.channel, p) : 0.0F);
  }

  COSMIC_DEVICE int groups() const { return (counted().channels + kGroup - 1) / kGroup; }
  /// Do the channels of every group have one image as their source, where they are neighbours too?
  COSMIC_DEVICE bool has_groups() const {
    return kind != Kind::planes_to_channels || x.channels % kGroup == 0;
  }

  /// Where a group comes from and goes to: the same for all pixels of an image.
  struct Group {
    std::int64_t from_image;
    std::int64_t to_image;
    int from_channel;  ///< of the first lane, as is the next
    int to_channel;
    int begin;  ///< of the lanes that have a source; the others are zero
    int end;
    int lanes;  ///< that are written
    bool loads_vector;
    bool stores_vector;
  };

  COSMIC_DEVICE Group group(std::int64_t n, int g) const {
    const int channel = g * kGroup;
    const int left = counted().channels - channel;
    const Source from = kind == Kind::put ? Source{n, channel} : source(n, channel);
    Group at{};
    at.from_image = from.image;
    at.from_channel = from.channel;
    at.to_image = kind == Kind::put ? put_image(n) : n;
    at.to_channel = kind == Kind::put ? put_channel(channel) : channel;
    at.lanes = left < kGroup ? left : kGroup;
    if (from.image >= 0 && from.image < x.images) {
      at.begin = from.channel < 0 ? -from.channel : 0;
      at.end = x.channels - from.channel < at.lanes ? x.channels - from.channel : at.lanes;
    }
    at.loads_vector = at.begin < at.end && is_vector(x, from.channel, at.lanes);
    // Not where it would write over channels beside it.
    at.stores_vector = is_vector(y, at.to_channel, at.lanes) &&
                       (kind != Kind::put || at.lanes == static_cast<int>(y.lanes));
    return at;
  }

  COSMIC_DEVICE void move(const Group& at, std::int64_t p) const {
    float numbers[kGroup] = {};
    if (at.loads_vector) {
      const std::int64_t from = x.offset(at.from_image, at.from_channel, p);
      if (x.lanes == kNarrowBlock) {
        read_numbers<kNarrowBlock>(x.base, x.format, from, numbers);
      } else {
        read_numbers<kGroup>(x.base, x.format, from, numbers);
      }
    }
    COSMIC_UNROLLED
    for (int k = 0; k < kGroup; ++k) {
      if (k < at.begin || k >= at.end) {
        numbers[k] = 0;
      } else if (!at.loads_vector) {
        numbers[k] = x.load(at.from_image, at.from_channel + k, p);
      }
    }
    if (at.stores_vector) {
      write_vector(y, at.to_image, at.to_channel / y.lanes, p, numbers);
      return;
    }
    COSMIC_UNROLLED
    for (int k = 0; k < kGroup; ++k) {
      if (k < at.lanes) {
        y.store(at.to_image, at.to_channel + k, p, numbers[k]);
      }
    }
  }

 private:
  /// Of a channel of the result: of the operand, where that is inside.
  struct Source {
    std::int64_t image;
    int channel;
  };

  COSMIC_DEVICE bool is_inside(const Source& from) const {
    return from.image >= 0 && from.image < x.images && from.channel >= 0 &&
           from.channel < x.channels;
  }
  COSMIC_DEVICE std::int64_t put_image(std::int64_t n) const {
    return along_channels ? n : n + static_cast<std::int64_t>(first) * y.depth;
  }
  COSMIC_DEVICE int put_channel(int c) const { return along_channels ? c + first : c; }
  /// Are so many lanes from this channel on one vector of the image?
  COSMIC_DEVICE static bool is_vector(const Image& image, int channel, int lanes) {
    return image.is_blocked() && channel >= 0 && channel % image.lanes == 0 &&
           lanes <= static_cast<int>(image.lanes);
  }

  COSMIC_DEVICE Source source(std::int64_t n, int c) const {
    switch (kind) {
      case Kind::copy:
      case Kind::put:
        break;
      case Kind::take:
        return along_channels ? Source{n, c + first}
                              : Source{n + static_cast<std::int64_t>(first) * x.depth, c};
      case Kind::embed:
        return along_channels ? Source{n, c - first}
                              : Source{n - static_cast<std::int64_t>(first) * y.depth, c};
      case Kind::planes_to_channels: {
        // With depth, slices of an image stay together.
        const Division slice = divide(n, y.depth);
        const std::int64_t batch = y.images / y.depth;
        return {(c / x.channels * batch + slice.whole) * x.depth + slice.rest, c % x.channels};
      }
      case Kind::channels_to_planes: {
        const Division slice = divide(n, y.depth);
        const Division plane = divide(slice.whole, x.images / x.depth);
        return {plane.rest * x.depth + slice.rest, static_cast<int>(plane.whole) * y.channels + c};
      }
      case Kind::depth_to_planes: {
        const Division plane = divide(n, x.images / x.depth);
        return {plane.rest * x.depth + plane.whole, c};
      }
      case Kind::planes_to_depth: {
        const Division slice = divide(n, y.depth);
        return {slice.rest * (y.images / y.depth) + slice.whole, c};
      }
    }
    return {n, c};
  }
};

}  // namespace cosmic::target::cuda
