#include "infer/notes_of_all.hpp"

#include <algorithm>

#include "core/byte_reader.hpp"
#include "core/byte_writer.hpp"

namespace cosmic::infer {
namespace {

void put(const data::ReadNote& note, ByteWriter& to) {
  to.text(note.what);
  to.u64(note.count);
  to.text(note.first);
  to.text(note.file);
  to.i64(note.event);
  to.i64(note.order);
}

data::ReadNote take_note(ByteReader& from) {
  data::ReadNote note;
  note.what = from.text();
  note.count = from.u64();
  note.first = from.text();
  note.file = from.text();
  note.event = from.i64();
  note.order = static_cast<int>(from.i64());
  return note;
}

auto note_about(std::vector<data::ReadNote>& notes, const std::string& what) {
  return std::find_if(notes.begin(), notes.end(),
                      [&](const data::ReadNote& one) { return one.what == what; });
}

/// Comes `a` before `b`, in the order in which one process reads events?
bool is_earlier(const data::ReadNote& a, const data::ReadNote& b,
                const std::vector<data::SourcePart>& files) {
  const auto place = [&](const data::ReadNote& note) {
    const auto file = std::find_if(files.begin(), files.end(), [&](const data::SourcePart& one) {
      return one.name == note.file;
    });
    return std::pair(file - files.begin(), note.event);
  };
  return place(a) < place(b);
}

}  // namespace

std::vector<data::ReadNote> notes_of_all(const run::Processes& processes,
                                         const data::EventSource& source,
                                         const std::vector<data::ReadNote>& own,
                                         const std::vector<data::ReadNote>& of_opening) {
  if (processes.size() == 1) {
    return own;
  }
  ByteWriter bytes;
  for (const data::ReadNote& note : own) {
    put(note, bytes);
  }
  const std::vector<data::SourcePart> files = source.parts();
  std::vector<data::ReadNote> notes = of_opening;
  for (const std::string& text : processes.gather_texts(bytes.bytes())) {
    ByteReader reader(text, "what another process has noted",
                      "this is a bug in this program, please report it");
    while (reader.left() > 0) {
      data::ReadNote note = take_note(reader);
      std::vector<data::ReadNote> before = of_opening;
      if (const auto known = note_about(before, note.what); known != before.end()) {
        note.count -= known->count;
      }
      if (note.count == 0) {
        continue;  // everybody who opens the files finds it
      }
      const auto known = note_about(notes, note.what);
      if (known == notes.end()) {
        notes.push_back(note);
        continue;
      }
      note.count += known->count;
      if (!is_earlier(note, *known, files)) {
        note.first = known->first;
        note.file = known->file;
        note.event = known->event;
      }
      *known = note;
    }
  }
  std::stable_sort(
      notes.begin(), notes.end(),
      [](const data::ReadNote& a, const data::ReadNote& b) { return a.order < b.order; });
  return notes;
}

std::vector<data::ReadNote> notes_of_all(const run::Processes& processes, data::BatchLoader& loader,
                                         const data::EventSource& source,
                                         const std::vector<data::ReadNote>& of_opening,
                                         const run::Warn& warn) {
  const std::vector<std::int64_t> pixels = processes.gather(loader.times().pixels);
  if (processes.size() == 1 || std::count(pixels.begin(), pixels.end(), 0) == processes.size()) {
    return loader.finish();
  }
  const std::vector<data::ReadNote> notes =
      notes_of_all(processes, source, source.notes(), of_opening);
  for (const data::ReadNote& note : notes) {
    if (warn && processes.lead()) {
      warn("Reading found " + to_text(note));
    }
  }
  return notes;
}

}  // namespace cosmic::infer
