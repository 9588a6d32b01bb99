#include "report/evaluation/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <utility>

#include "config/dump.hpp"
#include "core/config.hpp"
#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/regular_file.hpp"
#include "core/stopwatch.hpp"
#include "core/utc_time.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/particle_reader.hpp"
#include "data/loader/batch_loader.hpp"
#include "infer/tagger.hpp"
#include "run/run_data.hpp"

namespace cosmic::report::evaluation {
namespace {

using infer::TaggedEvent;

// The names that the reference's files use.
constexpr const char* kNeutrinoProducer = "sbndneutrino";

// With fewer events of cosmic rays only, a share of them would hardly be known to a tenth.
constexpr std::int64_t kEnoughCosmicOnly = 20;

constexpr std::size_t kShownBest = 3;
constexpr std::size_t kShownTypical = 2;
constexpr std::size_t kShownWorst = 3;

std::string hex_text(std::uint64_t value) {
  std::ostringstream text;
  text << std::hex << value;
  return text.str();
}

std::string fingerprint_of_file(const std::filesystem::path& path) {
  std::ifstream file(regular_file(path), std::ios::binary);
  ContentHash hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
         file.gcount() > 0) {
    hash.add(std::string_view(buffer.data(), static_cast<std::size_t>(file.gcount())));
  }
  return hex_text(hash.value());
}

/// What files say about the neutrinos of their events; nothing for those that do not.
class NeutrinoTruth {
 public:
  explicit NeutrinoTruth(std::vector<data::SourcePart> files) : files_(std::move(files)) {}

  /// Cheap if entries come in order.
  std::optional<TrueNeutrino> of(std::int64_t entry) {
    const auto file = std::find_if(files_.begin(), files_.end(),
                                   [&](const data::SourcePart& one) { return entry < one.end; });
    COSMIC_ASSERT(file != files_.end());
    if (!open_ || open_->name() != file->name) {
      open(file->name);
    }
    if (!reader_) {
      return std::nullopt;
    }
    reader_->read(entry - file->begin, particles_);
    return particles_.empty() ? std::nullopt : true_neutrino(particles_.front());
  }

  std::vector<data::ReadNote> notes() const { return notes_of(warnings_); }

 private:
  void open(const std::string& name) {
    reader_.reset();
    data::larcv::ReadWarnings opening;  // the source of the events counted them
    open_.emplace(name, opening);
    if (open_->has({"particle", kNeutrinoProducer})) {
      reader_.emplace(*open_, kNeutrinoProducer, warnings_);
    }
  }

  std::vector<data::SourcePart> files_;
  data::larcv::ReadWarnings warnings_;  // of particles
  std::optional<data::larcv::EventFile> open_;
  std::optional<data::larcv::ParticleReader> reader_;
  std::vector<data::Particle> particles_;
};

/// Batches whose neutrino has no charge. It keeps its memory from batch to batch.
class WithoutNeutrino {
 public:
  /// The images of the batch are here from now on, until the next is changed.
  void change(data::Batch& batch) {
    if (batch.form() == data::BatchForm::pixels) {
      change_pixels(batch);
      return;
    }
    images_.assign(batch.images.begin(), batch.images.end());
    for (std::size_t i = 0; i < images_.size(); ++i) {
      if (batch.labels[i] == kNeutrinoClass) {
        images_[i] = 0;
      }
    }
    batch.images = images_;
  }

 private:
  void change_pixels(data::Batch& batch) {
    const data::BatchPixels<float>& charge = batch.image_pixels;
    const data::BatchPixels<std::uint8_t>& label = batch.label_pixels;
    first_.assign(1, 0);
    places_.clear();
    images_.clear();
    for (std::size_t event = 0; event + 1 < charge.first.size(); ++event) {
      auto at = static_cast<std::size_t>(label.first[event]);
      const auto end = static_cast<std::size_t>(label.first[event + 1]);
      for (auto i = static_cast<std::size_t>(charge.first[event]);
           i < static_cast<std::size_t>(charge.first[event + 1]); ++i) {
        while (at < end && label.places[at] < charge.places[i]) {
          ++at;
        }
        const bool neutrino =
            at < end && label.places[at] == charge.places[i] && label.values[at] == kNeutrinoClass;
        if (!neutrino) {
          places_.push_back(charge.places[i]);
          images_.push_back(charge.values[i]);
        }
      }
      first_.push_back(static_cast<std::int64_t>(places_.size()));
    }
    batch.image_pixels = {first_, places_, images_};
    batch.pinned = false;
  }

