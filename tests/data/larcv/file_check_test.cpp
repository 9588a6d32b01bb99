#include "data/larcv/file_check.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "data/larcv/written_content.hpp"
#include "scratch_folder.hpp"

namespace cosmic::data::larcv {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSample = "../shared/data/cosmic_tagging_light.h5";

class CheckedFile : public testing::Test {
 protected:
  /// Writes ten events, each changed by `change(event, number)`, and checks the file.
  template <class Change>
  FileCheck check_changed(const Change& change, const EventFileWriterOptions& options = {}) const {
    EventFileWriterOptions replacing = options;
    replacing.existing = Existing::replace;
    EventFileWriter writer(path_, replacing);
    for (std::int64_t number = 0; number < 10; ++number) {
      WrittenEvent event = some_event(number);
      change(event, number);
      write(writer, event);
    }
    writer.commit();
    return check_file(path_, {.threads = 3});
  }

  static void leave(WrittenEvent&, std::int64_t) {}

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "events.h5";
};

TEST_F(CheckedFile, is_good_if_everything_fits) {
  const FileCheck check = check_changed(leave);
  EXPECT_TRUE(check.good()) << testing::PrintToString(check.problems);
  EXPECT_EQ(check.events, 10);
  EXPECT_TRUE(check.labelled);
  EXPECT_EQ(check.meta.columns(), 96U);
  EXPECT_EQ(check.empty_events, 0);
  std::int64_t pixels = 0;
  std::int64_t labels = 0;
  for (std::int64_t number = 0; number < 10; ++number) {
    pixels += static_cast<std::int64_t>(some_event(number).pixels.image[1].ids.size());
  }
  for (const std::int64_t count : check.planes[1].labels) {
    labels += count;
  }
  EXPECT_EQ(check.planes[1].pixels, pixels);
  EXPECT_EQ(labels, pixels);
}

TEST_F(CheckedFile, has_a_fingerprint_of_its_content_and_not_of_its_storage) {
  const std::string fingerprint = check_changed(leave).fingerprint;
  EXPECT_EQ(check_changed(leave, {.deflate_level = 9}).fingerprint, fingerprint);
  EXPECT_EQ(check_file(path_, {.threads = 1}).fingerprint, fingerprint);
  const std::string others = check_file(path_, {.threads = 1}).products_fingerprint;
  EXPECT_NE(others, fingerprint);
  const auto differs = [&](const auto& change) {
    const FileCheck check = check_changed(change);
    EXPECT_TRUE(check.good());
    return check.fingerprint != fingerprint || check.products_fingerprint != others;
  };
  EXPECT_TRUE(differs([](WrittenEvent& event, std::int64_t number) {
    event.pixels.image[2].values[7] += number == 4 ? 1.0F : 0.0F;
  }));
  EXPECT_TRUE(differs([](WrittenEvent& event, std::int64_t number) {
    event.pixels.id.run += number == 4 ? 1 : 0;
  }));
  EXPECT_TRUE(differs([](WrittenEvent& event, std::int64_t number) {
    event.clusters[0].clusters[0].id += number == 4 ? 1 : 0;
  }));
  EXPECT_TRUE(differs([](WrittenEvent& event, std::int64_t number) {
    event.boxes[0].boxes[0].centroid[1] += number == 4 ? 1 : 0;
  }));
  EXPECT_TRUE(differs([](WrittenEvent& event, std::int64_t number) {
    if (number == 4) {
      event.particles[0].ancestor_vertex.t += 1;
    }
  }));
}

TEST_F(CheckedFile, says_where_a_label_has_no_pixel) {
  const FileCheck check = check_changed([](WrittenEvent& event, std::int64_t number) {
    if (number == 6) {
      event.pixels.image[1].ids.pop_back();
      event.pixels.image[1].values.pop_back();
    }
  });
  EXPECT_FALSE(check.good());
  ASSERT_EQ(check.mended.size(), 1U);
  EXPECT_EQ(check.mended[0].kind, WarningKind::label_without_pixel);
  EXPECT_EQ(check.mended[0].count, 1U);
  EXPECT_THAT(check.mended[0].first, HasSubstr("event 6, plane 1"));
}

TEST_F(CheckedFile, says_which_label_is_none) {
  const FileCheck check = check_changed([](WrittenEvent& event, std::int64_t number) {
    event.pixels.labels[0].values[3] = number == 6 ? 3.0F : 1.0F;
  });
  EXPECT_EQ(check.problem_count, 1);
  EXPECT_THAT(check.problems, Contains(HasSubstr("event 6, plane 0")));
}

TEST_F(CheckedFile, says_which_class_is_missing) {
  const FileCheck check = check_changed([](WrittenEvent& event, std::int64_t) {
    for (SparsePlane& plane : event.pixels.labels) {
      std::fill(plane.values.begin(), plane.values.end(), 1.0F);
    }
  });
  EXPECT_EQ(check.events_without_neutrino, 10);
  EXPECT_THAT(check.problems, Contains(HasSubstr("no pixel with the label 2 (neutrino)")));
}

TEST_F(CheckedFile, with_a_charge_beyond_the_ceiling_is_wrong) {
  const auto check_with = [&](float charge) {
    return check_changed([&](WrittenEvent& event, std::int64_t number) {
      if (number == 6) {
        event.pixels.image[1].values[2] = charge;
      }
    });
  };
  for (const float charge : {3e38F, -3e38F, std::nextafter(65504.0F, 1e6F)}) {
    const FileCheck check = check_with(charge);
    EXPECT_EQ(check.problem_count, 1) << charge;
    EXPECT_THAT(check.problems,
                Contains(AllOf(HasSubstr("sparse2d_sbndwire, event 6, plane 1: id"),
                               HasSubstr("wire"), HasSubstr("tick"), HasSubstr("at most 65504"))));
  }
  EXPECT_TRUE(check_with(65504.0F).good());
}

// Numbers of products that no network sees are not charges.
TEST_F(CheckedFile, may_have_any_finite_number_in_other_products) {
  EXPECT_TRUE(check_changed([](WrittenEvent& event, std::int64_t) {
                event.clusters[0].clusters[0].values[0] = 3e38F;
              }).good());
}

TEST_F(CheckedFile, whose_labels_belong_to_no_pixel_is_wrong) {
  const FileCheck check = check_changed([](WrittenEvent& event, std::int64_t) {
    for (SparsePlane& plane : event.pixels.labels) {
      plane.ids.clear();
      plane.values.clear();
    }
  });
  EXPECT_THAT(check.problems, Contains(HasSubstr("has no label for any of its ")));
}

TEST_F(CheckedFile, says_how_many_charges_are_negative) {
  const FileCheck check = check_changed(
      [](WrittenEvent& event, std::int64_t) { event.pixels.image[0].values[0] = -1; });
  EXPECT_THAT(check.problems, Contains(HasSubstr("10 pixels with a negative charge")));
  EXPECT_EQ(check.least_charge, -1);
}

TEST_F(CheckedFile, counts_empty_events) {
  const FileCheck check = check_changed([](WrittenEvent& event, std::int64_t number) {
    if (number % 5 == 0) {
      event.pixels.image = {};
      event.pixels.labels = {};
    }
  });
  EXPECT_TRUE(check.good());
  EXPECT_EQ(check.empty_events, 2);
}

TEST_F(CheckedFile, lists_a_few_of_many_problems) {
  EventFileWriter writer(path_);
  for (std::int64_t number = 0; number < 50; ++number) {
    WrittenEvent event = some_event(number);
    event.pixels.labels[0].values[3] = 9;
    write(writer, event);
  }
  writer.commit();
  const FileCheck check = check_file(path_, {.threads = 2});
  EXPECT_EQ(check.problem_count, 50);
  EXPECT_EQ(check.problems.size(), FileCheck::kMostProblems);
  EXPECT_THAT(check.problems[0], HasSubstr("event 0"));
}

TEST_F(CheckedFile, may_lack_the_image_and_is_looked_at_all_the_same) {
  EventFileWriter writer(path_);
  const WrittenEvent event = some_event(1);
  writer.begin_event(event.pixels.id);
  writer.write_sparse("other", event.pixels.image);
  writer.commit();
  const FileCheck check = check_file(path_, {});
  EXPECT_EQ(check.problem_count, 1);
  EXPECT_THAT(check.problems, Contains(HasSubstr("sbndwire")));
}

TEST_F(CheckedFile, without_events_is_not_good) {
  EventFileWriter(path_).commit();
  EXPECT_FALSE(check_file(path_, {}).good());
}

// Wherever the file is cut off, something is said and nothing crashes.
TEST_F(CheckedFile, is_not_good_when_it_is_truncated) {
  check_changed(leave);
  const std::uint64_t whole = std::filesystem::file_size(path_);
  for (std::uint64_t part = 0; part < 20; ++part) {
    const std::filesystem::path cut = folder_ / "cut.h5";
    std::filesystem::copy_file(path_, cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, whole * part / 20);
    const FileCheck check = check_file(cut, {.threads = 2});
    EXPECT_GT(check.problem_count, 0) << "cut to " << part << " twentieths";
  }
}

TEST_F(CheckedFile, reports_its_progress) {
  check_changed(leave);
  std::vector<double> shares;
  check_file(path_, {.progress = [&](double share) { shares.push_back(share); }});
  ASSERT_EQ(shares.size(), 10U);
  EXPECT_EQ(shares.back(), 1);
}

// Figures of the format's description: pixels of the five events, planes 0 to 2.
TEST_F(CheckedFile, of_the_real_sample_is_good) {
  if (!std::filesystem::exists(kSample)) {
    GTEST_SKIP() << "needs " << kSample;
  }
  const FileCheck check = check_file(kSample, {.threads = 2});
  EXPECT_TRUE(check.good()) << testing::PrintToString(check.problems);
  EXPECT_EQ(check.events, 5);
  EXPECT_EQ(check.planes[0].pixels, 23223 + 25094 + 23446 + 26961 + 15775);
  EXPECT_EQ(check.planes[1].pixels, 23171 + 23599 + 24703 + 26841 + 16056);
  EXPECT_EQ(check.planes[2].pixels, 10084 + 10191 + 12218 + 12336 + 3066);
  EXPECT_THAT(check.unknown, IsEmpty());
}

}  // namespace
}  // namespace cosmic::data::larcv
