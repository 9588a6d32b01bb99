#include "report/evaluation/binned_shares.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace cosmic::report::evaluation {
namespace {

// Narrow where the beams of short-baseline experiments have most neutrinos, wide where few are; the
// last edge gives way to the largest energy.
constexpr double kEnergyEdges[] = {0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10};

}  // namespace

void ShareBin::add(const EventResult& event) {
  const infer::Confusion all = event.all();
  const std::int64_t found = all.counts[kNeutrinoClass][kNeutrinoClass];
  efficiency.add(found, all.of_class(kNeutrinoClass));
  purity.add(found, all.predicted_as(kNeutrinoClass));
  ++events;
}

BinnedShares::BinnedShares(const std::vector<double>& edges) {
  COSMIC_ASSERT(edges.size() > 1 && std::is_sorted(edges.begin(), edges.end()));
  for (std::size_t i = 1; i < edges.size(); ++i) {
    ShareBin bin;
    bin.low = edges[i - 1];
    bin.high = edges[i];
    bins_.push_back(bin);
  }
}

void BinnedShares::add(double value, const EventResult& event) {
  const auto found = std::find_if(bins_.begin(), bins_.end(), [&](const ShareBin& bin) {
    return value >= bin.low && value < bin.high;
  });
  if (found != bins_.end()) {
    found->add(event);
  }
}

std::vector<ShareBin> BinnedShares::bins() const {
  const auto filled = [](const ShareBin& bin) { return bin.events > 0; };
  const auto first = std::find_if(bins_.begin(), bins_.end(), filled);
  const auto end = std::find_if(bins_.rbegin(), bins_.rend(), filled).base();
  return first < end ? std::vector<ShareBin>(first, end) : std::vector<ShareBin>();
}

std::vector<ShareBin> shares_by_pixels(const std::vector<EventResult>& events) {
  std::int64_t most = 0;
  for (const EventResult& event : events) {
    most = std::max(most, event.neutrino_pixels());
  }
  std::vector<double> edges{1};
  for (double power = 10; edges.back() <= static_cast<double>(most); power *= 10) {
    for (const double factor : {1, 2, 5}) {
      edges.push_back(factor * power);
    }
  }
  if (edges.size() < 2) {
    return {};
  }
  BinnedShares binned(edges);
  for (const EventResult& event : events) {
    binned.add(static_cast<double>(event.neutrino_pixels()), event);
  }
  return binned.bins();
}

std::vector<ShareBin> shares_by_energy(const std::vector<EventResult>& events) {
  std::vector<double> edges(std::begin(kEnergyEdges), std::end(kEnergyEdges));
  for (const EventResult& event : events) {
    if (event.neutrino && std::isfinite(event.neutrino->energy)) {
      edges.back() = std::max(edges.back(), std::ceil(event.neutrino->energy + 1));
    }
  }
  BinnedShares binned(edges);
  for (const EventResult& event : events) {
    if (event.neutrino) {
      binned.add(event.neutrino->energy, event);
    }
  }
  return binned.bins();
}

}  // namespace cosmic::report::evaluation
