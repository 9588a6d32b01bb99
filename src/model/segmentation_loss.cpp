#include "model/segmentation_loss.hpp"

#include "core/error.hpp"
#include "model/planes.hpp"

namespace cosmic::model {
namespace {

using graph::Builder;
using graph::ValueId;

constexpr std::array<std::string_view, graph::kScores> kScoreNames{
    "Total_Accuracy", "Cosmic_IoU", "Neutrino_IoU", "Non_Bkg_Accuracy", "mIoU"};

constexpr ClassWeights kLight{1, 1.5, 10};

ValueId class_weights(Builder& g, BalanceScheme scheme, const ClassWeights& beside, ValueId labels,
                      std::int64_t classes) {
  if (scheme == BalanceScheme::even) {
    return g.add(graph::EvenClassWeights{kPlanes, classes}, {labels});
  }
  const ClassWeights own = scheme == BalanceScheme::light ? kLight : ClassWeights{};
  return g.add(
      graph::FixedClassWeights{own.background * beside.background, own.cosmic * beside.cosmic,
                               own.neutrino * beside.neutrino, kPlanes, classes},
      {});
}

}  // namespace

void validate(BalanceScheme scheme, const ClassWeights& weights) {
  COSMIC_REQUIRE(
      UserError, scheme != BalanceScheme::even || weights == ClassWeights{},
      "loss_balance_scheme = even with class_weights of "
          << weights.background << ", " << weights.cosmic << " and " << weights.neutrino
          << " for background, cosmic and neutrino (even computes its own from each batch, so "
             "these would have no effect); leave them out, or choose none, light or focal");
}

SegmentationLoss::SegmentationLoss(BalanceScheme scheme, const ClassWeights& weights)
    : scheme_(scheme), weights_(weights) {
  validate(scheme, weights);
}

ValueId SegmentationLoss::loss(Builder& g, ValueId logits, ValueId labels) const {
  const Builder::Scope scope(g, "loss");
  const graph::FeatureMap map = graph::feature_map(g.type(logits), "the logits of a segmentation");
  const ValueId plane_labels = g.add(graph::ChannelsToPlanes{kPlanes}, {labels});
  const ValueId weights = class_weights(g, scheme_, weights_, plane_labels, map.channels);
  const graph::Focal focal = scheme_ == BalanceScheme::focal ? graph::Focal::yes : graph::Focal::no;
  const ValueId sums = g.add(graph::SegmentationSums{focal}, {logits, plane_labels, weights});
  g.output("scores", g.add(graph::SegmentationScores{kPlanes, map.pixels()}, {sums}));
  return g.add(graph::WeightedMean{kPlanes}, {sums});
}

std::vector<std::string> score_names() {
  std::vector<std::string> names;
  for (const std::string of : {"Average", "plane0", "plane1", "plane2"}) {
    for (const std::string_view score : kScoreNames) {
      names.push_back(of + "/" + std::string(score));
    }
  }
  return names;
}

}  // namespace cosmic::model
