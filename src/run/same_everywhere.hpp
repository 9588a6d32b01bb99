// What all processes of a run must have alike. Each computes its part of what one process would
// compute, so they agree about the program, its settings and its events, or the result would be
// nobody's. Launchers do not see to that: a host may have another version, an older copy of a file,
// or none.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "data/event_source.hpp"
#include "run/processes.hpp"

namespace cosmic::run {

/// Throws UserError in every process, with the first rank that differs from rank 0 and how, unless
/// all are the same program with the same settings. What is of a process's own part of its host,
/// its device and its threads, may differ.
void require_same_settings(const Processes& processes, const config::Configuration& configuration);

/// The same for files of events, by the number of events and of bytes of each: names may differ,
/// and nothing is read for it. `parts` are those of a source, none for a process that has found
/// nothing; `what` they are for, "training".
void require_same_events(const Processes& processes, const std::vector<data::SourcePart>& parts,
                         const std::string& what);

}  // namespace cosmic::run
