// A network put together from named blocks, one after the other. The names are what weights, stages
// of a pipeline, anchors and checkpoints go by.
//
//   const model::Sequential network("classifier", {
//       {"features", {{"conv", convolve}, {"pool", pool}}},   // layers features.conv,
//       features.pool
//       {"head", classify},
//   });
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/layers.hpp"
#include "model/network.hpp"

namespace cosmic::model {

/// A name with a layer, or with blocks inside it that follow one another.
struct Block {
  /// Declares the parameters, inside the block's scope.
  using Declare = std::function<Layer(graph::Builder& g, Phase phase)>;

  Block(std::string block_name, Declare declare_layer)
      : name(std::move(block_name)), declare(std::move(declare_layer)) {}
  Block(std::string block_name, std::vector<Block> blocks)
      : name(std::move(block_name)), inside(std::move(blocks)) {}

  std::string name;
  Declare declare;  ///< empty if there are blocks inside
  std::vector<Block> inside;
};

class Sequential final : public Network {
 public:
  /// Throws UserError unless every block has a name that no other block beside it has.
  Sequential(std::string name, std::vector<Block> blocks);

  std::string name() const override { return name_; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, Phase phase) const override;

 private:
  std::string name_;
  std::vector<Block> blocks_;
};

}  // namespace cosmic::model
