// `cosmictagger evaluate`, from the command line's words to the files.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "core/error.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/sparse_events.hpp"
#include "scratch_folder.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// One more than run.iterations would take of them if it were obeyed with its default.
constexpr std::int64_t kEvents = 501;

class EvaluateCommand : public testing::Test {
 protected:
  void SetUp() override {
    data::larcv::EventFileWriter writer(folder_ / "events.h5");
    for (std::int64_t number = 0; number < kEvents; ++number) {
      const data::SparseEvent event = data::random_event(data::grid_of(8, 16), 0.3, 1, number);
      writer.begin_event(event.id);
      writer.write_sparse("sbndwire", event.image);
      writer.write_sparse("sbnd_cosmicseg", event.labels);
    }
    writer.commit();
  }

  /// What `cosmictagger COMMAND WORDS...` prints.
  std::string run(const std::string& command, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{command,
                                   "network=a21",
                                   "network.depth=1",
                                   "network.n_initial_filters=2",
                                   "network.bottleneck_deepest=4",
                                   "network.blocks_deepest_layer=1",
                                   "network.blocks_per_layer=1",
                                   "run.id=test",
                                   "run.distributed=false",
                                   "run.minibatch_size=1",
                                   "run.threads=1",
                                   "data.downsample=0",
                                   "data.file=events.h5",
                                   "data.data_directory=" + folder_.path().string(),
                                   "output_dir=" + (folder_ / "run").string()};
    words.insert(words.end(), more.begin(), more.end());
    Command app;
    add_train(app);
    add_evaluate(app);
    testing::internal::CaptureStdout();
    try {
      app.parse(words);
    } catch (...) {
      testing::internal::GetCapturedStdout();
      throw;
    }
    return testing::internal::GetCapturedStdout();
  }

  nlohmann::json numbers(const std::string& name) const {
    return nlohmann::json::parse(content_of(folder_ / name));
  }

  ScratchFolder folder_{"evaluate_command"};
};

TEST_F(EvaluateCommand, takes_all_events_unless_told_otherwise) {
  run("train", {"run.iterations=1", "data.aux_file="});
  EXPECT_THAT(run("evaluate"), AllOf(HasSubstr("Evaluated 501 events"),
                                     HasSubstr("evaluation.html"), HasSubstr("evaluation.json")));
  EXPECT_EQ(numbers("run/evaluation.json").at("events"), kEvents);
  const std::string page = (folder_ / "some.html").string();
  run("evaluate", {"run.iterations=3", "mode.output_file=" + page});
  EXPECT_EQ(numbers("some.json").at("events"), 3);
  EXPECT_THAT(content_of(page), HasSubstr("Only 3 of the file"));
}

TEST_F(EvaluateCommand, refuses_random_weights_and_leaves_no_report) {
  EXPECT_THAT([&] { run("evaluate"); }, ThrowsMessage<UserError>(HasSubstr("no weights")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/evaluation.html"));
}

}  // namespace
}  // namespace cosmic::cli
