// The U-ResNet of CosmicTagger: a U of convolution blocks that looks at the three planes of an
// event with the same weights and lets them meet in the deepest block only.
//
// In 2D the planes are images of one plane-major batch; batch norm keeps their statistics apart. In
// 3D (conv_mode) they are the depth of one volume, and a few details of the reference differ; each
// difference is commented where it is made.
#pragma once

#include "model/network.hpp"
#include "model/uresnet_options.hpp"

namespace cosmic::model {

/// Image f32 [batch, 3, rows, columns] to logits [3 * batch, 3, rows, columns], plane-major.
class UResNet : public Network {
 public:
  /// Throws UserError for options that no image can be used with.
  explicit UResNet(UResNetOptions options);

  std::string name() const override { return options_.name; }
  const UResNetOptions& options() const { return options_; }
  /// Throws UserError if the options and the size of the image do not go together.
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, Phase phase) const override;

 private:
  UResNetOptions options_;
};

}  // namespace cosmic::model
