#include "serve/remote/remote_tagging.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "config/dump.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/utc_time.hpp"
#include "data/dense_image.hpp"
#include "infer/event_predictions.hpp"
#include "infer/inference.hpp"
#include "infer/prediction_files.hpp"
#include "run/output_folder.hpp"
#include "run/run_data.hpp"

namespace cosmic::serve::remote {
namespace {

/// What a network would have said on its own grid, from what it said at the pixels of the event:
/// pixels of a block share what was said about the block.
class OnNetworkGrid {
 public:
  OnNetworkGrid(const data::ImageMeta& grid, const client::RemoteModel& model)
      : downsample_(model.downsample),
        converter_(grid, {.downsample = model.downsample,
                          .scale = model.img_transform ? data::ChargeScale::logarithmic
                                                       : data::ChargeScale::linear}),
        charge_(converter_.shape().event_pixels()),
        labels_(charge_.size()),
        scores_(charge_.size()) {}

  void see(const data::SparseEvent& event) { converter_.convert(event, {charge_, labels_}); }

  data::SparseImage image_of(const data::SparseImage& at_pixels) {
    const data::DenseShape& shape = converter_.shape();
    const auto rows = static_cast<std::uint64_t>(shape.rows);
    const auto columns = static_cast<std::uint64_t>(shape.columns);
    data::SparseImage image;
    for (std::size_t plane = 0; plane < image.size(); ++plane) {
      const std::size_t first = plane * shape.plane_pixels();
      const data::SparsePlane& from = at_pixels[plane];
      const std::uint64_t stored_rows = from.meta.rows();
      for (std::size_t i = 0; i < from.ids.size(); ++i) {
        const std::uint64_t pixel = from.ids[i];
        scores_[first + ((pixel % stored_rows) >> downsample_) * columns +
                ((pixel / stored_rows) >> downsample_)] = from.values[i];
      }
      data::SparsePlane& sparse = image[plane];
      sparse.meta = {plane,
                     {columns, rows},
                     {static_cast<double>(columns), static_cast<double>(rows)},
                     {0, 0}};
      for (std::uint64_t column = 0; column < columns; ++column) {
        for (std::uint64_t row = 0; row < rows; ++row) {
          const std::size_t at = first + row * columns + column;
          if (charge_[at] != 0) {
            sparse.ids.push_back(column * rows + row);
            sparse.values.push_back(scores_[at]);
          }
        }
      }
    }
    return image;
  }

 private:
  int downsample_;
  data::DenseConverter converter_;
  std::vector<float> charge_;
  std::vector<std::uint8_t> labels_;
  std::vector<float> scores_;
};

/// Asks about entries on several threads, and hands the answers out in order.
class Asking {
 public:
  Asking(const data::EventSource& source, const RemoteOptions& options,
         const client::RemoteModel& model, const Range& entries, bool keep_stored)
      : source_(source),
        options_(options),
        model_(model),
        entries_(entries),
        keep_stored_(keep_stored),
        next_(entries.begin),
        wanted_(entries.begin) {
    const std::int64_t threads = std::min<std::int64_t>(options.connections, entries.size());
    for (std::int64_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }
  ~Asking() {
    {
      const std::lock_guard lock(mutex_);
      next_ = entries_.end;
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  /// Of the next entry. Throws what went wrong with any of them.
  infer::EventPredictions next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return trouble_ || done_.contains(wanted_); });
    if (trouble_) {
      std::rethrow_exception(trouble_);
    }
    infer::EventPredictions event = std::move(done_.extract(wanted_++).mapped());
    changed_.notify_all();
    return event;
  }

  std::vector<std::string> computed_by() const {
    const std::lock_guard lock(mutex_);
    return computed_by_;
  }

 private:
  void work() {
    try {
      client::TaggingClient client(options_.client);
      const std::unique_ptr<data::EventReader> reader = source_.reader();
      OnNetworkGrid on_network(source_.meta(), model_);
      data::SparseEvent event;
      while (const std::optional<std::int64_t> entry = take()) {
        reader->read(*entry, event);
        give(ask(client, event, *entry, on_network));
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!trouble_) {
        trouble_ = std::current_exception();
      }
      next_ = entries_.end;
      changed_.notify_all();
    }
  }

  /// Not so far ahead of whoever writes that answers fill the memory.
  std::optional<std::int64_t> take() {
    constexpr std::int64_t kAheadPerConnection = 4;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return ended_ || trouble_ || next_ >= entries_.end ||
             next_ - wanted_ < kAheadPerConnection * options_.connections;
    });
    if (ended_ || trouble_ || next_ >= entries_.end) {
      return std::nullopt;
    }
    return next_++;
  }

