#include "target/cuda/recipe_builder.hpp"

#include <algorithm>
#include <vector>

#include "core/error.hpp"

namespace cosmic::target::cuda {
namespace {

using compile::TermView;
using graph::FeatureMap;
using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

static_assert(static_cast<int>(Format::f32) == static_cast<int>(NumberFormat::f32));
static_assert(static_cast<int>(Format::bf16) == static_cast<int>(NumberFormat::bf16));
static_assert(static_cast<int>(Format::f16) == static_cast<int>(NumberFormat::f16));

FeatureMap map_of(const Node& node) {
  return graph::feature_map(node.type, "an image");
}

bool is_affine(const Node& node) {
  return op_if<graph::ChannelAffine>(node) != nullptr ||
         op_if<graph::ChannelScale>(node) != nullptr ||
         op_if<graph::ChannelBias>(node) != nullptr || op_if<graph::Scale>(node) != nullptr ||
         op_if<graph::StatisticsGradient>(node) != nullptr;
}

constexpr int kWholeBatch = 1 << 30;

/// 1 and 0.
Coefficients identity(int channels) {
  Coefficients numbers;
  numbers.channels = channels;
  numbers.events_per_group = kWholeBatch;
  return numbers;
}

class RecipeBuilder {
 public:
  RecipeBuilder(const Addresses& addresses, std::optional<ValueId> result)
      : addresses_(addresses), result_(result) {}

  Recipe build(const TermView& value) {
    const FeatureMap map = map_of(value.node());
    recipe_.channels = as_int(map.channels);
    recipe_.depth = recipe_.source_depth = as_int(map.depth);
    recipe_.rows = as_int(map.rows);
    recipe_.columns = as_int(map.columns);
    TermView below = value;
    if (const auto* pool = value.evaluated<graph::MaxPool>(); pool != nullptr && !is_leaf(value)) {
      const bool has_depth = value.node().type.rank() == 5;
      recipe_.pool_depth = static_cast<std::uint8_t>(has_depth ? pool->window[0] : 1);
      recipe_.pool_rows = static_cast<std::uint8_t>(pool->window[1]);
      recipe_.pool_columns = static_cast<std::uint8_t>(pool->window[2]);
      below = value.operand(0);
      recipe_.source_depth = as_int(map_of(below.node()).depth);
    }
    add(below);
    find_formula();
    return recipe_;
  }

 private:
  bool is_leaf(const TermView& term) const {
    return term.is_leaf() || term.value() == result_ ||
           op_if<graph::Upsample>(term.node()) != nullptr ||
           op_if<graph::SegmentationSumsGradient>(term.node()) != nullptr;
  }
  /// A leaf, or two numbers per channel and a leaf.
  bool is_simple(const TermView& term) const {
    return is_leaf(term) || (is_affine(term.node()) && is_leaf(term.operand(0)));
  }

  void add(const TermView& term) {
    const Node& node = term.node();
    if (is_leaf(term)) {
      emit({Instruction::Code::push, leaf(term)});
    } else if (is_affine(node)) {
      add(term.operand(0));
      emit({Instruction::Code::affine, 0, coefficients(node)});
    } else if (const auto* activation = op_if<graph::LeakyRelu>(node)) {
      add(term.operand(0));
      emit({Instruction::Code::leaky, 0, 0, static_cast<float>(activation->slope)});
    } else if (const auto* gradient = op_if<graph::LeakyReluGradient>(node)) {
      const auto slope = static_cast<float>(gradient->slope);
      if (is_simple(term.operand(0))) {
        add(term.operand(1));
        emit_with_leaf(Instruction::Code::gate_affine, term.operand(0), slope);
      } else {
        add(term.operand(0));
        add(term.operand(1));
        emit({Instruction::Code::gate, 0, 0, slope});
      }
    } else if (op_if<graph::Add>(node) != nullptr) {
      const int simple = is_simple(term.operand(1)) ? 1 : is_simple(term.operand(0)) ? 0 : -1;
      if (simple >= 0) {
        add(term.operand(simple == 1 ? 0 : 1));
        emit_with_leaf(Instruction::Code::add_affine,
                       term.operand(static_cast<std::size_t>(simple)), 1);
      } else {
        add(term.operand(0));
        add(term.operand(1));
        emit({Instruction::Code::add});
      }
    } else {
      throw InternalError("there is no recipe for " + std::string(name_of(node.op)));
    }
  }

