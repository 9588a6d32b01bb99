// How batches get to a target beside the host, in whole runs: as pixels, ahead of time, and with
// the results of images that are brought when they are needed. The GPU is the host.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "infer/inference.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "report/evaluation/evaluation.hpp"
#include "run/measure_performance.hpp"
#include "run/run_choices.hpp"
#include "run/run_data.hpp"
#include "session/model.hpp"
#include "target/cuda/host_gpu.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::train {
namespace {

using target::cuda::host_gpu;
using target::cuda::HostGpu;
using target::cuda::HostMachine;
using testing::HasSubstr;

constexpr const char* kTarget = "cuda";
/// Of an image and a label of two events.
constexpr std::int64_t kDenseBytes = std::int64_t{2} * 3 * 16 * 32 * 5;

class GpuFeed : public testing::Test {
 protected:
  GpuFeed() {
    host_gpu() = HostGpu();
    write_random_events(folder() / "train.h5", 9, 1);
    write_random_events(folder() / "test.h5", 4, 2);
  }

  const std::filesystem::path& folder() const { return folder_.path(); }
  config::Configuration configuration(std::vector<std::string> words,
                                      const std::string& out) const {
    words.push_back("output_dir=" + (folder() / out).string());
    return tiny_configuration(folder(), config::Mode::train, words);
  }
  /// A run on a device of its own, which is returned as the run leaves it.
  std::shared_ptr<HostMachine> run(const std::string& out, const HostGpu& gpu,
                                   const std::vector<std::string>& words = {},
                                   const TrainingHooks& hooks = {},
                                   const std::string& target = kTarget) {
    host_gpu() = gpu;
    train(configuration(words, out), target, log_.log(), hooks);
    return host_gpu().machine;
  }
  static HostGpu pixels() { return {}; }
  static HostGpu images() { return {.prefers_pixels = false}; }
  static HostGpu late() {
    HostGpu gpu;
    gpu.machine->works_late = true;
    return gpu;
  }
  std::map<std::string, std::vector<std::byte>> weights(const std::string& out) const {
    std::map<std::string, std::vector<std::byte>> result;
    for (const auto& [name, tensor] :
         checkpoint::load_newest(folder() / out / "checkpoints").checkpoint.tensors) {
      result[name] = tensor.bytes;
    }
    return result;
  }
  std::string text_of(const std::filesystem::path& file) const {
    std::ifstream stream(folder() / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// Nine events to train on, one of which has this charge somewhere.
  void write_events_with(std::int64_t odd, float charge) const {
    data::larcv::EventFileWriter writer(folder() / "train.h5", {.existing = Existing::replace});
    for (std::int64_t i = 0; i < 9; ++i) {
      data::SparseEvent event = data::random_event(data::grid_of(16, 32), 0.2, 1, i);
      if (i == odd) {
        event.image[0].values[0] = charge;
      }
      writer.begin_event(event.id);
      writer.write_sparse("sbndwire", event.image);
      writer.write_sparse("sbnd_cosmicseg", event.labels);
    }
    writer.commit();
  }
  /// What the first batches of a stream take as pixels.
  std::int64_t pixel_bytes(run::Stream stream, int batches) const {
    const auto data = run::open_run_data(configuration({"data.seed=7"}, "out"), stream, {}, {},
                                         {.form = data::BatchForm::pixels});
    std::int64_t bytes = 0;
    for (int batch = 0; batch < batches; ++batch) {
      bytes += data->next().bytes();
    }
    return bytes;
  }

  RunFolder folder_;
  KeptLog log_;
};

TEST_F(GpuFeed, trains_and_validates_on_pixels_with_the_bits_of_images) {
  const std::int64_t sparse = run("pixels", pixels())->bytes_uploaded;
  const std::int64_t dense = run("images", images())->bytes_uploaded;
  EXPECT_EQ(weights("pixels"), weights("images"));
  EXPECT_EQ(text_of("pixels/test_metrics.csv"), text_of("images/test_metrics.csv"));
  // Six updates, and validations before the third and the fifth. All else that goes up is the same.
  EXPECT_EQ(dense - sparse, 8 * kDenseBytes - pixel_bytes(run::Stream::training, 6) -
                                pixel_bytes(run::Stream::validation, 2));
}

TEST_F(GpuFeed, has_the_same_bits_however_late_the_device_fetches_what_it_was_given) {
  run("early", pixels());
  run("late", late());
  EXPECT_EQ(weights("early"), weights("late"));
}

TEST_F(GpuFeed, takes_several_batches_of_pixels_for_an_update_with_the_bits_of_images) {
  const std::vector<std::string> accumulation{"mode.optimizer.gradient_accumulation=3",
                                              "run.length=3"};
  run("pixels", pixels(), accumulation, {}, "cpu");
  run("images", images(), accumulation, {}, "cpu");
  EXPECT_EQ(weights("pixels"), weights("images"));
}

TEST_F(GpuFeed, brings_the_next_batch_up_while_an_update_is_in_flight_but_none_after_the_last) {
  HostGpu gpu;
  gpu.machine->writes_down = true;
  run("out", gpu, {"data.aux_file=none.h5", "run.length=4"});
  std::vector<std::string> after_replay;
  const std::vector<std::string>& given = gpu.machine->given;
  for (std::size_t i = 0; i + 1 < given.size(); ++i) {
    if (given[i] == "replay" && given[i + 1] != "replay") {
      after_replay.push_back(given[i + 1].substr(0, given[i + 1].find(' ')));
    }
  }
  EXPECT_THAT(after_replay, testing::ElementsAre("upload", "upload", "upload", "wait"));
}

TEST_F(GpuFeed, goes_on_where_it_stopped_although_it_had_read_ahead) {
  run("whole", pixels());
  TrainingHooks hooks;
  hooks.stop_requested = [left = 2]() mutable { return --left <= 0; };
  run("out", pixels(), {}, hooks);
  EXPECT_THAT(checkpoint::load_newest(folder() / "out" / "checkpoints").checkpoint.run.loader,
              HasSubstr("next_sample=4"));
  run("out", pixels());
  EXPECT_EQ(weights("out"), weights("whole"));
}

TEST_F(GpuFeed, allocates_nothing_on_the_device_and_pins_nothing_after_the_first_batches) {
  const std::int64_t few = run("few", pixels(), {"run.length=6"})->allocations;
  const std::int64_t many = run("many", pixels(), {"run.length=18"})->allocations;
  EXPECT_EQ(few, many);
}

TEST_F(GpuFeed, is_profiled_with_the_same_bits) {
  run("plain", pixels());
  run("profiled", late(), {"run.profile=true"});
  EXPECT_EQ(weights("plain"), weights("profiled"));
}

TEST_F(GpuFeed, stops_at_a_loss_that_is_not_finite_with_the_state_and_the_place_before_it) {
  write_events_with(5, -2);  // whose logarithm is none
  const auto error_of = [&](const std::string& out, const HostGpu& gpu) {
    try {
      run(out, gpu, {"data.order=serial_access", "data.img_transform=true"});
    } catch (const NonFiniteLoss& error) {
      return error;
    }
    throw std::runtime_error("the loss stayed finite");
  };
  const NonFiniteLoss sparse = error_of("pixels", pixels());
  const NonFiniteLoss dense = error_of("images", images());
  EXPECT_EQ(sparse.step, 2);
  EXPECT_EQ(dense.step, 2);
  ASSERT_EQ(sparse.events.size(), 2U);
  EXPECT_EQ(sparse.events[1].entry, 5);
  const checkpoint::Checkpoint a = checkpoint::load_checkpoint(sparse.checkpoint);
  const checkpoint::Checkpoint b = checkpoint::load_checkpoint(dense.checkpoint);
  EXPECT_THAT(a.run.loader, HasSubstr("next_sample=4"));
  EXPECT_EQ(a.run.loader, b.run.loader);
  for (const auto& [name, tensor] : a.tensors) {
    EXPECT_EQ(tensor.bytes, b.tensors.at(name).bytes) << name;
  }
}

TEST_F(GpuFeed, tells_of_an_event_that_cannot_be_read_when_its_turn_comes) {
  write_events_with(5, 3e38F);
  const auto error_of = [&](const std::string& out, const HostGpu& gpu) {
    try {
      run(out, gpu, {"data.order=serial_access", "mode.checkpoint_iteration=2"});
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string error = error_of("pixels", pixels());
  EXPECT_THAT(error, HasSubstr("65504"));
  EXPECT_EQ(error_of("images", images()), error);
  EXPECT_EQ(weights("pixels"), weights("images")) << "two updates were made before";
}

TEST_F(GpuFeed, tags_pixels_as_it_tags_images) {
  run("out", pixels());
  const auto tagged = [&](const HostGpu& gpu, const std::string& name) {
    host_gpu() = gpu;
    const config::Configuration inference =
        tiny_configuration(folder(), config::Mode::inference,
                           {"mode.output_file=" + (folder() / name).string(),
                            "mode.weights_location=" + (folder() / "out" / "checkpoints").string(),
                            "output_dir=" + (folder() / (name + "_out")).string()});
    const infer::InferenceSummary summary = infer::infer(inference, kTarget, log_.log());
    EXPECT_EQ(summary.events, 9);
    EXPECT_EQ(summary.batches, 5);
    return summary.scores;
  };
  const output::Metrics scores = tagged(images(), "images.h5");
  for (const auto& [name, gpu] : {std::pair("pixels.h5", pixels()), std::pair("late.h5", late())}) {
    const output::Metrics same = tagged(gpu, name);
    ASSERT_EQ(same.size(), scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_EQ(same[i].value, scores[i].value) << scores[i].key;
    }
    EXPECT_EQ(text_of(name), text_of("images.h5"));
  }
}

TEST_F(GpuFeed, evaluates_pixels_as_it_evaluates_images) {
  run("out", pixels());
  const auto measured = [&](const HostGpu& gpu) {
    host_gpu() = gpu;
    return report::evaluation::measure(
        tiny_configuration(
            folder(), config::Mode::inference,
            {"mode.weights_location=" + (folder() / "out" / "checkpoints").string()}),
        kTarget, log_.log());
  };
  const report::evaluation::Evaluation a = measured(pixels());
  const report::evaluation::Evaluation b = measured(images());
  ASSERT_EQ(a.events.size(), 9U);
  for (std::size_t i = 0; i < a.events.size(); ++i) {
    EXPECT_EQ(a.events[i].score, b.events[i].score);
    EXPECT_EQ(a.events[i].tagged_without_charge, b.events[i].tagged_without_charge);
  }
  ASSERT_EQ(a.cosmic_only, b.cosmic_only);
  ASSERT_EQ(a.selection.has_value(), b.selection.has_value());
  if (a.selection) {
    EXPECT_EQ(a.selection->separation(), b.selection->separation())
        << "events without their neutrino";
  }
}

TEST_F(GpuFeed, brings_each_micro_batch_of_a_call_up_once_and_ahead) {
  const auto data = run::open_run_data(configuration({}, "out"), run::Stream::training, {}, {},
                                       {.form = data::BatchForm::pixels, .in_use = 2});
  const std::vector<session::SparseBatch> batches{run::sparse_batch(data->next()),
                                                  run::sparse_batch(data->next())};
  const config::Configuration tiny = configuration({}, "out");
  const model::UResNet network(tiny.network);
  const auto logits_of = [&](const HostGpu& gpu) {
    host_gpu() = gpu;
    session::Options options;
    options.target = kTarget;
    options.device_iterations = 2;
    session::InferenceModel model(network, options);
    model.compile(run::batch_types(tiny, data->shape()).image);
    gpu.machine->writes_down = true;
    std::vector<float> all;
    for (int call = 0; call < 3; ++call) {
      model.submit(batches);
      if (call < 2) {
        model.stage(batches);
      }
      const std::span<const float> logits = model.wait();
      all.insert(all.end(), logits.begin(), logits.end());
    }
    return all;
  };
  const HostGpu early = pixels();
  EXPECT_EQ(logits_of(early), logits_of(late()));
  std::string order;
  for (const std::string& given : early.machine->given) {
    order += given.front();  // u, r, w
  }
  // Offsets, places and values of a micro-batch are three uploads.
  EXPECT_THAT(order, testing::MatchesRegex("uuur+(uuuwr+){5}w"));
}

/// Four updates of a training, several of them in a call.
class GpuCalls : public GpuFeed {
 protected:
  static constexpr std::int64_t kUpdates = 4;

  GpuCalls() {
    const auto data =
        run::open_run_data(tiny_, run::Stream::training, {}, {}, {.form = data::BatchForm::images});
    types_ = run::batch_types(tiny_, data->shape());
    RandomStream random(3, "images");
    for (std::int64_t i = 0; i < kUpdates * types_.image.elements(); ++i) {
      image_.push_back(static_cast<float>(random.uniform()));
    }
    for (std::int64_t i = 0; i < kUpdates * types_.label.elements(); ++i) {
      label_.push_back(static_cast<std::uint8_t>(random.next() % 3));
    }
  }

  struct Outcome {
    std::map<std::string, std::vector<std::byte>> states;
    std::int64_t updates = 0;
  };

  Outcome train_on(const HostGpu& gpu, std::int64_t per_call, std::int64_t updates = kUpdates) {
    host_gpu() = gpu;
    const model::UResNet network(tiny_.network);
    const model::SegmentationLoss loss;
    session::Options options;
    options.target = kTarget;
    options.device_iterations = per_call;
    session::TrainingModel model(network, loss, compile::Adam{}, options);
    model.compile(types_);
    const auto of_call = [per_call](const auto& all, std::int64_t call) {
      const std::size_t size = all.size() / kUpdates * static_cast<std::size_t>(per_call);
      return std::span(all).subspan(static_cast<std::size_t>(call) * size, size);
    };
    Outcome outcome;
    for (std::int64_t call = 0; call < updates / per_call; ++call) {
      model.submit(of_call(image_, call), of_call(label_, call), 1e-3);
      if (call + 1 < updates / per_call) {
        model.stage(of_call(image_, call + 1), of_call(label_, call + 1));
      }
      model.wait();
      outcome.updates += model.last_call().updates;
    }
    for (const auto& [name, tensor] : model.state()->read_all()) {
      outcome.states[name] = tensor.bytes;
    }
    return outcome;
  }

  config::Configuration tiny_ = configuration({}, "out");
  session::BatchTypes types_;
  std::vector<float> image_;
  std::vector<std::uint8_t> label_;
};

TEST_F(GpuCalls, of_several_updates_have_the_bits_of_single_ones) {
  const Outcome single = train_on(pixels(), 1);
  const Outcome two = train_on(pixels(), 2);
  EXPECT_EQ(two.states, single.states);
  const Outcome four = train_on(late(), 4);
  EXPECT_EQ(four.states, single.states);
  EXPECT_EQ(four.updates, kUpdates);
}

TEST_F(GpuCalls, begin_an_update_before_the_host_has_seen_the_one_before) {
  HostGpu gpu = pixels();
  gpu.machine->writes_down = true;
  train_on(gpu, kUpdates);
  std::string order;
  for (const std::string& given : gpu.machine->given) {
    order += given == "replay" || given == "wait" ? given.substr(0, 1) : "";
  }
  // The waits before are for what is compiled, and those behind for states that are read.
  EXPECT_THAT(order, HasSubstr("rrwrwrww"));
}

TEST_F(GpuCalls, that_lose_their_loss_leave_the_state_before_it_whatever_is_in_flight) {
  // Of the third of four.
  image_[static_cast<std::size_t>(2 * types_.image.elements() + 5)] =
      std::numeric_limits<float>::quiet_NaN();
  const Outcome two = train_on(pixels(), 1, 2);
  for (const HostGpu& gpu : {pixels(), late()}) {
    const Outcome four = train_on(gpu, kUpdates);
    EXPECT_EQ(four.updates, 2);
    EXPECT_EQ(four.states, two.states);
  }
}

TEST_F(GpuFeed, is_measured_with_pixels_that_are_staged_as_in_a_run) {
  HostGpu gpu;
  gpu.machine->writes_down = true;
  host_gpu() = gpu;
  const run::Performance performance =
      run::measure_performance(configuration({"run.minibatch_size=1"}, "out"), kTarget,
                               {.shape = {16, 32}, .calls = 3, .calls_before = 1});
  EXPECT_EQ(performance.seconds.size(), 3U);
  const std::vector<std::string>& given = gpu.machine->given;
  const std::string image = "upload " + std::to_string(3 * 16 * 32 * 4);
  EXPECT_EQ(std::count(given.begin(), given.end(), image), 0) << "no image as a whole";
  EXPECT_EQ(std::count(given.begin(), given.end(), "replay"), 4);
}

}  // namespace
}  // namespace cosmic::train
