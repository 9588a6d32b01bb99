// Gives any bytes to the larcv3 reader as a file and reads all of it. The only thing that may
// happen is a DataError: another exception, a sanitizer's complaint, a slow or a greedy run is a
// bug.
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "core/error.hpp"
#include "data/larcv/read_everything.hpp"
#include "memory_file.hpp"

namespace cosmic::data::larcv {
namespace {

/// As a loader would.
void read_as_events(const std::filesystem::path& path) {
  try {
    const LarcvSource source({.files = {path}});
    source.fingerprint();
    const auto reader = source.reader();
    SparseEvent event;
    for (std::int64_t entry = 0; entry < source.size(); ++entry) {
      reader->read(entry, event);
    }
  } catch (const DataError&) {
  }
}

/// As a pre-flight check would. A product that cannot be read does not keep it from the next.
void read_product_by_product(const std::filesystem::path& path) {
  try {
    ReadWarnings warnings;
    const EventFile file(path, warnings);
    for (const ProductName& product : file.products()) {
      try {
        read_product(file, product, warnings);
      } catch (const DataError&) {
      }
    }
  } catch (const DataError&) {
  }
}

}  // namespace
}  // namespace cosmic::data::larcv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const cosmic::MemoryFile file;
  file.replace(data, size);
  cosmic::data::larcv::read_as_events(file.path());
  cosmic::data::larcv::read_product_by_product(file.path());
  return 0;
}
