// Several files as one source of events, and the products of several files in one.
#include "data/larcv/event_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.hpp"
#include "data/larcv/box2d_reader.hpp"
#include "data/larcv/cluster2d_reader.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/particle_reader.hpp"
#include "data/larcv/product_join.hpp"
#include "data/larcv/written_content.hpp"
#include "scratch_folder.hpp"

namespace cosmic::data::larcv {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

class EventFiles : public testing::Test {
 protected:
  using Paths = std::vector<std::filesystem::path>;

  /// Events with these numbers, which are their ids too.
  std::filesystem::path write(const std::string& name, const std::vector<std::int64_t>& numbers,
                              const ImageMeta& grid = grid_of(64, 96)) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    EventFileWriter writer(folder_ / name);
    for (const std::int64_t number : numbers) {
      larcv::write(writer, some_event(number, grid));
    }
    writer.commit();
    return folder_ / name;
  }

  std::filesystem::path write_unlabelled(const std::string& name) const {
    EventFileWriter writer(folder_ / name);
    const SparseEvent event = random_event(grid_of(64, 96), 0.1, 7);
    writer.begin_event(event.id);
    writer.write_sparse("sbndwire", event.image);
    writer.commit();
    return folder_ / name;
  }

  Paths found(const std::vector<std::string>& names) const {
    Paths paths;
    for (const std::string& name : names) {
      paths.push_back(folder_ / name);
    }
    return find_event_files(paths, "data.file");
  }

  static std::string error_of(const Paths& files, LabelUse labels = LabelUse::required) {
    try {
      const LarcvSource source({.files = files, .labels = labels});
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }

  ScratchFolder folder_{"event_files"};
};

TEST_F(EventFiles, of_a_pattern_come_sorted_and_of_a_list_in_its_order) {
  for (const char* const name : {"b2.h5", "b10.h5", "a.h5", "B.h5", "c.txt", "z.h5"}) {
    std::ofstream(folder_ / name) << "x";
  }
  EXPECT_THAT(found({"*.h5"}), ElementsAre(folder_ / "B.h5", folder_ / "a.h5", folder_ / "b10.h5",
                                           folder_ / "b2.h5", folder_ / "z.h5"));
  EXPECT_THAT(found({"z.h5", "b?.h5", "a.h5"}),
              ElementsAre(folder_ / "z.h5", folder_ / "b2.h5", folder_ / "a.h5"));
  EXPECT_THAT(found({"[ab].h5"}), ElementsAre(folder_ / "a.h5"));
  EXPECT_THAT(found({}), IsEmpty());
}

TEST_F(EventFiles, whose_name_looks_like_a_pattern_are_found_by_their_name) {
  std::ofstream(folder_ / "run[1].h5") << "x";
  std::ofstream(folder_ / "run1.h5") << "x";
  EXPECT_THAT(found({"run[1].h5"}), ElementsAre(folder_ / "run[1].h5"));
}

TEST_F(EventFiles, that_no_name_matches_are_an_error_with_the_pattern) {
  EXPECT_THAT(([&] { found({"runs/*.h5"}); }),
              ThrowsMessage<UserError>(AllOf(HasSubstr("data.file"), HasSubstr("runs/*.h5"),
                                             HasSubstr("matches no file"))));
}

TEST_F(EventFiles, given_twice_would_count_twice_and_are_refused) {
  std::ofstream(folder_ / "a.h5") << "x";
  EXPECT_THAT(([&] {
                found({"a.h5", "*.h5"});
              }),
              ThrowsMessage<UserError>(AllOf(HasSubstr("a.h5 twice"), HasSubstr("leave one"))));
  EXPECT_THAT(([&] {
                found({"a.h5", "./a.h5"});
              }),
              ThrowsMessage<UserError>(HasSubstr("first as")));
}

TEST_F(EventFiles, of_several_have_the_events_of_each_one_after_the_other) {
  const LarcvSource source(
      {.files = {write("b.h5", {3, 4}), write("e.h5", {}), write("a.h5", {7})}});
  EXPECT_EQ(source.size(), 3);
  SparseEvent event;
  std::vector<std::int64_t> ids;
  for (std::int64_t entry = 0; entry < source.size(); ++entry) {
    source.reader()->read(entry, event);
    ids.push_back(event.id.event);
  }
  EXPECT_THAT(ids, ElementsAre(3, 4, 7));
  const std::vector<SourcePart> parts = source.parts();
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].end, 2);
  EXPECT_EQ(parts[1].begin, parts[1].end);
  EXPECT_EQ(parts[2].name, (folder_ / "a.h5").string());
  EXPECT_EQ(event_text(source, 2), "event 0 of " + (folder_ / "a.h5").string());
  EXPECT_EQ(event_text(source, 1), "event 1 of " + (folder_ / "b.h5").string());
}

