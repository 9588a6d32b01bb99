// Damaged files, each with what must be said about it, and unusual ones that must be read all the
// same. make_broken_files.py makes them, and explains broken/expected.txt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/error.hpp"
#include "data/larcv/read_everything.hpp"
#include "data/larcv/unpacked_file.hpp"

namespace cosmic::data::larcv {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string file;
  std::string what;
  std::string outcome;
  std::string text;
};

// GoogleTest prints it with a failure.
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.file;
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  std::ifstream expected(kBrokenFolder / "expected.txt");
  for (std::string line; std::getline(expected, line);) {
    std::istringstream fields(line);
    Case& c = cases.emplace_back();
    std::getline(fields, c.file, '\t');
    std::getline(fields, c.what, '\t');
    std::getline(fields, c.outcome, '\t');
    std::getline(fields, c.text);
  }
  return cases;
}

struct Outcome {
  std::string error;
  std::vector<ReadWarning> warnings;
  std::vector<SparseEvent> events;
};

Outcome read(const fs::path& path, const std::string& what) {
  Outcome outcome;
  try {
    if (what == "products") {
      ReadWarnings warnings;
      read_products(path, warnings);
      outcome.warnings = warnings.list();
    } else {
      const LarcvSource source(
          {.files = {path},
           .labels = what == "labelled" ? LabelUse::required : LabelUse::if_present});
      outcome.events = read_events(source);
      outcome.warnings = source.warnings().list();
    }
  } catch (const DataError& error) {
    outcome.error = error.what();
  }
  return outcome;
}

class BrokenFile : public testing::TestWithParam<Case> {};

TEST_P(BrokenFile, is_reported_or_read_as_expected) {
  const UnpackedFile file(GetParam().file);
  const Outcome outcome = read(file.path(), GetParam().what);
  if (GetParam().outcome == "error") {
    EXPECT_THAT(outcome.error, testing::HasSubstr(GetParam().text));
    EXPECT_THAT(outcome.error, testing::StartsWith(file.path().string() + ": "));
  } else if (GetParam().outcome == "warning") {
    EXPECT_EQ(outcome.error, "");
    // The text is "<count> <kind>: <part of the example>".
    const std::size_t colon = GetParam().text.find(": ");
    const std::string kind = GetParam().text.substr(0, colon);
    const std::string example = GetParam().text.substr(colon + 2);
    const bool found = std::any_of(
        outcome.warnings.begin(), outcome.warnings.end(), [&](const ReadWarning& warning) {
          return std::to_string(warning.count) + " " + description(warning.kind) == kind &&
                 warning.first.find(example) != std::string::npos &&
                 warning.first.starts_with(file.path().string() + ": ");
        });
    std::ostringstream all;
    for (const ReadWarning& warning : outcome.warnings) {
      all << "\n" << warning.count << " " << description(warning.kind) << ": " << warning.first;
    }
    EXPECT_TRUE(found) << "expected: " << GetParam().text << "\nbut there are:" << all.str();
  } else {
    ASSERT_EQ(GetParam().outcome, "sound");
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(outcome.warnings.empty());
  }
}

class SoundFile : public testing::TestWithParam<Case> {};

TEST_P(SoundFile, has_the_events_of_the_plain_one) {
  const std::vector<SparseEvent> plain =
      read(UnpackedFile("sound_plain.h5").path(), "events").events;
  const std::vector<SparseEvent> events =
      read(UnpackedFile(GetParam().file).path(), GetParam().what).events;
  ASSERT_EQ(plain.size(), 2U);
  ASSERT_EQ(events.size(), plain.size());
  for (std::size_t event = 0; event < plain.size(); ++event) {
    EXPECT_EQ(events[event].id, plain[event].id);
    for (std::size_t plane = 0; plane < plain[event].image.size(); ++plane) {
      EXPECT_EQ(events[event].image[plane].meta, plain[event].image[plane].meta);
      EXPECT_EQ(events[event].image[plane].ids, plain[event].image[plane].ids);
      EXPECT_EQ(events[event].image[plane].values, plain[event].image[plane].values);
    }
  }
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  return info.param.file.substr(0, info.param.file.find('.'));
}

