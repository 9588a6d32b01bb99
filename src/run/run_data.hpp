// The batches of a run, from what its configuration says about data: larcv3 files, noise, or a
// detector that makes events.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "data/event_source.hpp"
#include "data/loader/batch.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/loader/event_samples.hpp"
#include "run/hand_over.hpp"

namespace cosmic::run {

/// Endless batches for training or validation. It remembers its place as a text.
class RunData {
 public:
  virtual ~RunData() = default;
  virtual const data::Batch& next() = 0;
  virtual data::DenseShape shape() const = 0;
  /// Of the batches that are in memory at a time, where they are images.
  virtual std::int64_t memory_bytes() const = 0;
  /// Events of one epoch.
  virtual std::int64_t epoch_size() const = 0;
  /// The state after the last batch handed out; passed to the constructor when a run resumes.
  virtual std::string state() const = 0;
  /// Of all events and labels.
  virtual std::string fingerprint() const = 0;
  /// At the end of the run: data::BatchLoader::finish.
  virtual std::vector<data::ReadNote> finish() = 0;
  /// Says where from, and what a user should know.
  virtual std::string description() const = 0;
  /// The files that the events come from, by whose entries a batch counts.
  virtual std::vector<data::SourcePart> parts() const = 0;
};

enum class Stream { training, validation };

/// Hears what is odd in the events that are read. Everything that opens events takes one.
using Warn = std::function<void(const std::string&)>;

/// Throws UserError or DataError if there are no such files. With a state, continues after it.
/// Of each batch, the part of this process, if several share it.
std::unique_ptr<RunData> open_run_data(const config::Configuration& configuration, Stream stream,
                                       const std::optional<std::string>& state, Warn warn,
                                       const HandOver& hand_over = {},
                                       const data::Partition& partition = {});

/// Whether two runs had the same events. Nobody knows with a fingerprint of an earlier version,
/// which stood for other things.
enum class SameEvents { yes, no, unknown };
SameEvents same_events(const std::string& stored_fingerprint, const std::string& fingerprint);

/// The files of data.file or data.aux_file, patterns replaced by what matches them.
std::vector<std::filesystem::path> event_files(const config::DataConfig& data, Stream stream);

/// Is one of those files there, or a detector that makes events?
bool has_events(const config::Configuration& configuration, Stream stream);
/// Is there anything to validate on? If not, training continues and says so.
bool has_validation_data(const config::Configuration& configuration);

/// A line for each of several files with its events, for logs; empty for one.
std::string list_of(const std::vector<data::SourcePart>& parts);

/// Events of data.file, as inference and evaluation read them: every entry once, in order. Of a
/// detector, all that it could make, which has no end.
std::unique_ptr<data::EventSource> open_events(const config::Configuration& configuration);
/// Those of files alone. Throws UserError if the configuration has a detector instead.
std::unique_ptr<data::EventSource> open_events_of_files(const config::Configuration& configuration);
/// What is done to the samples of a training.
data::Augmentation augmentation_of(const config::DataConfig& data);
data::EventSamples one_pass_samples(const data::EventSource& source,
                                    const config::Configuration& configuration);
data::LoaderOptions one_pass_options(const config::Configuration& configuration, Warn warn);

/// Threads that read ahead, all together: data.threads.
int reading_threads(const config::Configuration& configuration);

/// How sparse events become images in this configuration.
data::DenseOptions dense_options(const config::Configuration& configuration);

}  // namespace cosmic::run
