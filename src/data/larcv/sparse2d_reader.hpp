// Reads `sparse2d` products: images, or labels of their pixels.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/event.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/pixels.hpp"
#include "data/larcv/read_warnings.hpp"

namespace cosmic::data::larcv {

/// Belongs to one thread; the file and the warnings outlive it.
class Sparse2dReader {
 public:
  Sparse2dReader(const EventFile& file, const std::string& producer, PixelMeaning meaning,
                 ReadWarnings& warnings);
  ~Sparse2dReader();
  Sparse2dReader(const Sparse2dReader&) = delete;
  Sparse2dReader& operator=(const Sparse2dReader&) = delete;

  /// Replaces `image` by that of an event, each plane at its projection id; planes that the event
  /// does not have are empty. Throws DataError with the file, product, event and plane.
  void read(std::int64_t entry, SparseImage& image);
  /// The grid of the first plane in the file; one of no pixels if there is none.
  ImageMeta first_meta();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cosmic::data::larcv
