// The batches of a run, from what its configuration says about data: larcv3 files or noise.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "config/configuration.hpp"
#include "data/event_source.hpp"
#include "data/loader/batch.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/loader/event_samples.hpp"

namespace cosmic::run {

/// Endless batches for training or validation. It remembers its place as a text.
class RunData {
 public:
  virtual ~RunData() = default;
  virtual const data::Batch& next() = 0;
  virtual data::DenseShape shape() const = 0;
  /// Events of one epoch.
  virtual std::int64_t epoch_size() const = 0;
  /// The state after the last batch handed out; passed to the constructor when a run resumes.
  virtual std::string state() const = 0;
  /// fingerprint_of the events.
  virtual std::string fingerprint() const = 0;
  /// Says where from, and what a user should know.
  virtual std::string description() const = 0;
};

enum class Stream { training, validation };

/// Throws UserError or DataError if there are no such files. With a state, continues after it.
std::unique_ptr<RunData> open_run_data(const config::Configuration& configuration, Stream stream,
                                       const std::optional<std::string>& state);

/// Is there anything to validate on? If not, training continues and says so.
bool has_validation_data(const config::Configuration& configuration);

/// Events of a file, as inference and evaluation read them: every entry once, in order.
std::unique_ptr<data::EventSource> open_events(const config::Configuration& configuration);
data::EventSamples one_pass_samples(const data::EventSource& source,
                                    const config::Configuration& configuration);
data::LoaderOptions one_pass_options(const config::Configuration& configuration);

/// Stands for the events of a source: a run is not taken up with others, and a report can tell
/// whether events were trained on.
std::string fingerprint_of(const data::EventSource& source);

/// How sparse events become images in this configuration.
data::DenseOptions dense_options(const config::Configuration& configuration);

}  // namespace cosmic::run
