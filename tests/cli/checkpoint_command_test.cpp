// `cosmictagger checkpoint`, from the command line's words to what is printed.
#include <gmock/gmock.h>

#include "checkpoint/archive_writer.hpp"
#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/scratch_folder.hpp"
#include "checkpoint/some_checkpoint.hpp"
#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "session/safetensors.hpp"

namespace cosmic::cli {
namespace {

using checkpoint::Checkpoint;
using checkpoint::some_checkpoint;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::ThrowsMessage;

constexpr const char* kReferenceFolder = "../shared/golden/reference_run/checkpoints";

class CheckpointCommand : public checkpoint::ScratchFolder {
 protected:
  struct Result {
    int status = 0;
    std::string text;
  };

  /// What `cosmictagger checkpoint WORDS...` prints, and its status.
  static Result run(std::vector<std::string> words) {
    words.insert(words.begin(), "checkpoint");
    Result result;
    result.text = printed_by([&] {
      try {
        run_command(add_checkpoint, words);
      } catch (const ExitStatus& ended) {
        result.status = ended.status();
      }
    });
    return result;
  }

  std::string save(const std::string& name, const Checkpoint& checkpoint) const {
    checkpoint::save_checkpoint(folder_ / name, checkpoint, system_files(),
                                checkpoint::Numbers::any);
    return (folder_ / name).string();
  }
};

TEST_F(CheckpointCommand, show_says_what_is_in_a_checkpoint) {
  const Result result = run({"show", save("a.safetensors", some_checkpoint(1234))});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.text,
              AllOf(HasSubstr("a.safetensors: a checkpoint of this program"),
                    HasSubstr("step        1,234"), HasSubstr("weights     2 tensors, 16 numbers"),
                    HasSubstr("optimizer   2 tensors, 9 numbers"),
                    HasSubstr("data        0123456789abcdef"), HasSubstr("best loss   0.5"),
                    HasSubstr("configuration\n    depth: 2\n    name: \"small\"\n"),
                    Not(HasSubstr("exp_avg")), Not(HasSubstr("INFINITE"))));
}

TEST_F(CheckpointCommand, show_lists_tensors_when_asked) {
  Checkpoint checkpoint = some_checkpoint(1);
  const std::span<float> values = checkpoint.tensors.at("a.weight").as<float>();
  std::fill(values.begin(), values.end(), 2.F);
  values[0] = 4.F;
  values[1] = NAN;
  EXPECT_THAT(run({"show", "--tensors", save("a.safetensors", checkpoint)}).text,
              AllOf(HasSubstr("1 NUMBERS ARE INFINITE OR NOT A NUMBER"),
                    HasSubstr("a.weight                    f32[8]                     2.286"),
                    HasSubstr("1 NOT FINITE")));
}

TEST_F(CheckpointCommand, show_of_a_folder_lists_its_checkpoints_and_shows_the_newest_good_one) {
  checkpoint::CheckpointFolder folder(folder_);
  folder.save(some_checkpoint(1));
  folder.save(some_checkpoint(2));
  checkpoint::write_file(folder.file_of(2), "damaged");
  EXPECT_THAT(run({"show", folder_.string()}).text,
              AllOf(HasSubstr("model-1.safetensors         step 1\n"),
                    HasSubstr("model-2.safetensors         DAMAGED"), HasSubstr("WARNING"),
                    HasSubstr("model-1.safetensors: a checkpoint of this program")));
}

TEST_F(CheckpointCommand, show_of_a_folder_says_which_checkpoint_is_not_finite) {
  checkpoint::CheckpointFolder(folder_).save(some_checkpoint(1));
  Checkpoint blind = some_checkpoint(2);
  blind.tensors.at("b.weight").as<float>()[3] = INFINITY;
  save("model-2.safetensors", blind);
  EXPECT_THAT(run({"show", folder_.string()}).text,
              AllOf(HasSubstr("model-2.safetensors         NOT FINITE 'b.weight' has 1 number"),
                    HasSubstr("model-1.safetensors         step 1\n"),
                    HasSubstr("model-1.safetensors: a checkpoint of this program")));
}

TEST_F(CheckpointCommand, rewind_makes_an_older_checkpoint_the_newest) {
  checkpoint::CheckpointFolder folder(folder_);
  folder.save(some_checkpoint(4));
  folder.save(some_checkpoint(10));
  EXPECT_THAT(run({"rewind", folder_.string(), "4"}).text, HasSubstr("model-4.safetensors: "));
  EXPECT_EQ(checkpoint::load_newest(folder_).checkpoint.step, 4);
  EXPECT_THAT(
      [&] {
        run({"rewind", folder_.string(), "5"});
      },
      ThrowsMessage<UserError>(HasSubstr("it has 10, 4")));
}

TEST_F(CheckpointCommand, convert_refuses_weights_that_are_not_finite) {
  Checkpoint blind = some_checkpoint(2);
  blind.tensors.at("b.weight").as<float>()[3] = INFINITY;
  const std::string in = save("a.safetensors", blind);
  EXPECT_THAT(
      [&] {
        run({"convert", in, (folder_ / "w.safetensors").string()});
      },
      ThrowsMessage<DataError>(HasSubstr("'b.weight' has 1 number")));
}

TEST_F(CheckpointCommand, show_does_not_let_a_file_write_to_the_terminal) {
  Checkpoint checkpoint = some_checkpoint(1);
  checkpoint.run.configuration = "\x1b[2J";
  EXPECT_THAT(run({"show", save("a.safetensors", checkpoint)}).text,
              AllOf(HasSubstr("\\x1b[2J"), Not(HasSubstr("\x1b"))));
}

TEST_F(CheckpointCommand, diff_of_identical_checkpoints_says_so) {
  const Result result = run({"diff", save("a.safetensors", some_checkpoint(5)),
                             save("b.safetensors", some_checkpoint(5))});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, "identical: 4 tensors, step 5\n");
}

