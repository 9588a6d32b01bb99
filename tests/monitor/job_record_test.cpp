#include "monitor/job_record.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "monitor/example_job.hpp"
#include "monitor/job_name.hpp"

namespace cosmic::monitor {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const ProcessId kProcess{123, 456};
const ProcessTable kTable{"host", "boot", "pid:[1]"};

std::string text_of(const JobDescription& description, const JobProgress& progress) {
  return std::string(JobRecordText(kProcess, kTable, description, 1.5).with(progress, 2.5));
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

TEST(JobRecord, reads_back_as_it_was_written) {
  const JobRecord record = parse_job_record(text_of(example_job(), {.state = JobState::running,
                                                                    .unit = JobUnit::events,
                                                                    .done = 3,
                                                                    .total = 9,
                                                                    .host_events_per_second = 0.1,
                                                                    .modelled = {{7, 5, 9}},
                                                                    .loss = 0.25}));
  EXPECT_EQ(record.process, kProcess);
  EXPECT_EQ(record.table, kTable);
  EXPECT_EQ(record.description.command, "train");
  EXPECT_EQ(record.description.run, "07");
  EXPECT_EQ(record.description.target, "cpu");
  EXPECT_EQ(record.description.machine, "node7");
  EXPECT_EQ(record.description.compute_mode, "CPU");
  EXPECT_EQ(record.description.provenance, "measured");
  EXPECT_EQ(record.description.folder, "output/07");
  EXPECT_EQ(record.started, 1.5);
  EXPECT_EQ(record.updated, 2.5);
  EXPECT_EQ(record.progress.state, JobState::running);
  EXPECT_EQ(record.progress.unit, JobUnit::events);
  EXPECT_EQ(record.progress.done, 3);
  EXPECT_EQ(record.progress.total, 9);
  EXPECT_EQ(record.progress.host_events_per_second, 0.1);
  ASSERT_TRUE(record.progress.modelled.has_value());
  EXPECT_EQ(record.progress.modelled->best, 7);
  EXPECT_EQ(record.progress.modelled->low, 5);
  EXPECT_EQ(record.progress.modelled->high, 9);
  EXPECT_EQ(record.progress.loss, 0.25);
}

TEST(JobRecord, has_the_device_of_a_job_that_computes_on_one) {
  JobDescription job = example_job();
  job.device = "NVIDIA H200";
  job.bus_id = "00000000:18:00.0";
  const JobRecord record = parse_job_record(text_of(job, {}));
  EXPECT_EQ(record.description.device, "NVIDIA H200");
  EXPECT_EQ(record.description.bus_id, "00000000:18:00.0");
  EXPECT_EQ(parse_job_record(text_of(example_job(), {})).description.device, "");
}

TEST(JobRecord, counts_in_every_unit_and_can_be_without_a_modelled_rate) {
  for (const JobUnit unit : {JobUnit::steps, JobUnit::events, JobUnit::calls, JobUnit::values}) {
    const JobRecord record = parse_job_record(text_of(example_job(), {.unit = unit}));
    EXPECT_EQ(record.progress.unit, unit) << to_string(unit);
    EXPECT_FALSE(record.progress.modelled.has_value());
  }
}

TEST(JobRecord, can_be_without_a_loss_and_with_one_that_is_no_number) {
  EXPECT_EQ(parse_job_record(text_of(example_job(), {})).progress.loss, std::nullopt);
  const JobRecord lost =
      parse_job_record(text_of(example_job(), {.loss = std::numeric_limits<double>::infinity()}));
  ASSERT_TRUE(lost.progress.loss.has_value());
  EXPECT_TRUE(std::isnan(*lost.progress.loss));
}

TEST(JobRecord, keeps_its_size_whatever_people_call_their_runs) {
  JobDescription description;
  for (std::string* const text :
       {&description.command, &description.run, &description.target, &description.machine,
        &description.compute_mode, &description.provenance, &description.folder}) {
    *text = std::string(100'000, '\x01');  // the longest of letters in JSON
  }
  const std::string text = text_of(description, {});
  EXPECT_LE(text.size(), kMostRecordBytes);
  EXPECT_EQ(parse_job_record(text).process, kProcess);
}

TEST(JobRecord, of_a_run_whose_name_is_not_text_can_be_read) {
  JobDescription description = example_job();
  description.run = "\xff\"\\\n";
  EXPECT_THAT(parse_job_record(text_of(description, {})).description.run, HasSubstr("\"\\\n"));
}

TEST(JobRecord, that_is_none_is_refused_with_the_reason) {
  const std::string good = text_of(example_job(), {});
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("[1]"), good.substr(0, good.size() / 2),
        replaced(good, "\"pid\":123", "\"pid\":\"x\"")}) {
    EXPECT_THROW(parse_job_record(bad), DataError) << bad;
  }
  EXPECT_THAT([&] { parse_job_record(replaced(good, "cosmictagger job", "other")); },
              ThrowsMessage<DataError>(HasSubstr("'other'")));
  EXPECT_THAT([&] { parse_job_record(replaced(good, "version\":2", "version\":3")); },
              ThrowsMessage<DataError>(HasSubstr("version 3")));
  EXPECT_THAT([&] { parse_job_record(replaced(good, "starting", "sleeping")); },
              ThrowsMessage<DataError>(HasSubstr("'sleeping'")));
}

TEST(JobFileName, tells_the_process_it_belongs_to) {
  const std::string name = job_file_name(kProcess, 2);
  ASSERT_TRUE(parse_job_file_name(name).has_value());
  EXPECT_EQ(parse_job_file_name(name)->process, kProcess);
  EXPECT_EQ(parse_job_file_name(name)->kind, JobFileKind::record);
  ASSERT_TRUE(parse_job_file_name(unfinished_name(name)).has_value());
  EXPECT_EQ(parse_job_file_name(unfinished_name(name))->kind, JobFileKind::unfinished);
  for (const char* const other :
       {"", "job-1-2-3", "job-1-2.json", "job-x-2-3.json", "job-0-2-3.json", "job--1-2-3.json",
        ".job-1-2-3.json", "job-1-2-3.jsonx"}) {
    EXPECT_FALSE(parse_job_file_name(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace cosmic::monitor