  std::vector<float> images_;  ///< or the values of their pixels
  std::vector<std::int64_t> first_;
  std::vector<std::int32_t> places_;
};

class Measurement {
 public:
  Measurement(const config::Configuration& configuration, const std::string& target,
              output::RunLog& log, const infer::InferenceHooks& hooks)
      : configuration_(configuration),
        log_(log),
        hooks_(hooks),
        source_(run::open_events_of_files(configuration)) {
    COSMIC_REQUIRE(DataError, source_->labelled(),
                   source_->description()
                       << ": has no labels '" << configuration.data.label_producer
                       << "' (evaluation compares tags with labels); name their producer with "
                          "data.label_producer, or tag the events with `cosmictagger infer`");
    wanted_ = infer::events_wanted(configuration, source_->size());
    COSMIC_REQUIRE(UserError, wanted_ > 0,
                   source_->description()
                       << ": has " << source_->size()
                       << " events, so there are none from mode.start_index="
                       << configuration.mode.start_index << " on; choose a smaller index");
    log_.info("Larcv file prepared: " + source_->description() + run::list_of(source_->parts()));
    shape_ = data::dense_shape(source_->meta(), static_cast<int>(configuration.data.downsample));
    tagger_.emplace(configuration, target, shape_, log, hooks.compiling);
  }

  Evaluation run() {
    if (hooks_.ready) {
      hooks_.ready();
    }
    result_.shape = shape_;
    result_.entries = source_->size();
    all_events_ = wanted_;
    tag_events();
    describe();  // the fingerprint costs nothing once the events are read
    add_up(result_);
    compare_with_cosmic_only();
    show_events();
    result_.curve = read_training_curve(tagger_->weights());
    return std::move(result_);
  }

 private:
  void describe() {
    Provenance& provenance = result_.provenance;
    provenance.program = "cosmictagger " + std::string(version);
    provenance.revision = std::string(revision);
    provenance.date = utc_now();
    provenance.run_id = configuration_.run.id;
    provenance.network = configuration_.network.name;
    provenance.weights = tagger_->weights().string();
    provenance.weights_fingerprint = fingerprint_of_file(tagger_->weights());
    provenance.step = tagger_->step();
    provenance.insisted_on = tagger_->insisted_on();
    provenance.data = source_->description();
    provenance.data_fingerprint = source_->fingerprint();
    if (!tagger_->trained_on().empty()) {
      const run::SameEvents same =
          run::same_events(tagger_->trained_on(), provenance.data_fingerprint);
      if (same != run::SameEvents::unknown) {
        provenance.trained_on_these = same == run::SameEvents::yes;
      }
    }
    provenance.downsample = configuration_.data.downsample;
    provenance.configuration = config::to_yaml(configuration_);
    if (provenance.trained_on_these.value_or(false)) {
      log_.warning(
          "The network was trained on these events; the report says so, and its figures are too "
          "good.");
    }
  }

  /// Visits the wanted events once, in order. `prepare` may change the images of a batch first.
  /// Returns what was odd in them.
  std::vector<data::ReadNote> for_each_event(
      const run::Warn& warn, const std::function<void(const TaggedEvent&)>& visit,
      const std::function<void(data::Batch&)>& prepare = {}) {
    const data::EventSamples samples = run::one_pass_samples(*source_, configuration_);
    data::LoaderOptions loading = run::one_pass_options(configuration_, warn);
    tagger_->hand_over(run::Calls::one_by_one).set_up(loading);
    data::BatchLoader loader(samples, loading);
    std::int64_t seen = 0;
    while (seen < wanted_) {
      const data::Batch* const next = loader.next();
      COSMIC_ASSERT(next != nullptr);
      data::Batch batch = *next;
      if (prepare) {
        prepare(batch);
      }
      tagger_->tag(batch, [&](const TaggedEvent& event) {
        if (seen < wanted_) {
          visit(event);
          ++seen;
          ++tagged_;
        }
      });
      if (hooks_.progress) {
        hooks_.progress({tagged_, all_events_,
                         static_cast<double>(tagged_) / std::max(watch_.seconds(), 1e-9),
                         tagger_->report().provenance, tagger_->modelled_rate()});
      }
    }
    return loader.finish();
  }

  void tag_events() {
    NeutrinoTruth truth(source_->parts());
    const run::Warn warn = [&](const std::string& text) { log_.warning(text + "."); };
    result_.read_notes = for_each_event(warn, [&](const TaggedEvent& event) {
      const data::SparseImage probabilities = event.probabilities(data::Label::neutrino);
      result_.pixel_scores.add(probabilities, event.labels);
      result_.events.push_back({event.entry, event.id, event.confusion(),
                                count_tagged_without_charge(event), truth.of(event.entry),
                                event_score(probabilities)});
    });
    for (const data::ReadNote& note : truth.notes()) {
      warn("Reading particles found " + to_text(note));
      result_.read_notes.push_back(note);
    }
  }

  void compare_with_cosmic_only() {
    std::vector<double> neutrino;
    std::vector<double> cosmic_only;
    for (const EventResult& event : result_.events) {
      (event.has_neutrino() ? neutrino : cosmic_only).push_back(event.score);
    }
    if (neutrino.empty()) {
      return;
    }
    if (static_cast<std::int64_t>(cosmic_only.size()) < kEnoughCosmicOnly) {
      log_.info(std::to_string(cosmic_only.size()) +
                " events contain only cosmic rays; the others are tagged once more with the charge "
                "of their neutrino removed.");
      result_.cosmic_only =
          cosmic_only.empty() ? CosmicOnlyKind::neutrino_removed : CosmicOnlyKind::both;
      add_scores_without_neutrino(cosmic_only);
    }
    result_.selection.emplace(std::move(neutrino), std::move(cosmic_only));
  }

