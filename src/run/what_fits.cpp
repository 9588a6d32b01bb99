#include "run/what_fits.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "machine/family.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "run/explain.hpp"
#include "run/make_it_fit.hpp"
#include "run/run_choices.hpp"
#include "session/model.hpp"
#include "target/registry.hpp"

namespace cosmic::run {
namespace {

using config::Configuration;
using machine::Prediction;

constexpr std::size_t kMostOffered = 3;

/// A way to run that was compiled as the run itself would be.
struct Offer {
  std::string settings;  ///< to add
  RunChoice choice;
  Prediction prediction;
};

Prediction compiled(auto& model, const auto& types) {
  return model.compile(types).prediction.value();
}

/// What the run would be told about its step; nothing if one of its programs would be refused, or
/// more likely than not does not fit.
std::optional<Prediction> tried(const Configuration& configuration, const data::DenseShape& image,
                                TrainingPrograms programs) {
  const std::string target =
      target::target_of_compute_mode(model::to_string(configuration.run.compute_mode));
  const auto offline = [](session::Options options) {
    options.offline_compile = true;
    return options;
  };
  const model::UResNet network(configuration.network);
  const model::SegmentationLoss loss = loss_of(configuration.mode.optimizer);
  const session::BatchTypes types = batch_types(configuration, image);
  const auto fits = [](const Prediction& prediction) { return likely(prediction.memory.fits); };
  try {
    if (configuration.mode.name != config::Mode::train) {
      session::InferenceModel inference(network, offline(inference_options(configuration, target)));
      const Prediction prediction = compiled(inference, types.image);
      return fits(prediction) ? std::optional(prediction) : std::nullopt;
    }
    session::TrainingModel training(network, loss, optimizer_of(configuration.mode.optimizer),
                                    offline(training_options(configuration, target)));
    const Prediction step = compiled(training, types);
    if (!fits(step)) {
      return std::nullopt;
    }
    if (programs == TrainingPrograms::step_and_validation) {
      session::EvaluationModel validation(network, loss,
                                          offline(validation_options(configuration, target)),
                                          nullptr /* no state: it is never run */);
      if (!fits(compiled(validation, types))) {
        return std::nullopt;
      }
    }
    return step;
  } catch (const UserError&) {  // options that cannot be together
    return std::nullopt;
  } catch (const TargetError&) {  // capacity, mostly
    return std::nullopt;
  }
}

/// Which of two ways to offer first: what surely fits, then what takes the least of the machines.
bool better(const Way& a, const Way& b) {
  if (a.fits() != b.fits()) {
    return a.fits() < b.fits();
  }
  return a.machine_time() < b.machine_time();
}

/// "run.precision run.stages" of "run.precision=float16 run.stages=2".
std::string keys_of(const std::string& settings) {
  std::istringstream words(settings);
  std::string keys;
  for (std::string word; words >> word;) {
    keys += word.substr(0, word.find('=')) + " ";
  }
  return keys;
}

/// The share of its memory that a run needs there.
double fullness(const machine::Description& machine, const RunChoice& choice) {
  const machine::MemoryVerdict memory = predicted_run("", machine, choice).prediction.memory;
  return memory.needed.modelled_bytes() / memory.available.modelled_bytes();
}

class Answer {
 public:
  Answer(const Configuration& refused, TrainingPrograms programs, const data::DenseShape& image)
      : refused_(refused), programs_(programs), image_(image) {
    refused_.run.executable.clear();  // other settings are other programs
    if (refused_.mode.name != config::Mode::train) {
      refused_.run.stages = 1;  // only training is spread over machines
    }
  }

  std::string text() {
    const machine::Description machine = machine_of(refused_.run);
    const std::vector<Offer> offers = offers_on(machine, refused_, kMostOffered);
    return offers.empty() ? elsewhere(machine) : listed("This would make it fit", offers);
  }

 private:
  RunChoice choice_like(const Configuration& asked) const {
    RunChoice choice = choice_of(asked);
    choice.image = image_;
    return choice;
  }

