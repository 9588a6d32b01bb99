#include "infer/event_predictions.hpp"

#include <bit>

#include "core/byte_reader.hpp"
#include "core/byte_writer.hpp"

namespace cosmic::infer {
namespace {

void put(const data::SparsePlane& plane, ByteWriter& to) {
  to.u64(plane.meta.projection);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    to.u64(plane.meta.pixels[axis]);
    to.real(plane.meta.size[axis]);
    to.real(plane.meta.origin[axis]);
  }
  to.count(plane.ids.size());
  for (std::size_t i = 0; i < plane.ids.size(); ++i) {
    to.u64(plane.ids[i]);
    to.u32(std::bit_cast<std::uint32_t>(plane.values[i]));
  }
}

data::SparsePlane take_plane(ByteReader& from) {
  data::SparsePlane plane;
  plane.meta.projection = from.u64();
  for (std::size_t axis = 0; axis < 2; ++axis) {
    plane.meta.pixels[axis] = from.u64();
    plane.meta.size[axis] = from.real();
    plane.meta.origin[axis] = from.real();
  }
  const std::size_t count = from.count(sizeof(std::uint64_t) + sizeof(std::uint32_t));
  plane.ids.reserve(count);
  plane.values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    plane.ids.push_back(from.u64());
    plane.values.push_back(std::bit_cast<float>(from.u32()));
  }
  return plane;
}

void put(const data::SparseImage& image, ByteWriter& to) {
  for (const data::SparsePlane& plane : image) {
    put(plane, to);
  }
}

data::SparseImage take_image(ByteReader& from) {
  data::SparseImage image;
  for (data::SparsePlane& plane : image) {
    plane = take_plane(from);
  }
  return image;
}

void put(const EventPredictions& event, ByteWriter& to) {
  to.i64(event.entry);
  to.i64(event.id.run);
  to.i64(event.id.subrun);
  to.i64(event.id.event);
  put(event.cosmic, to);
  put(event.neutrino, to);
  for (const double figure :
       {event.inputs.pixels, event.inputs.median, event.inputs.ninth_decile}) {
    to.real(figure);
  }
  to.u32(event.stored ? 1 : 0);
  if (event.stored) {
    put(event.stored->tag, to);
    put(event.stored->cosmic, to);
    put(event.stored->neutrino, to);
  }
  for (const Confusion& plane : event.confusion) {
    for (const auto& row : plane.counts) {
      for (const std::int64_t count : row) {
        to.i64(count);
      }
    }
  }
}

EventPredictions take_event(ByteReader& from) {
  EventPredictions event;
  event.entry = from.i64();
  event.id.run = from.i64();
  event.id.subrun = from.i64();
  event.id.event = from.i64();
  event.cosmic = take_image(from);
  event.neutrino = take_image(from);
  event.inputs.pixels = from.real();
  event.inputs.median = from.real();
  event.inputs.ninth_decile = from.real();
  if (from.u32() == 1) {
    event.stored = StoredPixels{take_image(from), take_image(from), take_image(from)};
  }
  for (Confusion& plane : event.confusion) {
    for (auto& row : plane.counts) {
      for (std::int64_t& count : row) {
        count = from.i64();
      }
    }
  }
  return event;
}

}  // namespace

EventPredictions predictions_of(const TaggedEvent& event, Labels labels) {
  return {event.entry,
          event.id,
          event.probabilities(data::Label::cosmic),
          event.probabilities(data::Label::neutrino),
          labels == Labels::there ? event.confusion() : EventConfusion{},
          std::nullopt,
          input_figures(event)};
}

std::vector<SharedBatch> shared(const run::Processes& processes,
                                std::vector<EventPredictions> own) {
  const auto count = static_cast<std::int64_t>(own.size());
  std::vector<SharedBatch> batches(static_cast<std::size_t>(processes.size()));
  const std::vector<std::int64_t> counts = processes.gather(count);
  for (std::size_t rank = 0; rank < batches.size(); ++rank) {
    batches[rank].count = counts[rank];
  }
  ByteWriter bytes;
  if (!processes.lead()) {  // what the leader has it need not send
    for (const EventPredictions& event : own) {
      put(event, bytes);
    }
  }
  const std::vector<std::string> texts = processes.gather_texts(bytes.bytes());
  for (std::size_t rank = 1; rank < batches.size() && processes.lead(); ++rank) {
    ByteReader reader(texts[rank], "what " + processes.name(static_cast<int>(rank)) + " has tagged",
                      "this is a bug in this program, please report it");
    for (std::int64_t i = 0; i < counts[rank]; ++i) {
      batches[rank].events.push_back(take_event(reader));
    }
    reader.require_end();
  }
  batches[static_cast<std::size_t>(processes.rank())].events = std::move(own);
  return batches;
}

}  // namespace cosmic::infer
