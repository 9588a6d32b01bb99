// Times the training step of the Fashion-MNIST example: batches of 16 pictures, as small as the
// steps of CosmicTagger are large. It refuses to time a wrong answer: first the losses of a few
// steps must be those of the reference target.
//
//   cosmic_fashion_bench --threads 2 --profile
//   cosmic_fashion_bench --target cuda --iterations 50
//
// prints one line of JSON; an iteration is an update, and --iterations of them make a call.
// bench/compare_fashion runs it beside PyTorch.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/random.hpp"
#include "core/stopwatch.hpp"
#include "core/threads.hpp"
#include "model/fashion_mnist.hpp"
#include "session/model.hpp"
#include "target/registry.hpp"

namespace {

using namespace cosmic;

constexpr std::int64_t kBatch = 16;
constexpr double kLearningRate = 0.001;
constexpr const char* kOracle = "reference";
constexpr int kCheckedSteps = 5;  // later losses also depend on gradients, moments and updates
constexpr double kTolerance = 1e-5;

struct BenchOptions {
  int windows = 30;    // a figure is the median over these
  int steps = 200;     // in a window: a step alone is too short for a clock and a busy machine
  int iterations = 1;  // of a step
  int threads = 0;
  std::string target = target::target_names().front();
  bool profile = false;
};

struct Batch {
  std::vector<float> image;
  std::vector<std::uint8_t> label;

  explicit Batch(std::int64_t pictures) {
    RandomStream pixels(0, "image");
    RandomStream classes(0, "label");
    for (std::int64_t i = 0; i < pictures * 28 * 28; ++i) {
      image.push_back(static_cast<float>(pixels.uniform(-1, 1)));
    }
    for (std::int64_t i = 0; i < pictures; ++i) {
      label.push_back(static_cast<std::uint8_t>(classes.next() % 10));
    }
  }
};

/// A compiled training step with its batches, one for each iteration.
class Trainer {
 public:
  Trainer(const std::string& target, int threads, int iterations)
      : batch_(kBatch * iterations), model_(network_, loss_, compile::Sgd{.momentum = 0.9}, [&] {
          session::Options options;
          options.target = target;
          options.threads = threads;
          options.device_iterations = iterations;
          return options;
        }()) {
    model_.compile({{graph::DType::f32, {kBatch, 1, 28, 28}}, {graph::DType::u8, {kBatch}}});
  }

  /// The next step is told of its batches while this one runs, as a training does.
  double step() {
    model_.submit(batch_.image, batch_.label, kLearningRate);
    model_.stage(batch_.image, batch_.label);
    return model_.wait().loss;
  }
  const session::TrainingModel& model() const { return model_; }

 private:
  model::FashionMnist network_;
  model::NegativeLogLikelihoodLoss loss_;
  Batch batch_;
  session::TrainingModel model_;
};

/// Says how far the first losses are from the reference's. Throws if that is too far.
std::string check(const BenchOptions& options) {
  Trainer ours(options.target, options.threads, 1);
  Trainer reference(kOracle, 1, 1);
  double difference = 0;
  for (int step = 0; step < kCheckedSteps; ++step) {
    const double apart = std::abs(ours.step() - reference.step());
    difference = apart <= difference ? difference : apart;  // a NaN stays
  }
  std::ostringstream text;
  text << "losses of " << kCheckedSteps << " steps differ from the " << kOracle << "'s by at most "
       << difference << " (limit " << kTolerance << ")";
  COSMIC_REQUIRE(InternalError, difference <= kTolerance,
                 "wrong answer: " << text.str() << "; timing it would be meaningless");
  return text.str();
}

void print_ops(Trainer& trainer) {
  constexpr int kRuns = 500;
  std::vector<session::OpTiming> sums = trainer.model().timings();
  for (int run = 1; run < kRuns; ++run) {
    trainer.step();
    const std::vector<session::OpTiming> timings = trainer.model().timings();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      // The fastest of all: a busy machine only ever adds.
      sums[i].seconds = std::min(sums[i].seconds, timings[i].seconds);
    }
  }
  double total = 0;
  for (const session::OpTiming& op : sums) {
    total += op.seconds;
    std::fprintf(stderr, "%-28s %-22s %8.2f us %8.1f Gflop/s\n", op.op.c_str(),
                 graph::to_string(op.type.shape).c_str(), 1e6 * op.seconds,
                 op.cost.flops / op.seconds / 1e9);
  }
  std::fprintf(stderr, "%-51s %8.2f us\n", "all", 1e6 * total);
}

void bench(const BenchOptions& options) {
  const std::string checked = check(options);
  Trainer trainer(options.target, options.threads, options.iterations);
  std::vector<double> seconds;
  for (int window = 0; window <= options.windows; ++window) {
    const Stopwatch watch;
    for (int step = 0; step < options.steps; ++step) {
      trainer.step();
    }
    seconds.push_back(watch.seconds() / options.steps / options.iterations);
  }
  seconds.erase(seconds.begin());  // the first window warms up
  std::sort(seconds.begin(), seconds.end());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double median = seconds[seconds.size() / 2];
  const nlohmann::ordered_json line{
      {"peer", "cosmictagger"},
      {"net", "fashion_mnist"},
      {"mode", "train"},
      {"target", options.target},
      {"threads", options.threads},
      {"device_iterations", options.iterations},
      {"seconds_median", median},
      {"seconds_min", seconds.front()},
      {"iterations_per_second", 1 / median},
      {"best_iterations_per_second", 1 / seconds.front()},
      {"peak_rss_mb", static_cast<double>(usage.ru_maxrss) / 1024},
      {"compile_seconds", trainer.model().report().seconds},
      {"gflop", trainer.model().report().flops / 1e9},
      {"checked", checked},
  };
  std::cout << line.dump() << std::endl;
  if (options.profile) {
    print_ops(trainer);
  }
}

}  // namespace

int main(int argc, char** argv) {
  BenchOptions options;
  CLI::App app("Times the training step of the Fashion-MNIST example, after checking its losses.");
  app.add_option("--windows", options.windows)->check(CLI::PositiveNumber);
  app.add_option("--steps", options.steps, "Steps of a window")->check(CLI::PositiveNumber);
  app.add_option("--iterations", options.iterations, "Updates of a step (device iterations)")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "0 for all cores")->check(CLI::NonNegativeNumber);
  app.add_option("--target", options.target);
  app.add_flag("--profile", options.profile, "Also print the time of each op");
  CLI11_PARSE(app, argc, argv);
  try {
    options.threads = options.threads == 0 ? available_cores() : options.threads;
    bench(options);
    return 0;
  } catch (const Error& error) {
    std::cerr << "cosmic_fashion_bench: error: " << error.what() << '\n';
    return exit_status(error);
  }
}