  void emit(const Instruction& instruction) {
    COSMIC_ASSERT(recipe_.instructions < Recipe::kMostInstructions);
    depth_ +=
        instruction.code == Instruction::Code::push ? 1
        : instruction.code == Instruction::Code::add || instruction.code == Instruction::Code::gate
            ? -1
            : 0;
    COSMIC_ASSERT(depth_ <= Recipe::kStack);
    recipe_.instruction[recipe_.instructions++] = instruction;
  }

  void emit_with_leaf(Instruction::Code code, const TermView& simple, float slope) {
    const bool plain = is_leaf(simple);
    emit({code, leaf(plain ? simple : simple.operand(0)),
          plain ? constant(1, as_int(map_of(simple.node()).channels)) : coefficients(simple.node()),
          slope});
  }

  std::uint8_t leaf(const TermView& term) {
    Leaf leaf;
    const Node& node = term.node();
    if (term.value() == result_) {
      leaf.kind = Leaf::Kind::result;
      leaf.image = image_of(node, nullptr);
    } else if (term.is_leaf()) {
      leaf.image = image_of(node, addresses_.at<std::byte>(term.value()));
    } else if (const auto* upsample = op_if<graph::Upsample>(node)) {
      const bool has_depth = node.type.rank() == 5;
      leaf.kind = upsample->interpolation == graph::Interpolation::bilinear ? Leaf::Kind::bilinear
                                                                            : Leaf::Kind::nearest;
      leaf.factor_depth = static_cast<std::uint8_t>(has_depth ? upsample->factor[0] : 1);
      leaf.factor_rows = static_cast<std::uint8_t>(upsample->factor[1]);
      leaf.factor_columns = static_cast<std::uint8_t>(upsample->factor[2]);
      COSMIC_ASSERT(term.operand(0).is_leaf());
      leaf.image =
          image_of(term.operand(0).node(), addresses_.at<std::byte>(term.operand(0).value()));
    } else {
      const auto& loss = std::get<graph::SegmentationSumsGradient>(node.op);
      leaf.kind = Leaf::Kind::segmentation;
      leaf.image = image_of(node, nullptr);
      recipe_.segmentation = segmentation_of(addresses_, node, loss.focal == graph::Focal::yes);
      recipe_.segmentation.dsums = addresses_.at(node.operands[3]);
    }
    for (std::uint8_t i = 0; i < recipe_.leaves; ++i) {
      if (recipe_.leaf[i].kind == leaf.kind && recipe_.leaf[i].image.base == leaf.image.base &&
          leaf.image.base != nullptr) {
        return i;
      }
    }
    COSMIC_ASSERT(recipe_.leaves < Recipe::kMostLeaves);
    recipe_.leaf[recipe_.leaves] = leaf;
    return recipe_.leaves++;
  }

  std::uint8_t add_coefficients(const Coefficients& coefficients) {
    COSMIC_ASSERT(recipe_.coefficients < Recipe::kMostCoefficients);
    recipe_.coefficient[recipe_.coefficients] = coefficients;
    return recipe_.coefficients++;
  }

  std::uint8_t constant(double value, int channels) {
    Coefficients numbers = identity(channels);
    numbers.constant = static_cast<float>(value);
    return add_coefficients(numbers);
  }

