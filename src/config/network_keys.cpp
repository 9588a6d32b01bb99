// The keys of `network`. Numbers of the choices are the reference's; model::validate knows which
// combinations make a network.
#include "config/key_list.hpp"

namespace cosmic::config {
namespace {

bool has_blocks(const model::UResNetOptions& network) {
  return network.blocks_per_layer + network.blocks_deepest_layer + network.blocks_final > 0;
}

}  // namespace

std::vector<Key> network_keys() {
  std::vector<Key> keys{
      COSMIC_KEY(network.name)
          .used_by(kAllCommands)
          .says("A label; part of the output path unless output_dir is given"),
      COSMIC_KEY(network.n_initial_filters)
          .used_by(kNetworkCommands)
          .at_least(1)
          .at_most(kMostChannels)
          .says("Channels of the first convolution"),
      COSMIC_KEY(network.depth)
          .used_by(kNetworkCommands)
          .at_least(1)
          .at_most(kMostBlocks)
          .says("Levels of the U; each halves the image"),
      COSMIC_KEY(network.blocks_per_layer)
          .used_by(kNetworkCommands)
          .at_least(0)
          .at_most(kMostBlocks)
          .says("Blocks per level, down and up"),
      COSMIC_KEY(network.blocks_deepest_layer)
          .used_by(kNetworkCommands)
          .at_least(0)
          .at_most(kMostBlocks)
          .says("Blocks at the deepest level"),
      COSMIC_KEY(network.blocks_final)
          .used_by(kNetworkCommands)
          .at_least(0)
          .at_most(kMostBlocks)
          .says("Blocks after the U"),
      COSMIC_KEY(network.filter_size_deepest)
          .used_by(kNetworkCommands)
          .needs(
              [](const Situation& s) { return s.configuration.network.blocks_deepest_layer > 0; },
              "there are no deepest blocks with network.blocks_deepest_layer=0")
          .at_least(1)
          .at_most(kMostBlocks)
          .says("Kernel size of the deepest convolutions; odd"),
      COSMIC_KEY(network.bottleneck_deepest)
          .used_by(kNetworkCommands)
          .at_least(1)
          .at_most(kMostChannels)
          .says("Channels inside the deepest blocks"),
      COSMIC_KEY(network.residual)
          .used_by(kNetworkCommands)
          .needs([](const Situation& s) { return has_blocks(s.configuration.network); },
                 "the network has no blocks")
          .says("Residual blocks instead of plain ones"),
      COSMIC_KEY(network.bias).used_by(kNetworkCommands).says("A bias in every convolution"),
      COSMIC_KEY(network.normalization)
          .used_by(kNetworkCommands)
          .says("Normalization after every convolution; layer is refused, as in the reference"),
      COSMIC_KEY(network.plane_statistics)
          .used_by(kNetworkCommands)
          .needs(
              [](const Situation& s) {
                return s.configuration.network.normalization == model::Normalization::batch;
              },
              "there are no batch statistics with network.normalization=none")
          .needs(
              [](const Situation& s) {
                return s.configuration.network.conv_mode == model::ConvMode::conv_2D;
              },
              "network.conv_mode=conv_3D always shares them")
          .needs([](const Situation& s) { return s.configuration.mode.name == Mode::train; },
                 "inference normalizes with running statistics, which planes share")
          .without_numbers()
          .says("Batch statistics that normalize a plane in training: its own, as in the "
                "reference, or those of all three planes, as in inference, which tags better"),
      COSMIC_KEY(network.synchronized_statistics)
          .used_by({Command::train, Command::explain})
          .requires_that(
              [](const Situation& s) {
                return s.configuration.network.normalization == model::Normalization::batch;
              },
              "there are no batch statistics with another network.normalization than batch")
          .requires_that(
              [](const Situation& s) {
                return s.configuration.run.replicas == 1 || s.command == Command::explain;
              },
              "the run.replicas of a process run one after the other, so the first cannot be "
              "normalized with what the last has yet to compute; only processes can")
          .needs([](const Situation& s) { return s.configuration.mode.name == Mode::train; },
                 "inference normalizes with running statistics")
          .says("With several processes: normalize with batch statistics over all of them, as one "
                "process does with the whole batch; each exchanges a few numbers per layer"),
      COSMIC_KEY(network.connections)
          .used_by(kNetworkCommands)
          .numbered({1, 0, 2})
          .says("How the two sides of the U are joined"),
      COSMIC_KEY(network.growth_rate)
          .used_by(kNetworkCommands)
          .numbered({1, 0})
          .says("Channels per level: a fixed number more, or twice as many"),
      COSMIC_KEY(network.downsampling).used_by(kNetworkCommands).says("How an image is halved"),
      COSMIC_KEY(network.upsampling).used_by(kNetworkCommands).says("How an image is doubled"),
      COSMIC_KEY(network.conv_mode)
          .used_by(kNetworkCommands)
          .says("Planes as separate images, or as one volume"),
      COSMIC_KEY(network.block_concat)
          .used_by(kNetworkCommands)
          .needs(
              [](const Situation& s) {
                return s.configuration.network.conv_mode == model::ConvMode::conv_2D;
              },
              "network.conv_mode=conv_3D always joins the planes")
          .says("true: the planes are NOT joined in the deepest block (the reference's meaning)"),
      COSMIC_KEY(network.weight_decay)
          .at_least(0)
          .does_nothing("the reference does not use it with PyTorch either; use "
                        "mode.optimizer.name=adamw and mode.optimizer.weight_decay")
          .says("TensorFlow's penalty on large weights"),
  };
  for (Key& key : keys) {
    // How processes share a batch is the run's business: weights serve with and without.
    const bool is_of_run = key.name == "network.synchronized_statistics";
    const bool shapes_the_network =
        key.name != "network.name" && key.without_effect.empty() && !is_of_run;
    key.on_resume = shapes_the_network ? OnResume::refuse
                    : is_of_run        ? OnResume::warn
                                       : OnResume::may_change;
    if (shapes_the_network) {
      key.of_weights = OfWeights::belongs;
      key.of_weights_because =
          "they are the weights of one network, and another computes something "
          "else with them even where they fit";
    } else if (key.name == "network.name") {
      key.of_weights = OfWeights::describes;
    }
  }
  return keys;
}

}  // namespace cosmic::config
