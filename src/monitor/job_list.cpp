#include "monitor/job_list.hpp"

#include <algorithm>
#include <optional>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "monitor/job_name.hpp"
#include "monitor/job_record.hpp"

namespace cosmic::monitor {
namespace {

/// Can the process behind a record be looked up here?
enum class Sight { here, before_a_restart, elsewhere };

Sight sight_of(const ProcessTable& table, const ProcessTable& here) {
  if (table == here) {
    return Sight::here;
  }
  return table.host == here.host && table.boot != here.boot ? Sight::before_a_restart
                                                            : Sight::elsewhere;
}

class Listing {
 public:
  explicit Listing(const std::filesystem::path& folder) : folder_(folder) {
    for (const std::string& name : folder_.names()) {
      add(name);
    }
    std::stable_sort(
        list_.jobs.begin(), list_.jobs.end(),
        [](const RunningJob& a, const RunningJob& b) { return a.seconds > b.seconds; });
  }

  JobList take() { return std::move(list_); }

 private:
  void add(const std::string& name) {
    const std::optional<JobFile> file = parse_job_file_name(name);
    if (!file) {
      note(name, "is not a job record");
    } else if (file->kind == JobFileKind::unfinished) {
      // Its writer has it for a moment only; if it is still there, the writer was killed.
      if (!usage_of(file->process)) {
        folder_.remove(name.c_str());
      }
    } else {
      add_record(name, *file);
    }
  }

  void add_record(const std::string& name, const JobFile& file) {
    std::optional<JobRecord> record;
    try {
      const std::optional<std::string> text = folder_.read(name, kMostRecordBytes);
      if (!text) {
        return;  // the job has ended since
      }
      record = parse_job_record(*text);
      COSMIC_REQUIRE(DataError, record->process == file.process,
                     "it is about process " << record->process.number);
    } catch (const DataError& error) {
      note(name, std::string("is not a job record: ") + error.what());
      return;
    }
    switch (sight_of(record->table, here_)) {
      case Sight::elsewhere:
        note(name, "is a job on " + printable(record->table.host) +
                       ", another machine or container, and cannot be seen from here");
        return;
      case Sight::before_a_restart:
        folder_.remove(name.c_str());
        return;
      case Sight::here:
        break;
    }
    const std::optional<ProcessUsage> usage = usage_of(record->process);
    if (!usage) {
      folder_.remove(name.c_str());
      return;
    }
    list_.jobs.push_back({*record, *usage, std::max(now_ - record->started, 0.0),
                          std::max(now_ - record->updated, 0.0)});
  }

  void note(const std::string& name, const std::string& what) {
    list_.notes.push_back(folder_.path().string() + "/: " + printable(name) + " " + what);
  }

  JobFolder folder_;
  ProcessTable here_ = this_process_table();
  double now_ = seconds_since_boot();
  JobList list_;
};

}  // namespace

JobList list_jobs(const std::filesystem::path& folder) {
  return Listing(folder).take();
}

}  // namespace cosmic::monitor
