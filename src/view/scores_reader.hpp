// What a network says about the pixels of events, from the files that inference has written: on the
// grid of the input (pixel_tag and its neighbours), or on the coarser one that the network saw
// (the products with the reference's names), where pixels of a block share what is said about it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/event.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/read_warnings.hpp"
#include "data/larcv/sparse2d_reader.hpp"
#include "view/viewed_event.hpp"

namespace cosmic::view {

/// Files with predictions, whose events follow one another. Threads share it.
class ScoreFiles {
 public:
  /// Throws DataError if one is not a larcv3 file, or if some have predictions and others none.
  explicit ScoreFiles(const std::vector<std::filesystem::path>& files);

  /// Is there anything to read?
  bool any() const { return kind_ != Kind::none; }
  std::int64_t size() const { return ends_.empty() ? 0 : ends_.back(); }

 private:
  friend class ScoresReader;
  /// Which products they have.
  enum class Kind { none, stored_pixels, network_pixels };
  static Kind kind_of(const data::larcv::EventFile& file);

  mutable data::larcv::ReadWarnings warnings_;
  std::vector<std::unique_ptr<data::larcv::EventFile>> files_;
  std::vector<std::int64_t> ends_;  ///< of each file: the entry after its last
  Kind kind_ = Kind::none;
};

/// Belongs to one thread; the files outlive it.
class ScoresReader {
 public:
  explicit ScoresReader(const ScoreFiles& files) : files_(files) {}

  /// What is said about the pixels of an event, which is entry number `entry`. Throws DataError if
  /// the file has another event there, or predictions on a grid that is not that of the pixels.
  void read(std::int64_t entry, const data::SparseEvent& pixels, EventScores& scores);

 private:
  /// The readers of one file.
  struct Open;
  void open(std::size_t file);

  const ScoreFiles& files_;
  std::size_t current_ = 0;
  std::shared_ptr<Open> open_;  // shared, so that its type may stay unknown here
  data::SparseImage tag_;
  data::SparseImage cosmic_;
  data::SparseImage neutrino_;
};

}  // namespace cosmic::view
