// The plain PyTorch part of a port kit against our own network, loss and optimizer, on the CPU.
// Needs a Python with PyTorch, NumPy and h5py (packages python3-torch, python3-h5py).
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "checkpoint/onnx/network_cases.hpp"
#include "config/parse.hpp"
#include "data/dense_image.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/predictions.hpp"
#include "data/sparse_events.hpp"
#include "model/segmentation_loss.hpp"
#include "port/kit_for_test.hpp"
#include "run/run_choices.hpp"
#include "session/safetensors.hpp"
#include "train/run_length.hpp"

namespace cosmic::port {
namespace {

using checkpoint::onnx::kColumns;
using checkpoint::onnx::kRows;
using checkpoint::onnx::NetworkCase;

constexpr std::int64_t kBatch = 2;
constexpr int kSteps = 10;
/// Larger ones take a tiny network from kink to kink: float32 and float64 part there in PyTorch
/// too.
constexpr double kRate = 1e-5;

class TorchKit : public testing::Test {
 protected:
  void SetUp() override {
    python_ = python_with("torch, numpy, h5py");
    if (!python_) {
      GTEST_SKIP() << "needs PyTorch (packages python3-torch, python3-h5py)";
    }
  }

  void run_python(const std::string& words) const {
    const CommandResult result = run_command(*python_ + " " + words);
    ASSERT_EQ(result.status, 0) << result.output;
  }

  std::optional<std::string> python_;
  ScratchFolder folder_;
  std::filesystem::path kit_ = folder_ / "kit";
};

/// Of the largest of ours.
double difference(std::span<const float> theirs, std::span<const float> ours) {
  EXPECT_EQ(theirs.size(), ours.size());
  double largest = 0;
  double worst = 0;
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    largest = std::max(largest, std::abs(double{ours[i]}));
    worst = std::max(worst, std::abs(double{ours[i]} - double{theirs[i]}));
  }
  return worst / largest;
}

struct TrainingCase {
  std::string name;
  model::UResNetOptions network;
  std::vector<std::string> words = {};  ///< settings of optimizer and loss

  friend std::ostream& operator<<(std::ostream& out, const TrainingCase& one) {
    return out << one.name;
  }
};

std::vector<TrainingCase> training_cases() {
  std::vector<TrainingCase> cases;
  const std::string optimizer = "mode.optimizer.";
  // Where gradients are rounding noise, Adam makes whole steps of noise: not with this epsilon.
  const std::string calm = optimizer + "epsilon=1e-2";
  for (const NetworkCase& one : checkpoint::onnx::network_cases()) {
    cases.push_back({one.name, one.options, {calm}});
  }
  using checkpoint::onnx::reduced;
  model::UResNetOptions shared = reduced("uresnet");
  shared.plane_statistics = model::PlaneStatistics::shared;
  cases.push_back({"shared_statistics", shared, {calm}});
  cases.push_back({"adamw_light",
                   reduced("a21"),
                   {calm, optimizer + "name=adamw", optimizer + "weight_decay=0.1",
                    optimizer + "loss_balance_scheme=light"}});
  cases.push_back({"rmsprop_even",
                   reduced("a21"),
                   {calm, optimizer + "name=rmsprop", optimizer + "loss_balance_scheme=even"}});
  cases.push_back({"sgd_unbalanced",
                   reduced("a21"),
                   {optimizer + "name=sgd", optimizer + "momentum=0.9",
                    optimizer + "loss_balance_scheme=none"}});
  cases.push_back(
      {"class_weights",
       reduced("a21"),
       {calm, optimizer + "class_weights.background=0.5", optimizer + "class_weights.neutrino=2"}});
  cases.push_back({"accumulated_sum",
                   reduced("a21"),
                   {calm, optimizer + "gradient_accumulation=2", "run.minibatch_size=1"}});
  cases.push_back({"accumulated_mean",
                   reduced("uresnet3d"),
                   {calm, optimizer + "gradient_accumulation=2",
                    optimizer + "accumulation_reduction=mean", "run.minibatch_size=1"}});
  return cases;
}

class TorchTraining : public TorchKit, public testing::WithParamInterface<TrainingCase> {};

/// One that a norm follows; it has no effect, and the kit leaves it alone.
bool is_cancelled_bias(const std::string& name, const session::NamedTensors& weights) {
  const std::string ending = "conv.bias";
  return name.ends_with(ending) &&
         weights.contains(name.substr(0, name.size() - ending.size()) + "norm.weight");
}

/// Where our weights moved, those of the kit moved alike.
void expect_moved_alike(const session::NamedTensors& theirs, const session::NamedTensors& ours,
                        const session::NamedTensors& before) {
  for (const auto& [name, tensor] : ours) {
    ASSERT_TRUE(theirs.contains(name)) << name;
    if (tensor.type.dtype != graph::DType::f32) {
      EXPECT_EQ(theirs.at(name).bytes, tensor.bytes) << name;
      continue;
    }
    if (is_cancelled_bias(name, ours)) {
      EXPECT_EQ(theirs.at(name).bytes, before.at(name).bytes) << name;
      continue;
    }
    const auto from = before.at(name).as<float>();
    double moved = 0;
    double apart = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      moved += std::abs(double{tensor.as<float>()[i]} - double{from[i]});
      apart += std::abs(double{tensor.as<float>()[i]} - double{theirs.at(name).as<float>()[i]});
    }
    EXPECT_LE(apart, 0.2 * moved + 1e-6 * static_cast<double>(from.size())) << name;
  }
}

