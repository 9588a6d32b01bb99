#include "data/larcv/read_warnings.hpp"

#include "core/error.hpp"

namespace cosmic::data::larcv {

static_assert(static_cast<std::size_t>(WarningKind::text_not_ended) + 1 == kWarningKinds);

const char* description(WarningKind kind) {
  switch (kind) {
    case WarningKind::odd_group_name:
      return "groups not named <type>_<producer>_group (ignored)";
    case WarningKind::gap_in_rows:
      return "gaps between rows (larcv3 could read them)";
    case WarningKind::plane_number_differs:
      return "planes numbered differently in extents and meta (the meta counts)";
    case WarningKind::id_out_of_range:
      return "pixels outside their image (dropped)";
    case WarningKind::ids_not_ascending:
      return "pixels out of order (sorted)";
    case WarningKind::duplicate_id:
      return "pixels stored more than once (the last counts)";
    case WarningKind::value_not_finite:
      return "values that are not finite (pixels and boxes dropped)";
    case WarningKind::sentinel_value:
      return "values of -999, larcv3's mark for no pixel (kept)";
    case WarningKind::label_without_pixel:
      return "labels without a pixel (dropped)";
    case WarningKind::pixel_without_label:
      return "pixels without a label (taken for background)";
    case WarningKind::text_not_ended:
      return "texts without an end (cut)";
  }
  throw InternalError("a kind of warning without a description");
}

std::vector<ReadWarning> ReadWarnings::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<ReadWarning> list;
  for (std::size_t kind = 0; kind < kWarningKinds; ++kind) {
    if (entries_[kind].count > 0) {
      list.push_back(entries_[kind]);
      list.back().kind = static_cast<WarningKind>(kind);
    }
  }
  return list;
}

std::vector<ReadNote> notes_of(const ReadWarnings& warnings) {
  std::vector<ReadNote> notes;
  for (const ReadWarning& warning : warnings.list()) {
    notes.push_back({description(warning.kind), warning.count, warning.first, warning.file,
                     warning.event, static_cast<int>(warning.kind)});
  }
  return notes;
}

std::uint64_t ReadWarnings::count(WarningKind kind) const {
  const std::lock_guard lock(mutex_);
  return entries_[static_cast<std::size_t>(kind)].count;
}

std::uint64_t ReadWarnings::total() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t total = 0;
  for (const ReadWarning& entry : entries_) {
    total += entry.count;
  }
  return total;
}

}  // namespace cosmic::data::larcv
