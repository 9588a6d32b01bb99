#include "checkpoint/checkpoint_file.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "checkpoint/archive_writer.hpp"
#include "checkpoint/scratch_folder.hpp"
#include "checkpoint/some_checkpoint.hpp"
#include "core/error.hpp"
#include "core/process_memory.hpp"
#include "graph/builder.hpp"
#include "sanitizer.hpp"
#include "session/safetensors.hpp"
#include "target/registry.hpp"

namespace cosmic::checkpoint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::StartsWith;
using testing::ThrowsMessage;

class CheckpointFile : public ScratchFolder {
 protected:
  CheckpointFile() : path_(folder_ / "model-5.safetensors") {}

  std::filesystem::path path_;
};

TEST_F(CheckpointFile, gives_back_everything_that_was_saved) {
  const Checkpoint saved = some_checkpoint(5);
  save_checkpoint(path_, saved);
  const Checkpoint loaded = load_checkpoint(path_);
  EXPECT_EQ(loaded.origin, Origin::own);
  EXPECT_TRUE(same(loaded, saved));
  EXPECT_THAT(loaded.run.program, StartsWith("cosmictagger "));
}

/// Tensors that are large enough for the system's count of memory.
graph::Graph large_program(int tensors, std::int64_t elements) {
  graph::Builder g;
  for (int i = 0; i < tensors; ++i) {
    g.parameter("weight" + std::to_string(i), {elements}, graph::Initializer::constant(i));
  }
  return g.take();
}

TEST_F(CheckpointFile, of_a_model_takes_memory_for_one_of_its_tensors_and_not_for_all) {
  if (kUnderSanitizer) {
    GTEST_SKIP() << "needs an allocator that gives memory back";
  }
  constexpr std::int64_t kElements = std::int64_t{4} << 20;
  constexpr std::int64_t kTensorBytes = 4 * kElements;
  const graph::Graph program = large_program(8, kElements);
  const std::unique_ptr<target::Target> cpu = target::make_target("cpu");
  const session::ModelState state(*cpu, {&program}, 1);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
  const std::int64_t before = resident_bytes();
  ASSERT_LT(peak_resident_bytes() - before, kTensorBytes) << "the peak cannot be set back";
  save_checkpoint(path_, writing_of(state, 5, {}));
  EXPECT_LT(peak_resident_bytes() - before, 2 * kTensorBytes);
  EXPECT_TRUE(same(load_checkpoint(path_), capture(state, 5, {})));
}

TEST_F(CheckpointFile, is_safetensors_with_readable_metadata) {
  save_checkpoint(path_, some_checkpoint(5));
  const session::TensorFile file = session::load_tensors(path_);
  EXPECT_EQ(file.metadata.at("step"), "5");
  EXPECT_EQ(file.metadata.at("configuration"), "depth: 2\nname: \"small\"\n");
  EXPECT_EQ(file.metadata.at("checksum").size(), 16U);
}

TEST_F(CheckpointFile, with_any_byte_changed_is_refused) {
  save_checkpoint(path_, some_checkpoint(5, 2));
  const std::string whole = read_file(path_);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 4, 128}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      write_file(path_, bytes);
      EXPECT_THROW(load_checkpoint(path_), DataError) << "byte " << at << " changed by " << change;
    }
  }
}

TEST_F(CheckpointFile, cut_anywhere_is_refused) {
  save_checkpoint(path_, some_checkpoint(5, 2));
  const std::string whole = read_file(path_);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(path_, whole.substr(0, size));
    EXPECT_THROW(load_checkpoint(path_), DataError) << "cut to " << size << " bytes";
  }
}

TEST_F(CheckpointFile, with_a_changed_tensor_names_both_checksums) {
  save_checkpoint(path_, some_checkpoint(5));
  std::string bytes = read_file(path_);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(path_, bytes);
  EXPECT_THAT([&] { load_checkpoint(path_); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("model-5.safetensors: has the checksum "),
                                             HasSubstr("but was written with "))));
}

