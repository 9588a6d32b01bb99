#include "model/uresnet_options.hpp"

#include <bit>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "core/limits.hpp"

namespace cosmic::model {
namespace {

constexpr std::array<std::string_view, 5> kPresets{"uresnet", "a21", "scc21", "polaris",
                                                   "uresnet3d"};
// An image side of 2^30 pixels is beyond any detector; the bound keeps 2^depth an ordinary number.
constexpr std::int64_t kMaxDepth = 30;
// 400 GB of weights. Below that every extent and product of extents fits a 64-bit integer.
constexpr double kMaxParameters = 1e11;

void require_at_least(std::string_view key, std::int64_t value, std::int64_t least,
                      std::string_view why) {
  COSMIC_REQUIRE(UserError, value >= least,
                 key << " = " << value << " (" << why << "); use " << least << " or more");
}

/// Counts only the convolutions, in floating point so that absurd options do not overflow.
double approximate_parameters(const UResNetOptions& options) {
  const auto as_double = [](std::int64_t n) { return static_cast<double>(n); };
  const double first = as_double(options.n_initial_filters);
  const double per_block = options.residual ? 18.0 : 9.0;
  double sum = as_double(options.blocks_final) * per_block * first * first;
  double channels = first;
  for (std::int64_t level = 0; level < options.depth; ++level) {
    sum += 2.0 * as_double(options.blocks_per_layer) * per_block * channels * channels;
    channels = options.growth_rate == GrowthRate::additive ? channels + first : 2.0 * channels;
  }
  const double bottleneck = as_double(options.bottleneck_deepest);
  const double filter = as_double(options.filter_size_deepest);
  sum += 6.0 * channels * bottleneck;
  sum += as_double(options.blocks_deepest_layer) * (options.residual ? 2.0 : 1.0) * filter *
         filter * bottleneck * bottleneck;
  return sum;
}

void require_few_blocks(const UResNetOptions& options) {
  for (const auto& [key, blocks] :
       {std::pair<std::string_view, std::int64_t>{"blocks_per_layer", options.blocks_per_layer},
        {"blocks_deepest_layer", options.blocks_deepest_layer},
        {"blocks_final", options.blocks_final}}) {
    COSMIC_REQUIRE(UserError, blocks <= kMostBlocks,
                   key << " = " << blocks << " (a series has at most " << kMostBlocks
                       << " blocks); choose fewer");
  }
}

/// "1280 x 1984 or 1280 x 2048": the nearest images that halve `depth` times.
std::string sizes_that_work(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  const std::int64_t step = std::int64_t{1} << depth;
  const auto down = [&](std::int64_t extent) { return extent / step * step; };
  const auto up = [&](std::int64_t extent) { return (extent + step - 1) / step * step; };
  std::ostringstream text;
  if (down(rows) > 0 && down(columns) > 0) {
    text << down(rows) << " x " << down(columns) << " or ";
  }
  text << up(rows) << " x " << up(columns);
  return text.str();
}

}  // namespace

std::int64_t channels_at(const UResNetOptions& options, std::int64_t level) {
  return options.growth_rate == GrowthRate::additive ? options.n_initial_filters * (level + 1)
                                                     : options.n_initial_filters << level;
}

std::vector<std::string> preset_names() {
  return {kPresets.begin(), kPresets.end()};
}

UResNetOptions preset(std::string_view name) {
  choose("network", name, kPresets);
  UResNetOptions options;
  options.name = name;
  if (name == "a21") {
    options.name = "A21";
    options.n_initial_filters = 8;
    options.residual = false;
    options.connections = Connections::sum;
    options.blocks_final = 0;
  } else if (name == "scc21") {
    options.normalization = Normalization::none;
  } else if (name == "polaris") {
    options.depth = 7;
    options.residual = false;
    options.connections = Connections::sum;
    options.blocks_deepest_layer = 2;
    options.blocks_final = 2;
    options.bottleneck_deepest = 96;
  } else if (name == "uresnet3d") {
    options.conv_mode = ConvMode::conv_3D;
  }
  return options;
}

void validate(const UResNetOptions& options) {
  require_at_least("n_initial_filters", options.n_initial_filters, 1,
                   "the first convolution would have no output");
  require_at_least("bottleneck_deepest", options.bottleneck_deepest, 1,
                   "the deepest block would have no channels");
  require_at_least("depth", options.depth, 1, "a U needs at least one level");
  COSMIC_REQUIRE(UserError, options.depth <= kMaxDepth,
                 "depth = " << options.depth << " (each level halves the image, so rows and "
                            << "columns would be multiples of 2^" << options.depth
                            << "); use a depth that the image allows, such as 6");
  require_at_least("blocks_per_layer", options.blocks_per_layer, 0,
                   "a series cannot have fewer than no blocks");
  require_at_least("blocks_deepest_layer", options.blocks_deepest_layer, 0,
                   "a series cannot have fewer than no blocks");
  require_at_least("blocks_final", options.blocks_final, 0,
                   "a series cannot have fewer than no blocks");
  require_few_blocks(options);
  require_at_least("filter_size_deepest", options.filter_size_deepest, 1,
                   "a kernel has at least one pixel");
  COSMIC_REQUIRE(UserError, options.filter_size_deepest % 2 == 1,
                 "filter_size_deepest = "
                     << options.filter_size_deepest
                     << " (an even kernel has no centre, so the image would change size); use "
                     << options.filter_size_deepest - 1 << " or "
                     << options.filter_size_deepest + 1);
  COSMIC_REQUIRE(UserError, options.normalization != Normalization::layer,
                 "normalization = layer with conv_mode = "
                     << to_string(options.conv_mode) << " ("
                     << (options.conv_mode == ConvMode::conv_2D
                             ? "the reference refuses it in 2D"
                             : "the reference would normalise along the columns only, with weights "
                               "that fit one image width")
                     << "); use normalization = batch or none");
  COSMIC_REQUIRE(UserError,
                 !options.synchronized_statistics || options.normalization == Normalization::batch,
                 "synchronized_statistics = true with normalization = "
                     << to_string(options.normalization)
                     << " (there are no batch statistics that processes could share); use "
                        "normalization = batch, or leave synchronized_statistics out");
  const double parameters = approximate_parameters(options);
  COSMIC_REQUIRE(
      UserError, parameters <= kMaxParameters,
      "n_initial_filters = " << options.n_initial_filters << ", depth = " << options.depth
                             << ", growth_rate = " << to_string(options.growth_rate)
                             << ", bottleneck_deepest = " << options.bottleneck_deepest
                             << ", filter_size_deepest = " << options.filter_size_deepest
                             << ", blocks_per_layer = " << options.blocks_per_layer
                             << ", blocks_deepest_layer = " << options.blocks_deepest_layer
                             << ", blocks_final = " << options.blocks_final << " give about "
                             << parameters << " parameters (no machine holds more than "
                             << kMaxParameters << "); reduce the largest of these options");
}

void validate(const UResNetOptions& options, std::int64_t rows, std::int64_t columns) {
  validate(options);
  COSMIC_REQUIRE(UserError, rows > 0 && columns > 0,
                 "an image of " << rows << " x " << columns
                                << " (it has no pixels); give positive rows and columns");
  constexpr std::int64_t kMostSide = std::int64_t{1} << kMaxDepth;
  COSMIC_REQUIRE(UserError, rows <= kMostSide && columns <= kMostSide,
                 "an image of " << rows << " x " << columns << " (a side has at most " << kMostSide
                                << " pixels); choose fewer rows and columns");
  const std::int64_t step = std::int64_t{1} << options.depth;
  const int halvings = std::countr_zero(static_cast<std::uint64_t>(rows | columns));
  COSMIC_REQUIRE(
      UserError, rows % step == 0 && columns % step == 0,
      "an image of " << rows << " x " << columns << " with depth = " << options.depth
                     << " (rows and columns must be multiples of 2^depth = " << step
                     << ", or the way up does not match the size of the skip connections); "
                     << "use an image of " << sizes_that_work(rows, columns, options.depth)
                     << (halvings > 0 ? ", or depth <= " + std::to_string(halvings) : ""));
}

}  // namespace cosmic::model
