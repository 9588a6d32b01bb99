// Writes larcv3 files that larcv3, h5py and our own reader open: the same groups, types, offsets,
// chunks and compression as larcv3's. The same content gives the same bytes, for any number of
// threads and at any time of day. The file appears under its name in commit(), or never.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pending_file.hpp"
#include "core/threads.hpp"
#include "data/event.hpp"
#include "data/larcv/left_out.hpp"
#include "data/larcv/product_name.hpp"
#include "data/larcv/record_types.hpp"

namespace cosmic::data::larcv {

struct EventFileWriterOptions {
  Existing existing = Existing::refuse;
  int deflate_level = kDeflateLevel;  ///< 0 for none, to 9
  Team team{1};                       ///< compresses; makes no difference to the bytes
  FileOperations& files = system_files();
};

/// Belongs to one thread. Keeps a bounded number of rows in memory, however many events it writes.
///
/// An event is begin_event() and then each product once; the first event says which products there
/// are. What has no content is written all the same, as an empty image or list, because readers
/// find events by counting rows.
///
/// Content that cannot be stored throws DataError, with file, product, event and plane, before any
/// of it is written. After an error of the disk the file cannot be committed.
class EventFileWriter {
 public:
  explicit EventFileWriter(const std::filesystem::path& path,
                           const EventFileWriterOptions& options = {});
  ~EventFileWriter();
  EventFileWriter(const EventFileWriter&) = delete;
  EventFileWriter& operator=(const EventFileWriter&) = delete;

  /// Starts as a copy of another file: its event ids and its products, except those named. Only
  /// before the first event; then every event of that file must be begun, in its order, if any
  /// product is added. Returns what could not be copied (docs/data.md says what that is); a damaged
  /// file throws DataError.
  std::vector<LeftOut> copy_products(const std::filesystem::path& input,
                                     std::span<const ProductName> except = {});

  void begin_event(const EventId& id);
  /// Planes whose meta has no pixels were not stored and are left out.
  void write_sparse(std::string_view producer, const SparseImage& image);
  void write_clusters(std::string_view producer, std::span<const ClusterPlane> planes);
  void write_particles(std::string_view producer, std::span<const Particle> particles);
  void write_boxes(std::string_view producer, std::span<const BoxPlane> planes);

  /// Texts to keep with a product as attributes of its group, such as what made it. The last word
  /// before commit() counts; a product that was not written has none.
  void describe(const ProductName& product, std::map<std::string, std::string> texts);

  /// Events begun so far.
  std::int64_t events() const;

  /// Writes what is left and shows the file under its name. Nothing can be written afterwards.
  void commit();

 private:
  class File;
  std::unique_ptr<File> file_;
};

}  // namespace cosmic::data::larcv