  std::uint8_t coefficients(const Node& node) {
    const FeatureMap map = map_of(node);
    if (const auto* scale = op_if<graph::Scale>(node)) {
      return constant(scale->factor, as_int(map.channels));
    }
    Coefficients numbers;
    numbers.channels = as_int(map.channels);
    numbers.values = addresses_.at(node.operands[1]);
    numbers.events_per_group = kWholeBatch;
    if (op_if<graph::ChannelBias>(node) != nullptr) {
      numbers.kind = Coefficients::Kind::bias;
      return add_coefficients(numbers);
    }
    numbers.groups = as_int(addresses_.graph().type(node.operands[1]).dim(1));
    numbers.events_per_group = as_int(map.batch / numbers.groups);
    if (const auto* gradient = op_if<graph::StatisticsGradient>(node)) {
      numbers.kind = Coefficients::Kind::statistics;
      numbers.gradients = addresses_.at(node.operands[2]);
      numbers.pooled = as_int(gradient->pooled_channels);
      numbers.elements = static_cast<double>(map.batch / gradient->groups * map.pixels() *
                                             gradient->pooled_channels);
    } else {
      numbers.kind = op_if<graph::ChannelScale>(node) != nullptr ? Coefficients::Kind::scale
                                                                 : Coefficients::Kind::affine;
    }
    return add_coefficients(numbers);
  }

  /// A term of a sum: a leaf with two numbers per channel and an activation, whichever are there.
  struct SumTerm {
    std::uint8_t leaf = 0;
    std::optional<std::uint8_t> coefficients;
    float slope = 1;
  };

  const Instruction* step(int i) const {
    return i < recipe_.instructions ? &recipe_.instruction[i] : nullptr;
  }
  bool is_code(int i, Instruction::Code code) const {
    return step(i) != nullptr && step(i)->code == code;
  }

  /// Reads on from instruction `next`, which pushes the leaf.
  SumTerm sum_term(int& next) const {
    SumTerm term;
    term.leaf = step(next++)->leaf;
    if (is_code(next, Instruction::Code::affine)) {
      term.coefficients = step(next++)->coefficients;
    }
    if (is_code(next, Instruction::Code::leaky)) {
      term.slope = step(next++)->slope;
    }
    return term;
  }

  /// A formula, and which leaves and coefficients of the recipe it reads, in its order.
  struct Found {
    Formula formula;
    std::vector<std::uint8_t> leaves;
    std::vector<std::uint8_t> coefficients;
  };

  /// Finds the formula that the instructions amount to, if they do, and puts what it reads first.
  void find_formula() {
    Found found = gradient_formula();
    if (found.formula.kind == Formula::Kind::none) {
      found = sum_formula();
    }
    if (found.formula.kind == Formula::Kind::none || !can_have(found.formula)) {
      return;
    }
    recipe_.formula = found.formula;
    const Recipe before = recipe_;
    recipe_.leaves = static_cast<std::uint8_t>(found.leaves.size());
    for (std::size_t i = 0; i < found.leaves.size(); ++i) {
      recipe_.leaf[i] = before.leaf[found.leaves[i]];
    }
    recipe_.coefficients = static_cast<std::uint8_t>(found.coefficients.size());
    for (std::size_t i = 0; i < found.coefficients.size(); ++i) {
      recipe_.coefficient[i] = before.coefficient[found.coefficients[i]];
    }
    recipe_.instructions = 0;  // nobody interprets it any more
  }

  Found gradient_formula() const {
    Found found;
    if (!is_code(1, Instruction::Code::gate_affine)) {
      return found;
    }
    Formula& formula = found.formula;
    found.leaves = {step(0)->leaf, step(1)->leaf};
    found.coefficients = {step(1)->coefficients};
    formula.slope[0] = step(1)->slope;
    if (is_code(2, Instruction::Code::affine) && is_code(3, Instruction::Code::add_affine) &&
        recipe_.coefficient[step(2)->coefficients].kind == Coefficients::Kind::scale) {
      formula.is_long = true;
      formula.c_is_b = step(3)->leaf == step(1)->leaf;
      if (!formula.c_is_b) {
        found.leaves.push_back(step(3)->leaf);
      }
      found.coefficients.push_back(step(2)->coefficients);
      found.coefficients.push_back(step(3)->coefficients);
    }
    if (recipe_.instructions == (formula.is_long ? 4 : 2)) {
      formula.kind = Formula::Kind::gradient;
    }
    return found;
  }

