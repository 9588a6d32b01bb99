#include "target/cpu/row_source.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "target/cpu/kernels/format_rows.hpp"
#include "target/cpu/kernels/row_kernels.hpp"

namespace cosmic::target::cpu {

using compile::TermView;
using graph::Node;
using graph::ValueId;

namespace {

/// Pixels beyond as many as there are results that a run of upsampled pixels may need room for: of
/// two rows at half the width, the neighbours on both sides.
constexpr std::int64_t kUpsampleMargin = 8;

}  // namespace

// Eight numbers of each kind, for the channels of one block. Padded channels get zeros, so that
// whatever is computed from them stays zero.
struct RowSource::Numbers {
  alignas(32) float scale[kBlock];
  alignas(32) float shift[kBlock];
};

RowSource::RowSource(const Memory& memory, const TermView& value) : image_(value.node().type) {
  root_ = build(memory, value, kRun);
  pixel_stride_ = terms_[root_].pixel_stride;
}

std::size_t RowSource::build_stored(const Memory& memory, ValueId id, std::int64_t run) {
  const Node& node = memory.graph().node(id);
  Term term{BlockedImage(node.type)};
  term.base = memory.at<const std::byte>(id);
  if (is_narrow(node)) {
    term.format = node.format;
    term.slot = scratch_floats_;
    scratch_floats_ += run * kBlock;
  }
  if (node.layout == graph::Layout::plain) {
    COSMIC_ASSERT(term.image.channels == 1);
    term.pixel_stride = 1;
  }
  terms_.push_back(term);
  return terms_.size() - 1;
}

RowSource::ChannelNumbers RowSource::coefficients(const Memory& memory, ValueId id,
                                                  From from) const {
  ChannelNumbers numbers;
  numbers.from = from;
  numbers.values = memory.floats(id);
  numbers.groups = from == From::bias ? 1 : memory.graph().type(id).dim(1);
  return numbers;
}

bool RowSource::affine_of(const Memory& memory, const TermView& value,
                          ChannelNumbers& numbers) const {
  const Node& node = value.node();
  if (value.evaluated<graph::ChannelAffine>() != nullptr) {
    numbers = coefficients(memory, node.operands[1], From::coefficients);
    return true;
  }
  if (value.evaluated<graph::ChannelScale>() != nullptr) {
    numbers = coefficients(memory, node.operands[1], From::scale_only);
    return true;
  }
  if (value.evaluated<graph::ChannelBias>() != nullptr) {
    numbers = coefficients(memory, node.operands[1], From::bias);
    return true;
  }
  if (const auto* scale = value.evaluated<graph::Scale>()) {
    numbers = {};
    numbers.from = From::constant;
    numbers.constant = scale->factor;
    return true;
  }
  if (const auto* gradient = value.evaluated<graph::StatisticsGradient>()) {
    numbers = coefficients(memory, node.operands[1], From::statistics);
    numbers.gradients = memory.floats(node.operands[2]);
    numbers.pooled = gradient->pooled_channels;
    const graph::FeatureMap map = graph::feature_map(node.type, "a normalised value");
    numbers.elements = static_cast<double>(map.batch / gradient->groups * map.pixels() *
                                           gradient->pooled_channels);
    return true;
  }
  return false;
}

std::size_t RowSource::build_add(const Memory& memory, const TermView& sum, float slope, Term term,
                                 std::int64_t run) {
  for (const bool swapped : {false, true}) {
    const TermView left = sum.operand(swapped ? 1 : 0);
    const TermView right = sum.operand(swapped ? 0 : 1);
    // The gradient of a normalisation's input: directly, and through its statistics.
    if (slope == 1 && left.evaluated<graph::ChannelScale>() != nullptr &&
        right.evaluated<graph::StatisticsGradient>() != nullptr) {
      const TermView x = right.operand(0);
      const TermView dy = left.operand(0);
      affine_of(memory, right, term.gradient);
      const auto* activation = dy.evaluated<graph::LeakyReluGradient>();
      if (activation != nullptr && dy.operand(0).evaluated<graph::ChannelAffine>() != nullptr &&
          dy.operand(0).node().operands == std::vector{x.value(), left.node().operands[1]}) {
        term.kind = Kind::affine_leaky_gradient_combine;
        term.slope = static_cast<float>(activation->slope);
        affine_of(memory, dy.operand(0), term.affine);
        term.operands = {build(memory, x, run), build(memory, dy.operand(1), run)};
      } else {
        term.kind = Kind::combine;
        affine_of(memory, left, term.affine);
        term.operands = {build(memory, x, run), build(memory, dy, run)};
      }
      terms_.push_back(std::move(term));
      return terms_.size() - 1;
    }
    const auto* activation = left.evaluated<graph::LeakyRelu>();
    if (slope == 1 && activation != nullptr && affine_of(memory, left.operand(0), term.affine)) {
      term.kind = Kind::affine_leaky_add;
      term.slope = static_cast<float>(activation->slope);
      term.operands = {build(memory, left.operand(0).operand(0), run), build(memory, right, run)};
      terms_.push_back(std::move(term));
      return terms_.size() - 1;
    }
    if (affine_of(memory, left, term.affine)) {
      term.kind = Kind::affine_add_leaky;
      term.slope = slope;
      term.operands = {build(memory, left.operand(0), run), build(memory, right, run)};
      terms_.push_back(std::move(term));
      return terms_.size() - 1;
    }
  }
  term.kind = Kind::add_leaky;
  term.slope = slope;
  term.operands = {build(memory, sum.operand(0), run), build(memory, sum.operand(1), run)};
  terms_.push_back(std::move(term));
  return terms_.size() - 1;
}

std::size_t RowSource::build(const Memory& memory, const TermView& value, std::int64_t run) {
  const Node& node = value.node();
  if (value.is_leaf()) {
    return build_stored(memory, value.value(), run);
  }
  Term term{BlockedImage(node.type)};
  term.slot = scratch_floats_;
  scratch_floats_ += run * kBlock;
  const auto operand = [&](std::size_t i) { return build(memory, value.operand(i), run); };
  if (graph::op_if<graph::Add>(node) != nullptr) {
    return build_add(memory, value, 1, std::move(term), run);
  }
  if (affine_of(memory, value, term.affine)) {
    term.kind = Kind::affine_leaky;
    term.operands = {operand(0)};
  } else if (const auto* activation = graph::op_if<graph::LeakyRelu>(node)) {
    const TermView before = value.operand(0);
    term.slope = static_cast<float>(activation->slope);
    if (before.evaluated<graph::Add>() != nullptr) {
      return build_add(memory, before, term.slope, std::move(term), run);
    }
    if (affine_of(memory, before, term.affine)) {
      term.kind = Kind::affine_leaky;
      term.operands = {build(memory, before.operand(0), run)};
    } else {
      term.kind = Kind::leaky;
      term.operands = {operand(0)};
    }
  } else if (const auto* gradient = graph::op_if<graph::LeakyReluGradient>(node)) {
    const TermView z = value.operand(0);
    term.slope = static_cast<float>(gradient->slope);
    if (affine_of(memory, z, term.affine)) {
      term.kind = Kind::affine_leaky_gradient;
      term.operands = {build(memory, z.operand(0), run), operand(1)};
    } else {
      term.kind = Kind::leaky_gradient;
      term.operands = {operand(0), operand(1)};
    }
  } else if (const auto* upsample = graph::op_if<graph::Upsample>(node)) {
    term.kind = upsample->interpolation == graph::Interpolation::bilinear ? Kind::upsample_bilinear
                                                                          : Kind::upsample_nearest;
    term.factor = factors_on(node.type, upsample->factor);
    term.operands = {build(memory, value.operand(0), run + kUpsampleMargin)};
  } else if (const auto* pool = graph::op_if<graph::MaxPool>(node)) {
    term.kind = Kind::max_pool;
    term.factor = factors_on(node.type, pool->window);
    // Each row of the window needs a place of its own, since all are read together.
    for (std::int64_t i = 0; i < term.factor[0] * term.factor[1]; ++i) {
      term.operands.push_back(build(memory, value.operand(0), run * term.factor[2]));
    }
  } else if (const auto* loss = graph::op_if<graph::SegmentationSumsGradient>(node)) {
    term.kind = Kind::segmentation_gradient;
    term.operands = {operand(0)};
    term.labels = memory.at<std::uint8_t>(node.operands[1]);
    term.class_weights = memory.floats(node.operands[2]);
    term.groups = memory.graph().type(node.operands[2]).dim(0);
    term.loss_factors = memory.floats(node.operands[3]);
    term.focal = loss->focal == graph::Focal::yes;
  } else if (graph::op_if<graph::DepthToPlanes>(node) != nullptr) {
    term.kind = Kind::depth_to_planes;
    term.operands = {operand(0)};
  } else if (graph::op_if<graph::PlanesToDepth>(node) != nullptr) {
    term.kind = Kind::planes_to_depth;
    term.operands = {operand(0)};
  } else {
    throw InternalError("there is no row expression for " + std::string(name_of(node.op)));
  }
  terms_.push_back(std::move(term));
  return terms_.size() - 1;
}

const float* RowSource::stored_pixels(const Term& term, const Run& run, float* room) {
  const std::int64_t first =
      term.offset(run.image, run.block, run.row) + run.first * term.pixel_stride;
  if (term.format == NumberFormat::f32) {
    return term.floats() + first;
  }
  widen_row(room, reinterpret_cast<const std::uint16_t*>(term.base) + first, term.format,
            run.count * kBlock);
  return room;
}

void RowSource::load(const ChannelNumbers& numbers, const Term& term, const Run& run, float* scale,
                     float* shift) {
  const std::int64_t channels = term.image.channels;
  const std::int64_t group = run.image / term.image.depth / (term.image.batch / numbers.groups);
  const std::int64_t row = group * channels;                        // of the first table
  const std::int64_t second = (numbers.groups + group) * channels;  // of the second
  for (std::int64_t lane = 0; lane < kBlock; ++lane) {
    const std::int64_t c = run.block * kBlock + lane;
    scale[lane] = 0;
    shift[lane] = 0;
    if (c >= channels) {
      continue;
    }
    switch (numbers.from) {
      case From::none:
        break;
      case From::coefficients:
        scale[lane] = numbers.values[row + c];
        shift[lane] = numbers.values[second + c];
        break;
      case From::scale_only:
        scale[lane] = numbers.values[row + c];
        break;
      case From::bias:
        scale[lane] = 1;
        shift[lane] = numbers.values[c];
        break;
      case From::constant:
        scale[lane] = static_cast<float>(numbers.constant);
        break;
      case From::statistics: {
        const std::int64_t pool = c / numbers.pooled * numbers.pooled;
        double dmean = 0;
        double dvariance = 0;
        for (std::int64_t k = pool; k < pool + numbers.pooled; ++k) {
          dmean += numbers.gradients[row + k];
          dvariance += numbers.gradients[second + k];
        }
        const double q = 2 * dvariance / numbers.elements;
        scale[lane] = static_cast<float>(q);
        shift[lane] = static_cast<float>(dmean / numbers.elements - numbers.values[row + c] * q);
        break;
      }
    }
  }
}

const float* RowSource::evaluate(std::size_t index, const Run& run, float* scratch,
                                 float* out) const {
  const Term& term = terms_[index];
  float* const result = out != nullptr ? out : scratch + term.slot;
  if (term.kind == Kind::stored) {
    return stored_pixels(term, run, result);
  }
  const auto operand = [&](std::size_t i) {
    return evaluate(term.operands[i], run, scratch, nullptr);
  };
  const std::int64_t n = run.count;
  Numbers affine;
  if (term.affine.from != From::none) {
    load(term.affine, term, run, affine.scale, affine.shift);
  }
  Numbers through;  // statistics
  if (term.gradient.from != From::none) {
    load(term.gradient, term, run, through.scale, through.shift);
  }
  switch (term.kind) {
    case Kind::stored:
      break;
    case Kind::affine_leaky:
      affine_leaky(result, operand(0), affine.scale, affine.shift, term.slope, n);
      break;
    case Kind::leaky:
      leaky(result, operand(0), term.slope, n);
      break;
    case Kind::add_leaky:
      add_leaky(result, operand(0), operand(1), term.slope, n);
      break;
    case Kind::affine_leaky_add:
      affine_leaky_add(result, operand(0), affine.scale, affine.shift, term.slope, operand(1), n);
      break;
    case Kind::affine_add_leaky:
      affine_add_leaky(result, operand(0), affine.scale, affine.shift, operand(1), term.slope, n);
      break;
    case Kind::leaky_gradient:
      leaky_gradient(result, operand(0), operand(1), term.slope, n);
      break;
    case Kind::affine_leaky_gradient:
      affine_leaky_gradient(result, operand(0), affine.scale, affine.shift, term.slope, operand(1),
                            n);
      break;
    case Kind::combine:
      combine(result, operand(1), operand(0), affine.scale, through.scale, through.shift, n);
      break;
    case Kind::affine_leaky_gradient_combine:
      affine_leaky_gradient_combine(result, operand(0), affine.scale, affine.shift, term.slope,
                                    operand(1), affine.scale, through.scale, through.shift, n);
      break;
    case Kind::upsample_bilinear: {
      const Term& source = terms_[term.operands[0]];
      const std::int64_t near = run.row / 2;
      const std::int64_t far = run.row % 2 == 0 ? std::max<std::int64_t>(near - 1, 0)
                                                : std::min(near + 1, source.image.rows - 1);
      // A pixel reads its source pixel and that one's neighbours; no others are widened.
      const std::int64_t columns = source.image.columns;
      const std::int64_t left = std::max<std::int64_t>(run.first / 2 - 1, 0);
      const std::int64_t count = std::min((run.first + n - 1) / 2 + 2, columns) - left;
      float* const room = scratch + source.slot;
      upsample_bilinear_row(
          result, stored_pixels(source, {run.image, run.block, near, left, count}, room),
          stored_pixels(source, {run.image, run.block, far, left, count}, room + count * kBlock),
          0.25F, columns - left, run.first - 2 * left, n);
      break;
    }
    case Kind::upsample_nearest: {
      const Term& source = terms_[term.operands[0]];
      const std::int64_t depth = term.image.depth;
      const std::int64_t image =
          run.image / depth * source.image.depth + run.image % depth / term.factor[0];
      const std::int64_t left = run.first / term.factor[2];
      const std::int64_t count = (run.first + n - 1) / term.factor[2] + 1 - left;
      upsample_nearest_row(
          result,
          stored_pixels(source, {image, run.block, run.row / term.factor[1], left, count},
                        scratch + source.slot),
          term.factor[2], run.first - left * term.factor[2], n);
      break;
    }
    case Kind::max_pool: {
      const float* rows[kMostPooledRows];
      const std::int64_t source_depth = terms_[term.operands[0]].image.depth;
      const std::int64_t image = run.image / term.image.depth * source_depth +
                                 run.image % term.image.depth * term.factor[0];
      for (std::size_t i = 0; i < term.operands.size(); ++i) {
        const auto k = static_cast<std::int64_t>(i);
        const Run source{image + k / term.factor[1], run.block,
                         run.row * term.factor[1] + k % term.factor[1], run.first * term.factor[2],
                         n * term.factor[2]};
        rows[i] = evaluate(term.operands[i], source, scratch, nullptr);
      }
      max_pool_row(result, rows, static_cast<std::int64_t>(term.operands.size()), term.factor[2],
                   n);
      break;
    }
    case Kind::segmentation_gradient: {
      const std::int64_t group = run.image / (term.image.images() / term.groups);
      const std::int64_t pixel =
          (run.image * term.image.rows + run.row) * term.image.columns + run.first;
      cross_entropy_gradient_row(result, operand(0), term.labels + pixel, term.image.channels,
                                 term.class_weights + group * term.image.channels, term.focal,
                                 term.loss_factors[run.image * graph::kPixelSums], n);
      break;
    }
    case Kind::depth_to_planes: {
      const BlockedImage& source = terms_[term.operands[0]].image;
      Run moved = run;
      moved.image = run.image % source.batch * source.depth + run.image / source.batch;
      return evaluate(term.operands[0], moved, scratch, out);
    }
    case Kind::planes_to_depth: {
      Run moved = run;
      moved.image = run.image % term.image.depth * term.image.batch + run.image / term.image.depth;
      return evaluate(term.operands[0], moved, scratch, out);
    }
  }
  return result;
}

void RowSource::write(float* out, std::int64_t image, std::int64_t block, std::int64_t row,
                      std::int64_t first, std::int64_t count, float* scratch) const {
  for (std::int64_t done = 0; done < count; done += kRun) {
    const std::int64_t n = std::min(kRun, count - done);
    float* const to = out + done * pixel_stride_;
    const float* const from = evaluate(root_, {image, block, row, first + done, n}, scratch, to);
    // What is stored, or passed on from a stored value, has not been written anywhere yet.
    if (from != to) {
      std::copy_n(from, n * pixel_stride_, to);
    }
  }
}

}  // namespace cosmic::target::cpu
