// What TensorBoardWriter writes, as an independent reader (read_events.py) understands it.
#include "output/tensorboard_writer.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "run_command.hpp"
#include "scratch_folder.hpp"

namespace cosmic::output {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

constexpr const char* kReader = "tests/output/read_events.py";

class TensorBoard : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("python3")) {
      GTEST_SKIP() << "needs python3 (for " << kReader << ")";
    }
  }

  static json read(const std::filesystem::path& path) {
    const CommandResult result =
        run_command(std::string("python3 ") + kReader + " '" + path.string() + "'");
    if (result.status != 0) {
      throw std::runtime_error("the reader failed: " + result.output);
    }
    return json::parse(result.output);
  }

  ScratchFolder folder_;
};

TEST_F(TensorBoard, reader_finds_the_file_version_first) {
  const TensorBoardWriter writer(folder_.path());
  EXPECT_THAT(writer.path().filename().string(), StartsWith("events.out.tfevents."));
  const json events = read(writer.path());
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["file_version"], "brain.Event:2");
}

TEST_F(TensorBoard, reader_finds_every_point_of_every_curve) {
  const double before =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  TensorBoardWriter writer(folder_ / "train");
  for (std::int64_t step = 0; step < 300; ++step) {
    writer.add_scalars(step, {{"loss", 4.0 / static_cast<double>(step + 1)},
                              {"Average/mIoU", 0.5},
                              {"learning_rate", 3e-4}});
  }
  const json events = read(writer.path());
  ASSERT_EQ(events.size(), 301U);
  for (std::int64_t step = 0; step < 300; ++step) {
    const json& event = events[static_cast<std::size_t>(step) + 1];
    EXPECT_EQ(event["step"], step);
    EXPECT_EQ(event["scalars"].size(), 3U);
    EXPECT_FLOAT_EQ(event["scalars"]["loss"].get<float>(), 4.0F / static_cast<float>(step + 1));
    EXPECT_FLOAT_EQ(event["scalars"]["learning_rate"].get<float>(), 3e-4F);
    EXPECT_GE(event["wall_time"].get<double>(), before);
    EXPECT_LT(event["wall_time"].get<double>(), before + 600);
  }
}

TEST_F(TensorBoard, reader_finds_pictures_with_classes_as_shades) {
  TensorBoardWriter writer(folder_.path());
  const std::vector<std::uint8_t> classes{0, 1, 2, 2, 1, 0};
  writer.add_image(25, "label/plane_1", {.rows = 2, .columns = 3, .classes = classes});
  const json event = read(writer.path()).at(1);
  EXPECT_EQ(event["step"], 25);
  const json& image = event["images"]["label/plane_1"];
  EXPECT_EQ(image["rows"], 2);
  EXPECT_EQ(image["columns"], 3);
  EXPECT_EQ(image["colorspace"], 1);
  EXPECT_EQ(image["pixels"], json::parse("[[0, 127, 255], [255, 127, 0]]"));
}

TEST_F(TensorBoard, keeps_what_was_written_when_the_run_is_killed) {
  // In a process of its own that ends without any cleaning up.
  EXPECT_EXIT(
      {
        TensorBoardWriter writer(folder_.path());
        writer.add_scalars(7, {{"loss", 1.0}});
        std::raise(SIGKILL);
      },
      testing::KilledBySignal(SIGKILL), "");
  ASSERT_EQ(folder_.names().size(), 1U);
  EXPECT_EQ(read(folder_ / folder_.names()[0]).at(1)["scalars"]["loss"], 1.0);
}

TEST_F(TensorBoard, resumed_run_writes_a_later_file_that_tells_readers_where_it_goes_on) {
  std::string before;
  for (std::int64_t first_step : {0, 10, 20}) {
    TensorBoardWriter writer(folder_.path(), first_step);
    const std::string name = writer.path().filename().string();
    EXPECT_GT(name, before) << "TensorBoard reads files in the order of their names";
    before = name;
    const json events = read(writer.path());
    ASSERT_EQ(events.size(), first_step == 0 ? 1U : 2U);
    if (first_step > 0) {
      EXPECT_EQ(events[1]["session_status"], 1);
      EXPECT_EQ(events[1]["step"], first_step);
    }
  }
}

TEST_F(TensorBoard, folder_that_cannot_be_made_is_named) {
  std::ofstream(folder_ / "file") << "in the way";
  EXPECT_THAT([&] { TensorBoardWriter(folder_ / "file" / "train"); },
              ThrowsMessage<DataError>(HasSubstr((folder_ / "file" / "train").string())));
}

}  // namespace
}  // namespace cosmic::output
