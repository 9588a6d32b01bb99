// Events from larcv3 files, as training and inference read them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/event_source.hpp"
#include "data/larcv/read_warnings.hpp"

namespace cosmic::data::larcv {

enum class LabelUse : std::uint8_t {
  required,    ///< a file without labels is an error
  if_present,  ///< in the first file; one that is not like it is an error
  ignored,
};

struct LarcvOptions {
  std::vector<std::filesystem::path> files;  ///< their events follow one another
  std::string image_producer = "sbndwire";
  std::string label_producer = "sbnd_cosmicseg";
  LabelUse labels = LabelUse::if_present;
};

class LarcvSource final : public EventSource {
 public:
  /// Opens and indexes all files. Throws DataError if one cannot be used, or if they do not agree
  /// about the size of an image.
  explicit LarcvSource(LarcvOptions options);
  ~LarcvSource() override;
  LarcvSource(const LarcvSource&) = delete;
  LarcvSource& operator=(const LarcvSource&) = delete;

  std::int64_t size() const override;
  ImageMeta meta() const override;
  bool labelled() const override;
  std::string description() const override;
  /// The files.
  std::vector<SourcePart> parts() const override;
  /// Planes that an event does not have are empty, on the grid of meta(). A plane on another grid
  /// is a DataError.
  std::unique_ptr<EventReader> reader() const override;

  /// Of event ids, images and, if they are read, labels: see fingerprint.hpp.
  std::string fingerprint() const override;
  std::vector<ReadNote> notes() const override;
  std::uint64_t note_count() const override;

  /// What was mended so far, by all readers together.
  const ReadWarnings& warnings() const;

 private:
  struct State;
  class Reader;

  std::unique_ptr<State> state_;
};

}  // namespace cosmic::data::larcv
