#include "target/cpu/plain_step_kinds.hpp"

#include <algorithm>
#include <limits>

namespace cosmic::target::cpu {
namespace {

struct Totals {
  double weighted_loss = 0;
  double weight = 0;
};

Totals totals(const float* sums, std::int64_t group, std::int64_t per_group) {
  Totals total;
  for (std::int64_t i = group * per_group; i < (group + 1) * per_group; ++i) {
    const float* const row = sums + i * graph::kPixelSums;
    total.weighted_loss += row[static_cast<std::size_t>(graph::PixelSum::weighted_loss)];
    total.weight += row[static_cast<std::size_t>(graph::PixelSum::weight)];
  }
  return total;
}

}  // namespace

std::unique_ptr<PreparedStep> plain_step(const graph::EvenClassWeights& op, const PlainNode& n) {
  const std::int64_t per_group = n.type(0).elements() / op.groups;
  return step(
      [out = n.out(), labels = n.in<const std::uint8_t>(0), per_group, op](const Team& team) {
        team.run([&](int thread) {
          const Range groups = slice_of(op.groups, thread, team.size());
          for (std::int64_t group = groups.begin; group < groups.end; ++group) {
            std::int64_t counts[std::numeric_limits<std::uint8_t>::max() + 1] = {};
            for (std::int64_t i = group * per_group; i < (group + 1) * per_group; ++i) {
              ++counts[labels[i]];
            }
            for (std::int64_t c = 0; c < op.classes; ++c) {
              out[group * op.classes + c] =
                  static_cast<float>(0.3333 / (static_cast<double>(counts[c]) + 1));
            }
          }
        });
      });
}

std::unique_ptr<PreparedStep> plain_step(const graph::FixedClassWeights& op, const PlainNode& n) {
  return step([out = n.out(), op](const Team&) {
    for (std::int64_t i = 0; i < op.groups * op.classes; ++i) {
      out[i] = static_cast<float>(op.weight(i % op.classes));
    }
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::WeightedMean& op, const PlainNode& n) {
  const std::int64_t per_group = n.type(0).dim(0) / op.groups;
  return step([out = n.out(), sums = n.in(0), per_group, groups = op.groups](const Team&) {
    double loss = 0;
    for (std::int64_t group = 0; group < groups; ++group) {
      const Totals total = totals(sums, group, per_group);
      loss += total.weight == 0 ? 0 : total.weighted_loss / total.weight;
    }
    *out = static_cast<float>(loss);
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::WeightedMeanGradient& op,
                                         const PlainNode& n) {
  const std::int64_t per_group = n.type(0).dim(0) / op.groups;
  return step(
      [out = n.out(), sums = n.in(0), dloss = n.in(1), per_group, groups = op.groups](const Team&) {
        std::fill_n(out, groups * per_group * graph::kPixelSums, 0.0F);
        for (std::int64_t group = 0; group < groups; ++group) {
          const double weight = totals(sums, group, per_group).weight;
          for (std::int64_t i = group * per_group; i < (group + 1) * per_group; ++i) {
            out[i * graph::kPixelSums] = static_cast<float>(weight == 0 ? 0 : *dloss / weight);
          }
        }
      });
}

std::unique_ptr<PreparedStep> plain_step(const graph::SegmentationScores& op, const PlainNode& n) {
  const std::int64_t images = n.type(0).dim(0);
  return step([out = n.out(), sums = n.in(0), images, op,
               in_double = std::vector<double>(static_cast<std::size_t>(n.type(0).elements())),
               scores = std::vector<double>(static_cast<std::size_t>(n.node().type.elements()))](
                  const Team&) mutable {
    std::copy_n(sums, in_double.size(), in_double.begin());
    graph::compute_scores(op, images, in_double.data(), scores.data());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      out[i] = static_cast<float>(scores[i]);
    }
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::NegativeLogLikelihood&, const PlainNode& n) {
  const std::int64_t batch = n.type(0).dim(0);
  const std::int64_t classes = n.type(0).dim(1);
  return step([out = n.out(), logp = n.in(0), labels = n.in<const std::uint8_t>(1), batch,
               classes](const Team&) {
    double sum = 0;
    for (std::int64_t i = 0; i < batch; ++i) {
      sum -= logp[i * classes + labels[i]];
    }
    *out = static_cast<float>(sum / static_cast<double>(batch));
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::NegativeLogLikelihoodGradient& op,
                                         const PlainNode& n) {
  const std::int64_t batch = n.node().type.dim(0);
  return step([out = n.out(), labels = n.in<const std::uint8_t>(0), dloss = n.in(1), batch,
               classes = op.classes](const Team&) {
    std::fill_n(out, batch * classes, 0.0F);
    for (std::int64_t i = 0; i < batch; ++i) {
      out[i * classes + labels[i]] = -*dloss / static_cast<float>(batch);
    }
  });
}

}  // namespace cosmic::target::cpu
