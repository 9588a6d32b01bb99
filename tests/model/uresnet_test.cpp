// The network against the reference's own numbers: how many parameters, their names, order and
// shapes.
#include "model/uresnet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "model/inspect.hpp"

namespace cosmic::model {
namespace {

using graph::DType;
using graph::Graph;
using graph::Initializer;
using graph::Shape;
using graph::StateKind;
using testing::ElementsAre;

struct Program {
  Graph graph;
  graph::ValueId logits;
};

Program build(const UResNetOptions& options, Phase phase = Phase::training, Shape image = {}) {
  if (image.empty()) {
    const std::int64_t side = std::int64_t{2} << options.depth;
    image = {2, 3, side, 2 * side};
  }
  graph::Builder g;
  const graph::ValueId input = g.input("image", {DType::f32, image});
  const graph::ValueId logits = UResNet(options).logits(g, input, phase);
  g.output("logits", logits);
  Program program{g.take(), logits};
  graph::verify(program.graph);
  return program;
}

UResNetOptions changed(const std::string& name,
                       const std::function<void(UResNetOptions&)>& change) {
  UResNetOptions options = preset(name);
  change(options);
  return options;
}

UResNetOptions small() {
  UResNetOptions options = preset("a21");
  options.n_initial_filters = 4;
  options.depth = 2;
  options.blocks_deepest_layer = 2;
  options.blocks_final = 1;
  options.bottleneck_deepest = 6;
  return options;
}

UResNetOptions changed_small(const std::function<void(UResNetOptions&)>& change) {
  UResNetOptions options = small();
  change(options);
  return options;
}

std::int64_t parameters(const UResNetOptions& options) {
  return parameter_count(build(options).graph);
}

std::int64_t buffers(const UResNetOptions& options) {
  return state_elements(build(options).graph, StateKind::buffer);
}

std::vector<std::string> state_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const graph::StateVariable& state : graph.states) {
    names.push_back(state.name);
  }
  return names;
}

/// The modules that own parameters, once each, in order of declaration.
std::vector<std::string> parameter_modules(const Graph& graph) {
  std::vector<std::string> modules;
  for (const graph::StateVariable& state : graph.states) {
    std::string module = state.name.substr(0, state.name.rfind('.'));
    for (const std::string leaf : {".conv", ".norm"}) {
      if (module.ends_with(leaf)) {
        module.resize(module.size() - leaf.size());
      }
    }
    if (modules.empty() || modules.back() != module) {
      modules.push_back(module);
    }
  }
  return modules;
}

Shape shape_of(const Graph& graph, const std::string& state) {
  return graph.type(graph.state(state).value).shape;
}

template <class Op>
std::vector<const graph::Node*> nodes_with(const Graph& graph) {
  std::vector<const graph::Node*> found;
  graph::for_each_node(graph, [&](graph::ValueId, const graph::Node& node) {
    if (graph::op_if<Op>(node)) {
      found.push_back(&node);
    }
  });
  return found;
}

std::string main_modules(int count) {
  std::string name = "net_core";
  for (int i = 0; i < count; ++i) {
    name += ".main_module";
  }
  return name;
}

TEST(UResNetSize, presets_have_as_many_parameters_as_in_the_reference) {
  EXPECT_EQ(parameters(preset("uresnet")), 18'382'131);
  EXPECT_EQ(parameters(preset("a21")), 8'510'547);
  EXPECT_EQ(parameters(preset("scc21")), 18'367'891);
  EXPECT_EQ(parameters(preset("polaris")), 1'926'403);
  EXPECT_EQ(parameters(preset("uresnet3d")), 18'381'459);
}

