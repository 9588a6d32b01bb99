// What was odd in the events of one pass over files, whoever read them.
#pragma once

#include <vector>

#include "data/event_source.hpp"
#include "data/loader/batch_loader.hpp"
#include "run/processes.hpp"
#include "run/run_data.hpp"

namespace cosmic::infer {

/// The notes that one process would have made of all events, in all processes. `of_opening` are
/// those that each of them has made when it opened the files. They are told once, by the leader.
/// Throws DataError if nothing that anybody has read is of any use.
std::vector<data::ReadNote> notes_of_all(const run::Processes& processes, data::BatchLoader& loader,
                                         const data::EventSource& source,
                                         const std::vector<data::ReadNote>& of_opening,
                                         const run::Warn& warn);

/// Notes that each process has made of its own events, as one list.
std::vector<data::ReadNote> notes_of_all(const run::Processes& processes,
                                         const data::EventSource& source,
                                         const std::vector<data::ReadNote>& own,
                                         const std::vector<data::ReadNote>& of_opening = {});

}  // namespace cosmic::infer
