// A job's record as text: one small JSON object, which other programs may read too. What stays the
// same is written once, so that an update in the middle of training allocates nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "monitor/job.hpp"

namespace cosmic::monitor {

/// A record is smaller; a larger file is not a record.
inline constexpr std::size_t kMostRecordBytes = 65'536;

class JobRecordText {
 public:
  JobRecordText(const ProcessId& process, const ProcessTable& table,
                const JobDescription& description, double started);

  /// Valid until the next call. Allocates nothing.
  std::string_view with(const JobProgress& progress, double updated);

 private:
  std::string text_;
  std::size_t constant_bytes_;
};

/// Throws DataError saying what is wrong with the text.
JobRecord parse_job_record(std::string_view text);

}  // namespace cosmic::monitor