  infer::EventPredictions ask(client::TaggingClient& client, const data::SparseEvent& event,
                              std::int64_t entry, OnNetworkGrid& on_network) {
    client::RemoteTags tags = client.tag(event.image);
    COSMIC_REQUIRE(UserError, tags.weights == model_.weights,
                   "events were tagged with the weights "
                       << model_.weights << " and then by " << tags.computed_by
                       << " (one file would have answers of two networks); name servers that have "
                          "the same weights");
    on_network.see(event);
    infer::EventPredictions predictions;
    predictions.entry = entry;
    predictions.id = event.id;
    predictions.cosmic = on_network.image_of(tags.cosmic);
    predictions.neutrino = on_network.image_of(tags.neutrino);
    if (keep_stored_) {
      predictions.stored = {std::move(tags.tag), std::move(tags.cosmic), std::move(tags.neutrino)};
    }
    const std::lock_guard lock(mutex_);
    if (std::find(computed_by_.begin(), computed_by_.end(), tags.computed_by) ==
        computed_by_.end()) {
      computed_by_.push_back(tags.computed_by);
    }
    return predictions;
  }

  void give(infer::EventPredictions event) {
    const std::lock_guard lock(mutex_);
    const std::int64_t entry = event.entry;
    done_.emplace(entry, std::move(event));
    changed_.notify_all();
  }

  const data::EventSource& source_;
  const RemoteOptions& options_;
  const client::RemoteModel& model_;
  Range entries_;
  bool keep_stored_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t next_;    ///< to ask about
  std::int64_t wanted_;  ///< to hand out
  std::map<std::int64_t, infer::EventPredictions> done_;
  std::vector<std::string> computed_by_;
  std::exception_ptr trouble_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

/// What is kept with the predictions: who was asked, and what computes there.
std::map<std::string, std::string> provenance_of(const RemoteOptions& options,
                                                 const client::RemoteModel& model,
                                                 config::Configuration configuration) {
  // Where they were written says nothing about them.
  configuration.output_dir.clear();
  configuration.mode.output_file.clear();
  std::string servers;
  for (const std::string& server : options.client.servers) {
    servers += (servers.empty() ? "" : " ") + server;
  }
  return {{"program", "cosmictagger " + std::string(version)},
          {"revision", std::string(revision)},
          {"time", utc_now()},
          {"servers", servers},
          {"model", model.name},
          {"model_version", model.version},
          {"weights_fingerprint", model.weights},
          {"settings", config::to_yaml(configuration)}};
}

}  // namespace

RemoteSummary tag_remotely(
    const config::Configuration& configuration, const RemoteOptions& options, output::RunLog& log,
    const OutputRule& rule, const infer::InferenceOutputs& outputs,
    const std::function<void(std::int64_t done, std::int64_t all)>& progress) {
  const std::unique_ptr<data::EventSource> source = run::open_events_of_files(configuration);
  client::TaggingClient client(options.client);
  const client::RemoteModel model = client.model();
  const data::ImageMeta grid = source->meta();
  COSMIC_REQUIRE(UserError, grid.rows() == model.rows && grid.columns() == model.columns,
                 source->description()
                     << " has events of " << grid.rows() << " rows and " << grid.columns()
                     << " columns (model " << model.name << " of the server takes " << model.rows
                     << " and " << model.columns
                     << "); start a server for such events with --rows and --columns");
  const Range all{std::min(configuration.mode.start_index, source->size()), source->size()};
  const Range entries = outputs.shard.part_of(all);
  RemoteSummary summary;
  if (entries.empty()) {
    log.warning("There are no events to tag, and nothing is written.");
    return summary;
  }
  std::vector<infer::PredictionFile> files = infer::prediction_files(
      configuration, {run::output_folder(configuration), outputs.placement, outputs.shard}, *source,
      entries);
  for (const infer::PredictionFile& file : files) {
    require_output(file.path, rule);
  }
  infer::PredictionWriter writer(std::move(files), provenance_of(options, model, configuration),
                                 rule.existing, log);
  const bool stored = configuration.mode.output_resolution == config::OutputResolution::original;
  Asking asking(*source, options, model, entries, stored);
  while (summary.events < entries.size()) {
    writer.write(asking.next());
    ++summary.events;
    if (progress) {
      progress(summary.events, entries.size());
    }
  }
  for (const data::ReadNote& note : source->notes()) {
    log.warning(data::to_text(note) + ".");
  }
  writer.commit();
  summary.findings = writer.findings();
  summary.computed_by = asking.computed_by();
  return summary;
}

}  // namespace cosmic::serve::remote
