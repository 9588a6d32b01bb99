#include "target/cuda/lower_images.hpp"

#include <algorithm>

#include "compile/target_info.hpp"
#include "core/error.hpp"
#include "target/cuda/recipe_builder.hpp"

namespace cosmic::target::cuda {
namespace {

using compile::Computed;
using compile::TermView;
using graph::FeatureMap;
using graph::Graph;
using graph::Layout;
using graph::Node;
using graph::op_if;
using graph::TensorType;
using graph::ValueId;

Extents extents_of(const FeatureMap& map) {
  return {as_int(map.depth), as_int(map.rows), as_int(map.columns)};
}

/// (depth, row, column) of a window or of factors, where an image without depth has `otherwise`.
Extents extents_of(const std::array<std::int64_t, 3>& numbers, const TensorType& image,
                   int otherwise) {
  return {image.rank() == 5 ? as_int(numbers[0]) : otherwise, as_int(numbers[1]),
          as_int(numbers[2])};
}

bool is_pixel_sum(const Node& node) {
  return op_if<graph::Statistics>(node) != nullptr ||
         op_if<graph::ChannelProducts>(node) != nullptr ||
         op_if<graph::ChannelSum>(node) != nullptr;
}

/// One axis of a convolution as the kernel sees it: the taps in the order of the pixels they reach.
struct Axis {
  int taps;
  int stride;
  int first;         ///< pixel of the first tap
  int kernel_first;  ///< the tap of the kernel that it is
  int kernel_step;
  int results;  ///< pixels computed
  int out_step;
  int out_first;
};

Axis conv_axis(int kernel, int stride, int pad, int results) {
  return {kernel, stride, -pad, 0, 1, results, 1, 0};
}

/// Pixels of the result with this remainder. Tap k of the kernel reaches (pixel + pad - k) / stride
/// where that is whole, so larger taps reach earlier pixels.
Axis transposed_axis(int kernel, int stride, int pad, int results, int phase) {
  const int least = (phase + pad) % stride;  // the first tap of this remainder
  Axis axis{};
  axis.taps = kernel > least ? (kernel - least + stride - 1) / stride : 0;
  axis.stride = 1;
  axis.kernel_step = -stride;
  axis.kernel_first = least + (axis.taps - 1) * stride;
  axis.first = (phase + pad - axis.kernel_first) / stride;
  axis.results = results > phase ? (results - phase + stride - 1) / stride : 0;
  axis.out_step = stride;
  axis.out_first = phase;
  return axis;
}

class ImageLowering {
 public:
  ImageLowering(const Addresses& addresses, const compile::Step& step, Rooms& rooms,
                std::vector<Work>& before)
      : addresses_(addresses),
        graph_(addresses.graph()),
        step_(step),
        id_(step.leader.value),
        node_(graph_.node(id_)),
        rooms_(rooms),
        before_(before) {}

  std::vector<Work> lower() {
    if (is_conv(node_)) {
      conv();
    } else if (op_if<graph::ConvKernelGradient>(node_) != nullptr) {
      kernel_gradient();
    } else if (is_pixel_sum(node_)) {
      sum_pixels(step_.leader);
    } else if (const auto* pool = op_if<graph::MaxPoolGradient>(node_)) {
      max_pool_gradient(*pool);
    } else if (const auto* upsample = op_if<graph::UpsampleGradient>(node_)) {
      upsample_gradient(*upsample);
    } else if (!arrange()) {
      evaluate_value();
    }
    return std::move(works_);
  }

 private:
  TermView leader() const { return TermView(graph_, step_.leader.expression); }
  Image image(ValueId id) const { return image_of(graph_.node(id), addresses_.at<std::byte>(id)); }
  FeatureMap map(ValueId id) const { return graph::feature_map(graph_.type(id), "an image"); }

  // Weights that are only rounded on their way to whoever reads them are rounded there.
  struct Weights {
    const float* values;
    Format format;
  };
  Weights weights(ValueId id) const {
    const Node& node = graph_.node(id);
    const bool through = is_looked_through(graph_, id);
    return {addresses_.at(through ? node.operands[0] : id),
            through ? format_of(node) : Format::f32};
  }

  int slices_of(std::initializer_list<const Recipe*> recipes, int batch) const {
    int slices = 1;
    for (const Recipe* const recipe : recipes) {
      const int groups = groups_of(*recipe, batch);
      slices = groups == 1 || groups == slices ? slices : slices == 1 ? groups : batch;
    }
    return slices;
  }

