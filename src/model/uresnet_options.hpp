// What a U-ResNet can be told. Members, choices and defaults carry the names of the reference's
// configuration (`network.*`), so that its configurations can be read as they are.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/enum_text.hpp"

namespace cosmic::model {

enum class Normalization { none, batch, layer };
/// Whose batch statistics normalize a plane in training. own: its own, as in the reference.
/// Inference has one set of running statistics for the three, so what it sees is not what was
/// learnt.
enum class PlaneStatistics { own, shared };
enum class Connections { sum, concat, none };
enum class ConvMode { conv_2D, conv_3D };
enum class GrowthRate { additive, multiplicative };
enum class Downsampling { convolutional, max_pooling };
enum class Upsampling { convolutional, interpolation };

struct UResNetOptions {
  std::string name = "default";  ///< a label for output paths
  bool bias = true;              ///< in every convolution
  Normalization normalization = Normalization::batch;
  PlaneStatistics plane_statistics = PlaneStatistics::own;  ///< conv_3D always shares them
  bool synchronized_statistics = false;  ///< batch statistics of all processes that train together
  std::int64_t n_initial_filters = 16;
  std::int64_t blocks_per_layer = 2;  ///< in each down and each up series
  std::int64_t blocks_deepest_layer = 5;
  std::int64_t blocks_final = 5;
  std::int64_t depth = 6;
  std::int64_t filter_size_deepest = 5;
  std::int64_t bottleneck_deepest = 256;  ///< channels inside the deepest block
  bool residual = true;
  bool block_concat = false;  ///< true: planes are NOT concatenated in the deepest block
  double weight_decay = 0.1;  ///< kept for configurations; the reference does not use it either
  Connections connections = Connections::concat;
  ConvMode conv_mode = ConvMode::conv_2D;
  GrowthRate growth_rate = GrowthRate::additive;
  Downsampling downsampling = Downsampling::max_pooling;
  Upsampling upsampling = Upsampling::interpolation;

  bool operator==(const UResNetOptions&) const = default;
};

/// Channels at a level of the U, 0 (full resolution) to depth.
std::int64_t channels_at(const UResNetOptions& options, std::int64_t level);

/// uresnet, a21, scc21, polaris, uresnet3d.
UResNetOptions preset(std::string_view name);
std::vector<std::string> preset_names();

/// Throw UserError for options that no image, or not this image, can be used with.
void validate(const UResNetOptions& options);
void validate(const UResNetOptions& options, std::int64_t rows, std::int64_t columns);

template <>
struct EnumText<Normalization> {
  static constexpr std::string_view key = "normalization";
  static constexpr std::array<std::string_view, 3> names{"none", "batch", "layer"};
};
template <>
struct EnumText<PlaneStatistics> {
  static constexpr std::string_view key = "plane_statistics";
  static constexpr std::array<std::string_view, 2> names{"own", "shared"};
};
template <>
struct EnumText<Connections> {
  static constexpr std::string_view key = "connections";
  static constexpr std::array<std::string_view, 3> names{"sum", "concat", "none"};
};
template <>
struct EnumText<ConvMode> {
  static constexpr std::string_view key = "conv_mode";
  static constexpr std::array<std::string_view, 2> names{"conv_2D", "conv_3D"};
};
template <>
struct EnumText<GrowthRate> {
  static constexpr std::string_view key = "growth_rate";
  static constexpr std::array<std::string_view, 2> names{"additive", "multiplicative"};
};
template <>
struct EnumText<Downsampling> {
  static constexpr std::string_view key = "downsampling";
  static constexpr std::array<std::string_view, 2> names{"convolutional", "max_pooling"};
};
template <>
struct EnumText<Upsampling> {
  static constexpr std::string_view key = "upsampling";
  static constexpr std::array<std::string_view, 2> names{"convolutional", "interpolation"};
};

}  // namespace cosmic::model
