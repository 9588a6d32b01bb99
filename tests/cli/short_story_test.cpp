// What ./demo.sh does, on images small enough for every change: the long run and its figures are in
// docs/numbers.md.
#include <gtest/gtest.h>

#include <algorithm>

#include "infer/inference.hpp"
#include "run/generate.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::cli {
namespace {

constexpr const char* kTarget = "cpu";
// Two seeds gave accuracies of 0.745 and 0.752, cosmic IoUs of 0.77 and 0.76, and neutrino
// IoUs of 0.097 and 0.105. A network that tags nothing has 0 of all; after twelve epochs, when
// it still calls nearly all charge cosmic, the neutrino's were 0.012 and 0.016.
constexpr double kLeastAccuracy = 0.65;
constexpr double kLeastCosmicIou = 0.68;
constexpr double kLeastNeutrinoIou = 0.05;

double metric(const output::Metrics& metrics, const std::string& key) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const output::Metric& metric) { return metric.key == key; });
  return found == metrics.end() ? 0 : found->value;
}

config::Configuration reduced(const RunFolder& folder, config::Mode mode, const std::string& file,
                              const std::vector<std::string>& words = {}) {
  std::vector<std::string> all{"--config-name",
                               "reduced",
                               "run.id=short",
                               "run.seed=1",
                               "data.downsample=4",
                               "network.depth=4",
                               "data.file=" + (folder.path() / file).string(),
                               "output_dir=" + (folder.path() / "out").string()};
  all.insert(all.end(), words.begin(), words.end());
  return config::parse(all, {.mode = mode}).configuration;
}

TEST(ShortStory, a_reduced_network_learns_to_tag_events_that_it_has_not_seen) {
  const RunFolder folder;
  KeptLog log;
  run::generate({.events = 96, .seed = 11, .output = folder.path() / "train.h5"});
  run::generate({.events = 24, .seed = 12, .output = folder.path() / "unseen.h5"});
  train::train(reduced(folder, config::Mode::train, "train.h5",
                       {"data.aux_file=" + (folder.path() / "unseen.h5").string(), "run.length=30",
                        "run.aux_iterations=100", "run.saver=false"}),
               kTarget, log.log());
  const output::Metrics scores =
      infer::infer(reduced(folder, config::Mode::inference, "unseen.h5"), kTarget, log.log())
          .scores;
  EXPECT_GT(metric(scores, "Average/Non_Bkg_Accuracy"), kLeastAccuracy) << log.text();
  EXPECT_GT(metric(scores, "Average/Cosmic_IoU"), kLeastCosmicIou) << log.text();
  EXPECT_GT(metric(scores, "Average/Neutrino_IoU"), kLeastNeutrinoIou) << log.text();
}

}  // namespace
}  // namespace cosmic::cli
