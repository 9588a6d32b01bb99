// How wrong is a segmentation? Most pixels of an event are background, so a scheme decides what a
// pixel weighs.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model/enum_text.hpp"
#include "model/network.hpp"

namespace cosmic::model {

/// none: every pixel alike. light: 1, 1.5, 10 for background, cosmic, neutrino. focal: the worse
/// the prediction, the more. even: each class of a plane alike.
enum class BalanceScheme { none, light, focal, even };

template <>
struct EnumText<BalanceScheme> {
  static constexpr std::string_view key = "loss_balance_scheme";
  static constexpr std::array<std::string_view, 4> names{"none", "light", "focal", "even"};
};

/// What a pixel of a class weighs, times what the scheme says. Less background, for one, loses
/// fewer pixels of tracks to it and takes more noise for tracks.
struct ClassWeights {
  double background = 1;
  double cosmic = 1;
  double neutrino = 1;

  bool operator==(const ClassWeights&) const = default;
};

/// Throws UserError for weights beside BalanceScheme::even, which makes its own.
void validate(BalanceScheme scheme, const ClassWeights& weights);

/// Logits [3 * batch, 3, rows, columns] plane-major, labels u8 [batch, 3, rows, columns]. The sum
/// over planes of the weighted mean cross entropy. Adds the output "scores", named by
/// score_names().
class SegmentationLoss : public Loss {
 public:
  /// Throws what validate throws.
  explicit SegmentationLoss(BalanceScheme scheme = BalanceScheme::focal,
                            const ClassWeights& weights = {});

  graph::ValueId loss(graph::Builder& g, graph::ValueId logits,
                      graph::ValueId labels) const override;

 private:
  BalanceScheme scheme_;
  ClassWeights weights_;
};

/// What the elements of "scores" are, in order: "Average/Total_Accuracy", ..., "plane2/mIoU".
std::vector<std::string> score_names();

}  // namespace cosmic::model
