// `cosmictagger tag` and `cosmictagger data merge`, from the words of a command line to the files.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/file_check.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/predictions.hpp"
#include "data/larcv/sparse2d_reader.hpp"
#include "scratch_folder.hpp"
#include "tagger/box.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::ThrowsMessage;

constexpr std::int64_t kEvents = 5;

/// A network that sees halved images, and a file to tag.
class Tag : public testing::Test {
 protected:
  Tag() {
    write_random_events(file("train.h5"), kEvents, 1);
    write_random_events(file("events.h5"), kEvents, 2);
    KeptLog log;
    train::train(tiny_configuration(folder_.path(), config::Mode::train,
                                    {"data.aux_file=none.h5", "run.length=2", "data.downsample=1"}),
                 "cpu", log.log());
  }

  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
  std::string run(std::vector<std::string> words) const {
    words.insert(words.begin(), "tag");
    words.insert(words.end(), {"--weights", (file("out") / "checkpoints").string(), "run.threads=1",
                               "run.distributed=false"});
    return printed_by([&] { run_command(add_tag, words); });
  }
  std::string merge(std::vector<std::string> words) const {
    words.insert(words.begin(), {"data", "merge"});
    return printed_by([&] { run_command(add_data, words); });
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  static data::SparseImage image_of(const std::filesystem::path& path, const char* producer,
                                    std::int64_t entry) {
    data::larcv::ReadWarnings warnings;
    const data::larcv::EventFile opened(path, warnings);
    data::SparseImage image;
    data::larcv::Sparse2dReader(opened, producer, data::larcv::PixelMeaning::any, warnings)
        .read(entry, image);
    return image;
  }
  static std::string products_fingerprint(const std::filesystem::path& path) {
    const data::larcv::FileCheck check = data::larcv::check_file(path, {});
    EXPECT_TRUE(check.good());
    return check.fingerprint + check.products_fingerprint;
  }

 private:
  RunFolder folder_;
};

TEST_F(Tag, writes_the_file_beside_its_input_and_one_line_about_it) {
  EXPECT_THAT(run({file("events.h5").string()}),
              AllOf(HasSubstr("events.tagged.h5: 5 events, "), HasSubstr(" % neutrino; ")));
  EXPECT_THAT(files(),
              testing::UnorderedElementsAre("train.h5", "events.h5", "out", "events.tagged.h5"));
}

TEST_F(Tag, says_of_every_stored_pixel_what_the_network_says_of_its_block) {
  run({file("events.h5").string()});
  const std::filesystem::path tagged = file("events.tagged.h5");
  const data::SparseImage charge = image_of(tagged, "sbndwire", 3);
  const data::SparseImage coarse = image_of(tagged, data::larcv::kCosmicPrediction, 3);
  const data::SparseImage cosmic = image_of(tagged, data::larcv::kPixelCosmic, 3);
  const data::SparseImage neutrino = image_of(tagged, data::larcv::kPixelNeutrino, 3);
  const data::SparseImage tags = image_of(tagged, data::larcv::kPixelTag, 3);
  const data::SparseImage expected_tags = data::larcv::tags_of(cosmic, neutrino);
  for (std::size_t plane = 0; plane < charge.size(); ++plane) {
    EXPECT_EQ(coarse[plane].meta.rows() * 2, charge[plane].meta.rows());
    ASSERT_EQ(cosmic[plane].ids, charge[plane].ids);
    EXPECT_EQ(cosmic[plane].meta, charge[plane].meta);
    EXPECT_EQ(tags[plane].values, expected_tags[plane].values);
    const std::uint64_t rows = charge[plane].meta.rows();
    for (std::size_t i = 0; i < charge[plane].ids.size(); ++i) {
      const std::uint64_t id = charge[plane].ids[i];
      const std::uint64_t block = (id / rows / 2) * (rows / 2) + id % rows / 2;
      const auto at = std::lower_bound(coarse[plane].ids.begin(), coarse[plane].ids.end(), block);
      ASSERT_TRUE(at != coarse[plane].ids.end() && *at == block);
      EXPECT_EQ(cosmic[plane].values[i],
                coarse[plane].values[static_cast<std::size_t>(at - coarse[plane].ids.begin())]);
    }
  }
}

TEST_F(Tag, is_what_data_show_draws) {
  run({file("events.h5").string()});
  const std::optional<data::SparseImage> tags = data::larcv::read_tags(file("events.tagged.h5"), 0);
  ASSERT_TRUE(tags);
  EXPECT_EQ((*tags)[0].meta.rows(), 16U);
}

TEST_F(Tag, writes_only_what_the_reference_writes_if_told_to) {
  run({file("events.h5").string(), "mode.output_resolution=network"});
  data::larcv::ReadWarnings warnings;
  const data::larcv::EventFile tagged(file("events.tagged.h5"), warnings);
  EXPECT_TRUE(tagged.has({"sparse2d", data::larcv::kCosmicPrediction}));
  EXPECT_FALSE(tagged.has({"sparse2d", data::larcv::kPixelTag}));
}

TEST_F(Tag, in_shards_that_are_merged_is_tagging_at_once) {
  run({file("events.h5").string()});
  for (const char* const shard : {"1/3", "2/3", "3/3"}) {
    run({file("events.h5").string(), "--shard", shard});
  }
  EXPECT_THAT(files(),
              IsSupersetOf({"events.tagged.shard-1-of-3.h5", "events.tagged.shard-2-of-3.h5",
                            "events.tagged.shard-3-of-3.h5"}));
  EXPECT_THAT(
      merge({file("events.tagged.shard-*.h5").string(), "--output", file("merged.h5").string()}),
      HasSubstr("merged.h5: 5 events of 3 files"));
  EXPECT_EQ(products_fingerprint(file("merged.h5")),
            products_fingerprint(file("events.tagged.h5")));
}

TEST_F(Tag, names_the_shards_of_a_named_output_apart) {
  run({file("events.h5").string(), "--shard", "16/16", "--output", file("mine.h5").string()});
  EXPECT_THAT(files(), testing::Contains("mine.shard-16-of-16.h5"));
}

TEST_F(Tag, writes_nothing_for_a_shard_without_events) {
  run({file("events.h5").string(), "--shard", "1/100"});
  EXPECT_THAT(files(), testing::UnorderedElementsAre("train.h5", "events.h5", "out"));
}

TEST_F(Tag, of_several_files_writes_one_beside_each) {
  std::filesystem::create_directories(file("runs"));
  std::filesystem::copy(file("events.h5"), file("runs") / "a.h5");
  std::filesystem::copy(file("train.h5"), file("runs") / "b.h5");
  EXPECT_THAT(
      run({(file("runs") / "*.h5").string()}),
      AllOf(HasSubstr("runs/a.tagged.h5: 5 events"), HasSubstr("runs/b.tagged.h5: 5 events")));
}

/// Events as those of events.h5 whose products have these names.
void write_events_as(const std::filesystem::path& path, const std::vector<std::string>& images) {
  data::larcv::EventFileWriter writer(path);
  for (std::int64_t i = 0; i < kEvents; ++i) {
    const data::SparseEvent event = data::random_event(data::grid_of(16, 32), 0.2, 2, i);
    writer.begin_event(event.id);
    for (const std::string& producer : images) {
      writer.write_sparse(producer, event.image);
    }
  }
  writer.commit();
}

TEST_F(Tag, takes_the_only_images_of_a_file_that_calls_them_otherwise) {
  write_events_as(file("others.h5"), {"wires"});
  run({file("events.h5").string()});
  run({file("others.h5").string()});
  for (const char* const product : {data::larcv::kPixelTag, data::larcv::kPixelNeutrino}) {
    const data::SparseImage other = image_of(file("others.tagged.h5"), product, 3);
    const data::SparseImage usual = image_of(file("events.tagged.h5"), product, 3);
    EXPECT_FALSE(usual[0].values.empty());
    for (std::size_t plane = 0; plane < usual.size(); ++plane) {
      EXPECT_EQ(other[plane].ids, usual[plane].ids);
      EXPECT_EQ(other[plane].values, usual[plane].values);
    }
  }
}

TEST_F(Tag, tags_the_images_of_a_file_that_are_named) {
  write_events_as(file("others.h5"), {"raw", "wires"});
  EXPECT_THAT([&] { run({file("others.h5").string()}); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("has no images 'sbndwire'"),
                                             HasSubstr("'raw', 'wires'"),
                                             HasSubstr("data.image_producer="))));
  EXPECT_THAT(run({file("others.h5").string(), "data.image_producer=wires"}),
              HasSubstr("others.tagged.h5: 5 events"));
  EXPECT_THAT(
      [&] {
        run({file("others.h5").string(), "data.image_producer=wires", "data.downsample=0",
             "--overwrite"});
      },
      ThrowsMessage<UserError>(HasSubstr("data.downsample=0, theirs is 1")))
      << "other settings still have to be those of the weights";
}

