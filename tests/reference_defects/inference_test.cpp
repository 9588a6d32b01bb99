// Defects of the reference's inference and of its way to find weights (docs/reference-defects.md).
#include <gmock/gmock.h>

#include "checkpoint/checkpoint_file.hpp"
#include "core/error.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/sparse2d_reader.hpp"
#include "reference_defects/program.hpp"
#include "session/safetensors.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::ThrowsMessage;

class InferenceDefect : public ProgramTest {
 protected:
  InferenceDefect() { run("train", "trained"); }

  /// Events that were tagged, by what the file of predictions holds.
  std::int64_t tagged(const std::string& id) const {
    data::larcv::ReadWarnings warnings;
    return data::larcv::EventFile(folder_ / id / "predictions.h5", warnings).size();
  }
  std::string weights() const { return (folder_ / "trained" / "checkpoints").string(); }
};

using Quirk20 = InferenceDefect;
using Quirk22 = InferenceDefect;
using Quirk23 = InferenceDefect;
using Quirk24 = InferenceDefect;
using InferenceOfAFile = InferenceDefect;

TEST_F(Quirk20, inference_starts_where_start_index_says) {
  run("infer", "trained", {"mode.start_index=4"});
  EXPECT_EQ(tagged("trained"), kEvents - 4);
}

TEST_F(Quirk22, inference_writes_scores_of_both_classes_beside_what_the_file_had) {
  run("infer", "trained");
  data::larcv::ReadWarnings warnings;
  const data::larcv::EventFile file(folder_ / "trained" / "predictions.h5", warnings);
  for (const char* const producer :
       {"sbndwire", "sbnd_cosmicseg", "cosmic_prediction", "neutrino_prediction"}) {
    data::SparseImage image;
    data::larcv::Sparse2dReader(file, producer, data::larcv::PixelMeaning::charge, warnings)
        .read(0, image);
    EXPECT_FALSE(image[0].ids.empty()) << producer;
  }
}

TEST_F(Quirk23, inference_without_a_checkpoint_is_an_error_not_random_weights) {
  EXPECT_THAT(
      [&] { run("infer", "untrained"); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("no weights"), HasSubstr("mode.weights_location"))));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "untrained" / "predictions.h5"));
}

TEST_F(Quirk24, weights_are_found_with_and_without_a_slash_and_without_an_index) {
  run("infer", "a", {"mode.weights_location=" + weights()});
  run("infer", "b", {"mode.weights_location=" + weights() + "/"});
  std::filesystem::remove(folder_ / "trained" / "checkpoints" / "checkpoint");
  run("infer", "c", {"mode.weights_location=" + weights() + "/"});
  run("infer", "d", {"mode.weights_location=" + weights() + "/model-3.safetensors"});
  for (const char* const id : {"a", "b", "c", "d"}) {
    EXPECT_EQ(tagged(id), kEvents) << id;
  }
}

TEST_F(Quirk24, a_folder_without_weights_is_named) {
  const std::string nowhere = (folder_ / "nowhere").string();
  EXPECT_THAT([&] { run("infer", "a", {"mode.weights_location=" + nowhere}); },
              ThrowsMessage<Error>(HasSubstr(nowhere)));
}

TEST_F(InferenceOfAFile, takes_every_event_once_however_many_there_are) {
  constexpr std::int64_t kMoreThan500Batches = 503;
  write_events("many.h5", events(kMoreThan500Batches));
  run("infer", "trained", {"data.file=many.h5", "run.minibatch_size=1"});
  EXPECT_EQ(tagged("trained"), kMoreThan500Batches);
  const data::larcv::LarcvSource source({.files = {folder_ / "trained" / "predictions.h5"}});
  data::SparseEvent event;
  source.reader()->read(kMoreThan500Batches - 1, event);
  EXPECT_EQ(event.id.event, kMoreThan500Batches - 1);
}

TEST(Quirk29, only_the_word_module_is_taken_off_a_name) {
  const ScratchFolder folder("prefix");
  const graph::TensorType type{graph::DType::f32, {1}};
  session::NamedTensors tensors;
  for (const char* const name : {"module.encoder.weight", "module.model.d", "module.oule.bias"}) {
    tensors.emplace(name, session::Tensor(type));
  }
  session::save_tensors(folder / "ddp.safetensors", tensors);
  EXPECT_THAT(checkpoint::load_checkpoint(folder / "ddp.safetensors").tensors,
              ElementsAre(Key("encoder.weight"), Key("model.d"), Key("oule.bias")));
}

}  // namespace
}  // namespace cosmic
