#include "data/loader/read_content.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace cosmic::data {

ReadContent::ReadContent(const EventSource& source)
    : labelled_(source.labelled()),
      read_(source.is_endless() ? 0 : static_cast<std::size_t>(source.size())) {
  for (const SourcePart& part : source.parts()) {
    if (part.begin < part.end) {
      parts_.push_back({part.name, part.begin, part.end, part.end - part.begin});
    }
  }
}

void ReadContent::add(std::int64_t entry, const SparseEvent& event) {
  const auto at = static_cast<std::size_t>(entry);
  const std::lock_guard lock(mutex_);
  if (!read_.empty()) {  // else each entry is read once
    if (read_[at]) {
      return;
    }
    read_[at] = true;
  }
  const auto part = std::upper_bound(parts_.begin(), parts_.end(), entry,
                                     [](std::int64_t e, const Part& one) { return e < one.end; });
  COSMIC_ASSERT(part != parts_.end());
  part->unread -= 1;
  for (const SparsePlane& plane : event.image) {
    part->pixels += static_cast<std::int64_t>(plane.ids.size());
  }
  part->unlabelled += event.unlabelled_pixels;
  if (part->unread == 0) {
    require_content(*part, part->end - part->begin, labelled_);
  }
}

void ReadContent::require_any() const {
  const std::lock_guard lock(mutex_);
  Part all{.name = parts_.size() == 1 ? parts_.front().name
                                      : parts_.front().name + " and the files after it"};
  std::int64_t events = 0;
  for (const Part& part : parts_) {
    events += part.end - part.begin - part.unread;
    all.pixels += part.pixels;
    all.unlabelled += part.unlabelled;
  }
  if (events > 0) {
    require_content(all, events, labelled_);
  }
}

void ReadContent::require_content(const Part& part, std::int64_t events, bool labelled) {
  COSMIC_REQUIRE(DataError, part.pixels > 0,
                 part.name << ": the " << events
                           << " events that were read have no pixel (there is nothing to learn or "
                              "to tag); is the producer of the images right? `cosmictagger data "
                              "check` looks at the whole file");
  COSMIC_REQUIRE(DataError, !labelled || part.unlabelled < part.pixels,
                 part.name << ": none of the " << part.pixels << " pixels in the " << events
                           << " events that were read has a label (all would count as "
                              "background); is the producer of the labels right, and are their "
                              "planes those of the images?");
}

}  // namespace cosmic::data
