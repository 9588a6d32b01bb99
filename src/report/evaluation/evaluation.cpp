#include "report/evaluation/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "config/dump.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/file_fingerprint.hpp"
#include "core/stopwatch.hpp"
#include "core/utc_time.hpp"
#include "data/loader/batch_loader.hpp"
#include "infer/notes_of_all.hpp"
#include "infer/tagger.hpp"
#include "report/evaluation/neutrino_truth.hpp"
#include "report/evaluation/without_neutrino.hpp"
#include "run/processes.hpp"
#include "run/run_data.hpp"
#include "run/same_everywhere.hpp"

namespace cosmic::report::evaluation {
namespace {

using infer::TaggedEvent;

// With fewer events of cosmic rays only, a share of them would hardly be known to a tenth.
constexpr std::int64_t kEnoughCosmicOnly = 20;

constexpr std::size_t kShownBest = 3;
constexpr std::size_t kShownTypical = 2;
constexpr std::size_t kShownWorst = 3;

class Measurement {
 public:
  Measurement(const config::Configuration& configuration, const std::string& target,
              output::RunLog& log, const infer::InferenceHooks& hooks,
              comm::Communicator* communicator)
      : processes_(communicator),
        given_(configuration),
        configuration_(run::with_own_part(configuration, target, processes_)),
        log_(log),
        hooks_(hooks),
        source_(run::open_events_of_files(configuration)),
        notes_of_opening_(source_->notes()) {
    run::require_same_events(processes_, source_->parts(), "evaluation");
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
    if (processes_.size() > 1) {
      log_.info(processes_.description() + "; they tag batches in turn.");
    }
    output::RunLog unheard("", [](const std::string&) {});  // the leader says the same
    tagger_.emplace(configuration_, target, shape_, processes_.lead() ? log : unheard,
                    hooks.compiling);
    tagger_->share_weights(processes_);
  }

  Evaluation run() {
    if (hooks_.ready) {
      hooks_.ready();
    }
    result_.shape = shape_;
    result_.entries = source_->size();
    result_.temperature = tagger_->temperature();
    all_events_ = wanted_;
    tag_events();
    add_up(result_);
    compare_with_cosmic_only();
    if (processes_.lead()) {
      describe();  // the fingerprint costs nothing once this process has read the events
      show_events();
      result_.curve = read_training_curve(tagger_->weights());
    }
    return std::move(result_);
  }