TEST(UResNetSize, presets_have_as_many_buffer_elements_as_in_the_reference) {
  EXPECT_EQ(buffers(preset("uresnet")), 14'329);
  EXPECT_EQ(buffers(preset("a21")), 5'580);
  EXPECT_EQ(buffers(preset("scc21")), 0);
  EXPECT_EQ(buffers(preset("polaris")), 7'089);
  EXPECT_EQ(buffers(preset("uresnet3d")), 13'881);
}

TEST(UResNetSize, variants_of_a21_have_as_many_parameters_as_in_the_reference) {
  const auto a21_with = [](const std::function<void(UResNetOptions&)>& change) {
    return parameters(changed("a21", change));
  };
  EXPECT_EQ(a21_with([](auto& o) { o.connections = Connections::concat; }), 8'522'699);
  EXPECT_EQ(a21_with([](auto& o) {
              o.connections = Connections::concat;
              o.blocks_final = 5;
            }),
            8'525'699);
  EXPECT_EQ(a21_with([](auto& o) { o.growth_rate = GrowthRate::multiplicative; }), 12'492'883);
  EXPECT_EQ(a21_with([](auto& o) { o.downsampling = Downsampling::convolutional; }), 8'532'051);
  EXPECT_EQ(a21_with([](auto& o) { o.upsampling = Upsampling::convolutional; }), 8'532'051);
  EXPECT_EQ(a21_with([](auto& o) { o.block_concat = true; }), 8'452'867);
  EXPECT_EQ(a21_with([](auto& o) { o.bias = false; }), 8'507'776);
  EXPECT_EQ(a21_with([](auto& o) { o.residual = true; }), 16'918'067);
}

TEST(UResNetSize, golden_networks_have_as_many_parameters_as_in_the_reference) {
  const auto with = [](const std::function<void(UResNetOptions&)>& change) {
    return parameters(changed_small(change));
  };
  EXPECT_EQ(with([](auto&) {}), 6053);
  EXPECT_EQ(with([](auto& o) { o.residual = true; }), 11069);
  EXPECT_EQ(with([](auto& o) { o.connections = Connections::concat; }), 6249);
  EXPECT_EQ(with([](auto& o) { o.connections = Connections::none; }), 6053);
  EXPECT_EQ(with([](auto& o) { o.growth_rate = GrowthRate::multiplicative; }), 6309);
  EXPECT_EQ(with([](auto& o) { o.downsampling = Downsampling::convolutional; }), 6437);
  EXPECT_EQ(with([](auto& o) { o.upsampling = Upsampling::convolutional; }), 6437);
  EXPECT_EQ(with([](auto& o) { o.block_concat = true; }), 5693);
  EXPECT_EQ(with([](auto& o) { o.bias = false; }), 5908);
  EXPECT_EQ(with([](auto& o) { o.normalization = Normalization::none; }), 5769);
  EXPECT_EQ(with([](auto& o) { o.conv_mode = ConvMode::conv_3D; }), 5981);
  EXPECT_EQ(with([](auto& o) {
              o.conv_mode = ConvMode::conv_3D;
              o.residual = true;
              o.connections = Connections::concat;
              o.downsampling = Downsampling::convolutional;
              o.upsampling = Upsampling::convolutional;
            }),
            11961);
}

TEST(UResNetStates, a21_lists_310_entries_in_the_order_of_the_reference) {
  const Graph graph = build(preset("a21")).graph;
  const std::vector<std::string> names = state_names(graph);
  ASSERT_EQ(names.size(), 310u);
  EXPECT_EQ(std::count_if(graph.states.begin(), graph.states.end(),
                          [](const auto& s) { return s.kind == StateKind::parameter; }),
            178);
  EXPECT_THAT(
      std::vector(names.begin(), names.begin() + 8),
      ElementsAre("initial_convolution.conv.weight", "initial_convolution.conv.bias",
                  "initial_convolution.norm.weight", "initial_convolution.norm.bias",
                  "initial_convolution.norm.running_mean", "initial_convolution.norm.running_var",
                  "initial_convolution.norm.num_batches_tracked",
                  "net_core.down_blocks.blocks.0.conv.weight"));
  EXPECT_THAT(std::vector(names.end() - 3, names.end()),
              ElementsAre("net_core.up_blocks.blocks.1.norm.num_batches_tracked",
                          "bottleneck.weight", "bottleneck.bias"));
}

TEST(UResNetStates, the_connection_is_listed_after_the_up_series_it_feeds) {
  const Graph graph = build(changed_small([](auto& o) {
                        o.depth = 1;
                        o.blocks_per_layer = 1;
                        o.blocks_deepest_layer = 1;
                        o.connections = Connections::concat;
                      })).graph;
  EXPECT_THAT(
      parameter_modules(graph),
      ElementsAre("initial_convolution", "net_core.down_blocks.blocks.0",
                  "net_core.downsample.bottleneck", "net_core.main_module.main_module.bottleneck",
                  "net_core.main_module.main_module.blocks.blocks.0",
                  "net_core.main_module.main_module.unbottleneck", "net_core.upsample.bottleneck",
                  "net_core.up_blocks.blocks.0", "net_core.connection.bottleneck",
                  "final_layer.blocks.0", "bottleneck"));
}

TEST(UResNetStates, convolutional_resampling_and_residual_blocks_have_the_names_of_the_reference) {
  const Graph graph = build(changed_small([](auto& o) {
                        o.depth = 1;
                        o.blocks_per_layer = 1;
                        o.blocks_deepest_layer = 0;
                        o.residual = true;
                        o.downsampling = Downsampling::convolutional;
                        o.upsampling = Upsampling::convolutional;
                      })).graph;
  EXPECT_THAT(
      parameter_modules(graph),
      ElementsAre("initial_convolution", "net_core.down_blocks.blocks.0.convolution_1",
                  "net_core.down_blocks.blocks.0.convolution_2", "net_core.downsample",
                  "net_core.main_module.main_module.bottleneck",
                  "net_core.main_module.main_module.unbottleneck", "net_core.upsample",
                  "net_core.up_blocks.blocks.0.convolution_1",
                  "net_core.up_blocks.blocks.0.convolution_2", "final_layer.blocks.0.convolution_1",
                  "final_layer.blocks.0.convolution_2", "bottleneck"));
  EXPECT_EQ(shape_of(graph, "net_core.downsample.conv.weight"), (Shape{8, 4, 2, 2}));
  EXPECT_EQ(shape_of(graph, "net_core.upsample.conv.weight"), (Shape{8, 4, 2, 2}));
  EXPECT_EQ(shape_of(graph, "net_core.upsample.conv.bias"), (Shape{4}));
}

TEST(UResNetStates, the_3d_network_has_the_names_and_kernels_of_the_reference) {
  const Graph graph = build(changed_small([](auto& o) {
                        o.depth = 1;
                        o.blocks_per_layer = 1;
                        o.blocks_deepest_layer = 1;
                        o.conv_mode = ConvMode::conv_3D;
                        o.connections = Connections::concat;
                      })).graph;
  EXPECT_THAT(
      parameter_modules(graph),
      ElementsAre("initial_convolution", "net_core.down_blocks.block_0",
                  "net_core.downsample.bottleneck", "net_core.main_module.main_module.merger",
                  "net_core.main_module.main_module.blocks.block_0",
                  "net_core.main_module.main_module.splitter", "net_core.upsample.bottleneck",
                  "net_core.up_blocks.block_0", "net_core.connection.bottleneck",
                  "final_layer.block_0", "bottleneck"));
  EXPECT_EQ(shape_of(graph, "initial_convolution.conv.weight"), (Shape{4, 1, 1, 5, 5}));
  EXPECT_EQ(shape_of(graph, "net_core.main_module.main_module.merger.conv.weight"),
            (Shape{6, 8, 3, 1, 1}));
  EXPECT_EQ(shape_of(graph, "net_core.main_module.main_module.splitter.conv.weight"),
            (Shape{8, 6, 3, 1, 1}));
}

TEST(UResNetStates, a21_has_the_shapes_of_the_reference) {
  const Graph graph = build(preset("a21")).graph;
  EXPECT_EQ(shape_of(graph, "initial_convolution.conv.weight"), (Shape{8, 1, 5, 5}));
  for (int level = 0; level < 6; ++level) {
    const std::string prefix = main_modules(level);
    const std::int64_t c = 8 * (level + 1);
    EXPECT_EQ(shape_of(graph, prefix + ".down_blocks.blocks.1.conv.weight"), (Shape{c, c, 3, 3}));
    EXPECT_EQ(shape_of(graph, prefix + ".up_blocks.blocks.0.conv.weight"), (Shape{c, c, 3, 3}));
    EXPECT_EQ(shape_of(graph, prefix + ".downsample.bottleneck.conv.weight"),
              (Shape{c + 8, c, 1, 1}));
    EXPECT_EQ(shape_of(graph, prefix + ".upsample.bottleneck.conv.weight"),
              (Shape{c, c + 8, 1, 1}));
  }
  const std::string deepest = main_modules(7);
  EXPECT_EQ(shape_of(graph, deepest + ".bottleneck.conv.weight"), (Shape{256, 168, 1, 1}));
  EXPECT_EQ(shape_of(graph, deepest + ".blocks.blocks.4.conv.weight"), (Shape{256, 256, 5, 5}));
  EXPECT_EQ(shape_of(graph, deepest + ".unbottleneck.conv.weight"), (Shape{168, 256, 1, 1}));
  EXPECT_EQ(shape_of(graph, "bottleneck.weight"), (Shape{3, 8, 1, 1}));
  EXPECT_EQ(shape_of(graph, "bottleneck.bias"), (Shape{3}));
  EXPECT_EQ(shape_of(graph, "initial_convolution.norm.num_batches_tracked"), Shape{});
}

TEST(UResNetStates, training_and_evaluation_have_the_same_states) {
  for (const std::string& name : preset_names()) {
    EXPECT_EQ(state_names(build(preset(name), Phase::training).graph),
              state_names(build(preset(name), Phase::evaluation).graph))
        << name;
  }
}

TEST(UResNetInitialisation, two_dimensional_convolutions_are_xavier_uniform_without_bias) {
  const Graph graph = build(preset("a21")).graph;
  const Initializer& weight = graph.state("net_core.down_blocks.blocks.0.conv.weight").initializer;
  EXPECT_EQ(weight.kind, Initializer::Kind::uniform);
  EXPECT_DOUBLE_EQ(weight.value, std::sqrt(6.0 / (8 * 9 + 8 * 9)));
  const Initializer& bias = graph.state("net_core.down_blocks.blocks.0.conv.bias").initializer;
  EXPECT_EQ(bias.kind, Initializer::Kind::constant);
  EXPECT_EQ(bias.value, 0);
}

TEST(UResNetInitialisation, transposed_convolutions_keep_the_default_of_the_framework) {
  const Graph graph =
      build(changed("a21", [](auto& o) { o.upsampling = Upsampling::convolutional; })).graph;
  for (const std::string leaf : {"weight", "bias"}) {
    const Initializer& rule = graph.state("net_core.upsample.conv." + leaf).initializer;
    EXPECT_EQ(rule.kind, Initializer::Kind::uniform);
    EXPECT_DOUBLE_EQ(rule.value, 1 / std::sqrt(8.0 * 4));
  }
}

TEST(UResNetInitialisation, three_dimensional_convolutions_keep_the_default_of_the_framework) {
  const Graph graph = build(preset("uresnet3d")).graph;
  for (const std::string leaf : {"weight", "bias"}) {
    const Initializer& rule = graph.state("initial_convolution.conv." + leaf).initializer;
    EXPECT_EQ(rule.kind, Initializer::Kind::uniform);
    EXPECT_DOUBLE_EQ(rule.value, 1 / std::sqrt(25.0));
  }
}

TEST(UResNetInitialisation, normalisation_starts_as_the_identity) {
  const Graph graph = build(preset("a21")).graph;
  const std::map<std::string, double> expected{{"weight", 1},
                                               {"bias", 0},
                                               {"running_mean", 0},
                                               {"running_var", 1},
                                               {"num_batches_tracked", 0}};
  for (const auto& [leaf, value] : expected) {
    const Initializer& rule = graph.state("initial_convolution.norm." + leaf).initializer;
    EXPECT_EQ(rule.kind, Initializer::Kind::constant) << leaf;
    EXPECT_EQ(rule.value, value) << leaf;
  }
}

TEST(UResNetProgram, logits_are_plane_major_and_as_large_as_the_image) {
  for (const std::string& name : preset_names()) {
    for (const Phase phase : {Phase::training, Phase::evaluation}) {
      const Program program = build(preset(name), phase, {2, 3, 256, 384});
      EXPECT_EQ(program.graph.type(program.logits).shape, (Shape{6, 3, 256, 384})) << name;
    }
  }
}

TEST(UResNetProgram, planes_have_statistics_of_their_own_except_where_they_are_merged) {
  const auto groups_at = [](const UResNetOptions& options, const std::string& layer) {
    const Graph graph = build(options).graph;
    for (const graph::Node* node : nodes_with<graph::Statistics>(graph)) {
      if (node->name == layer) {
        return graph::op_if<graph::Statistics>(*node)->groups;
      }
    }
    return std::int64_t{-1};
  };
  const std::string outside = "initial_convolution.norm";
  const std::string inside = main_modules(3) + ".blocks.blocks.0.norm";
  EXPECT_EQ(groups_at(small(), outside), 3);
  EXPECT_EQ(groups_at(small(), inside), 1);
  const UResNetOptions apart = changed_small([](auto& o) { o.block_concat = true; });
  EXPECT_EQ(groups_at(apart, inside), 3);
  const UResNetOptions volume = changed_small([](auto& o) { o.conv_mode = ConvMode::conv_3D; });
  EXPECT_EQ(groups_at(volume, outside), 1);
}

TEST(UResNetProgram, planes_share_statistics_everywhere_if_they_are_told_to) {
  const UResNetOptions shared = changed_small([](auto& o) {
    o.plane_statistics = PlaneStatistics::shared;
    o.block_concat = true;  // the deepest block does not merge them either
  });
  const Graph graph = build(shared, Phase::training, {2, 3, 8, 12}).graph;
  for (const graph::Node* node : nodes_with<graph::Statistics>(graph)) {
    EXPECT_EQ(graph::op_if<graph::Statistics>(*node)->groups, 1) << node->name;
  }
  const graph::Node* first = nodes_with<graph::RunningUpdate>(graph).front();
  EXPECT_EQ(*graph::op_if<graph::RunningUpdate>(*first),
            (graph::RunningUpdate{graph::RunningUpdate::Of::mean, 0.1, 3 * 2 * 8 * 12}));
}

TEST(UResNetProgram, training_updates_every_buffer_once_and_evaluation_none) {
  const Graph training = build(small(), Phase::training).graph;
  std::vector<graph::ValueId> updated;
  for (const graph::StateUpdate& update : training.updates) {
    updated.push_back(update.state);
  }
  std::vector<graph::ValueId> observed;
  for (const graph::StateVariable& state : training.states) {
    if (state.kind == StateKind::buffer) {
      observed.push_back(state.value);
    }
  }
  EXPECT_THAT(updated, testing::UnorderedElementsAreArray(observed));
  const Graph evaluation = build(small(), Phase::evaluation).graph;
  EXPECT_TRUE(evaluation.updates.empty());
  EXPECT_TRUE(nodes_with<graph::Statistics>(evaluation).empty());
}

TEST(UResNetProgram, running_statistics_count_the_elements_of_one_plane) {
  const Graph graph = build(small(), Phase::training, {2, 3, 8, 12}).graph;
  const graph::Node* first = nodes_with<graph::RunningUpdate>(graph).front();
  EXPECT_EQ(first->name, "initial_convolution.norm");
  EXPECT_EQ(*graph::op_if<graph::RunningUpdate>(*first),
            (graph::RunningUpdate{graph::RunningUpdate::Of::mean, 0.1, 2 * 8 * 12}));
  EXPECT_EQ(graph::op_if<graph::Increment>(*nodes_with<graph::Increment>(graph).front())->by, 3);
}

TEST(UResNetProgram, the_2d_skip_leaves_before_the_down_series_and_joins_before_the_up_series) {
  const Graph graph = build(small()).graph;
  const graph::Node& join = *nodes_with<graph::Add>(graph).back();
  EXPECT_EQ(join.name, "net_core.connection");
  EXPECT_EQ(graph.node(join.operands[0]).name, "net_core.upsample.bottleneck");
  EXPECT_EQ(graph.node(join.operands[1]).name, "initial_convolution");
}

TEST(UResNetProgram, the_3d_skip_leaves_after_the_down_series_and_joins_after_the_up_series) {
  const Graph graph = build(changed_small([](auto& o) { o.conv_mode = ConvMode::conv_3D; })).graph;
  const graph::Node& join = *nodes_with<graph::Add>(graph).back();
  EXPECT_EQ(join.name, "net_core.connection");
  EXPECT_EQ(graph.node(join.operands[0]).name, "net_core.up_blocks.block_1");
  EXPECT_EQ(graph.node(join.operands[1]).name, "net_core.down_blocks.block_1");
}

TEST(UResNetProgram, interpolation_is_bilinear_in_2d_and_nearest_in_3d) {
  const auto interpolation = [](ConvMode mode) {
    const Graph graph = build(changed_small([&](auto& o) { o.conv_mode = mode; })).graph;
    return graph::op_if<graph::Upsample>(*nodes_with<graph::Upsample>(graph).front())
        ->interpolation;
  };
  EXPECT_EQ(interpolation(ConvMode::conv_2D), graph::Interpolation::bilinear);
  EXPECT_EQ(interpolation(ConvMode::conv_3D), graph::Interpolation::nearest);
}

TEST(UResNetProgram, only_convolutional_resampling_in_3d_uses_relu) {
  const auto plain_relus = [](ConvMode mode) {
    const Graph graph = build(changed_small([&](auto& o) {
                          o.conv_mode = mode;
                          o.downsampling = Downsampling::convolutional;
                          o.upsampling = Upsampling::convolutional;
                        })).graph;
    std::vector<std::string> layers;
    for (const graph::Node* node : nodes_with<graph::LeakyRelu>(graph)) {
      if (graph::op_if<graph::LeakyRelu>(*node)->slope == 0) {
        layers.push_back(node->name);
      }
    }
    return layers;
  };
  EXPECT_TRUE(plain_relus(ConvMode::conv_2D).empty());
  EXPECT_THAT(plain_relus(ConvMode::conv_3D),
              ElementsAre("net_core.downsample", "net_core.main_module.downsample",
                          "net_core.main_module.upsample", "net_core.upsample"));
}

TEST(UResNetProgram, a_series_may_be_empty) {
  const Program program = build(changed_small([](auto& o) {
    o.blocks_per_layer = 0;
    o.blocks_deepest_layer = 0;
    o.blocks_final = 0;
  }));
  EXPECT_EQ(parameter_modules(program.graph).size(), 8u);
}

TEST(UResNetOptions, presets_carry_the_label_of_the_reference) {
  EXPECT_EQ(UResNet(preset("a21")).name(), "A21");
  EXPECT_EQ(UResNet(preset("polaris")).name(), "polaris");
}

TEST(UResNetOptions, every_choice_reads_back_as_it_is_written) {
  const auto round_trip = [](auto value) {
    EXPECT_EQ(parse_enum<decltype(value)>(to_string(value)), value) << to_string(value);
  };
  round_trip(Normalization::layer);
  round_trip(PlaneStatistics::shared);
  round_trip(Connections::none);
  round_trip(ConvMode::conv_3D);
  round_trip(GrowthRate::multiplicative);
  round_trip(Downsampling::max_pooling);
  round_trip(Upsampling::interpolation);
}

}  // namespace
}  // namespace cosmic::model
