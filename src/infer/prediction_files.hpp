// The files that an inference writes: one for each input, or one for all of them. Each has its
// predictions beside the products that the input had, and appears when its last event is tagged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "core/threads.hpp"
#include "data/event_source.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/product_join.hpp"
#include "infer/event_predictions.hpp"
#include "infer/inference_outputs.hpp"
#include "output/run_log.hpp"

namespace cosmic::infer {

/// A file to write and the entries of the source that it is for.
struct PredictionFile {
  std::filesystem::path path;
  Range entries;
  /// The parts of the source that it has events of, whose products it gets.
  std::vector<data::SourcePart> inputs;

  /// Has it all events of one input, so that it begins as a copy?
  bool is_copy() const {
    return inputs.size() == 1 && entries.size() == inputs.front().end - inputs.front().begin;
  }
};

/// Where they go if mode.output_file does not say.
struct FilePlaces {
  std::filesystem::path folder;
  Placement placement = Placement::run_folder;
  Shard shard = {};
};

/// Which files the tagging of `entries` makes. With run_folder and one input: mode.output_file, or
/// predictions.h5 in `folder`. Several: mode.output_file for all together; without it, or if it
/// names a folder, one file for each that has an event among the entries, named as the input and,
/// from the folder on that all inputs have in common, in folders named as the input's. The name of
/// a shard comes before the extension.
std::vector<PredictionFile> prediction_files(const config::Configuration& configuration,
                                             const FilePlaces& places,
                                             const data::EventSource& source, const Range& entries);

class PredictionWriter {
 public:
  /// Throws UserError if the first file exists and may not be replaced. Whoever has several asks
  /// about all of them before the first event is tagged (core/output_rule.hpp).
  /// `provenance` is kept with every product that is added: what the predictions were made with.
  PredictionWriter(std::vector<PredictionFile> files, std::map<std::string, std::string> provenance,
                   Existing existing, output::RunLog& log);

  /// Events come in order, and all of them.
  void write(const EventPredictions& event);
  /// After the last one.
  void commit();
  /// Of each file, in their order.
  const std::vector<Findings>& findings() const { return findings_; }

 private:
  void open();
  void warn_of(const std::vector<data::larcv::LeftOut>& left_out);
  void commit_open_file();

  std::vector<PredictionFile> files_;
  std::map<std::string, std::string> provenance_;
  Existing existing_;
  output::RunLog& log_;
  std::size_t current_ = 0;
  std::vector<Findings> findings_;
  std::optional<data::larcv::EventFileWriter> writer_;
  std::optional<data::larcv::ProductJoin> joined_;
};

}  // namespace cosmic::infer
