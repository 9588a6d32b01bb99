#include "monitor/job_publisher.hpp"

#include <unistd.h>

#include <atomic>

#include "core/error.hpp"
#include "monitor/job_name.hpp"

namespace cosmic::monitor {
namespace {

unsigned next_count() {
  static std::atomic<unsigned> count{0};
  return count++;
}

}  // namespace

JobPublisher::JobPublisher(const JobDescription& description, const std::filesystem::path& folder,
                           double seconds_between_writes)
    : folder_(folder),
      process_(this_process()),
      name_(job_file_name(process_, next_count())),
      unfinished_(unfinished_name(name_)),
      text_(process_, this_process_table(), description, seconds_since_boot()),
      seconds_between_writes_(seconds_between_writes) {
  COSMIC_REQUIRE(
      DataError,
      folder_.write(name_.c_str(), unfinished_.c_str(), text_.with({}, seconds_since_boot())),
      folder.string() << ": cannot write a record of this job there (`cosmictagger monitor` would "
                         "not see it); is the disk full?");
}

JobPublisher::~JobPublisher() {
  // A copy of this process, made by fork, has this object too but not the job.
  if (getpid() == process_.number) {
    folder_.remove(name_.c_str());
  }
}

void JobPublisher::update(const JobProgress& progress) {
  if (progress.state == state_ && since_write_.seconds() < seconds_between_writes_) {
    return;
  }
  state_ = progress.state;
  since_write_.restart();
  folder_.write(name_.c_str(), unfinished_.c_str(), text_.with(progress, seconds_since_boot()));
}

}  // namespace cosmic::monitor