TEST_F(CheckpointCommand, diff_says_what_differs_and_by_how_much) {
  Checkpoint left = some_checkpoint(5);
  Checkpoint right = some_checkpoint(5);
  left.tensors.at("a.weight").as<float>()[3] = 2.F;
  right.tensors.at("a.weight").as<float>()[3] = 2.5F;
  left.tensors.at("b.weight").as<float>()[0] = NAN;
  right.tensors.erase("optimizer/step");
  right.tensors["extra"] = checkpoint::random_tensor(0, "extra", 3);
  right.tensors["optimizer/a.weight/exp_avg"] = checkpoint::random_tensor(0, "other", 3);
  right.step = 6;
  right.run.configuration = "depth: 3\nname: \"small\"\n";
  const Result result = run({"diff", save("a.safetensors", left), save("b.safetensors", right)});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(
      result.text,
      AllOf(HasSubstr("step\n  A 5\n  B 6\n"),
            HasSubstr("configuration\n  A depth: 2\n  B depth: 3\n"), Not(HasSubstr("name:")),
            HasSubstr("(3 are in both, 5 differ)"),
            HasSubstr("a.weight: 1 of 8 differ, by at most 0.5 (relative: 0.2)\n"),
            HasSubstr("b.weight: 1 of 8 differ, by at most 0 (relative: 0); 1 infinite or NaN"),
            HasSubstr("extra: only in B, f32[3]"), HasSubstr("optimizer/step: only in A, i64"),
            HasSubstr("exp_avg: f32[8] in A, f32[3] in B")));
}

TEST_F(CheckpointCommand, diff_sees_a_sign_of_zero) {
  Checkpoint left = some_checkpoint(5);
  Checkpoint right = some_checkpoint(5);
  left.tensors.at("a.weight").as<float>()[3] = 0.F;
  right.tensors.at("a.weight").as<float>()[3] = -0.F;
  EXPECT_EQ(run({"diff", save("a.safetensors", left), save("b.safetensors", right)}).status, 1);
}

TEST_F(CheckpointCommand, convert_writes_the_weights_and_the_settings_that_belong_to_them) {
  const std::string in = save("a.safetensors", some_checkpoint(5));
  const std::string out = (folder_ / "weights.safetensors").string();
  EXPECT_THAT(run({"convert", in, out}).text, HasSubstr("weights.safetensors: 2 tensors from "));
  EXPECT_THAT(session::load_tensors(out).tensors, ElementsAre(Key("a.weight"), Key("b.weight")));
  EXPECT_THAT(
      [&] {
        run({"convert", in, out});
      },
      ThrowsMessage<UserError>(HasSubstr("already exists")));
  EXPECT_EQ(run({"convert", in, out, "--overwrite"}).status, 0);
  EXPECT_THAT(run({"show", out}).text,
              AllOf(HasSubstr("plain weights"), HasSubstr("step        5"), HasSubstr("depth: 2")));
}

TEST_F(CheckpointCommand, takes_the_references_own_checkpoints) {
  if (!std::filesystem::exists(kReferenceFolder)) {
    GTEST_SKIP() << "needs " << kReferenceFolder;
  }
  EXPECT_THAT(
      run({"show", kReferenceFolder}).text,
      AllOf(HasSubstr("model-5.ckpt: a checkpoint of the reference"), HasSubstr("step        5")));
  const std::string out = (folder_ / "weights.safetensors").string();
  run({"convert", kReferenceFolder, out});
  const Result result = run({"diff", kReferenceFolder, out});
  EXPECT_EQ(result.status, 1);  // plain weights have no optimizer
  EXPECT_THAT(result.text, AllOf(HasSubstr("optimizer/step: only in A"), Not(HasSubstr("by at"))));
  const Result weights = run({"diff", "--weights", kReferenceFolder, out});
  EXPECT_EQ(weights.status, 0);
  EXPECT_EQ(weights.text, "identical: 121 tensors\n");
}

TEST_F(CheckpointCommand, refuses_what_is_not_there) {
  EXPECT_THAT(
      [&] {
        run({"show", (folder_ / "none").string()});
      },
      ThrowsMessage<DataError>(HasSubstr("no checkpoint found")));
  EXPECT_THROW(run({}), UsageError);
  EXPECT_THROW(run({"diff", "one"}), UsageError);
}

}  // namespace
}  // namespace cosmic::cli