TEST_P(TorchTraining, gives_our_logits_and_the_losses_and_weights_of_ten_updates) {
  const model::UResNet network(GetParam().network);
  session::InferenceModel inference = checkpoint::onnx::trained_model(network, kBatch);
  const session::NamedTensors before = inference.state()->read_weights();
  session::save_tensors(folder_ / "given.safetensors", before);
  const std::vector<float> image = checkpoint::onnx::some_image(kBatch);
  const std::vector<std::uint8_t> label = checkpoint::onnx::some_labels(kBatch);
  checkpoint::onnx::write_floats(folder_ / "image", image);
  std::ofstream(folder_ / "label", std::ios::binary)
      .write(reinterpret_cast<const char*>(label.data()),
             static_cast<std::streamsize>(label.size()));

  std::vector<std::string> words = words_of(GetParam().network);
  words.insert(words.end(), {"data=synthetic", "run.minibatch_size=2", "run.threads=1"});
  words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
  const run::ExportSource source{.settings = words, .weights = folder_ / "given.safetensors"};
  write_kit({.source = source, .output = kit_, .rows = kRows, .columns = kColumns});
  run_python("tests/port/run_kit.py '" + kit_.string() + "' '" + folder_.path().string() + "' '" +
             folder_.path().string() + "' " + std::to_string(kBatch) + "," + std::to_string(kRows) +
             "," + std::to_string(kColumns) + " " + std::to_string(kRate) + " " +
             std::to_string(kSteps));

  EXPECT_LT(difference(checkpoint::onnx::read_floats(folder_ / "logits"), inference(image)), 1e-4);

  const config::Configuration configuration =
      run::load_for_export(
          source, config::Mode::train, config::Command::train,
          {.warning = [](const checkpoint::Warning&) {}, .note = [](const std::string&) {}})
          .configuration;
  const model::SegmentationLoss loss = run::loss_of(configuration.mode.optimizer);
  session::TrainingModel training(network, loss, run::optimizer_of(configuration.mode.optimizer),
                                  run::training_options(configuration, "cpu"));
  training.compile(run::batch_types(configuration, {kRows, kColumns}));
  training.state()->write_weights(before);
  std::vector<float> losses;
  for (int step = 0; step < kSteps; ++step) {
    losses.push_back(static_cast<float>(training(image, label, kRate).loss));
  }
  EXPECT_LT(losses.back(), losses.front()) << "nothing was learnt, so nothing was compared";
  EXPECT_LT(difference(checkpoint::onnx::read_floats(folder_ / "losses"), losses), 1e-3);
  expect_moved_alike(session::load_tensors(folder_ / "weights.safetensors").tensors,
                     training.state()->read_weights(), before);
}

