// From a checkpoint to a network in the box, and what `tag` makes of it.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "checkpoint/checkpoint_file.hpp"
#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "core/file_fingerprint.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/predictions.hpp"
#include "data/larcv/product_name.hpp"
#include "scratch_folder.hpp"
#include "tagger/box.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

constexpr std::int64_t kEvents = 6;

class Publish : public testing::Test {
 protected:
  Publish() {
    unsetenv(tagger::kWeightsVariable);
    write_random_events(file("train.h5"), kEvents, 1);
    write_random_events(file("others.h5"), kEvents, 2);
    write_random_events(file("events.h5"), kEvents, 3);
    KeptLog log;
    train::train(tiny_configuration(folder_.path(), config::Mode::train,
                                    {"data.aux_file=none.h5", "run.length=2", "data.downsample=1"}),
                 "cpu", log.log());
  }
  ~Publish() override { unsetenv(tagger::kWeightsVariable); }

  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
  std::string publish(const std::string& output, std::vector<std::string> more = {},
                      const std::string& events = "others.h5") const {
    std::vector<std::string> words{"checkpoint",
                                   "publish",
                                   (file("out") / "checkpoints").string(),
                                   "--calibrate-on",
                                   file(events).string(),
                                   "--output",
                                   file(output).string(),
                                   "run.threads=1"};
    words.insert(words.end(), more.begin(), more.end());
    return printed_by([&] { run_command(add_checkpoint, words); });
  }
  std::string tag(std::vector<std::string> words) const {
    words.insert(words.begin(), "tag");
    words.insert(words.end(), {"run.threads=1", "run.distributed=false"});
    return printed_by([&] { run_command(add_tag, words); });
  }
  std::string content(const std::string& name) const {
    std::ifstream stream(file(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// The events of a file with charges that are so many times as large.
  void scale(const std::string& from, const std::string& to, float factor) const {
    const data::larcv::LarcvSource source({.files = {file(from)}});
    data::larcv::EventFileWriter writer(file(to));
    data::SparseEvent event;
    for (std::int64_t entry = 0; entry < source.size(); ++entry) {
      source.reader()->read(entry, event);
      for (data::SparsePlane& plane : event.image) {
        for (float& value : plane.values) {
          value *= factor;
        }
      }
      writer.begin_event(event.id);
      writer.write_sparse("sbndwire", event.image);
      writer.write_sparse("sbnd_cosmicseg", event.labels);
    }
    writer.commit();
  }

 private:
  RunFolder folder_;
};

TEST_F(Publish, writes_weights_alone_with_settings_temperature_inputs_and_a_card) {
  EXPECT_THAT(publish("box/best.safetensors"),
              AllOf(HasSubstr("best.safetensors"), HasSubstr("best.md"), HasSubstr("temperature")));
  const checkpoint::Checkpoint weights = checkpoint::load_checkpoint(file("box/best.safetensors"));
  EXPECT_EQ(weights.origin, checkpoint::Origin::weights);
  EXPECT_THAT(weights.run.configuration, HasSubstr("downsample: 1"));
  EXPECT_TRUE(weights.run.notes.contains(checkpoint::kTemperatureNote));
  EXPECT_TRUE(weights.run.notes.contains(checkpoint::kInputsNote));
  for (const auto& [name, tensor] : weights.tensors) {
    EXPECT_THAT(name, Not(HasSubstr("optimizer")));
  }
  EXPECT_THAT(content("box/best.md"),
              AllOf(HasSubstr("# The network `best`"), HasSubstr("must not be used for"),
                    HasSubstr(file_fingerprint(file("box/best.safetensors")))));
}

TEST_F(Publish, in_bfloat16_is_smaller_and_tags_alike) {
  publish("a.safetensors");
  EXPECT_THAT(publish("b.safetensors", {"--precision", "bfloat16"}),
              HasSubstr("tags are the same"));
  EXPECT_LT(std::filesystem::file_size(file("b.safetensors")),
            std::filesystem::file_size(file("a.safetensors")));
}

TEST_F(Publish, refuses_events_of_the_training_and_evaluations_of_other_weights) {
  EXPECT_THAT([&] { publish("x.safetensors", {}, "train.h5"); },
              ThrowsMessage<UserError>(HasSubstr("trained on these events")));
  std::ofstream(file("evaluation.json")) << R"({"provenance": {"weights_fingerprint": "abc"}})";
  EXPECT_THAT(
      [&] {
        publish("x.safetensors", {"--evaluation", file("evaluation.json").string()});
      },
      ThrowsMessage<DataError>(HasSubstr("not an evaluation of")));
  EXPECT_FALSE(std::filesystem::exists(file("x.safetensors")));
}

TEST_F(Publish, makes_a_network_that_tags_without_being_named_and_as_the_checkpoint_does) {
  publish("box/best.safetensors");
  setenv(tagger::kWeightsVariable, file("box").c_str(), 1);
  EXPECT_THAT(tag({file("events.h5").string()}), HasSubstr("events.tagged.h5: 6 events"));
  tag({file("events.h5").string(), "--weights", (file("out") / "checkpoints").string(), "--output",
       file("plain.h5").string()});
  bool other_probabilities = false;
  for (std::int64_t entry = 0; entry < kEvents; ++entry) {
    const auto tags = data::larcv::read_tags(file("events.tagged.h5"), entry);
    const auto plain = data::larcv::read_tags(file("plain.h5"), entry);
    const auto calibrated =
        data::larcv::read_neutrino_probabilities(file("events.tagged.h5"), entry);
    const auto raw = data::larcv::read_neutrino_probabilities(file("plain.h5"), entry);
    for (std::size_t plane = 0; plane < tags->size(); ++plane) {
      EXPECT_EQ((*tags)[plane].values, (*plain)[plane].values);
      other_probabilities |= (*calibrated)[plane].values != (*raw)[plane].values;
    }
  }
  EXPECT_TRUE(other_probabilities);
}

TEST_F(Publish, leaves_predictions_that_say_what_made_them_also_when_they_are_merged) {
  publish("best.safetensors");
  const std::string weights = file("best.safetensors").string();
  tag({file("events.h5").string(), "--weights", weights, "--shard", "1/2"});
  tag({file("events.h5").string(), "--weights", weights, "--shard", "2/2"});
  printed_by([&] {
    run_command(add_data, {"data", "merge", file("events.tagged.shard-1-of-2.h5").string(),
                           file("events.tagged.shard-2-of-2.h5").string(), "--output",
                           file("merged.h5").string()});
  });
  data::larcv::ReadWarnings warnings;
  for (const char* const name : {"events.tagged.shard-1-of-2.h5", "merged.h5"}) {
    const auto texts = data::larcv::EventFile(file(name), warnings)
                           .texts_of({std::string(data::larcv::kSparse2d), data::larcv::kPixelTag});
    EXPECT_EQ(texts.at("weights_fingerprint"), file_fingerprint(weights)) << name;
    EXPECT_THAT(texts.at("settings"), HasSubstr("downsample: 1"));
    EXPECT_THAT(texts.at("time"), HasSubstr("UTC"));
    EXPECT_FALSE(texts.at("revision").empty());
  }
}

TEST_F(Publish, makes_tag_warn_of_files_that_look_different) {
  publish("best.safetensors");
  const std::string weights = file("best.safetensors").string();
  testing::internal::CaptureStderr();
  tag({file("events.h5").string(), "--weights", weights});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("does not look like")));
  scale("events.h5", "hot.h5", 10);
  testing::internal::CaptureStderr();
  tag({file("hot.h5").string(), "--weights", weights});
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("hot.h5 does not look like"), HasSubstr("median charge of a pixel")));
}

TEST_F(Publish, is_needed_where_no_network_is_in_the_box) {
  std::filesystem::create_directory(file("nothing"));
  setenv(tagger::kWeightsVariable, file("nothing").c_str(), 1);
  const std::vector<std::filesystem::path> folders = tagger::weights_folders();
  ASSERT_GT(folders.size(), 1U);
  EXPECT_EQ(folders.front(), file("nothing"));
  EXPECT_THAT(
      [&] {
        tag({file("events.h5").string(), "--network", "slow"});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("'slow'"), HasSubstr("fast"))));
  EXPECT_THAT(
      [&] {
        tag({file("events.h5").string(), "--network", "fast", "--weights", "x"});
      },
      ThrowsMessage<UserError>(HasSubstr("which of the two")));
}

}  // namespace
}  // namespace cosmic::cli