  void conv() {
    const auto* const straight = op_if<graph::Conv>(node_);
    const auto* const transposed = op_if<graph::ConvTranspose>(node_);
    const ValueId source = node_.operands[0];
    const Node& source_node = graph_.node(source);
    const FeatureMap kernel = graph::feature_map(graph_.type(node_.operands[1]), "a kernel");
    const graph::Window& window = straight != nullptr ? straight->window : transposed->window;
    const Extents stride = extents_of(window.stride, node_.type, 1);
    const Extents pad = extents_of(window.pad, node_.type, 0);
    const Extents taps = extents_of(kernel);
    const FeatureMap out = map(id_);
    const Extents results = extents_of(out);
    if (straight != nullptr) {
      ConvTile tile;
      const Axis columns = conv_axis(taps.columns, stride.columns, pad.columns, results.columns);
      const bool spread = source_node.layout == Layout::plain;
      if (spread) {
        tile.source = make_spread_recipe(addresses_, source, taps.columns, -pad.columns,
                                         (results.columns - 1) * stride.columns + 1);
      }
      Axis across = columns;
      if (spread) {
        across.taps = 1;
        across.first = 0;
      }
      add_conv(std::move(tile), spread ? taps.columns : 0,
               conv_axis(taps.depth, stride.depth, pad.depth, results.depth),
               conv_axis(taps.rows, stride.rows, pad.rows, results.rows), across, kernel);
      return;
    }
    for (int d = 0; d < std::min(stride.depth, results.depth); ++d) {
      for (int r = 0; r < std::min(stride.rows, results.rows); ++r) {
        for (int c = 0; c < std::min(stride.columns, results.columns); ++c) {
          add_conv({}, 0, transposed_axis(taps.depth, stride.depth, pad.depth, results.depth, d),
                   transposed_axis(taps.rows, stride.rows, pad.rows, results.rows, r),
                   transposed_axis(taps.columns, stride.columns, pad.columns, results.columns, c),
                   kernel);
        }
      }
    }
  }