INSTANTIATE_TEST_SUITE_P(Networks, TorchTraining, testing::ValuesIn(training_cases()),
                         [](const auto& one) { return one.param.name; });

/// Events on the grid that the tiny network takes after one halving.
class TorchKitFiles : public TorchKit {
 protected:
  void write_events() const {
    data::larcv::EventFileWriter writer(folder_ / "events.h5");
    for (std::int64_t i = 0; i < kEvents; ++i) {
      const data::SparseEvent event =
          data::random_event(data::grid_of(2 * kRows, 2 * kColumns), 0.2, 5, i);
      writer.begin_event(event.id);
      writer.write_sparse("sbndwire", event.image);
      writer.write_sparse("sbnd_cosmicseg", event.labels);
    }
    writer.commit();
  }

  void write_kit_for_events(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = words_of(checkpoint::onnx::reduced("a21"));
    words.insert(words.end(), {"data.file=" + (folder_ / "events.h5").string(), "data.downsample=1",
                               "run.iterations=3", "framework.seed=3"});
    words.insert(words.end(), more.begin(), more.end());
    write_kit({.source = {.settings = words}, .output = kit_, .rows = kRows, .columns = kColumns});
  }

  static constexpr std::int64_t kEvents = 3;
};

TEST_F(TorchKitFiles, reads_the_images_and_labels_that_our_loader_makes) {
  write_events();
  for (const char* transform : {"False", "True"}) {
    std::filesystem::remove_all(kit_);
    write_kit_for_events({std::string("data.img_transform=") + transform});
    run_python("-c \"import sys; sys.path.insert(0, '" + kit_.string() +
               "'); import loop, events, numpy\n"
               "settings = loop.load_settings()\n"
               "source = events.training_events(settings)\n"
               "all = [source.image(i) for i in range(len(source))]\n"
               "numpy.stack(all).astype('float32').tofile('" +
               (folder_ / "images").string() +
               "')\n"
               "all = [source.label(i) for i in range(len(source))]\n"
               "numpy.stack(all).astype('float32').tofile('" +
               (folder_ / "labels").string() + "')\"");
    const data::larcv::LarcvSource source({.files = {folder_ / "events.h5"}});
    const bool logarithmic = std::string(transform) == "True";
    data::DenseConverter converter(
        source.meta(),
        {.downsample = 1,
         .scale = logarithmic ? data::ChargeScale::logarithmic : data::ChargeScale::linear});
    const std::size_t pixels = converter.shape().event_pixels();
    std::vector<float> images(kEvents * pixels);
    std::vector<std::uint8_t> labels(kEvents * pixels);
    data::SparseEvent event;
    for (std::size_t i = 0; i < kEvents; ++i) {
      source.reader()->read(static_cast<std::int64_t>(i), event);
      converter.convert(event, {std::span(images).subspan(i * pixels, pixels),
                                std::span(labels).subspan(i * pixels, pixels)});
    }
    const std::vector<float> theirs = checkpoint::onnx::read_floats(folder_ / "images");
    EXPECT_LT(difference(theirs, images), logarithmic ? 1e-6 : 1e-12);
    EXPECT_EQ(checkpoint::onnx::read_floats(folder_ / "labels"),
              std::vector<float>(labels.begin(), labels.end()));
  }
}

TEST_F(TorchKitFiles, trains_and_hands_back_weights_that_we_read) {
  write_events();
  write_kit_for_events();
  run_python("'" + (kit_ / "on_torch.py").string() + "' train --output '" +
             (folder_ / "trained.safetensors").string() + "'");
  const model::UResNet network(checkpoint::onnx::reduced("a21"));
  session::InferenceModel inference = checkpoint::onnx::trained_model(network);
  session::load_weights(folder_ / "trained.safetensors", *inference.state());
  const std::string counter = "initial_convolution.norm.num_batches_tracked";
  EXPECT_EQ(inference.state()->read(counter).as<std::int64_t>()[0], 3 * 3) << "updates x planes";
}

