// The Fashion-MNIST tutorial: train a small network to tell ten kinds of clothes apart, then
// measure its accuracy on pictures it has not seen.
//
//   fashion_mnist --epochs 5 --compute-mode CPU
//
// The machine is an option; nothing else here knows about it. docs/porting.md walks through this.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <string>

#include "cli/counted_bar.hpp"
#include "cli/published_job.hpp"
#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "data/idx/fashion_mnist_samples.hpp"
#include "data/loader/batch_loader.hpp"
#include "model/fashion_mnist.hpp"
#include "session/model.hpp"
#include "target/registry.hpp"

namespace {

using namespace cosmic;
using data::FashionMnist;
using data::FashionMnistPart;

constexpr std::int64_t kBatch = 16;
constexpr double kLearningRate = 0.001;
constexpr double kMomentum = 0.9;

struct Arguments {
  int epochs = 5;
  std::string data{FashionMnist::kDebianFolder};
  std::string compute_mode = "CPU";
  std::string softmax_axis = "classes";
  std::string cache;
};

/// The same options, plus a progress bar for compiling.
session::Options with_bar(session::Options options, cli::CountedBar& bar) {
  options.progress = [&bar](double done, const std::string&) {
    if (bar.is_due()) {
      bar.draw(std::lround(100 * done));
    }
  };
  return options;
}

/// Pictures are small, so the thread that trains reads them itself.
data::LoaderOptions epochs_of(data::OrderKind order) {
  return {.batch = kBatch, .order = {.kind = order, .passes = data::Passes::epochs}, .threads = 0};
}

void finish(cli::CountedBar& bar, const session::CompileReport& report) {
  bar.finish();
  for (const std::string& file : report.found_in) {
    fmt::print("Found compiled in {}\n", file);
  }
  if (report.prediction) {
    fmt::print("On {} a batch would take {}\n", report.prediction->machine,
               to_string(report.prediction->step));
  }
}

/// Tells `cosmictagger monitor` what this process does.
class Job {
 public:
  Job(const Arguments& arguments, const std::string& target)
      : published_(description(arguments, target)) {
    published_.compiling();
  }

  void begin_training(std::int64_t batches) {
    batches_ = batches;
    since_start_.restart();
  }
  void show_batch(double loss, const session::CompileReport& report) {
    ++done_;
    published_.publish(
        {.state = monitor::JobState::running,
         .unit = monitor::JobUnit::steps,
         .done = done_,
         .total = batches_,
         .host_events_per_second = static_cast<double>(done_ * kBatch) / since_start_.seconds(),
         .modelled = cli::modelled_rate(machine::event_rate(report.prediction, kBatch)),
         .loss = loss});
  }

 private:
  static monitor::JobDescription description(const Arguments& arguments,
                                             const std::string& target) {
    monitor::JobDescription job = cli::job_on(target, "");
    job.command = "fashion_mnist";
    job.compute_mode = arguments.compute_mode;
    return job;
  }

  cli::PublishedJob published_;
  Stopwatch since_start_;
  std::int64_t done_ = 0;
  std::int64_t batches_ = 0;
};

void train(session::TrainingModel& training, const Arguments& arguments, Job& job) {
  const data::FashionMnistSamples pictures(
      load_fashion_mnist(arguments.data, FashionMnistPart::train));
  data::BatchLoader batches(pictures, epochs_of(data::OrderKind::shuffled));
  job.begin_training(arguments.epochs * batches.batches_per_epoch());
  for (int epoch = 1; epoch <= arguments.epochs; ++epoch) {
    cli::CountedBar bar(marked(fmt::format("[Epoch {:02}]", epoch), training.report().provenance),
                        batches.batches_per_epoch(), cli::Rate::shown);
    std::int64_t done = 0;
    double loss = 0;
    while (const data::Batch* batch = batches.next()) {
      loss = training(batch->images, batch->labels, kLearningRate).loss;
      job.show_batch(loss, training.report());
      if (++done; bar.is_due()) {
        bar.draw(done, fmt::format("Loss={:.3g}", loss));
      }
    }
    bar.finish(fmt::format("Loss={:.3g}", loss));
  }
}

/// The share of pictures that the model classifies correctly.
double accuracy(session::InferenceModel& inference, const Arguments& arguments) {
  const data::FashionMnistSamples pictures(
      load_fashion_mnist(arguments.data, FashionMnistPart::test));
  data::BatchLoader batches(pictures, epochs_of(data::OrderKind::serial_access));
  std::int64_t right = 0;
  while (const data::Batch* batch = batches.next()) {
    const float* scores = inference(batch->images).data();
    for (const std::uint8_t label : batch->labels) {
      right += std::max_element(scores, scores + FashionMnist::kClasses) - scores == label ? 1 : 0;
      scores += FashionMnist::kClasses;
    }
  }
  return static_cast<double>(right) / static_cast<double>(batches.batches_per_epoch() * kBatch);
}

void run(const Arguments& arguments) {
  const model::FashionMnist network(model::parse_enum<model::SoftmaxAxis>(arguments.softmax_axis));
  const model::NegativeLogLikelihoodLoss loss;
  const graph::TensorType image{graph::DType::f32,
                                {kBatch, 1, FashionMnist::kRows, FashionMnist::kColumns}};
  const graph::TensorType label{graph::DType::u8, {kBatch}};
  session::Options options;
  options.target = target::target_of_compute_mode(arguments.compute_mode);
  options.executable_cache = arguments.cache;

  Job job(arguments, options.target);

  // Forward, backward and update are one program. It is compiled once, before the first batch.
  cli::CountedBar training_bar("Graph compilation", 100);
  session::TrainingModel training(network, loss, compile::Sgd{.momentum = kMomentum},
                                  with_bar(options, training_bar));
  finish(training_bar, training.compile({image, label}));
  train(training, arguments, job);

  // Another program, the same weights.
  cli::CountedBar inference_bar("Graph compilation", 100);
  session::InferenceModel inference(network, with_bar(options, inference_bar), training.state());
  finish(inference_bar, inference.compile(image));
  fmt::print("Eval accuracy: {:.2f}%\n", 100 * accuracy(inference, arguments));
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Trains and tests a small classifier on Fashion-MNIST.");
  app.add_option("--epochs", arguments.epochs, "Passes over the 60,000 pictures")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--data", arguments.data, "Folder of the four IDX files, gzipped or not")
      ->capture_default_str();
  app.add_option("--compute-mode", arguments.compute_mode, "CPU, GPU, XPU, HPU, IPU or RDU")
      ->capture_default_str();
  app.add_option("--softmax-axis", arguments.softmax_axis,
                 "Axis over which probabilities sum to one: classes, or batch as in the tutorial")
      ->capture_default_str();
  app.add_option("--cache", arguments.cache, "Cache folder for compiled programs");
  CLI11_PARSE(app, argc, argv);
  try {
    run(arguments);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "fashion_mnist: error: {}\n", error.what());
    return exit_status(error);
  }
}