  void add_conv(ConvTile tile, int spread_taps, const Axis& depth, const Axis& rows,
                const Axis& columns, const FeatureMap& kernel) {
    const bool transposed = op_if<graph::ConvTranspose>(node_) != nullptr;
    if (!tile.source.exists()) {
      const std::optional<Image> evaluated = rooms_.gradients.found_by(graph_, id_);
      tile.source =
          evaluated ? make_stored_recipe(*evaluated) : make_recipe(addresses_, leader().operand(0));
    }
    tile.products = products_of(graph_, id_);
    tile.out = image(id_);
    if (const auto* straight = op_if<graph::Conv>(node_)) {
      tile.slope = static_cast<float>(straight->slope);
    }
    tile.taps = {depth.taps, rows.taps, columns.taps};
    tile.stride = {depth.stride, rows.stride, columns.stride};
    tile.first = {depth.first, rows.first, columns.first};
    tile.result = {depth.results, rows.results, columns.results};
    tile.out_step = {depth.out_step, rows.out_step, columns.out_step};
    tile.out_first = {depth.out_first, rows.out_first, columns.out_first};
    tile.batch = as_int(map(id_).batch);
    if (node_.operands.size() > 3) {
      tile.addend = make_recipe(addresses_, leader().operand(3));
    }
    for (const compile::Rider& rider : step_.riders) {
      tile.sums = sums_of(rider.computed, id_);
    }
    int slices = slices_of({&tile.source, &tile.addend, &tile.sums.u, &tile.sums.v}, tile.batch);
    if (tile.sums.wanted() && tile.sums.groups != 1 && tile.sums.groups != slices) {
      slices = slices == 1 ? tile.sums.groups : tile.batch;
    }
    // A phase without taps, as a stride beyond the kernel leaves, is what bias and addend say.
    const bool no_taps = tile.taps.count() == 0;
    if (no_taps) {
      tile.taps = {1, 1, 1};
      tile.first = {0, 0, 0};
    }
    tile.geometry = conv_tile_geometry(tile, slices);
    tile.geometry.shared_bytes = conv_tile_memory(tile).bytes;
    const bool is_fixed = (step_.fixed_operands >> 1 & 1U) != 0;
    auto* const packed = rooms_.prepared.take<std::uint32_t>(tile.packed_words());
    const Weights values = weights(node_.operands[1]);
    const std::int64_t positions = kernel.pixels();
    PackWeightsBody pack{};
    pack.kernel = values.values;
    pack.format = values.format;
    pack.packed = packed;
    pack.products = tile.products;
    pack.filters = no_taps ? 0 : tile.out.channels;
    pack.channels = tile.source.channels;
    pack.filter_columns = tile.geometry.filter_columns;
    pack.chunk_blocks = tile.geometry.chunk_blocks;
    pack.chunks = tile.geometry.chunks;
    pack.steps_of_first_chunk = tile.steps_of_chunk(0);
    pack.steps_of_last_chunk = tile.steps_of_chunk(tile.geometry.chunks - 1);
    pack.taps = tile.taps;
    // [filter, channel, position]; for the transpose, [channel, filter, position].
    pack.filter_stride = positions * (transposed ? 1 : kernel.channels);
    pack.channel_stride = positions * (transposed ? kernel.channels : 1);
    pack.tap_first = {depth.kernel_first, rows.kernel_first, columns.kernel_first};
    pack.tap_step = {depth.kernel_step, rows.kernel_step, columns.kernel_step};
    pack.kernel_taps = extents_of(kernel);
    pack.spread_taps = spread_taps;
    (is_fixed ? before_ : works_)
        .push_back(Map<PackWeightsBody>{pack, tile.packed_words(), nullptr});
    tile.weights = packed;
    if (node_.operands.size() > 2) {
      const Weights bias = weights(node_.operands[2]);
      tile.bias = bias.values;
      tile.bias_format = bias.format;
      if ((step_.fixed_operands >> 2 & 1U) != 0) {
        // Its memory is used by others once it has been prepared from.
        auto* const kept = rooms_.prepared.take<float>(tile.out.channels);
        before_.push_back(
            Map<CopyBody<std::uint32_t>>{{reinterpret_cast<const std::uint32_t*>(bias.values),
                                          reinterpret_cast<std::uint32_t*>(kept)},
                                         tile.out.channels,
                                         nullptr});
        tile.bias = kept;
      }
    }
    place_sums(tile.sums, tile.geometry.sums());
    works_.push_back(tile);
    for (const compile::Rider& rider : step_.riders) {
      finish_statistics(rider.computed);
    }
  }

  /// What a sum over pixels adds up. `result` is what the kernel has just computed, if it rides.
  PixelSums sums_of(const Computed& computed, std::optional<ValueId> result) const {
    const TermView sum(graph_, computed.expression);
    const Node& node = sum.node();
    const FeatureMap pixels = map(node.operands[0]);
    PixelSums sums;
    sums.out = addresses_.at(computed.value);
    sums.channels = as_int(pixels.channels);
    if (const auto* statistics = op_if<graph::Statistics>(node)) {
      sums.kind = PixelSums::Kind::statistics;
      sums.groups = as_int(statistics->groups);
      sums.v = make_recipe(addresses_, sum.operand(0), result);
    } else if (const auto* products = op_if<graph::ChannelProducts>(node)) {
      sums.kind = PixelSums::Kind::products;
      sums.groups = as_int(products->groups);
      sums.u = make_recipe(addresses_, sum.operand(0), result);
      sums.v = make_recipe(addresses_, sum.operand(1), result);
    } else {
      sums.kind = PixelSums::Kind::channel_sum;
      sums.v = make_recipe(addresses_, sum.operand(0), result);
    }
    if (sums.v.formula.kind == Formula::Kind::plain && sums.v.leaf[0].kind == Leaf::Kind::result) {
      sums.v = {};  // the result itself
    }
    sums.count = static_cast<double>(pixels.batch / sums.groups * pixels.pixels());
    return sums;
  }

  void place_sums(PixelSums& sums, const SumsGeometry& geometry) {
    if (!sums.wanted()) {
      return;
    }
    sums.partials = rooms_.scratch.take<PartialSums>(geometry.partials());
    sums.finished =
        rooms_.counters.take<unsigned>(static_cast<std::int64_t>(sums.groups) * geometry.columns);
  }

