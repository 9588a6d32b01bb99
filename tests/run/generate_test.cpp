#include "run/generate.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/error.hpp"
#include "data/detector/detector_source.hpp"
#include "data/larcv/file_check.hpp"
#include "data/larcv/larcv_source.hpp"

namespace cosmic::run {
namespace {

class Generate : public testing::Test {
 protected:
  Generate()
      : folder_(std::filesystem::temp_directory_path() /
                ("cosmic_generate_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Generate() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file(const char* name) const { return folder_ / name; }

  static std::string bytes(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(Generate, writes_the_same_bytes_for_any_number_of_threads) {
  generate({.events = 12, .seed = 3, .output = file("one.h5"), .threads = 1});
  generate({.events = 12, .seed = 3, .output = file("three.h5"), .threads = 3});
  generate({.events = 12, .seed = 4, .output = file("other.h5"), .threads = 1});
  EXPECT_EQ(bytes(file("one.h5")), bytes(file("three.h5")));
  EXPECT_NE(bytes(file("one.h5")), bytes(file("other.h5")));
}

TEST_F(Generate, writes_what_the_simulation_gives) {
  generate({.events = 3, .seed = 5, .output = file("events.h5"), .threads = 2});
  const data::larcv::LarcvSource written({.files = {file("events.h5")}});
  const data::detector::DetectorSource made(3, 5);
  ASSERT_EQ(written.size(), 3);
  ASSERT_TRUE(written.labelled());
  data::SparseEvent stored;
  data::SparseEvent fresh;
  for (std::int64_t entry = 0; entry < 3; ++entry) {
    written.reader()->read(entry, stored);
    made.reader()->read(entry, fresh);
    EXPECT_EQ(stored.id, fresh.id);
    for (std::size_t plane = 0; plane < data::kPlanes; ++plane) {
      EXPECT_EQ(stored.image[plane].ids, fresh.image[plane].ids);
      EXPECT_EQ(stored.image[plane].values, fresh.image[plane].values);
      EXPECT_EQ(stored.labels[plane].values, fresh.labels[plane].values);
    }
  }
  EXPECT_EQ(written.warnings().total(), 0);
}

TEST_F(Generate, writes_a_file_that_passes_the_pre_flight_check) {
  generate({.events = 5, .seed = 6, .output = file("events.h5"), .threads = 2});
  const data::larcv::FileCheck check = data::larcv::check_file(file("events.h5"), {.threads = 2});
  EXPECT_TRUE(check.good()) << testing::PrintToString(check.problems);
  EXPECT_EQ(check.events, 5);
  EXPECT_TRUE(check.labelled);
  EXPECT_GE(check.least_charge, 5);
  EXPECT_TRUE(check.unknown.empty());
}

TEST_F(Generate, replaces_a_file_only_when_asked) {
  const GenerateOptions options{.events = 1, .output = file("events.h5"), .threads = 1};
  generate(options);
  EXPECT_THAT([&] { generate(options); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("already exists")));
  GenerateOptions again = options;
  again.existing = Existing::replace;
  EXPECT_NO_THROW(generate(again));
}

}  // namespace
}  // namespace cosmic::run
