// Events in memory get the tags that the file would get.
#include "tagger/event_tagger.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "core/error.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/predictions.hpp"
#include "data/larcv/sparse2d_reader.hpp"
#include "infer/inference.hpp"
#include "tagger/box.hpp"
#include "tagger/tagging_settings.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::tagger {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t kEvents = 5;

/// A trained network that sees halved images.
class EventsInMemory : public testing::Test {
 protected:
  EventsInMemory() {
    write_random_events(folder_.path() / "train.h5", kEvents, 1);
    train::train(tiny_configuration(folder_.path(), config::Mode::train,
                                    {"data.aux_file=none.h5", "run.length=2", "data.downsample=1"}),
                 "cpu", log_.log());
  }

  config::Configuration settings(const std::vector<std::string>& words = {}) const {
    std::vector<std::string> all{"run.threads=1", "data.data_directory=" + folder_.path().string(),
                                 "data.file=train.h5"};
    all.insert(all.end(), words.begin(), words.end());
    return tagging_settings((folder_.path() / "out" / "checkpoints").string(), all).configuration;
  }
  static std::vector<data::SparseEvent> events() {
    std::vector<data::SparseEvent> all;
    for (std::int64_t i = 0; i < kEvents; ++i) {
      all.push_back(data::random_event(data::grid_of(16, 32), 0.2, 1, i));
    }
    return all;
  }
  static std::vector<infer::StoredPixels> tagged(EventTagger& tagger) {
    std::vector<infer::StoredPixels> all;
    tagger.tag(events(), [&](std::size_t number, const auto&, const infer::StoredPixels& pixels) {
      EXPECT_EQ(number, all.size());
      all.push_back(pixels);
    });
    return all;
  }

  RunFolder folder_;
  KeptLog log_;
};

void expect_same(const data::SparseImage& image, const data::SparseImage& expected) {
  for (std::size_t plane = 0; plane < image.size(); ++plane) {
    EXPECT_EQ(image[plane].ids, expected[plane].ids);
    EXPECT_EQ(image[plane].values, expected[plane].values);
  }
}

TEST_F(EventsInMemory, get_the_tags_and_scores_that_a_file_of_them_gets) {
  config::Configuration configuration = settings({"run.minibatch_size=2"});
  EventTagger tagger(configuration, data::grid_of(16, 32), log_.log());
  const std::vector<infer::StoredPixels> in_memory = tagged(tagger);
  ASSERT_EQ(in_memory.size(), static_cast<std::size_t>(kEvents));

  configuration.mode.output_file = (folder_.path() / "tagged.h5").string();
  infer::infer(configuration, "cpu", log_.log(), {}, {}, nullptr,
               {infer::Placement::beside_inputs, {}});
  data::larcv::ReadWarnings warnings;
  const data::larcv::EventFile file(configuration.mode.output_file, warnings);
  const auto read = [&](const char* producer, std::int64_t entry) {
    data::SparseImage image;
    data::larcv::Sparse2dReader(file, producer, data::larcv::PixelMeaning::any, warnings)
        .read(entry, image);
    return image;
  };
  for (std::size_t i = 0; i < in_memory.size(); ++i) {
    const auto entry = static_cast<std::int64_t>(i);
    expect_same(in_memory[i].tag, read(data::larcv::kPixelTag, entry));
    expect_same(in_memory[i].cosmic, read(data::larcv::kPixelCosmic, entry));
    expect_same(in_memory[i].neutrino, read(data::larcv::kPixelNeutrino, entry));
  }
}

TEST_F(EventsInMemory, get_the_same_whatever_the_number_at_a_time) {
  EventTagger one(settings({"run.minibatch_size=1"}), data::grid_of(16, 32), log_.log());
  EventTagger three(settings({"run.minibatch_size=3"}), data::grid_of(16, 32), log_.log());
  const std::vector<infer::StoredPixels> expected = tagged(one);
  const std::vector<infer::StoredPixels> found = tagged(three);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    expect_same(found[i].tag, expected[i].tag);
    expect_same(found[i].neutrino, expected[i].neutrino);
  }
}

TEST_F(EventsInMemory, take_the_memory_that_is_said_beforehand) {
  EventTagger one(settings({"run.minibatch_size=1"}), data::grid_of(16, 32), log_.log());
  EventTagger four(settings({"run.minibatch_size=4"}), data::grid_of(16, 32), log_.log());
  EXPECT_GT(one.memory_bytes(), one.network().report().memory_bytes);
  EXPECT_GT(four.memory_bytes(), one.memory_bytes());
}

TEST_F(EventsInMemory, of_another_size_are_refused) {
  EventTagger tagger(settings(), data::grid_of(32, 32), log_.log());
  EXPECT_THAT([&] { tagged(tagger); }, ThrowsMessage<DataError>(HasSubstr("32")));
}

TEST_F(EventsInMemory, are_tagged_one_at_a_time_unless_somebody_or_another_machine_wants_batches) {
  EXPECT_EQ(settings().run.minibatch_size, 1);
  EXPECT_EQ(settings({"run.minibatch_size=3"}).run.minibatch_size, 3);
  EXPECT_EQ(settings({"run.compute_mode=IPU"}).run.minibatch_size, 2);
}

TEST_F(EventsInMemory, of_no_weights_are_those_of_the_network_in_the_box) {
  const std::filesystem::path box = std::filesystem::path(testing::TempDir()) / "cosmic_empty_box";
  std::filesystem::create_directories(box);
  std::ofstream(box / "best.safetensors") << "no weights";
  setenv(kWeightsVariable, box.c_str(), 1);
  EXPECT_EQ(tagging_settings("", {"network=a21"}).configuration.mode.weights_location,
            (box / "best.safetensors").string());
  unsetenv(kWeightsVariable);
  std::filesystem::remove_all(box);
}

}  // namespace
}  // namespace cosmic::tagger