  Found sum_formula() {
    Found found;
    Formula& formula = found.formula;
    int next = 0;
    SumTerm first = sum_term(next);
    std::optional<SumTerm> second;
    if (is_code(next, Instruction::Code::add_affine)) {
      second = SumTerm{step(next)->leaf, step(next)->coefficients, 1};
      ++next;
    } else if (is_code(next, Instruction::Code::push)) {
      second = sum_term(next);
      if (!is_code(next++, Instruction::Code::add)) {
        return found;
      }
    }
    if (second && is_code(next, Instruction::Code::leaky)) {
      formula.outer = step(next++)->slope;
    }
    if (next != recipe_.instructions) {
      return found;
    }
    if (second && is_bilinear(second->leaf)) {
      std::swap(first, *second);
    }
    found.leaves = {first.leaf};
    if (!second && !first.coefficients && first.slope == 1 && !recipe_.pools()) {
      formula.kind = Formula::Kind::plain;
      found.coefficients = {or_identity(std::nullopt)};  // for whoever takes it as a sum
      return found;
    }
    formula.kind = Formula::Kind::sum;
    found.coefficients = {or_identity(first.coefficients)};
    formula.slope[0] = first.slope;
    if (second) {
      formula.is_long = true;
      found.leaves.push_back(second->leaf);
      found.coefficients.push_back(or_identity(second->coefficients));
      formula.slope[1] = second->slope;
    }
    return found;
  }

  std::uint8_t or_identity(std::optional<std::uint8_t> coefficients) {
    return coefficients ? *coefficients : constant(1, recipe_.channels);
  }

  bool is_bilinear(std::uint8_t leaf) const {
    return recipe_.leaf[leaf].kind == Leaf::Kind::bilinear;
  }

  /// Formulas read whole blocks and rest on a leaky activation being the larger of two numbers.
  bool can_have(const Formula& formula) const {
    const auto is_slope = [](float slope) { return slope >= 0 && slope <= 1; };
    bool can = is_slope(formula.slope[0]) && is_slope(formula.slope[1]) && is_slope(formula.outer);
    for (int i = 0; i < recipe_.leaves; ++i) {
      const Leaf& leaf = recipe_.leaf[i];
      can = can && (leaf.kind == Leaf::Kind::result ||
                    (leaf.image.lanes == kBlock &&
                     (leaf.kind == Leaf::Kind::stored || leaf.kind == Leaf::Kind::bilinear)));
    }
    return can;
  }