  /// Pictures are made of few events, so these are tagged again rather than all kept.
  EventView view_again(const EventResult& result) {
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

 private:
  void describe() {
    Provenance& provenance = result_.provenance;
    provenance.program = "cosmictagger " + std::string(version);
    provenance.revision = std::string(revision);
    provenance.date = utc_now();
    provenance.run_id = configuration_.run.id;
    provenance.network = configuration_.network.name;
    provenance.weights = tagger_->weights().string();
    provenance.weights_fingerprint = file_fingerprint(tagger_->weights());
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
    provenance.configuration = config::to_yaml(given_);
    if (provenance.trained_on_these.value_or(false)) {
      log_.warning(
          "The network was trained on these events; the report says so, and its figures are too "
          "good.");
    }
  }

  /// What is done with every event that is wanted.
  struct Visit {
    std::function<void(data::Batch&)> prepare = {};  ///< may change the images of a batch first
    /// Says what is to be known of an event, in the process that has tagged it.
    std::function<void(const TaggedEvent&, ByteWriter&)> measure;
    /// Hears that of all events, in the file's order, in every process.
    std::function<void(ByteReader&)> take;
  };

  /// Visits them once. Returns what was odd in them.
  std::vector<data::ReadNote> for_each_event(const run::Warn& warn, const Visit& visit) {
    const data::EventSamples samples = run::one_pass_samples(*source_, configuration_);
    data::LoaderOptions loading = run::one_pass_options(configuration_, warn);
    loading.batch *= processes_.size();  // a batch for each process
    loading.partition = processes_.partition();
    const std::int64_t end = configuration_.mode.start_index + wanted_;
    loading.order.end_index = end;
    tagger_->hand_over(run::Calls::one_by_one).set_up(loading);
    data::BatchLoader loader(samples, loading);
    const std::int64_t tagged_before = tagged_;
    while (tagged_ < tagged_before + wanted_) {
      const data::Batch* const next = loader.next();
      COSMIC_ASSERT(next != nullptr);
      data::Batch batch = *next;
      if (visit.prepare) {
        visit.prepare(batch);
      }
      ByteWriter own;
      tagger_->tag(batch, [&](const TaggedEvent& event) {
        if (event.entry < end) {
          visit.measure(event, own);
        }
      });
      for (const std::string& of_process : processes_.gather_texts(own.bytes())) {
        ByteReader reader(of_process, "what another process has measured",
                          "this is a bug in this program, please report it");
        for (; reader.left() > 0; ++tagged_) {
          visit.take(reader);
        }
      }
      if (hooks_.progress) {
        hooks_.progress({tagged_, all_events_,
                         static_cast<double>(tagged_) / std::max(watch_.seconds(), 1e-9),
                         tagger_->report().provenance, tagger_->modelled_rate()});
      }
    }
    return infer::notes_of_all(processes_, loader, *source_, notes_of_opening_, warn);
  }

  void tag_events() {
    NeutrinoTruth truth(source_->parts());
    const run::Warn warn = [&](const std::string& text) { log_.warning(text + "."); };
    result_.read_notes = for_each_event(
        warn,
        {.measure =
             [&](const TaggedEvent& event, ByteWriter& own) {
               const data::SparseImage probabilities = event.probabilities(data::Label::neutrino);
               PixelScores pixels;
               pixels.add(probabilities, event.labels);
               PixelScores plain;
               if (event.temperature != 1) {
                 TaggedEvent uncalibrated = event;
                 uncalibrated.temperature = 1;
                 plain.add(uncalibrated.probabilities(data::Label::neutrino), event.labels);
               }
               put({event.entry, event.id, event.confusion(), count_tagged_without_charge(event),
                    truth.of(event.entry), event_score(probabilities)},
                   own);
               pixels.put(own);
               plain.put(own);
             },
         // Event by event, so that sums have the same bits whoever measured them.
         .take =
             [&](ByteReader& of_event) {
               result_.events.push_back(take_event_result(of_event));
               result_.pixel_scores += PixelScores::taken(of_event);
               result_.uncalibrated_scores += PixelScores::taken(of_event);
             }});
    for (const data::ReadNote& note : infer::notes_of_all(processes_, *source_, truth.notes())) {
      if (processes_.lead()) {
        warn("Reading particles found " + to_text(note));
      }
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
    for_each_event(told_before,
                   {.prepare = [&](data::Batch& batch) { without_neutrino.change(batch); },
                    .measure =
                        [&](const TaggedEvent& event, ByteWriter& own) {
                          own.real(event_score(event.probabilities(data::Label::neutrino)));
                        },
                    .take =
                        [&](ByteReader& of_event) {
                          const double score = of_event.real();
                          if (result_.events.at(number++).has_neutrino()) {
                            scores.push_back(score);
                          }
                        }});
  }

  void show_events() {
    const std::vector<std::size_t> order = ranked(result_.events);
    const std::size_t count = order.size();
    const std::size_t best = std::min(kShownBest, count);
    const std::size_t worst = std::min(kShownWorst, count - best);
    const std::size_t typical = std::min(kShownTypical, count - best - worst);
    for (std::size_t i = 0; i < best; ++i) {
      result_.best.push_back(view_again(result_.events[order[i]]));
    }
    for (std::size_t i = 0; i < typical; ++i) {
      result_.typical.push_back(view_again(result_.events[order[(count - typical) / 2 + i]]));
    }
    for (std::size_t i = 0; i < worst; ++i) {
      result_.worst.push_back(view_again(result_.events[order[count - 1 - i]]));
    }
  }

  run::Processes processes_;
  const config::Configuration& given_;   // as the report shows it
  config::Configuration configuration_;  // of this process
  output::RunLog& log_;
  const infer::InferenceHooks& hooks_;
  std::unique_ptr<data::EventSource> source_;
  std::vector<data::ReadNote> notes_of_opening_;
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
                   output::RunLog& log, const infer::InferenceHooks& hooks,
                   comm::Communicator* communicator) {
  return Measurement(configuration, target, log, hooks, communicator).run();
}

std::vector<EventView> view(const config::Configuration& configuration, const std::string& target,
                            output::RunLog& log, const std::vector<EventResult>& events) {
  const infer::InferenceHooks unwatched;  // the measurement keeps a reference
  Measurement measurement(configuration, target, log, unwatched, nullptr);
  std::vector<EventView> views;
  for (const EventResult& event : events) {
    views.push_back(measurement.view_again(event));
  }
  return views;
}

}  // namespace cosmic::report::evaluation