TEST_F(Tag, of_a_pattern_writes_one_beside_each_file_that_matches) {
  write_random_events(file("more_1.h5"), 1, 3);
  write_random_events(file("more_2.h5"), 2, 4);
  EXPECT_THAT(
      run({(file("more_") += "*.h5").string()}),
      AllOf(HasSubstr("more_1.tagged.h5: 1 events"), HasSubstr("more_2.tagged.h5: 2 events")));
}

TEST_F(Tag, of_a_pattern_leaves_out_what_an_earlier_tag_has_written) {
  write_random_events(file("more_1.h5"), 2, 3);
  const std::string pattern = (file("more_") += "*.h5").string();
  run({pattern});
  run({file("more_1.h5").string(), "--shard", "2/2"});
  write_random_events(file("more_1.tagged_by_hand.h5"), 1, 3);
  write_random_events(file("more_2.h5"), 2, 4);
  EXPECT_THAT(
      run({pattern, "--overwrite"}),
      AllOf(HasSubstr("more_1.tagged.h5: 2 events"), HasSubstr("more_2.tagged.h5: 2 events"),
            HasSubstr("more_1.tagged_by_hand.tagged.h5: 1 events")));
  EXPECT_THAT(files(), testing::Not(testing::Contains("more_1.tagged.tagged.h5")));
}

