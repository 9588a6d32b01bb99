// A file of programs says what it is; one that is not what is asked for says what it is instead.
#include "compile/artifact/artifact_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "compile/artifact/plan_bytes.hpp"
#include "compile/artifact/some_plan.hpp"
#include "core/byte_writer.hpp"
#include "core/error.hpp"
#include "scratch_folder.hpp"

namespace cosmic::compile::artifact {
namespace {

using compile::Facts;
using compile::Plan;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class ArtifactFile : public testing::Test {
 protected:
  ArtifactFile() : file_(folder_ / "some.cosmicx") {
    const Plan* const plans[] = {&some_, &tiny_};
    save_artifact(file_, plans, Existing::refuse);
  }

  void write(const std::string& bytes) const { std::ofstream(file_, std::ios::binary) << bytes; }
  void expect_refused(const std::string& bytes, const std::string& reason) const {
    write(bytes);
    EXPECT_THAT([&] { load_artifact(file_); },
                ThrowsMessage<DataError>(AllOf(HasSubstr(file_.string()), HasSubstr(reason))));
  }

  ScratchFolder folder_;
  std::filesystem::path file_;
  Plan some_ = some_plan();
  Plan tiny_ = tiny_plan();
};

TEST_F(ArtifactFile, gives_each_program_back_by_its_facts) {
  const Artifact artifact = load_artifact(file_);
  for (const Plan* plan : {&some_, &tiny_}) {
    const Plan read = plan_made_from(plan->origin.made_from, artifact);
    EXPECT_EQ(plan_bytes(read), plan_bytes(*plan));
    EXPECT_EQ(read.origin.made_from, plan->origin.made_from);
  }
}

TEST_F(ArtifactFile, has_the_same_bytes_whenever_it_is_written) {
  const Plan again = some_plan();
  const Plan* const plans[] = {&again, &tiny_};
  EXPECT_EQ(artifact_bytes(plans), content_of(file_));
}

TEST_F(ArtifactFile, keeps_notes) {
  const Plan* const plans[] = {&tiny_};
  save_artifact(folder_ / "noted.cosmicx", plans, Existing::refuse, {{"configuration", "run: 1"}});
  const Artifact read = load_artifact(folder_ / "noted.cosmicx");
  ASSERT_NE(find_fact(read.notes, "configuration"), nullptr);
  EXPECT_EQ(*find_fact(read.notes, "configuration"), "run: 1");
  EXPECT_EQ(find_fact(read.notes, "anything"), nullptr);
}

TEST_F(ArtifactFile, is_not_replaced_unless_asked) {
  const Plan* const plans[] = {&tiny_};
  EXPECT_THROW(save_artifact(file_, plans, Existing::refuse), UserError);
  save_artifact(file_, plans, Existing::replace);
  EXPECT_EQ(load_artifact(file_).programs.size(), 1);
}

TEST_F(ArtifactFile, that_is_not_there_says_so) {
  EXPECT_THAT(
      [&] { load_artifact(folder_ / "none.cosmicx"); },
      ThrowsMessage<DataError>(AllOf(HasSubstr("none.cosmicx"), HasSubstr("cannot be read"))));
}

TEST_F(ArtifactFile, of_another_kind_says_what_it_begins_with) {
  expect_refused("PK\x03\x04 a zip archive", "it begins with 'PK\\x03\\x04 a z'");
  expect_refused("", "is not an executable of this program");
}

TEST_F(ArtifactFile, of_an_older_format_says_so) {
  std::string bytes = content_of(file_);
  bytes[8] = 0;
  expect_refused(bytes, "format 0 (this program reads format 4; it comes from an older version)");
  bytes[8] = 9;
  expect_refused(bytes, "a newer version");
}

TEST_F(ArtifactFile, cut_short_anywhere_says_so) {
  const std::string bytes = content_of(file_);
  for (const std::size_t length : {std::size_t{8}, std::size_t{20}, bytes.size() / 2}) {
    expect_refused(bytes.substr(0, length), "cut short");
  }
}

TEST_F(ArtifactFile, with_any_damaged_byte_is_refused) {
  const std::string bytes = content_of(file_);
  for (std::size_t at = 0; at < bytes.size(); at += 1009) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_THROW(artifact_of(damaged), DataError) << at;
  }
}

TEST_F(ArtifactFile, of_another_version_names_both) {
  ByteWriter out;
  out.text("cosmictagger 0.0.1, compiler 0123456789abcdef");
  out.count(0);
  expect_refused(
      sealed(out.bytes()),
      "was written by 'cosmictagger 0.0.1, compiler 0123456789abcdef', this is '" + writer());
}

TEST_F(ArtifactFile, asked_for_another_program_names_each_fact_that_differs) {
  const Artifact artifact = load_artifact(file_);
  EXPECT_THAT(
      [&] {
        plan_made_from({{"target", "other"}, {"program", "1234"}}, artifact);
      },
      ThrowsMessage<DataError>(
          AllOf(HasSubstr("target: there 'some', here 'other'"), Not(HasSubstr("program:")))));
  EXPECT_THAT(
      [&] {
        plan_made_from({{"target", "some"}, {"program", "1234"}, {"precision", "bf16"}}, artifact);
      },
      ThrowsMessage<DataError>(HasSubstr("precision: there (nothing), here 'bf16'")));
}

TEST(Facts, that_differ_anywhere_have_another_key) {
  const Facts facts{{"target", "some"}, {"program", "1234"}};
  EXPECT_EQ(key_of(facts), key_of(Facts(facts)));
  EXPECT_NE(key_of(facts), key_of({{"target", "some"}, {"program", "1235"}}));
  EXPECT_NE(key_of(facts), key_of({{"target", "some"}}));
  EXPECT_NE(key_of(facts), key_of({{"targets", "ome"}, {"program", "1234"}}));
}

}  // namespace
}  // namespace cosmic::compile::artifact