TEST_F(EventFiles, of_which_one_is_bad_name_that_one) {
  const std::filesystem::path good = write("good.h5", {1});
  EXPECT_THAT(error_of({good, folder_ / "gone.h5"}),
              AllOf(HasSubstr("gone.h5"), HasSubstr("cannot be opened"), Not(HasSubstr("good"))));
  const std::filesystem::path damaged = write("damaged.h5", {1});
  std::filesystem::resize_file(damaged, std::filesystem::file_size(damaged) / 2);
  EXPECT_THAT(error_of({good, damaged}), AllOf(HasSubstr("damaged.h5"), Not(HasSubstr("good.h5"))));
  EXPECT_THAT(error_of({good, write("small.h5", {1}, grid_of(32, 48))}),
              AllOf(HasSubstr("small.h5"), HasSubstr("48x32"), HasSubstr("96x64")));
  EXPECT_THAT(error_of({good, write_unlabelled("unlabelled.h5")}),
              AllOf(HasSubstr("unlabelled.h5"), HasSubstr("sbnd_cosmicseg")));
}

TEST_F(EventFiles, of_which_some_have_no_labels_are_refused_also_where_labels_are_optional) {
  const std::filesystem::path labelled = write("labelled.h5", {1});
  const std::filesystem::path unlabelled = write_unlabelled("unlabelled.h5");
  EXPECT_THAT(error_of({labelled, unlabelled}, LabelUse::if_present),
              AllOf(HasSubstr("unlabelled.h5: has no labels"), HasSubstr("separately")));
  EXPECT_THAT(error_of({unlabelled, labelled}, LabelUse::if_present),
              AllOf(HasSubstr("/labelled.h5: has labels"), HasSubstr("separately")));
  EXPECT_EQ(error_of({unlabelled, labelled}, LabelUse::ignored), "");
}

TEST_F(EventFiles, joined_into_one_keep_every_product_and_every_id) {
  const std::filesystem::path a = write("a.h5", {4, 5});
  const std::filesystem::path b = write("b.h5", {9});
  const std::vector<ProductName> except{{"sparse2d", "sbnd_cosmicseg"}};
  const std::filesystem::path joined = folder_ / "joined.h5";
  {
    ProductJoin join({a, b}, except);
    EXPECT_THAT(join.left_out(), IsEmpty());
    EventFileWriter writer(joined);
    const std::vector<std::pair<std::size_t, std::int64_t>> places{{0, 0}, {0, 1}, {1, 0}};
    const std::vector<std::int64_t> ids{4, 5, 9};
    for (std::size_t i = 0; i < places.size(); ++i) {
      writer.begin_event({1, 2, ids[i]});
      join.copy(places[i].first, places[i].second, writer);
    }
    writer.commit();
  }
  // The same as a file that had these events from the beginning, less the product left out.
  ReadWarnings warnings;
  const EventFile file(joined, warnings);
  EXPECT_EQ(file.size(), 3);
  EXPECT_FALSE(file.has(except.front()));
  const LarcvSource source({.files = {joined}, .labels = LabelUse::ignored});
  Cluster2dReader clusters(file, "sbndsegmerged", warnings);
  ParticleReader particles(file, "sbndneutrino", warnings);
  Box2dReader boxes(file, "bbox_neutrino", warnings);
  const std::vector<std::int64_t> numbers{4, 5, 9};
  for (std::int64_t entry = 0; entry < 3; ++entry) {
    const WrittenEvent expected = some_event(numbers[static_cast<std::size_t>(entry)]);
    SparseEvent event;
    source.reader()->read(entry, event);
    EXPECT_EQ(event.id, expected.pixels.id);
    ClusterPlanes cluster_planes;
    clusters.read(entry, cluster_planes);
    BoxPlanes box_planes;
    boxes.read(entry, box_planes);
    std::vector<Particle> list;
    particles.read(entry, list);
    ASSERT_EQ(list.size(), expected.particles.size());
    EXPECT_EQ(list.back().track_id, expected.particles.back().track_id);
    EXPECT_EQ(list.back().process, expected.particles.back().process);
    for (std::size_t plane = 0; plane < 3; ++plane) {
      EXPECT_EQ(event.image[plane].ids, expected.pixels.image[plane].ids);
      EXPECT_EQ(event.image[plane].values, expected.pixels.image[plane].values);
      ASSERT_EQ(cluster_planes[plane].clusters.size(), expected.clusters[plane].clusters.size());
      EXPECT_EQ(cluster_planes[plane].clusters.back().ids,
                expected.clusters[plane].clusters.back().ids);
      EXPECT_EQ(box_planes[plane].boxes.size(), expected.boxes[plane].boxes.size());
    }
  }
  EXPECT_EQ(warnings.total(), 0);
}

TEST_F(EventFiles, with_other_products_cannot_be_joined_and_are_named) {
  const std::filesystem::path full = write("full.h5", {4});
  const std::filesystem::path poor = write_unlabelled("poor.h5");
  for (const auto& files : {Paths{full, poor}, Paths{poor, full}}) {
    EXPECT_THAT(([&] { ProductJoin(files, {}); }),
                ThrowsMessage<DataError>(
                    AllOf(HasSubstr("poor.h5: has no product"), HasSubstr("one file for each"))));
  }
}

}  // namespace
}  // namespace cosmic::data::larcv