  /// Channels that share statistics.
  void finish_statistics(const Computed& computed) {
    const Node& node = graph_.node(computed.value);
    const auto* const statistics = op_if<graph::Statistics>(node);
    if (statistics == nullptr || statistics->pooled_channels == 1) {
      return;
    }
    const std::int64_t half = node.type.elements() / 2;
    works_.push_back(Map<PoolStatisticsBody>{
        {addresses_.at(computed.value), half, as_int(statistics->pooled_channels)},
        half / statistics->pooled_channels,
        nullptr});
  }

  void sum_pixels(const Computed& computed) {
    SumPixels work;
    work.sums = sums_of(computed, std::nullopt);
    const FeatureMap pixels = map(graph_.node(computed.value).operands[0]);
    const int batch = as_int(pixels.batch);
    int slices = slices_of({&work.sums.u, &work.sums.v}, batch);
    if (work.sums.groups != 1 && work.sums.groups != slices) {
      slices = slices == 1 ? work.sums.groups : batch;
    }
    work.images = pixels.batch / slices * pixels.depth;
    work.geometry.slices = slices;
    work.geometry.columns = ceil_of(work.sums.channels, kBlock);
    // A thread adds up few pixels in float32; and where there are few at all, one each, so that
    // small images too are summed by the whole chip.
    constexpr std::int64_t kPixelsOfBlock = 64 * kThreadsOfSums;
    constexpr std::int64_t kBlocksOfSmallImages = 128;
    const std::int64_t items = work.images * pixels.rows * pixels.columns;
    const std::int64_t for_few = std::min<std::int64_t>(
        (items + kThreadsOfSums - 1) / kThreadsOfSums,
        kBlocksOfSmallImages / (work.geometry.slices * work.geometry.columns));
    work.geometry.blocks = as_int(std::clamp<std::int64_t>(
        std::max((items + kPixelsOfBlock - 1) / kPixelsOfBlock, for_few), 1, kBlocksOfLaunch));
    place_sums(work.sums, work.geometry);
    works_.push_back(work);
    finish_statistics(computed);
  }

  void kernel_gradient() {
    const auto& op = std::get<graph::ConvKernelGradient>(node_.op);
    const ValueId image_id = node_.operands[0];
    const Node& image_node = graph_.node(image_id);
    const ValueId dy = node_.operands[1];
    const FeatureMap kernel = graph::feature_map(node_.type, "a kernel");
    const Extents stride = extents_of(op.window.stride, image_node.type, 1);
    const Extents pad = extents_of(op.window.pad, image_node.type, 0);
    const bool spread = image_node.layout == Layout::plain;
    KernelGradientTile work;
    work.taps = extents_of(kernel);
    work.stride = stride;
    work.first = {-pad.depth, -pad.rows, -pad.columns};
    work.batch = as_int(map(dy).batch);
    work.products = products_of(graph_, id_);
    const std::optional<Image> evaluated = rooms_.gradients.found_by(graph_, id_);
    work.dy =
        evaluated ? make_stored_recipe(*evaluated) : make_recipe(addresses_, leader().operand(1));
    work.evaluated_dy = rooms_.gradients.left_by(graph_, id_).value_or(Image{});
    if (spread) {
      work.image = make_spread_recipe(addresses_, image_id, work.taps.columns, -pad.columns,
                                      (work.dy.columns - 1) * stride.columns + 1);
      work.taps.columns = 1;
      work.first.columns = 0;
    } else {
      work.image = make_recipe(addresses_, leader().operand(0));
    }
    work.geometry = kernel_gradient_geometry(work, slices_of({&work.image, &work.dy}, work.batch));
    work.partials = rooms_.scratch.take<float>(work.partial_floats());
    works_.push_back(work);
    JoinKernelGradient join;
    join.partials = work.partials;
    join.gradient = addresses_.at(id_);
    join.taps = work.taps;
    join.filters = as_int(kernel.batch);
    join.channels = as_int(kernel.channels);
    join.spread_taps = spread ? as_int(kernel.columns) : 0;
    join.chunks = work.geometry.chunks;
    join.geometry = work.geometry;
    works_.push_back(join);
  }

  template <class Body>
  void map_pixels(Body body, int batch, std::int64_t items) {
    const int slices = slices_of({&body.recipe()}, batch);
    works_.push_back(PixelMap<Body>{body, slices, batch / slices, items / slices});
  }

  /// What is stored of a value that is made of one image.
  ValueId stored_below(ValueId id) const {
    while (!graph_.node(id).stored) {
      id = graph_.node(id).operands[0];
    }
    return id;
  }

