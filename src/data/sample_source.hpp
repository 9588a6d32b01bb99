// A data set of any kind, seen as numbered samples: an image of floats and a label of bytes each.
// Loaders for training know nothing else about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace cosmic::data {

/// One thread's way to read a source; it keeps its buffers from sample to sample.
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  /// These samples are read next, in this order. A reader may ask for their memory meanwhile.
  virtual void expect(std::span<const std::int64_t> /*samples*/) {}
  /// Fills the memory of one sample. Throws DataError when it cannot be read.
  virtual void read(std::int64_t sample, std::span<float> image, std::span<std::uint8_t> label) = 0;
};

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  virtual std::int64_t size() const = 0;
  /// Sizes of every sample.
  virtual std::size_t image_elements() const = 0;
  virtual std::size_t label_elements() const = 0;
  /// Says where from, for messages.
  virtual std::string description() const = 0;
  /// Readers work independently; each belongs to one thread. The source outlives them.
  virtual std::unique_ptr<SampleReader> reader() const = 0;
};

}  // namespace cosmic::data