TEST_F(CheckpointFile, of_a_later_format_is_refused_with_its_writer) {
  save_checkpoint(path_, some_checkpoint(5));
  session::TensorFile file = session::load_tensors(path_);
  file.metadata["format"] = "cosmictagger checkpoint 2";
  session::save_tensors(path_, file.tensors, file.metadata);
  EXPECT_THAT([&] { load_checkpoint(path_); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("'cosmictagger checkpoint 2'"),
                                             HasSubstr("'cosmictagger checkpoint 1'"))));
}

TEST_F(CheckpointFile, converts_to_weights_alone_that_keep_their_settings_and_back) {
  Checkpoint checkpoint = some_checkpoint(5);
  checkpoint.run.notes[kTemperatureNote] = "1.5";
  checkpoint.run.notes["best_validation"] = "of no use without the run";
  save_weights(path_, checkpoint);
  const Checkpoint loaded = load_checkpoint(path_);
  EXPECT_EQ(loaded.origin, Origin::weights);
  EXPECT_EQ(loaded.step, 5);
  EXPECT_THAT(loaded.tensors, ElementsAre(Key("a.weight"), Key("b.weight")));
  EXPECT_EQ(loaded.run.configuration, checkpoint.run.configuration);
  EXPECT_EQ(loaded.run.data_fingerprint, checkpoint.run.data_fingerprint);
  EXPECT_EQ(loaded.run.notes.at(kTemperatureNote), "1.5");
  EXPECT_FALSE(loaded.run.notes.contains("best_validation"));
  EXPECT_EQ(loaded.run.loader, "");
  EXPECT_THAT([&] { save_weights(path_, checkpoint); },
              ThrowsMessage<UserError>(HasSubstr("already exists")));
}

TEST_F(CheckpointFile, of_weights_alone_notices_changed_bytes) {
  save_weights(path_, some_checkpoint(5));
  session::TensorFile file = session::load_tensors(path_);
  file.metadata["configuration"] += "x";
  session::save_tensors(path_, file.tensors, file.metadata);
  EXPECT_THAT([&] { load_checkpoint(path_); }, ThrowsMessage<DataError>(HasSubstr("checksum")));
}

TEST_F(CheckpointFile, of_numbers_that_bfloat16_has_takes_half_the_bytes_and_loses_nothing) {
  Checkpoint checkpoint = some_checkpoint(5);
  for (auto& [name, tensor] : checkpoint.tensors) {
    if (name == "a.weight") {
      for (float& value : tensor.as<float>()) {
        value = session::rounded_to_bfloat16(value);
      }
    }
  }
  save_weights(path_, checkpoint);
  const auto whole = std::filesystem::file_size(path_);
  save_weights(path_, checkpoint, {.existing = Existing::replace, .halve_exact = true});
  const auto numbers =
      static_cast<std::uintmax_t>(checkpoint.tensors.at("a.weight").type.elements());
  constexpr std::uintmax_t kPadding = 8;  // of the header, where the name of a type is longer
  EXPECT_LE(std::filesystem::file_size(path_), whole - 2 * numbers + kPadding);
  for (const auto& [name, tensor] : load_checkpoint(path_).tensors) {
    EXPECT_EQ(tensor.bytes, checkpoint.tensors.at(name).bytes) << name;
  }
}

TEST_F(CheckpointFile, of_plain_weights_from_python_loses_the_prefix_of_distributed_training) {
  const session::Tensor tensor = random_tensor(0, "w", 3);
  session::save_tensors(path_, {{"module.a", tensor}, {"b", tensor}}, {{"format", "pt"}});
  EXPECT_THAT(load_checkpoint(path_).tensors, ElementsAre(Key("a"), Key("b")));
  session::save_tensors(path_, {{"module.a", tensor}, {"a", tensor}});
  EXPECT_THAT([&] { load_checkpoint(path_); },
              ThrowsMessage<DataError>(HasSubstr("'a' with and without 'module.'")));
}

TEST_F(CheckpointFile, that_is_missing_is_named) {
  EXPECT_THAT(
      [&] { load_checkpoint(path_); },
      ThrowsMessage<DataError>(AllOf(HasSubstr("model-5.safetensors"), HasSubstr("No such file"))));
}

}  // namespace
}  // namespace cosmic::checkpoint