TEST_F(Tag, keeps_what_is_there_unless_told_otherwise) {
  run({file("events.h5").string()});
  EXPECT_THAT(
      [&] { run({file("events.h5").string()}); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("events.tagged.h5"), HasSubstr("already exists"))));
  EXPECT_NO_THROW(run({file("events.h5").string(), "--overwrite"}));
}

TEST_F(Tag, says_where_it_looked_for_the_network_in_the_box) {
  setenv(tagger::kWeightsVariable, file("nowhere").c_str(), 1);
  // The build tree has the networks of the repository, if there are any.
  std::vector<std::filesystem::path> folders = tagger::weights_folders();
  const bool there = std::any_of(folders.begin(), folders.end(), [](const auto& folder) {
    return std::filesystem::exists(folder / "best.safetensors");
  });
  if (there) {
    EXPECT_TRUE(std::filesystem::exists(tagger::boxed_network()));
  } else {
    EXPECT_THAT([] { tagger::boxed_network(); },
                ThrowsMessage<UserError>(AllOf(HasSubstr(file("nowhere").string()),
                                               HasSubstr("--weights"), HasSubstr("share"))));
  }
  unsetenv(tagger::kWeightsVariable);
}

TEST_F(Tag, refuses_settings_that_have_an_option_here) {
  EXPECT_THAT(
      [&] {
        run({file("events.h5").string(), "mode.output_file=x.h5"});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("mode.output_file"), HasSubstr("--output"))));
}

TEST_F(Tag, refuses_shards_that_cannot_be) {
  for (const char* const shard : {"0/3", "4/3", "3", "a/b", "1/", "1/3x", "-1/3"}) {
    EXPECT_THAT(
        [&] {
          run({file("events.h5").string(), std::string("--shard=") + shard});
        },
        ThrowsMessage<UserError>(AllOf(HasSubstr(shard), HasSubstr("--shard 3/16"))))
        << shard;
  }
}

TEST_F(Tag, of_part_of_a_file_keeps_its_other_products) {
  run({file("events.h5").string(), "run.iterations=1", "run.minibatch_size=2"});
  const data::larcv::LarcvSource part({.files = {file("events.tagged.h5")}});
  EXPECT_EQ(part.size(), 2);
  EXPECT_TRUE(part.labelled());
}

TEST_F(Tag, names_a_file_that_cannot_be_merged) {
  run({file("events.h5").string()});
  EXPECT_THAT(
      [&] {
        merge({file("events.tagged.h5").string(), file("events.h5").string(), "--output",
               file("merged.h5").string()});
      },
      ThrowsMessage<DataError>(
          AllOf(HasSubstr("events.h5"), HasSubstr("no product 'sparse2d_cosmic_prediction'"))));
  EXPECT_THAT(files(), Not(testing::Contains("merged.h5")));
}

}  // namespace
}  // namespace cosmic::cli
