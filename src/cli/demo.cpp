// `cosmictagger demo`: trains a small network on generated events for a minute and shows what it
// has learnt.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>

#include "cli/bar_chart.hpp"
#include "cli/commands.hpp"
#include "cli/demo_events.hpp"
#include "cli/progress_bar.hpp"
#include "core/error.hpp"
#include "core/threads.hpp"
#include "data/event.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "picture/picture.hpp"
#include "session/model.hpp"

namespace cosmic::cli {
namespace {

constexpr std::int64_t kBatch = 2;
constexpr double kPeakLearningRate = 3e-3;
constexpr std::size_t kSmoothing = 25;               // steps that a shown figure is the mean of
constexpr std::int64_t kShownEvent = 1'000'000'000;  // beyond any event that is trained on

struct DemoOptions {
  double seconds = 60;
  int threads = 0;
  std::uint64_t seed = 1;
  std::int64_t rows = 128;
  std::int64_t columns = 192;
  std::filesystem::path picture = "demo_event.png";
};

/// a21 with fewer levels: its way of working, in a size that learns within a minute.
model::UResNetOptions small_a21() {
  model::UResNetOptions options = model::preset("a21");
  options.name = "small A21";
  options.depth = 4;
  options.blocks_per_layer = 1;
  options.blocks_deepest_layer = 2;
  options.bottleneck_deepest = 32;
  return options;
}

graph::TensorType batch_of(std::int64_t events, graph::DType dtype, const DemoOptions& options) {
  return {dtype, {events, data::kPlanes, options.rows, options.columns}};
}

session::Options session_options(const DemoOptions& options, ProgressBar& bar) {
  session::Options run;
  run.threads = options.threads;
  run.seed = options.seed;
  run.progress = [&bar](double done, const std::string& what) {
    bar.update(done, "compiling: " + what);
  };
  return run;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double recent(const std::vector<double>& values) {
  return mean_of(std::span(values).last(std::min(kSmoothing, values.size())));
}

/// Warms up over the first twentieth, then falls to nothing along a cosine.
double learning_rate(double done) {
  constexpr double kWarmUp = 0.05;
  return done < kWarmUp ? kPeakLearningRate * (0.1 + 0.9 * done / kWarmUp)
                        : kPeakLearningRate * 0.5 * (1 + std::cos(std::numbers::pi * done));
}

struct History {
  std::vector<double> loss;
  std::vector<double> accuracy;  ///< on pixels that belong to a track
  std::vector<double> overlap;   ///< mean intersection over union of the two kinds of track
  double seconds = 0;
  double generating_seconds = 0;

  double events() const { return static_cast<double>(loss.size()) * static_cast<double>(kBatch); }
};

std::size_t score_index(const std::string& name) {
  const std::vector<std::string> names = model::score_names();
  const auto found = std::find(names.begin(), names.end(), name);
  COSMIC_ASSERT(found != names.end());
  return static_cast<std::size_t>(found - names.begin());
}

std::string progress_text(const History& history, double seconds) {
  return fmt::format("{:.1f} events/s  loss {:.4f}  accuracy {:.1f} %  mIoU {:.3f}",
                     history.events() / seconds, recent(history.loss),
                     100 * recent(history.accuracy), recent(history.overlap));
}

History train(session::TrainingModel& training, const DemoOptions& options) {
  DemoEvents events(options.rows, options.columns, options.seed);
  const std::size_t accuracy = score_index("Average/Non_Bkg_Accuracy");
  const std::size_t overlap = score_index("Average/mIoU");
  std::vector<float> image;
  std::vector<std::uint8_t> label;
  History history;
  ProgressBar bar;
  const Stopwatch watch;
  for (std::int64_t event = 0; watch.seconds() < options.seconds;) {
    const double began = watch.seconds();
    image.clear();
    label.clear();
    for (std::int64_t i = 0; i < kBatch; ++i) {
      events.append(event++, image, label);
    }
    history.generating_seconds += watch.seconds() - began;
    const session::StepResult& step =
        training(image, label, learning_rate(began / options.seconds));
    COSMIC_REQUIRE(TargetError, std::isfinite(step.loss),
                   "the loss is " << step.loss << " in step " << history.loss.size() + 1
                                  << " (training has diverged or a kernel is wrong); try another "
                                     "--seed, and report it if that does not help");
    history.loss.push_back(step.loss);
    history.accuracy.push_back(step.scores[accuracy]);
    history.overlap.push_back(step.scores[overlap]);
    history.seconds = watch.seconds();
    bar.update(history.seconds / options.seconds, progress_text(history, history.seconds));
  }
  bar.finish(progress_text(history, history.seconds));
  return history;
}

void print_history(const History& history) {
  constexpr std::size_t kLines = 8;
  const auto columns = static_cast<std::size_t>(std::clamp(terminal_width(stdout) - 14, 20, 100));
  fmt::print("\nLoss over {} steps, {} events\n{}\n", history.loss.size(), history.events(),
             bar_chart(history.loss, columns, kLines));
  const std::size_t tenth = std::max<std::size_t>(history.loss.size() / 10, 1);
  const std::span<const double> loss(history.loss);
  const double first = mean_of(loss.first(tenth));
  const double last = mean_of(loss.last(tenth));
  fmt::print("Loss      {:.4f} -> {:.4f}  (means of the first and the last tenth: {})\n", first,
             last, last < first ? fmt::format("{:.1f} times lower", first / last) : "NOT lower");
  fmt::print("Speed     {:.1f} events/s, generating the events included ({:.0f} % of the time)\n",
             history.events() / history.seconds,
             100 * history.generating_seconds / history.seconds);
}

/// The most likely class of every pixel. Logits [3 planes, 3 classes, rows, columns].
std::vector<std::uint8_t> tags(std::span<const float> logits, std::size_t pixels) {
  constexpr std::size_t kClasses = 3;
  std::vector<std::uint8_t> result;
  for (std::size_t plane = 0; plane < data::kPlanes; ++plane) {
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
      const auto score = [&](std::size_t c) {
        return logits[(plane * kClasses + c) * pixels + pixel];
      };
      const std::size_t best = score(1) > score(0) ? 1 : 0;
      result.push_back(static_cast<std::uint8_t>(score(2) > score(best) ? 2 : best));
    }
  }
  return result;
}

void print_found(std::span<const std::uint8_t> label, std::span<const std::uint8_t> tagged) {
  std::array<int, 3> all{};
  std::array<int, 3> right{};
  for (std::size_t i = 0; i < tagged.size(); ++i) {
    all.at(label[i]) += 1;
    right.at(label[i]) += tagged[i] == label[i] ? 1 : 0;
  }
  fmt::print(
      "An event it has never seen: {} of {} cosmic and {} of {} neutrino pixels found, {} of {} "
      "background pixels tagged wrongly\n",
      right[1], all[1], right[2], all[2], all[0] - right[0], all[0]);
}

/// One event that training has not seen: charge, truth and answer of each plane.
void show_event(const model::UResNet& network, const session::TrainingModel& training,
                const DemoOptions& options) {
  ProgressBar bar(0.3);
  session::InferenceModel inference(network, session_options(options, bar), training.state());
  inference.compile(batch_of(1, graph::DType::f32, options));
  bar.finish();
  std::vector<float> image;
  std::vector<std::uint8_t> label;
  DemoEvents(options.rows, options.columns, options.seed).append(kShownEvent, image, label);
  const auto pixels = static_cast<std::size_t>(options.rows * options.columns);
  const std::vector<std::uint8_t> tagged = tags(inference(image), pixels);
  print_found(label, tagged);

  std::vector<picture::Picture> planes;
  std::vector<std::vector<picture::Picture>> panels;
  for (std::size_t plane = 0; plane < data::kPlanes; ++plane) {
    const auto part = [&](auto values) { return values.subspan(plane * pixels, pixels); };
    panels.push_back(
        {picture::draw_charge(part(std::span<const float>(image)), options.rows, options.columns),
         picture::draw_labels(part(std::span<const std::uint8_t>(label)), options.rows,
                              options.columns),
         picture::draw_labels(part(std::span<const std::uint8_t>(tagged)), options.rows,
                              options.columns)});
    planes.push_back(picture::side_by_side(panels.back()));
  }
  if (is_terminal(stdout)) {
    constexpr int kGaps = 4;
    const int width = std::clamp((terminal_width(stdout) - kGaps) / 3, 16, 64);
    std::vector<picture::Picture> small;
    for (const picture::Picture& panel : panels.back()) {
      small.push_back(picture::shrink_to(panel, width));
    }
    const auto column = static_cast<int>(small.front().columns) + 2;
    fmt::print("\n{:<{}}{:<{}}{}\n{}", "charge", column, "truth", column, "tagged",
               picture::to_terminal(picture::side_by_side(small)));
  }
  picture::write_png(options.picture, picture::stacked(planes));
  fmt::print("Picture   {} (left to right: charge, truth, tagged; cosmic blue, neutrino orange)\n",
             options.picture.string());
}

void run_demo(const DemoOptions& options) {
  const model::UResNet network(small_a21());
  // Not focal, the default: it divides by the sum of its weights, which shrink as the network
  // learns, so its value can rise while every score gets better. A loss that is looked at should
  // fall. Even, because a minute is too short to leave the time when the scarce class is favoured.
  const model::SegmentationLoss loss(model::BalanceScheme::even);
  ProgressBar bar(0.3);
  session::TrainingModel training(network, loss, compile::Adam{}, session_options(options, bar));
  const session::CompileReport& report = training.compile(
      {batch_of(kBatch, graph::DType::f32, options), batch_of(kBatch, graph::DType::u8, options)});
  bar.finish();
  fmt::print(
      "{}: training step compiled in {:.2f} s, {} nodes, {:.0f} MB; {} events of 3 x {} x {} per "
      "step, {} threads\n",
      network.name(), report.seconds, report.nodes, static_cast<double>(report.memory_bytes) / 1e6,
      kBatch, options.rows, options.columns,
      options.threads == 0 ? available_cores() : options.threads);
  std::fflush(stdout);
  print_history(train(training, options));
  show_event(network, training, options);
}

}  // namespace

void add_demo(CLI::App& app) {
  auto options = std::make_shared<DemoOptions>();  // the callback holds it too
  CLI::App* command = app.add_subcommand(
      "demo", "Train a small network on generated events and show the loss falling");
  command->add_option("--seconds", options->seconds, "How long to train")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Threads; 0 for all cores")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the events and of the network")
      ->capture_default_str();
  command->add_option("--rows", options->rows, "Rows of an image, a multiple of 16")
      ->capture_default_str();
  command->add_option("--columns", options->columns, "Columns of an image, a multiple of 16")
      ->capture_default_str();
  command->add_option("--picture", options->picture, "Where to write the picture of a tagged event")
      ->capture_default_str();
  command->callback([options] { run_demo(*options); });
}

}  // namespace cosmic::cli
