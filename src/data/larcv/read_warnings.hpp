// What was odd in the files but could be dealt with. Each kind is counted, and the first case is
// kept as an example: a file can have the same fault in a million pixels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "data/larcv/read_place.hpp"
#include "data/read_note.hpp"

namespace cosmic::data::larcv {

enum class WarningKind : std::uint8_t {
  odd_group_name,        ///< in /Data, not <type>_<producer>_group; ignored
  gap_in_rows,           ///< rows of a table that nothing points to; larcv3 could read them
  plane_number_differs,  ///< between the extents and the meta of a plane; the meta is right
  id_out_of_range,       ///< pixel outside its image; dropped (larcv3 wraps it around)
  ids_not_ascending,     ///< in a plane or a cluster; sorted
  duplicate_id,          ///< the last one in the file counts
  value_not_finite,      ///< pixel or box dropped; numbers of a particle are kept
  sentinel_value,        ///< -999, which larcv3 takes for "no pixel"; kept as it is
  label_without_pixel,   ///< a label where the image has nothing; dropped
  pixel_without_label,   ///< taken for background
  text_not_ended,        ///< a process name without its NUL; cut
};

inline constexpr std::size_t kWarningKinds = 11;

/// "pixels outside their image (dropped)"
const char* description(WarningKind kind);

struct ReadWarning {
  WarningKind kind{};
  std::uint64_t count = 0;
  std::string first;  ///< where the first was, and its values
  std::string file;
  std::int64_t event = -1;  ///< of the file
};

/// Of the same kinds, as readers of any source have them.
class ReadWarnings;
std::vector<ReadNote> notes_of(const ReadWarnings& warnings);

/// Any number of threads may add at the same time. The first case is that of the earliest event,
/// whoever comes first; of several files, up to them.
class ReadWarnings {
 public:
  /// `say` makes the text of the first case; it is hardly ever called for others.
  template <class Say>
  void add(WarningKind kind, std::uint64_t count, const ReadPlace& place, const Say& say) {
    const std::lock_guard lock(mutex_);
    ReadWarning& entry = entries_[static_cast<std::size_t>(kind)];
    if (entry.count == 0 || (place.file == entry.file && place.event < entry.event)) {
      entry.first = say();
      entry.file = place.file;
      entry.event = place.event;
    }
    entry.count += count;
  }

  /// The kinds that occurred.
  std::vector<ReadWarning> list() const;
  std::uint64_t count(WarningKind kind) const;
  std::uint64_t total() const;

 private:
  mutable std::mutex mutex_;
  std::array<ReadWarning, kWarningKinds> entries_;  ///< whose kinds are their places
};

}  // namespace cosmic::data::larcv
