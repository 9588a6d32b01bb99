// Numbers that are not finite: never written, never taken up, and named.
#include "checkpoint/finite.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cmath>
#include <limits>

#include "checkpoint/archive_writer.hpp"
#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/scratch_folder.hpp"
#include "checkpoint/some_checkpoint.hpp"

namespace cosmic::checkpoint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// `count` infinite numbers in one of its tensors, spread over it.
Checkpoint blind_checkpoint(std::int64_t step, const std::string& tensor, std::size_t count = 1) {
  Checkpoint checkpoint = some_checkpoint(step, 10000);
  const std::span<float> values = checkpoint.tensors.at(tensor).as<float>();
  for (std::size_t i = 0; i < count; ++i) {
    values[values.size() - 1 - 3000 * i] = kInfinity;
  }
  return checkpoint;
}

TEST(NonFinite, is_found_wherever_it_is_and_counted) {
  EXPECT_FALSE(find_non_finite(some_checkpoint(1, 10000).tensors));
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{4095}, std::size_t{4096}, std::size_t{9999}}) {
    for (const float value : {kInfinity, -kInfinity, std::nanf(""), -std::nanf("1")}) {
      Checkpoint checkpoint = some_checkpoint(1, 10000);
      checkpoint.tensors.at("b.weight").as<float>()[at] = value;
      const auto found = find_non_finite(checkpoint.tensors);
      ASSERT_TRUE(found) << at;
      EXPECT_EQ(found->tensor, "b.weight");
      EXPECT_EQ(found->count, 1);
      EXPECT_EQ(found->more_tensors, 0);
      EXPECT_FALSE(std::isfinite(found->first));
    }
  }
}

TEST(NonFinite, is_not_a_large_or_tiny_number) {
  Checkpoint checkpoint = some_checkpoint(1, 4);
  const std::span<float> values = checkpoint.tensors.at("a.weight").as<float>();
  values[0] = std::numeric_limits<float>::max();
  values[1] = std::numeric_limits<float>::lowest();
  values[2] = std::numeric_limits<float>::denorm_min();
  values[3] = -0.F;
  EXPECT_FALSE(find_non_finite(checkpoint.tensors));
}

TEST(NonFinite, says_which_tensor_and_how_many) {
  Checkpoint checkpoint = blind_checkpoint(1, "a.weight", 3);
  checkpoint.tensors.at("b.weight").as<float>()[7] = std::nanf("");
  EXPECT_EQ(find_non_finite(checkpoint.tensors)->text(),
            "'a.weight' has 3 numbers that are not finite, such as inf, and so has 1 other tensor");
}

class NonFiniteCheckpoints : public ScratchFolder {
 protected:
  std::filesystem::path file(std::int64_t step) const {
    return folder_ / ("model-" + std::to_string(step) + ".safetensors");
  }
  /// As versions wrote it that did not look.
  void leave(const Checkpoint& checkpoint) const {
    save_checkpoint(file(checkpoint.step), checkpoint, system_files(), Numbers::any);
  }
};

TEST_F(NonFiniteCheckpoints, are_not_written_whether_weights_or_moments) {
  CheckpointFolder checkpoints(folder_);
  checkpoints.save(some_checkpoint(1));
  const std::string before = read_file(folder_ / kIndexName);
  for (const char* const tensor : {"a.weight", "optimizer/a.weight/exp_avg"}) {
    EXPECT_THAT([&] { checkpoints.save(blind_checkpoint(2, tensor)); },
                ThrowsMessage<NonFiniteCheckpoint>(
                    AllOf(HasSubstr("model-2.safetensors"), HasSubstr(tensor),
                          HasSubstr("1 number that is not finite"), HasSubstr("not written"))));
  }
  EXPECT_FALSE(std::filesystem::exists(file(2)));
  EXPECT_EQ(read_file(folder_ / kIndexName), before);
}

TEST_F(NonFiniteCheckpoints, that_are_named_are_refused_with_tensor_and_count) {
  leave(blind_checkpoint(2, "b.weight", 2));
  EXPECT_THAT([&] { load_newest(file(2)); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("'b.weight' has 2 numbers"),
                                             HasSubstr("checkpoint show"), Not(HasSubstr("\n")))));
  EXPECT_EQ(load_newest(file(2), Numbers::any).checkpoint.step, 2);
}

TEST_F(NonFiniteCheckpoints, that_are_the_newest_give_way_to_the_newest_finite_one) {
  leave(some_checkpoint(1));
  leave(some_checkpoint(2));
  leave(blind_checkpoint(3, "a.weight"));
  const LoadedCheckpoint loaded = load_newest(folder_);
  EXPECT_EQ(loaded.checkpoint.step, 2);
  EXPECT_EQ(loaded.passed_over, 1U);
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_EQ(loaded.warnings[0].file, file(3));
  EXPECT_THAT(loaded.warnings[0].reason, HasSubstr("'a.weight' has 1 number"));
}

TEST_F(NonFiniteCheckpoints, alone_in_a_folder_are_an_error) {
  leave(blind_checkpoint(1, "a.weight"));
  leave(blind_checkpoint(2, "b.weight"));
  EXPECT_THAT([&] { load_newest(folder_); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("none of the 2"), HasSubstr("'a.weight'"),
                                             HasSubstr("'b.weight'"))));
}

TEST_F(NonFiniteCheckpoints, say_which_configuration_they_have_without_being_read) {
  leave(blind_checkpoint(1, "a.weight"));
  EXPECT_EQ(configuration_in(file(1)), some_checkpoint(1).run.configuration);
  save_weights(folder_ / "weights.safetensors", some_checkpoint(1));
  EXPECT_EQ(configuration_in(folder_ / "weights.safetensors"),
            some_checkpoint(1).run.configuration);
}

TEST_F(NonFiniteCheckpoints, and_pipes_are_no_checkpoints) {
  const std::filesystem::path pipe = folder_ / "pipe.safetensors";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT([&] { load_newest(pipe); }, ThrowsMessage<DataError>(HasSubstr("is not a file")));
  EXPECT_THAT([&] { configuration_in(pipe); },
              ThrowsMessage<DataError>(HasSubstr("is not a file")));
}

}  // namespace
}  // namespace cosmic::checkpoint
