// The events that are viewed: files of events, their predictions if they have some, and those of a
// second network if there is another file with them. Threads share a store and read through readers
// of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/larcv/larcv_source.hpp"
#include "report/evaluation/neutrino_truth.hpp"
#include "view/scores_reader.hpp"
#include "view/viewed_event.hpp"

namespace cosmic::view {

struct StoreOptions {
  std::vector<std::filesystem::path> files;
  /// With the predictions of another network for the same events; none if empty.
  std::vector<std::filesystem::path> compared = {};
  /// What people call them, if not by the names of the files.
  std::string title = {};
  std::string image_producer = data::larcv::LarcvOptions{}.image_producer;
  std::string label_producer = data::larcv::LarcvOptions{}.label_producer;
};

class EventStore {
 public:
  /// Opens everything. Throws DataError if a file cannot be used, UserError if the compared files
  /// have no predictions or another number of events.
  explicit EventStore(const StoreOptions& options);

  std::int64_t size() const { return source_.size(); }
  bool labelled() const { return source_.labelled(); }
  /// "a.h5", or "a.h5 and 2 more"
  std::string description() const { return title_.empty() ? source_.description() : title_; }
  /// What their predictions come from: files, or the checkpoints of a run.
  std::vector<std::string> networks() const;
  /// Rises with every change of the networks.
  std::int64_t version() const;
  /// What another network says about the same events. The oldest makes room if there are too many.
  void add_network(const std::string& name, const std::filesystem::path& file);
  std::vector<data::SourcePart> parts() const { return source_.parts(); }

  class Reader {
   public:
    explicit Reader(const EventStore& store);
    /// Throws DataError if the event cannot be read, UserError if there is none of that number.
    void read(std::int64_t entry, ViewedEvent& event);

   private:
    void take_networks();

    const EventStore& store_;
    std::int64_t version_ = -1;  ///< of the networks below
    std::vector<std::shared_ptr<const ScoreFiles>> networks_;
    std::vector<data::SourcePart> parts_;
    std::unique_ptr<data::EventReader> pixels_;
    report::evaluation::NeutrinoTruth truth_;
    std::vector<ScoresReader> scores_;
  };

 private:
  struct Network {
    std::string name;
    std::shared_ptr<const ScoreFiles> files;
  };

  data::larcv::LarcvSource source_;
  std::string title_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Network> networks_;
  std::int64_t version_ = 0;
};

}  // namespace cosmic::view