  void add_scores_without_neutrino(std::vector<double>& scores) {
    all_events_ += wanted_;
    WithoutNeutrino without_neutrino;
    std::size_t number = 0;
    const run::Warn told_before = [](const std::string&) {};
    for_each_event(
        told_before,
        [&](const TaggedEvent& event) {
          if (result_.events.at(number++).has_neutrino()) {
            scores.push_back(event_score(event.probabilities(data::Label::neutrino)));
          }
        },
        [&](data::Batch& batch) { without_neutrino.change(batch); });
  }

  void show_events() {
    const std::vector<std::size_t> order = ranked(result_.events);
    const std::size_t count = order.size();
    const std::size_t best = std::min(kShownBest, count);
    const std::size_t worst = std::min(kShownWorst, count - best);
    const std::size_t typical = std::min(kShownTypical, count - best - worst);
    for (std::size_t i = 0; i < best; ++i) {
      result_.best.push_back(view_again(order[i]));
    }
    for (std::size_t i = 0; i < typical; ++i) {
      result_.typical.push_back(view_again(order[(count - typical) / 2 + i]));
    }
    for (std::size_t i = 0; i < worst; ++i) {
      result_.worst.push_back(view_again(order[count - 1 - i]));
    }
  }

  /// Pictures are made of few events, so these are tagged again rather than all kept.
  EventView view_again(std::size_t number) {
    const EventResult& result = result_.events[number];
    const auto batch_events = static_cast<std::size_t>(configuration_.run.minibatch_size);
    const std::size_t pixels = shape_.event_pixels();
    std::vector<float> images(batch_events * pixels);
    std::vector<std::uint8_t> labels(batch_events * pixels);
    std::vector<std::int64_t> entries(batch_events, result.entry);
    std::vector<data::EventId> ids(batch_events, result.id);
    data::SparseEvent event;
    source_->reader()->read(result.entry, event);
    data::DenseConverter(source_->meta(), run::dense_options(configuration_))
        .convert(event, {std::span(images).first(pixels), std::span(labels).first(pixels)});
    data::Batch batch;
    batch.images = images;
    batch.labels = labels;
    batch.entries = entries;
    batch.ids = ids;
    batch.valid = 1;
    std::optional<EventView> view;
    tagger_->tag(batch, [&](const TaggedEvent& tagged) { view = view_of(tagged, result); });
    return std::move(view.value());
  }

  const config::Configuration& configuration_;
  output::RunLog& log_;
  const infer::InferenceHooks& hooks_;
  std::unique_ptr<data::EventSource> source_;
  std::int64_t wanted_ = 0;
  data::DenseShape shape_;
  std::optional<infer::Tagger> tagger_;
  Stopwatch watch_;
  std::int64_t all_events_ = 0;  // to be tagged, some of them twice
  std::int64_t tagged_ = 0;
  Evaluation result_;
};

}  // namespace

infer::Confusion Evaluation::all() const {
  infer::Confusion sum;
  for (const infer::Confusion& plane : planes) {
    sum += plane;
  }
  return sum;
}

std::int64_t Evaluation::tagged_without_charge() const {
  std::int64_t sum = 0;
  for (const EventResult& event : events) {
    sum += event.tagged_without_charge;
  }
  return sum;
}

double Evaluation::score(const std::string& key) const {
  const auto found = std::find_if(reference_scores.begin(), reference_scores.end(),
                                  [&](const output::Metric& metric) { return metric.key == key; });
  COSMIC_ASSERT(found != reference_scores.end());
  return found->value;
}

void add_up(Evaluation& evaluation) {
  infer::MeanScores means;
  evaluation.planes = {};
  for (const EventResult& event : evaluation.events) {
    means.add(event.planes);
    for (std::size_t plane = 0; plane < infer::kPlanes; ++plane) {
      evaluation.planes[plane] += event.planes[plane];
    }
  }
  evaluation.reference_scores = means.metrics();
}

std::vector<std::size_t> ranked(const std::vector<EventResult>& events) {
  std::vector<std::pair<double, std::size_t>> scores;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].has_neutrino()) {
      scores.emplace_back(events[i].all().iou(kNeutrinoClass), i);
    }
  }
  // Events of the same score stay in the file's order.
  std::stable_sort(scores.begin(), scores.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::size_t> order;
  for (const auto& [score, number] : scores) {
    order.push_back(number);
  }
  return order;
}

Evaluation measure(const config::Configuration& configuration, const std::string& target,
                   output::RunLog& log, const infer::InferenceHooks& hooks) {
  return Measurement(configuration, target, log, hooks).run();
}

}  // namespace cosmic::report::evaluation
