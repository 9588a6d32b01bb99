#include "train/find_learning_rate.hpp"

#include <algorithm>
#include <cmath>

#include "checkpoint/checkpoint_folder.hpp"
#include "config/seeds.hpp"
#include "core/error.hpp"
#include "model/uresnet.hpp"
#include "run/run_choices.hpp"
#include "run/run_data.hpp"
#include "run/weights.hpp"
#include "session/model.hpp"
#include "train/starting_point.hpp"
#include "train/update_batches.hpp"

namespace cosmic::train {
namespace {

constexpr double kSmoothing = 0.9;
// A search without a seed is the same whenever it is made.
constexpr std::int64_t kSeed = 1;

void require_sense(const RateSearch& search) {
  COSMIC_REQUIRE(UserError, search.from > 0 && search.from < search.to,
                 "learning rates from " << search.from << " to " << search.to
                                        << " (they rise from the first, which is more than 0, to "
                                           "the last); use such as --from 1e-6 --to 1");
  COSMIC_REQUIRE(UserError, search.updates > 1,
                 search.updates << " updates (a rate cannot rise in fewer than two); use 100");
}

const RatePoint* lowest(const std::vector<RatePoint>& points) {
  const auto found = std::min_element(
      points.begin(), points.end(),
      [](const RatePoint& a, const RatePoint& b) { return a.smoothed < b.smoothed; });
  return found == points.end() ? nullptr : &*found;
}

void take_named_weights(const config::Configuration& configuration, session::ModelState& state,
                        output::RunLog& log) {
  run::require_named_weights(configuration);
  if (configuration.mode.weights_location.empty()) {
    return;
  }
  const checkpoint::LoadedCheckpoint loaded =
      checkpoint::load_newest(configuration.mode.weights_location);
  log_warnings(log, loaded.warnings);
  run::check_settings(loaded, {configuration, config::Command::train},
                      [&](const std::string& what) { log.warning(what); });
  checkpoint::restore_weights(loaded.checkpoint, state, checkpoint::Which::last);
  log.info("Restoring weights from " + loaded.file.string());
}

}  // namespace

std::optional<double> FoundRate::suggestion() const {
  const RatePoint* const best = lowest(points);
  if (best == nullptr || best == &points.front()) {
    return std::nullopt;
  }
  return best->rate / 10;
}

bool add_point(FoundRate& found, double rate, double loss) {
  if (!std::isfinite(loss)) {
    found.diverged = true;
    return false;
  }
  const auto count = static_cast<double>(found.points.size());
  const double before =
      found.points.empty() ? 0 : found.points.back().smoothed * (1 - std::pow(kSmoothing, count));
  const double smoothed =
      (kSmoothing * before + (1 - kSmoothing) * loss) / (1 - std::pow(kSmoothing, count + 1));
  found.points.push_back({rate, loss, smoothed});
  found.diverged = smoothed > 2 * lowest(found.points)->smoothed;
  return !found.diverged;
}

FoundRate find_learning_rate(
    config::Configuration configuration, const std::string& target, const RateSearch& search,
    output::RunLog& log,
    const std::function<void(double done, const std::string& what)>& progress) {
  require_sense(search);
  config::settle_seeds(configuration, kSeed);
  const model::UResNet network(configuration.network);
  const model::SegmentationLoss loss = run::loss_of(configuration.mode.optimizer);
  session::Options options = run::training_options(configuration, target);
  options.weights_average = 0;  // nobody looks at it
  options.progress = [&](double done, const std::string& what) {
    progress(done, "compiling: " + what);
  };
  session::TrainingModel model(network, loss, run::optimizer_of(configuration.mode.optimizer),
                               options);
  const std::int64_t batches = configuration.mode.optimizer.gradient_accumulation;
  const std::unique_ptr<run::RunData> data = run::open_run_data(
      configuration, run::Stream::training, std::nullopt,
      [&](const std::string& what) { log.warning(what); },
      run::hand_over(model, run::Calls::one_by_one, batches));
  model.compile(run::batch_types(configuration.run.minibatch_size, data->shape()));
  take_named_weights(configuration, *model.state(), log);
  FoundRate found;
  UpdateBatches update;
  for (std::int64_t i = 0; i < search.updates; ++i) {
    const double done = static_cast<double>(i) / static_cast<double>(search.updates - 1);
    const double rate = search.from * std::pow(search.to / search.from, done);
    update.fetch(*data, batches);
    update.submit_to(model, rate);
    if (!add_point(found, rate, model.wait().loss)) {
      break;
    }
    progress(done, "learning rate " + std::to_string(rate));
  }
  data->finish();
  return found;
}

}  // namespace cosmic::train