std::vector<Case> sound_images() {
  std::vector<Case> sound = cases();
  std::erase_if(sound, [](const Case& c) { return c.outcome != "sound" || c.what != "events"; });
  return sound;
}

INSTANTIATE_TEST_SUITE_P(Files, BrokenFile, testing::ValuesIn(cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Files, SoundFile, testing::ValuesIn(sound_images()), test_name);

TEST(BrokenFiles, are_many_and_each_has_its_line) {
  std::set<std::string> listed;
  std::size_t broken = 0;
  for (const Case& c : cases()) {
    listed.insert(c.file + ".gz");
    broken += c.outcome != "sound" ? 1 : 0;
  }
  EXPECT_GE(broken, 60U);
  std::set<std::string> stored;
  for (const auto& entry : fs::directory_iterator(kBrokenFolder)) {
    if (entry.path().extension() == ".gz") {
      stored.insert(entry.path().filename().string());
    }
  }
  EXPECT_EQ(stored, listed);
}

TEST(BrokenFiles, mended_pixels_are_the_right_ones) {
  const auto plane_of = [](const char* file, std::size_t event, std::size_t plane) {
    const UnpackedFile unpacked(file);
    return read(unpacked.path(), "events").events.at(event).image[plane];
  };
  using testing::ElementsAre;
  EXPECT_THAT(plane_of("id_out_of_range.h5", 0, 0).ids, ElementsAre(1, 7));
  EXPECT_THAT(plane_of("id_twice.h5", 0, 1).ids, ElementsAre(0));
  EXPECT_THAT(plane_of("id_twice.h5", 0, 1).values, ElementsAre(9.5F));  // the last in the file
  EXPECT_THAT(plane_of("ids_descend.h5", 1, 0).ids, ElementsAre(2, 3));
  EXPECT_THAT(plane_of("ids_descend.h5", 1, 0).values, ElementsAre(12.5F, 11.5F));
  EXPECT_THAT(plane_of("value_nan.h5", 0, 0).ids, ElementsAre(1, 47));
  EXPECT_THAT(plane_of("value_minus_999.h5", 1, 2).values, ElementsAre(-999.0F, 14.5F));
}

TEST(BrokenFiles, labels_have_the_ids_of_the_image_whatever_the_file_says) {
  for (const char* file : {"label_without_a_pixel.h5", "label_missing.h5", "label_nan.h5",
                           "labels_without_planes.h5"}) {
    const UnpackedFile unpacked(file);
    for (const SparseEvent& event : read(unpacked.path(), "events").events) {
      ASSERT_TRUE(event.labelled);
      for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
        EXPECT_EQ(event.labels[plane].ids, event.image[plane].ids) << file;
        EXPECT_EQ(event.labels[plane].values.size(), event.image[plane].ids.size()) << file;
      }
    }
  }
}

TEST(BrokenFiles, an_event_without_planes_is_empty_and_not_the_one_before) {
  const UnpackedFile unpacked("labels_without_planes.h5");
  ReadWarnings warnings;
  const EventFile file(unpacked.path(), warnings);
  Sparse2dReader reader(file, "sbnd_cosmicseg", PixelMeaning::label, warnings);
  SparseImage labels;
  reader.read(0, labels);
  EXPECT_EQ(labels[0].ids.size(), 3U);
  reader.read(1, labels);
  for (const SparsePlane& plane : labels) {
    EXPECT_TRUE(plane.ids.empty());
    EXPECT_TRUE(plane.values.empty());
    EXPECT_EQ(plane.meta, ImageMeta{});
  }
}

TEST(BrokenFiles, a_reader_works_on_after_an_error) {
  const UnpackedFile unpacked("deflate_stream_damaged_in_event_1.h5");
  const LarcvSource source({.files = {unpacked.path()}});
  const auto reader = source.reader();
  SparseEvent event;
  EXPECT_THROW(reader->read(1, event), DataError);
  reader->read(0, event);
  EXPECT_THAT(event.image[0].ids, testing::ElementsAre(1, 7, 47));
  EXPECT_THROW(reader->read(1, event), DataError);
}

}  // namespace
}  // namespace cosmic::data::larcv