TEST_F(TorchKitFiles, finds_events_from_its_own_folder_and_in_another_that_is_named) {
  write_events();
  const std::filesystem::path events = folder_ / "events.h5";
  write_kit_for_events({"data.file=" + std::filesystem::relative(events).string()});
  const nlohmann::json settings = nlohmann::json::parse(content_of(kit_ / "settings.json"));
  EXPECT_EQ(settings["files"], nlohmann::json({"../events.h5"}));
  const std::string train = " '" + (kit_ / "on_torch.py").string() + "' ";
  const std::string once = "train --steps 1 --output '" + (folder_ / "out").string() + "'";
  run_python(train + once);
  const std::filesystem::path elsewhere = folder_ / "elsewhere";
  std::filesystem::create_directory(elsewhere);
  std::filesystem::rename(events, elsewhere / "events.h5");
  const CommandResult missing = run_command("OMP_NUM_THREADS=1 " + *python_ + train + once);
  EXPECT_NE(missing.status, 0);
  EXPECT_THAT(missing.output, testing::AllOf(testing::HasSubstr("events.h5 cannot be read"),
                                             testing::HasSubstr("--events FOLDER"),
                                             testing::Not(testing::HasSubstr("Traceback"))));
  run_python(train + "--events '" + elsewhere.string() + "' " + once);
}

TEST_F(TorchKitFiles, writes_tags_that_we_read) {
  write_events();
  write_kit_for_events();
  run_python("'" + (kit_ / "on_torch.py").string() + "' tag '" + (folder_ / "events.h5").string() +
             "' --output '" + (folder_ / "tags.h5").string() + "'");
  for (std::int64_t entry = 0; entry < kEvents; ++entry) {
    const std::optional<data::SparseImage> tags =
        data::larcv::read_tags(folder_ / "tags.h5", entry);
    ASSERT_TRUE(tags);
    for (const data::SparsePlane& plane : *tags) {
      EXPECT_EQ(plane.meta.rows(), kRows);
      EXPECT_GT(plane.ids.size(), 100U);
    }
  }
}

TEST_F(TorchKitFiles, writes_a_record_of_what_a_step_takes) {
  write_events();
  write_kit_for_events();
  run_python("'" + (kit_ / "on_torch.py").string() + "' measure --steps 4 --output '" +
             (folder_ / "record.json").string() + "'");
  const nlohmann::json record = nlohmann::json::parse(content_of(folder_ / "record.json"));
  EXPECT_EQ(record["format"], "cosmictagger record 1");
  EXPECT_EQ(record["machine"], "torch");
  EXPECT_EQ(record["step"]["events"], 2);
  EXPECT_EQ(record["step"]["all_seconds"].size(), 3U) << "the first also compiles";
  EXPECT_GT(record["step"]["seconds"], 0);
  EXPECT_GT(record["peak_bytes"], 1'000'000);
  EXPECT_EQ(record["settings"]["configuration"]["network"]["depth"], 3);
}

TEST_F(TorchKitFiles, follows_the_schedules_of_a_run) {
  write_events();
  for (const std::string schedule :
       {"reference", "flat", "warmup_flat_decay", "one_cycle", "cosine"}) {
    std::filesystem::remove_all(kit_);
    write_kit_for_events({"mode.optimizer.schedule=" + schedule});
    run_python("-c \"import sys; sys.path.insert(0, '" + kit_.string() +
               "'); import loop, schedule, numpy\n"
               "optimizer = loop.load_settings()['configuration']['mode']['optimizer']\n"
               "rates = [schedule.learning_rate(optimizer, step, 2, 20, 100)"
               " for step in range(300)]\n"
               "numpy.array(rates, 'float32').tofile('" +
               (folder_ / "rates").string() + "')\"");
    std::vector<std::string> words{"mode.optimizer.schedule=" + schedule};
    const config::Configuration configuration =
        config::parse(words, {.mode = config::Mode::train, .missing = config::MissingKeys::leave})
            .configuration;
    const train::Schedule ours = train::schedule_of(configuration, 20, 100);
    std::vector<float> rates;
    for (std::int64_t step = 0; step < 300; ++step) {
      rates.push_back(static_cast<float>(train::learning_rate(ours, step)));
    }
    EXPECT_LT(difference(checkpoint::onnx::read_floats(folder_ / "rates"), rates), 1e-6)
        << schedule;
  }
}

}  // namespace
}  // namespace cosmic::port