  /// Does this sum take this gradient of a pooling where the pooled image was activated? The graph
  /// is asked, since works are lowered without addresses first, to learn what memory they need.
  bool is_gated_by_pooled(ValueId sum) const {
    const Node& products = graph_.node(sum);
    if (op_if<graph::ChannelProducts>(products) == nullptr) {
      return false;
    }
    const Node& gradient = graph_.node(products.operands[1]);
    return op_if<graph::LeakyReluGradient>(gradient) != nullptr && !gradient.stored &&
           gradient.operands[1] == id_ &&
           stored_below(gradient.operands[0]) == stored_below(node_.operands[0]);
  }

  void max_pool_gradient(const graph::MaxPoolGradient& op) {
    MaxPoolGradientPixelsBody body;
    body.x = make_recipe(addresses_, leader().operand(0));
    body.dy = image(node_.operands[1]);
    body.dx = image(id_);
    body.window = extents_of(op.window, node_.type, 1);
    body.windows = {ceil_of(body.dx.depth, body.window.depth),
                    ceil_of(body.dx.rows, body.window.rows),
                    ceil_of(body.dx.columns, body.window.columns)};
    const int batch = body.dx.images / body.dx.depth;
    body.events_of_slice = batch / slices_of({&body.x}, batch);
    // Sums that its kernel does not take along follow it.
    std::vector<Computed> apart;
    for (const compile::Rider& rider : step_.riders) {
      const PixelSums sums = sums_of(rider.computed, std::nullopt);
      if (is_gated_by_pooled(rider.computed.value) && body.takes_along(sums)) {
        body.sums = sums;
        body.sums_geometry = {.slices = body.dx.images,
                              .columns = body.dx.blocks(),
                              .blocks = body.blocks_of_plane()};
        place_sums(body.sums, body.sums_geometry);
      } else {
        apart.push_back(rider.computed);
      }
    }
    map_pixels(body, batch,
               static_cast<std::int64_t>(batch) * body.windows.count() *
                   ceil_of(body.dx.channels, kBlock));
    for (const Computed& sum : apart) {
      sum_pixels(sum);
    }
  }

  void upsample_gradient(const graph::UpsampleGradient& op) {
    UpsampleGradientPixelsBody body;
    body.dy = make_recipe(addresses_, leader().operand(0));
    body.dx = image(id_);
    body.factor = extents_of(op.factor, node_.type, 1);
    body.bilinear = op.interpolation == graph::Interpolation::bilinear;
    const int batch = body.dx.images / body.dx.depth;
    body.events_of_slice = batch / slices_of({&body.dy}, batch);
    map_pixels(body, batch,
               static_cast<std::int64_t>(body.dx.images) * body.dx.pixels() *
                   ceil_of(body.dx.channels, kBlock));
  }

  void evaluate_value() {
    EvaluateBody body;
    body.value = make_recipe(addresses_, leader());
    body.out = image(id_);
    const int batch = body.out.images / body.out.depth;
    body.images_of_slice = body.out.images / slices_of({&body.value}, batch);
    map_pixels(body, batch,
               static_cast<std::int64_t>(body.out.images) * body.out.pixels() *
                   ceil_of(body.out.channels, kBlock));
  }

  bool arrange() {
    using Kind = ArrangeBody::Kind;
    if (const auto* concat = op_if<graph::Concat>(node_)) {
      std::int64_t first = 0;
      for (std::size_t i = 0; i < node_.operands.size(); ++i) {
        // The first one also writes zeros where a block is not full.
        move(i == 0 ? Kind::embed : Kind::put, node_.operands[i], concat->axis, as_int(first));
        first += graph_.type(node_.operands[i]).dim(static_cast<std::size_t>(concat->axis));
      }
    } else if (const auto* slice = op_if<graph::Slice>(node_)) {
      move(Kind::take, node_.operands[0], slice->axis, as_int(slice->begin));
    } else if (const auto* embed = op_if<graph::Embed>(node_)) {
      move(Kind::embed, node_.operands[0], embed->axis, as_int(embed->begin));
    } else if (const auto* to_channels = op_if<graph::PlanesToChannels>(node_)) {
      move(Kind::planes_to_channels, node_.operands[0], 1, 0, as_int(to_channels->planes));
    } else if (const auto* to_planes = op_if<graph::ChannelsToPlanes>(node_)) {
      move(Kind::channels_to_planes, node_.operands[0], 1, 0, as_int(to_planes->planes));
    } else if (op_if<graph::DepthToPlanes>(node_) != nullptr) {
      move(Kind::depth_to_planes, node_.operands[0], 1, 0);
    } else if (op_if<graph::PlanesToDepth>(node_) != nullptr) {
      move(Kind::planes_to_depth, node_.operands[0], 1, 0);
    } else if (op_if<graph::Reorder>(node_) != nullptr || op_if<graph::Copy>(node_) != nullptr) {
      move(Kind::copy, node_.operands[0], 1, 0);
    } else {
      return false;
    }
    return true;
  }