  std::vector<Offer> offers_on(const machine::Description& machine, const Configuration& asked,
                               std::size_t most) {
    const RunChoice choice = choice_like(asked);
    std::vector<Way> ways = ways_tried(machine, choice);
    std::erase_if(ways, [](const Way& way) { return !configuration_of(way.choice); });
    tried_ += ways.size();
    std::erase_if(ways, [](const Way& way) { return !likely(way.fits()); });
    std::stable_sort(ways.begin(), ways.end(), better);
    std::set<std::string> offered;
    std::vector<Offer> offers;
    for (const Way& way : ways) {
      const std::string settings = settings_to_add(choice, way.choice);
      if (offers.size() == most || offered.contains(keys_of(settings))) {
        continue;  // a better one of the kind is there: half the batch where a quarter fits, too
      }
      if (auto prediction = tried(*configuration_of(way.choice), image_, programs_)) {
        offers.push_back({settings, way.choice, std::move(*prediction)});
        offered.insert(keys_of(settings));
      }
    }
    return offers;
  }

  /// The best way on each machine of the family that is less full as asked; on the others it would
  /// be refused as it is here.
  std::string elsewhere(const machine::Description& machine) {
    const std::string here = fmt::format(
        "None of the {} variants tried fits {} (smaller batches, fewer bits and the like)", tried_,
        machine.name);
    const double full = fullness(machine, choice_like(refused_));
    std::vector<Offer> offers;
    std::string others;
    for (const std::string& name : machine::built_in_machines()) {
      const machine::Description other = target::find_machine(name);
      if (other.family != machine.family || fullness(other, choice_like(refused_)) >= full) {
        continue;
      }
      others += (others.empty() ? "" : ", ") + other.name;
      Configuration asked = refused_;
      asked.run.machine = name;
      for (Offer& offer : offers_on(other, asked, 1)) {
        offer.settings =
            "run.machine=" + name + (offer.settings.empty() ? "" : " ") + offer.settings;
        offers.push_back(std::move(offer));
      }
    }
    if (!offers.empty()) {
      return listed(here + ". It would fit another machine of the same family", offers);
    }
    return fmt::format(
        "{}, {}. What remains: data.downsample, which quarters images, a smaller network, or a "
        "machine of another family (`cosmictagger explain --all` compares them)",
        here,
        others.empty() ? "and no known machine of the same family has more room for it"
                       : "nor " + others);
  }

  std::string listed(const std::string& heading, const std::vector<Offer>& offers) const {
    std::string text = heading + (offers.size() == 1 ? "; add this line to the settings:"
                                                     : "; add one of these lines to the settings:");
    for (const Offer& offer : offers) {
      text += "\n  " + offer.settings + "\n      " + price(offer);
    }
    return text;
  }

  std::string price(const Offer& offer) const {
    const Configuration run = *configuration_of(offer.choice);
    const auto events = static_cast<double>(run.run.minibatch_size);
    const auto for_one = [&](machine::ModelledTime step) {
      return machine::ModelledTime(step.modelled_seconds() / events);
    };
    const machine::ModelledRange& step = offer.prediction.step;
    const machine::ModelledRange event{for_one(step.best), for_one(step.low), for_one(step.high)};
    const int machines = offer.choice.pipeline;
    std::string text = fmt::format("{} per event{}, {}", to_string(event),
                                   machines > 1 ? fmt::format(" on {} machines", machines) : "",
                                   to_string(offer.prediction.memory.fits));
    const std::int64_t before = update_events(refused_);
    const std::int64_t after = update_events(run);
    if (run.mode.name == config::Mode::train && before != after) {
      text += fmt::format("; {} events per update instead of {}", after, before);
    }
    return text;
  }

  static std::int64_t update_events(const Configuration& configuration) {
    return configuration.run.minibatch_size * configuration.mode.optimizer.gradient_accumulation;
  }

  Configuration refused_;
  TrainingPrograms programs_;
  data::DenseShape image_;
  std::size_t tried_ = 0;
};

}  // namespace

std::string what_fits(const Configuration& configuration, TrainingPrograms programs,
                      const session::CapacityError& refusal) {
  const graph::TensorType& image = refusal.image();
  const std::string answer = Answer(configuration, programs, {image.dim(2), image.dim(3)}).text();
  const std::string executable = configuration.run.executable.empty()
                                     ? ""
                                     : "\nThe programs in " + configuration.run.executable +
                                           " are for other settings; compile again.";
  return refusal.problem() + ".\n" + answer + executable;
}

}  // namespace cosmic::run
