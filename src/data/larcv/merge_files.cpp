#include "data/larcv/merge_files.hpp"

#include "core/error.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/product_join.hpp"
#include "data/larcv/read_place.hpp"
#include "data/larcv/table.hpp"

namespace cosmic::data::larcv {
namespace {

/// Products are copied without a look at what is odd in them; `data check` looks.
std::int64_t copy_events(const std::filesystem::path& path, std::size_t number, ProductJoin& join,
                         EventFileWriter& writer) {
  ReadWarnings warnings;
  const EventFile file(path, warnings);
  ChunkWorkspace workspace;
  TableReader<EventIdRow> ids(file.event_ids(), workspace);
  ReadPlace place{.file = file.name()};
  for (std::int64_t entry = 0; entry < file.size(); ++entry) {
    place.event = entry;
    at_place(place, [&] {
      const EventIdRow& id = ids.row(static_cast<std::uint64_t>(entry));
      writer.begin_event({id.run, id.subrun, id.event});
    });
    join.copy(number, entry, writer);
  }
  return file.size();
}

}  // namespace

Merged merge_files(const std::vector<std::filesystem::path>& files,
                   const std::filesystem::path& output, Existing existing) {
  ProductJoin join(files, {});
  EventFileWriter writer(output, {.existing = existing});
  Merged merged{.left_out = join.left_out()};
  for (std::size_t i = 0; i < files.size(); ++i) {
    merged.events += copy_events(files[i], i, join, writer);
  }
  writer.commit();
  return merged;
}

}  // namespace cosmic::data::larcv