  void move(ArrangeBody::Kind kind, ValueId from, std::int64_t axis, int first, int planes = 1) {
    const ArrangeBody body{kind, axis == 1, first, planes, image(from), image(id_)};
    works_.push_back(Map<ArrangeBody>{body, body.items(), nullptr});
  }

  const Addresses& addresses_;
  const Graph& graph_;
  const compile::Step& step_;
  ValueId id_;
  const Node& node_;
  Rooms& rooms_;
  std::vector<Work>& before_;
  std::vector<Work> works_;
};

}  // namespace

bool is_conv(const Node& node) {
  return op_if<graph::Conv>(node) != nullptr || op_if<graph::ConvTranspose>(node) != nullptr;
}

Products products_of(const Graph& graph, ValueId node) {
  const graph::FactorRounding rounding = factor_rounding_of(graph, node);
  switch (rounding.to) {
    case graph::FactorRounding::To::nothing:
      break;
    case graph::FactorRounding::To::tf32:
      return Products::tf32;
    case graph::FactorRounding::To::format:
      return rounding.format == NumberFormat::bf16 ? Products::bf16 : Products::f16;
  }
  return Products::f32;
}

bool is_on_images(const Graph& graph, const compile::Step& step) {
  const Node& node = graph.node(step.leader.value);
  if (node.layout == Layout::blocked) {
    return true;
  }
  // Scores are read by the kernels of losses, whatever their layout.
  if (op_if<graph::SegmentationSums>(node) != nullptr) {
    return false;
  }
  return std::any_of(node.operands.begin(), node.operands.end(), [&](ValueId operand) {
    return graph.node(operand).layout == Layout::blocked;
  });
}

std::vector<Work> lower_images(const Addresses& addresses, const compile::Step& step, Rooms& rooms,
                               std::vector<Work>& before) {
  return ImageLowering(addresses, step, rooms, before).lower();
}

std::string image_kernel_name(const Graph& graph, const compile::Step& step) {
  const Node& node = graph.node(step.leader.value);
  if (is_conv(node)) {
    return "tiles on tensor cores";
  }
  if (op_if<graph::ConvKernelGradient>(node) != nullptr) {
    return "tiles on tensor cores, sums in two stages";
  }
  return is_pixel_sum(node) ? "pixels summed, the last block joins" : "a thread per pixel block";
}

Support can_ride(const compile::RideQuestion& question) {
  const Graph& graph = question.graph;
  const Node& leader = graph.node(question.step.leader.value);
  if (question.ride != compile::Ride::reduces_result) {
    return Support::no("only sums over the result ride");
  }
  const bool pools = op_if<graph::MaxPoolGradient>(leader) != nullptr;
  if ((!is_conv(leader) && !pools) || leader.layout != Layout::blocked) {
    return Support::no(
        "only convolutions of blocked images and gradients of poolings hand on what they write");
  }
  if (!question.step.riders.empty()) {
    return Support::no("it takes one sum along");
  }
  const Node& rider = graph.node(question.riders.front());
  if (!is_pixel_sum(rider) || (pools && op_if<graph::ChannelProducts>(rider) == nullptr)) {
    return Support::no(pools ? "only products per channel ride"
                             : "only statistics, products and sums per channel ride");
  }
  const auto* const transposed = op_if<graph::ConvTranspose>(leader);
  if (transposed != nullptr &&
      (transposed->window.stride[1] != 1 || transposed->window.stride[2] != 1 ||
       (leader.type.rank() == 5 && transposed->window.stride[0] != 1))) {
    return Support::no("a transposed convolution with a stride is several kernels");
  }
  return Support::yes();
}

}  // namespace cosmic::target::cuda
