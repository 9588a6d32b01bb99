// Training with several threads: a team that computes and threads that read ahead, on images large
// enough for the team to be woken. The thread sanitizer watches these runs.
#include <gmock/gmock.h>

#include "checkpoint/checkpoint_folder.hpp"
#include "core/threads.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::train {
namespace {

class ThreadedTraining : public testing::Test {
 protected:
  ThreadedTraining() {
    for (const char* const file : {"train.h5", "test.h5"}) {
      data::larcv::EventFileWriter writer(folder_.path() / file, {.team = Team(2)});
      for (std::int64_t i = 0; i < 4; ++i) {
        const data::SparseEvent event = data::random_event(data::grid_of(64, 128), 0.2, 1, i);
        writer.begin_event(event.id);
        writer.write_sparse("sbndwire", event.image);
        writer.write_sparse("sbnd_cosmicseg", event.labels);
      }
      writer.commit();
    }
  }

  std::map<std::string, std::vector<std::byte>> bits_after(
      const std::string& name, const std::vector<std::string>& words) const {
    std::vector<std::string> all{
        "run.threads=3",       "network.n_initial_filters=8",
        "run.length=3",        "run.aux_iterations=1",
        "data.order=shuffled", "output_dir=" + (folder_.path() / name).string()};
    all.insert(all.end(), words.begin(), words.end());
    KeptLog log;
    train(tiny_configuration(folder_.path(), config::Mode::train, all), "cpu", log.log());
    std::map<std::string, std::vector<std::byte>> bits;
    for (const auto& [tensor, value] :
         checkpoint::load_newest(folder_.path() / name / "checkpoints").checkpoint.tensors) {
      bits[tensor] = value.bytes;
    }
    return bits;
  }

  RunFolder folder_;
};

TEST_F(ThreadedTraining, gives_the_same_bits_again) {
  EXPECT_EQ(bits_after("first", {}), bits_after("second", {}));
}

TEST_F(ThreadedTraining, in_bfloat16_gives_the_same_bits_again) {
  const std::vector<std::string> words{"run.precision=bfloat16", "run.rounding=stochastic"};
  EXPECT_EQ(bits_after("first", words), bits_after("second", words));
}

TEST_F(ThreadedTraining, with_accumulated_gradients_and_flips_goes_on_with_the_same_bits) {
  const std::vector<std::string> words{"data.augment=flips",
                                       "mode.optimizer.gradient_accumulation=2"};
  const auto whole = bits_after("whole", words);
  std::vector<std::string> shorter = words;
  shorter.push_back("run.length=1");
  bits_after("parts", shorter);
  EXPECT_EQ(bits_after("parts", words), whole);
}

}  // namespace
}  // namespace cosmic::train