  const Addresses& addresses_;
  std::optional<ValueId> result_;
  Recipe recipe_;
  int depth_ = 0;
};

/// Vectors that the stack needs for a value when nothing is stored but what has to be: a value that
/// would need more than there are is, and is a leaf to whoever reads it. So is every value in a
/// long chain of residual blocks, if it could not be cut; then all of it is written to memory and
/// read again, its activations and the gradients of these too.
int stack_of(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  if (locality_of(node.op) == graph::Locality::whole || node.operands.empty() ||
      op_if<graph::Upsample>(node) != nullptr ||
      op_if<graph::SegmentationSumsGradient>(node) != nullptr ||
      op_if<graph::MaxPool>(node) != nullptr) {
    return 1;
  }
  const auto of_operand = [&](std::size_t i) {
    const int stack = stack_of(graph, node.operands[i]);
    return stack > Recipe::kStack ? 1 : stack;
  };
  if (op_if<graph::Add>(node) != nullptr || op_if<graph::LeakyReluGradient>(node) != nullptr) {
    return std::max(of_operand(0), of_operand(1) + 1);
  }
  return of_operand(0);
}

}  // namespace

Segmentation segmentation_of(const Addresses& addresses, const Node& node, bool focal) {
  const Graph& graph = addresses.graph();
  const Node& scores = graph.node(node.operands[0]);
  Segmentation loss;
  loss.scores = image_of(scores, addresses.at<std::byte>(node.operands[0]));
  loss.labels = addresses.at<std::uint8_t>(node.operands[1]);
  loss.class_weights = addresses.at(node.operands[2]);
  loss.events_per_group = scores.type.dim(0) / graph.type(node.operands[2]).dim(0);
  loss.focal = focal;
  return loss;
}

Format format_of(const Node& node) {
  return static_cast<Format>(node.format);
}

Image image_of(const Node& node, std::byte* base) {
  const FeatureMap map = map_of(node);
  Image image;
  image.base = base;
  image.channels = as_int(map.channels);
  image.depth = as_int(map.depth);
  image.rows = as_int(map.rows);
  image.columns = as_int(map.columns);
  image.images = as_int(map.batch * map.depth);
  if (node.layout == graph::Layout::blocked) {
    image.format = format_of(node);
    image.lanes =
        node.format == NumberFormat::f32 && map.channels <= kNarrowBlock ? kNarrowBlock : kBlock;
  }
  return image;
}

std::int64_t storage_bytes(const Node& node) {
  if (node.layout != graph::Layout::blocked) {
    return node.type.bytes();
  }
  const Image image = image_of(node, nullptr);
  return image.vectors() * image.lanes * size_of(image.format);
}

Recipe make_recipe(const Addresses& addresses, const TermView& value,
                   std::optional<ValueId> result) {
  return RecipeBuilder(addresses, result).build(value);
}

Recipe make_stored_recipe(const Image& image) {
  Recipe recipe;
  recipe.formula.kind = Formula::Kind::plain;
  recipe.channels = image.channels;
  recipe.depth = recipe.source_depth = image.depth;
  recipe.rows = image.rows;
  recipe.columns = image.columns;
  recipe.leaves = 1;
  recipe.leaf[0].image = image;
  recipe.coefficients = 1;  // for whoever takes it as a sum
  recipe.coefficient[0] = identity(image.channels);
  return recipe;
}

Recipe make_spread_recipe(const Addresses& addresses, ValueId id, int taps, int shift,
                          int columns) {
  const Node& node = addresses.graph().node(id);
  Recipe recipe;
  recipe.leaves = 1;
  recipe.leaf[0].kind = Leaf::Kind::spread;
  recipe.leaf[0].shift = shift;
  recipe.leaf[0].image = image_of(node, addresses.at<std::byte>(id));
  recipe.instructions = 1;
  recipe.channels = taps;
  recipe.depth = recipe.source_depth = recipe.leaf[0].image.depth;
  recipe.rows = recipe.leaf[0].image.rows;
  // Beyond the last column there are taps that still reach it.
  recipe.columns = std::max(recipe.leaf[0].image.columns, columns);
  return recipe;
}

int groups_of(const Recipe& recipe, int batch) {
  int groups = 1;
  for (int i = 0; i < recipe.coefficients; ++i) {
    const Coefficients& numbers = recipe.coefficient[i];
    if (numbers.groups == groups || numbers.groups == 1) {
      continue;
    }
    groups = groups == 1 ? numbers.groups : batch;  // of different groups, each image is its own
  }
  return groups;
}

bool has_recipe(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  const bool known =
      is_affine(node) || op_if<graph::LeakyRelu>(node) != nullptr ||
      op_if<graph::LeakyReluGradient>(node) != nullptr || op_if<graph::Add>(node) != nullptr ||
      op_if<graph::Upsample>(node) != nullptr || op_if<graph::MaxPool>(node) != nullptr ||
      op_if<graph::SegmentationSumsGradient>(node) != nullptr;
  return known && stack_of(graph, id) <= Recipe::kStack;
}

}  // namespace cosmic::target::cuda
