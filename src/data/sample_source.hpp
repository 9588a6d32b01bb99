// A data set of any kind, seen as numbered samples: an image of floats and a label of bytes each.
// Loaders know nothing else about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "data/event.hpp"
#include "data/event_pixels.hpp"
#include "data/read_note.hpp"

namespace cosmic::data {

/// Which sample, and what changes to it that are drawn by lot depend on.
struct SampleRequest {
  std::int64_t entry = 0;   ///< in the source
  std::int64_t number = 0;  ///< since the start of the run, among all ranks'
  std::uint64_t seed = 0;   ///< of the run
};

/// What a reader knows about a sample besides its image and its label.
struct SampleFacts {
  EventId id = {};          ///< of an event
  std::int64_t pixels = 0;  ///< stored ones, of image and labels, where not all are
  double reading_seconds = 0;
  double converting_seconds = 0;
};

/// One thread's way to read a source; it keeps its buffers from sample to sample.
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  /// These entries are read next, in this order. A reader may ask for their memory meanwhile.
  virtual void expect(std::span<const std::int64_t> /*entries*/) {}
  /// Fills the memory of one sample. Throws DataError, with the source and the entry, when it
  /// cannot be read.
  virtual SampleFacts read(const SampleRequest& request, std::span<float> image,
                           std::span<std::uint8_t> label) = 0;
  /// The same as pixels: those of its image and of its label that are not zero. Only of a source
  /// that has them.
  virtual SampleFacts read_pixels(const SampleRequest& request, EventPixels& pixels);
};

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  virtual std::int64_t size() const = 0;
  /// Sizes of every sample.
  virtual std::size_t image_elements() const = 0;
  virtual std::size_t label_elements() const = 0;
  /// Can its readers leave out what is zero? Worth it where that is most of an image.
  virtual bool has_pixels() const { return false; }
  /// Says where from, for messages.
  virtual std::string description() const = 0;
  /// What was odd in what was read so far, by all readers together; one note for each kind.
  virtual std::vector<ReadNote> notes() const { return {}; }
  /// The sum of their counts, without allocating anything.
  virtual std::uint64_t note_count() const { return 0; }
  /// Throws DataError if something was read and nothing in it can be learnt or tagged.
  virtual void require_content() const {}
  /// Readers work independently; each belongs to one thread. The source outlives them.
  virtual std::unique_ptr<SampleReader> reader() const = 0;
};

inline SampleFacts SampleReader::read_pixels(const SampleRequest& /*request*/,
                                             EventPixels& /*pixels*/) {
  throw InternalError("pixels were asked for from a source that has none");
}

}  // namespace cosmic::data
