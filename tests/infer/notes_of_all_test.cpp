#include "infer/notes_of_all.hpp"

#include <gtest/gtest.h>

#include "comm/threads_together.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/sparse_events.hpp"
#include "scratch_folder.hpp"

namespace cosmic::infer {
namespace {

using data::ReadNote;

class NotesOfAll : public testing::Test {
 protected:
  NotesOfAll() {
    for (const std::filesystem::path& file : files_) {
      data::larcv::EventFileWriter writer(file);
      const data::SparseEvent event = data::random_event(data::grid_of(8, 8), 0.5, 1, 0);
      writer.begin_event(event.id);
      writer.write_sparse("sbndwire", event.image);
      writer.write_sparse("sbnd_cosmicseg", event.labels);
      writer.commit();
    }
  }

  /// What every process knows after each has brought its notes.
  std::vector<ReadNote> together(const std::vector<std::vector<ReadNote>>& own,
                                 const std::vector<ReadNote>& of_opening = {}) const {
    const data::larcv::LarcvSource source({.files = files_});
    std::vector<std::vector<ReadNote>> known(own.size());
    comm::ThreadsTogether(static_cast<int>(own.size())).run([&](comm::Communicator& all) {
      const auto rank = static_cast<std::size_t>(all.rank());
      known[rank] = notes_of_all(run::Processes(&all), source, own[rank], of_opening);
    });
    for (const std::vector<ReadNote>& one : known) {
      EXPECT_EQ(one, known.front());
    }
    return known.front();
  }

  ReadNote note(int order, std::uint64_t count, std::size_t file, std::int64_t event) const {
    const std::string name = files_[file].string();
    return {"kind " + std::to_string(order),
            count,
            name + ", event " + std::to_string(event),
            name,
            event,
            order};
  }

  ScratchFolder folder_{"notes"};
  // Not in the order of their names.
  std::vector<std::filesystem::path> files_{folder_ / "b.h5", folder_ / "a.h5"};
};

TEST_F(NotesOfAll, counts_what_each_has_read_and_keeps_the_earliest_case_of_each_kind) {
  EXPECT_EQ(together({{note(1, 2, 0, 7), note(4, 1, 1, 0)},
                      {note(1, 3, 0, 2), note(2, 1, 0, 9), note(4, 5, 0, 8)},
                      {}}),
            (std::vector<ReadNote>{note(1, 5, 0, 2), note(2, 1, 0, 9), note(4, 6, 0, 8)}));
}

TEST_F(NotesOfAll, counts_once_what_everybody_finds_who_opens_the_files) {
  const ReadNote opening = note(0, 2, 1, -1);
  EXPECT_EQ(together({{opening}, {opening, note(3, 1, 0, 4)}}, {opening}),
            (std::vector<ReadNote>{opening, note(3, 1, 0, 4)}));
  // The same kind in an event as well.
  ReadNote more = opening;
  more.count = 3;
  EXPECT_EQ(together({{opening}, {more}}, {opening}), std::vector<ReadNote>{more});
}

TEST_F(NotesOfAll, are_none_where_nobody_has_any) {
  EXPECT_TRUE(together({{}, {}}).empty());
}

}  // namespace
}  // namespace cosmic::infer
