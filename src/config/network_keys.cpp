// The keys of `network`. Numbers of the choices are the reference's; model::validate knows which
// combinations make a network.
#include "config/key_list.hpp"

namespace cosmic::config {

std::vector<Key> network_keys() {
  std::vector<Key> keys{
      COSMIC_KEY(network.name).says("A label; part of the output path unless output_dir is given"),
      COSMIC_KEY(network.n_initial_filters).at_least(1).says("Channels of the first convolution"),
      COSMIC_KEY(network.depth).at_least(1).says("Levels of the U; each halves the image"),
      COSMIC_KEY(network.blocks_per_layer).at_least(0).says("Blocks per level, down and up"),
      COSMIC_KEY(network.blocks_deepest_layer).at_least(0).says("Blocks at the deepest level"),
      COSMIC_KEY(network.blocks_final).at_least(0).says("Blocks after the U"),
      COSMIC_KEY(network.filter_size_deepest)
          .at_least(1)
          .says("Kernel size of the deepest convolutions; odd"),
      COSMIC_KEY(network.bottleneck_deepest).at_least(1).says("Channels inside the deepest blocks"),
      COSMIC_KEY(network.residual).says("Residual blocks instead of plain ones"),
      COSMIC_KEY(network.bias).says("A bias in every convolution"),
      COSMIC_KEY(network.normalization)
          .says("Normalization after every convolution; layer is refused, as in the reference"),
      COSMIC_KEY(network.plane_statistics)
          .without_numbers()
          .says("Batch statistics that normalize a plane in training: its own, as in the "
                "reference, or those of all three planes, as in inference, which tags better"),
      COSMIC_KEY(network.connections)
          .numbered({1, 0, 2})
          .says("How the two sides of the U are joined"),
      COSMIC_KEY(network.growth_rate)
          .numbered({1, 0})
          .says("Channels per level: a fixed number more, or twice as many"),
      COSMIC_KEY(network.downsampling).says("How an image is halved"),
      COSMIC_KEY(network.upsampling).says("How an image is doubled"),
      COSMIC_KEY(network.conv_mode).says("Planes as separate images, or as one volume"),
      COSMIC_KEY(network.block_concat)
          .says("true: the planes are NOT joined in the deepest block (the reference's meaning)"),
      COSMIC_KEY(network.weight_decay)
          .at_least(0)
          .does_nothing("the reference does not use it with PyTorch either; use "
                        "mode.optimizer.name=adamw and mode.optimizer.weight_decay")
          .says("TensorFlow's penalty on large weights"),
  };
  for (Key& key : keys) {
    const bool shapes_the_network = key.name != "network.name" && key.without_effect.empty();
    key.on_resume = shapes_the_network ? OnResume::refuse : OnResume::may_change;
  }
  return keys;
}

}  // namespace cosmic::config
