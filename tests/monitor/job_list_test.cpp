// Jobs that publish themselves, and who lists them: also when processes die, numbers are used again
// and the folder holds what does not belong there.
#include "monitor/job_list.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "monitor/example_job.hpp"
#include "monitor/job_name.hpp"
#include "monitor/job_publisher.hpp"
#include "scratch_folder.hpp"

namespace cosmic::monitor {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Jobs : public testing::Test {
 protected:
  std::filesystem::path path() const { return scratch_ / "jobs"; }
  JobList list() const { return list_jobs(path()); }
  std::vector<std::string> files() const { return JobFolder(path()).names(); }

  /// A record of a process that may be none.
  void write_record(const ProcessId& process, const ProcessTable& table = this_process_table()) {
    const JobFolder folder(path());
    JobRecordText text(process, table, example_job(), 0);
    const std::string name = job_file_name(process, 0);
    ASSERT_TRUE(folder.write(name.c_str(), unfinished_name(name).c_str(), text.with({}, 0)));
  }

  /// The number of a process that has published a job and was killed.
  pid_t publish_and_die() const {
    const pid_t child = fork();
    if (child == 0) {
      const JobPublisher job(example_job(), path());
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    return child;
  }

 private:
  ScratchFolder scratch_{"jobs"};
};

TEST_F(Jobs, are_listed_while_they_run_and_not_after) {
  {
    JobPublisher job(example_job(), path());
    job.update({.state = JobState::running,
                .done = 5,
                .total = 10,
                .host_events_per_second = 2,
                .loss = 0.5});
    const JobList seen = list();
    ASSERT_THAT(seen.jobs, SizeIs(1));
    EXPECT_THAT(seen.notes, IsEmpty());
    EXPECT_EQ(seen.jobs[0].record.process, this_process());
    EXPECT_EQ(seen.jobs[0].record.description.run, "07");
    EXPECT_EQ(seen.jobs[0].record.progress.done, 5);
    EXPECT_EQ(seen.jobs[0].record.progress.loss, 0.5);
    EXPECT_GT(seen.jobs[0].usage.resident_bytes, 0);
    EXPECT_GE(seen.jobs[0].seconds, 0);
    EXPECT_LT(seen.jobs[0].seconds, 100);
  }
  EXPECT_THAT(list().jobs, IsEmpty());
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Jobs, of_one_process_are_told_apart) {
  const JobPublisher first(example_job(), path());
  {
    const JobPublisher second(example_job(), path());
    EXPECT_THAT(list().jobs, SizeIs(2));
  }
  EXPECT_THAT(list().jobs, SizeIs(1));
}

TEST_F(Jobs, write_now_and_then_but_every_change_of_state) {
  constexpr double kAnHour = 3600;
  JobPublisher job(example_job(), path(), kAnHour);
  job.update({.state = JobState::running, .done = 1});
  job.update({.state = JobState::running, .done = 2});
  EXPECT_EQ(list().jobs.at(0).record.progress.done, 1);
  job.update({.state = JobState::compiling, .done = 3});
  EXPECT_EQ(list().jobs.at(0).record.progress.done, 3);
}

TEST_F(Jobs, that_were_killed_are_cleaned_up_by_the_next_reader) {
  publish_and_die();
  EXPECT_THAT(files(), SizeIs(1));
  EXPECT_THAT(list().jobs, IsEmpty());
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Jobs, whose_number_another_process_has_now_are_gone) {
  const ProcessId self = this_process();
  write_record({self.number, self.start - 1});
  EXPECT_THAT(list().jobs, IsEmpty());
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Jobs, from_before_the_machine_was_started_anew_are_gone) {
  ProcessTable table = this_process_table();
  table.boot = "an earlier one";
  write_record(this_process(), table);
  EXPECT_THAT(list().jobs, IsEmpty());
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Jobs, of_another_machine_or_container_are_noted_and_left_alone) {
  ProcessTable table = this_process_table();
  table.name_space = "pid:[another]";
  write_record({1'000'000'000, 1}, table);
  table.host = "another";
  write_record({1'000'000'001, 1}, table);
  const JobList seen = list();
  EXPECT_THAT(seen.jobs, IsEmpty());
  EXPECT_THAT(seen.notes, SizeIs(2));
  EXPECT_THAT(files(), SizeIs(2));
}

TEST_F(Jobs, killed_while_they_wrote_leave_nothing_behind) {
  const JobFolder folder(path());
  const std::string name = unfinished_name(job_file_name({1'000'000'000, 1}, 0));
  folder.write(name.c_str(), ".x", "half a rec");
  EXPECT_THAT(list().notes, IsEmpty());
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Jobs, are_listed_beside_garbage_which_is_noted_and_kept) {
  const JobPublisher job(example_job(), path());
  const JobFolder folder(path());
  const std::string garbage = job_file_name({1'000'000'000, 1}, 0);
  folder.write(garbage.c_str(), ".x", "{\"pid\": ");
  folder.write("\033[2Jnotes.txt", ".x", "shopping list");
  std::filesystem::create_directory(path() / job_file_name({1'000'000'001, 1}, 0));
  const JobList seen = list();
  EXPECT_THAT(seen.jobs, SizeIs(1));
  EXPECT_THAT(seen.notes, SizeIs(3));
  EXPECT_THAT(seen.notes, testing::Contains(HasSubstr("\\x1b[2Jnotes.txt")));
  EXPECT_THAT(files(), SizeIs(4));
}

TEST_F(Jobs, of_a_copy_of_the_process_stay_with_the_original) {
  const JobPublisher job(example_job(), path());
  const pid_t child = fork();
  if (child == 0) {
    job.~JobPublisher();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_THAT(list().jobs, SizeIs(1));
}

// Writers replace records as fast as they can, without the pause that a job makes.
TEST_F(Jobs, are_never_seen_half_written) {
  constexpr unsigned kWriters = 3;
  constexpr int kReads = 200;
  const ProcessId self = this_process();
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (unsigned writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      const JobFolder folder(path());
      const std::string name = job_file_name(self, writer);
      const std::string unfinished = unfinished_name(name);
      JobRecordText text(self, this_process_table(), example_job(), 0);
      // Numbers of other lengths make records of other lengths.
      for (std::int64_t n = 1; !stop; n = n < 1'000'000'000 ? 10 * n : 1) {
        folder.write(name.c_str(), unfinished.c_str(),
                     text.with({.done = n, .total = n, .loss = static_cast<double>(n)}, 0));
      }
    });
  }
  while (list().jobs.empty()) {  // the writers may be slow to start
    std::this_thread::yield();
  }
  std::size_t seen = 0;
  for (int read = 0; read < kReads; ++read) {
    const JobList now = list();
    EXPECT_THAT(now.notes, IsEmpty());
    for (const RunningJob& job : now.jobs) {
      ++seen;
      EXPECT_EQ(job.record.progress.done, job.record.progress.total);
      EXPECT_EQ(job.record.progress.loss, static_cast<double>(job.record.progress.done));
    }
  }
  stop = true;
  for (std::thread& writer : writers) {
    writer.join();
  }
  EXPECT_GT(seen, 0U);
}

}  // namespace
}  // namespace cosmic::monitor
