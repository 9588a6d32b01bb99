// What an op is, apart from its arithmetic: what the compiler and the targets must know to choose
// number formats, layouts, buffers and the division of its work. Every op states all of it (see
// OpDefinition); nothing here has a default, so an op that leaves one out does not compile.
//
// Each answer is callable, because a few depend on the op's attributes or on its operands; for all
// others the values below say it in a word: `static constexpr auto division = always<...>;`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/tensor_type.hpp"

namespace cosmic::graph {

/// What a value is to a network. It decides the number format the value is kept in; the order
/// matters: what has to do with a gradient is one.
enum class Role {
  number,    ///< anything else: a sum, a coefficient, a counter, a label
  image,     ///< an activation
  gradient,  ///< of an image
  weight_gradient,
};

inline bool is_image(Role role) {
  return role == Role::image || role == Role::gradient;
}

using Roles = std::span<const Role>;
using Types = std::span<const TensorType>;

/// May the result be written over an operand that nobody reads afterwards, element by element?
enum class Overwrite { never, first_operand };

/// Must it read its first operand, and write its result, in float32, whatever images are kept in?
/// So do losses and what the caller sees.
enum class Exact { no, operand, operand_and_result };

/// Does it sum over the pixels of images? Then it can take them while another op makes them.
enum class Reduction {
  none,
  pixels,          ///< each pixel once, in any order of rows: statistics, sums of the loss
  pixel_products,  ///< pixels of one image times neighbours in another: a kernel's gradient
};

/// Into what its work can be cut without a worker waiting for another.
enum class Division {
  elements,  ///< any part of the result is computed alone
  images,    ///< the images of a batch do not mix
  groups,    ///< nor do groups of neighbouring images
  sums,      ///< each worker sums its images; the sums are added at the end
  whole,     ///< not at all
};

/// Which operands are images, and whether the result is one; a target that keeps images in a layout
/// of its own needs to know. Bit i stands for operand i.
struct ImageUse {
  enum class Kind {
    none,   ///< plain tensors: weights, matrices, numbers per channel
    some,   ///< those that `operands` and `result` name; the others are plain
    alike,  ///< works on any layout, as long as operands and result have the same
  };

  Kind kind = Kind::none;
  unsigned operands = 0;
  bool result = false;

  bool takes(std::size_t operand) const { return (operands >> operand & 1U) != 0; }
};

// Answers that do not depend on anything.

template <auto kAnswer>
inline constexpr auto always = [](const auto&...) { return kAnswer; };

// Roles.

inline constexpr auto as_first_operand = [](const auto&, Roles in) { return in[0]; };
inline constexpr auto as_strongest_operand = [](const auto&, Roles in) {
  Role strongest = in[0];
  for (const Role role : in) {
    strongest = role > strongest ? role : strongest;
  }
  return strongest;
};

// Weights: does operand i enter the arithmetic as one? Layers read weights rounded.

inline constexpr auto no_weights = [](std::size_t, Role) { return false; };
template <std::size_t... kOperands>
inline constexpr auto weights_at = [](std::size_t i, Role) { return ((i == kOperands) || ...); };

// Images.

inline constexpr auto no_images = [](const auto&, Types) { return ImageUse{}; };
inline constexpr auto any_layout = [](const auto&, Types) {
  return ImageUse{ImageUse::Kind::alike};
};
enum class Makes { numbers, image };
template <Makes kMakes, std::size_t... kOperands>
inline constexpr auto images_at = [](const auto&, Types) {
  return ImageUse{ImageUse::Kind::some, ((1U << kOperands) | ...), kMakes == Makes::image};
};
/// The same, but a matrix is a batch of channels without pixels, and plain.
template <Makes kMakes>
inline constexpr auto image_unless_matrix = [](const auto&, Types in) {
  return in[0].rank() == 2 ? ImageUse{}
                           : ImageUse{ImageUse::Kind::some, 1U, kMakes == Makes::image};
};
/// Images and channels can be picked out of images in any layout, rows and columns cannot.
inline constexpr auto any_layout_along_channels = [](const auto& op, Types) {
  return op.axis < 2 ? ImageUse{ImageUse::Kind::alike} : ImageUse{};
};
/// Cutting along the batch mixes images.
inline constexpr auto by_images_unless_along_them = [](const auto& op) {
  return op.axis == 0 ? Division::whole : Division::images;
};

}  // namespace cosmic::graph
