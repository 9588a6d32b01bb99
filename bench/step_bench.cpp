// Times one step of ours, training or inference; bench/compare and bench/compare_gpu run it beside
// the peers. It refuses to time a wrong answer: first the same network, on an image that the
// reference target can afford, must give what the reference gives.
//
//   cosmic_step_bench a21 train --repeat 5 --threads 2 --precision bfloat16
//   cosmic_step_bench a21 train --target cuda --batch 8 --precision bfloat16 --inputs resident
//
// prints one line of JSON.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "core/stopwatch.hpp"
#include "core/threads.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/machine.hpp"
#include "session/model.hpp"
#include "target/registry.hpp"

namespace {

using namespace cosmic;

constexpr double kLearningRate = 3e-4;
constexpr const char* kOracle = "reference";
constexpr double kLogitTolerance = 1e-4;  // of a difference, to the largest logit
// Of the loss before the first step, and of how far it falls in it. That is less sure: batch
// statistics of few pixels amplify round-off. Measured with the oracle alone, on three levels of
// uresnet at 64 x 64: changing the image by 3e-7 of itself changes the second loss by 1e-3 of
// itself, 4 % of its fall.
constexpr double kLossTolerance = 1e-4;
constexpr double kFallTolerance = 0.1;
// In a narrow format every stored value is off by half a step of it, and the oracle stores more.
constexpr double kLogitTolerance16 = 0.05;
constexpr double kLossTolerance16 = 0.02;
// Inference is checked with the whole network. Training is checked with three levels of it: over
// the few pixels at the bottom of a deep U, batch statistics amplify round-off. Measured with the
// oracle alone, in double precision, on the whole a21 at 128 x 128: changing the image by 3e-7 of
// itself changes the gradients by 20 %, so no tolerance would tell round-off from a mistake there.
constexpr std::int64_t kTrainedDepth = 3;
constexpr std::int64_t kCheckedSide = 64;  // rows and columns
constexpr int kCheckedSteps = 2;           // the second loss also depends on gradients and updates

struct BenchOptions {
  std::string network;
  std::string mode;
  int repeat = 5;
  int threads = 0;
  std::int64_t rows = 640;
  std::int64_t columns = 1024;
  std::int64_t batch = 1;
  int device = 0;
  std::string target = target::target_names().front();
  std::string precision = "float32";
  /// Once for all steps, so that a step is what the target computes; or anew with every one.
  bool resident_inputs = false;
  bool checks = true;
  bool profile = false;

  bool trains() const { return mode == "train"; }
  /// How far answer number i may be off. fall: of a loss, since the first.
  double limit(std::size_t i, double fall) const {
    const bool narrow = precision != "float32";
    if (!trains()) {
      return narrow ? kLogitTolerance16 : kLogitTolerance;
    }
    if (narrow) {
      return kLossTolerance16;
    }
    return i == 0 ? kLossTolerance : kFallTolerance * std::abs(fall);
  }
};

const std::map<std::string, compile::Precision>& precisions() {
  static const std::map<std::string, compile::Precision> all{
      {"float32", {}},
      {"bfloat16", {.format = NumberFormat::bf16}},
      {"pure-bfloat16",
       {.format = NumberFormat::bf16, .weights = compile::Precision::Weights::pure}},
      {"stochastic-bfloat16", {.format = NumberFormat::bf16, .rounding = Rounding::stochastic}},
      {"float16", {.format = NumberFormat::f16}},
      {"mixed",
       {.format = NumberFormat::f16, .loss_scaling = {compile::LossScaling::Kind::dynamic}}},
      {"tf32", {.tf32 = true}},
  };
  return all;
}

/// Inputs that are made on the target are not made here as well.
enum class Pixels { random, none };

struct Batch {
  graph::Shape shape;
  std::vector<float> image;
  std::vector<std::uint8_t> label;

  Batch(std::int64_t events, std::int64_t rows, std::int64_t columns, Pixels content)
      : shape{events, 3, rows, columns} {
    if (content == Pixels::none) {
      return;
    }
    RandomStream pixels(0, "image");
    RandomStream classes(0, "label");
    const auto count = static_cast<std::size_t>(events * 3 * rows * columns);
    for (std::size_t i = 0; i < count; ++i) {
      image.push_back(static_cast<float>(pixels.uniform(0, 0.999)));
      label.push_back(static_cast<std::uint8_t>(classes.next() % 3));
    }
  }

  session::BatchTypes types() const {
    return {{graph::DType::f32, shape}, {graph::DType::u8, shape}};
  }
};

session::Options session_options(const BenchOptions& options, const std::string& target) {
  session::Options run;
  run.target = target;
  run.device = target == options.target ? options.device : 0;
  run.threads = options.threads;
  run.precision = precisions().at(options.precision);
  return run;
}

/// Logits, or the losses of the first steps.
std::vector<double> answer(const BenchOptions& options, const std::string& target,
                           const model::UResNet& network, const Batch& batch) {
  const session::Options run = session_options(options, target);
  if (!options.trains()) {
    session::InferenceModel model(network, run);
    model.compile(batch.types().image);
    const std::span<const float> logits = model(batch.image);
    return {logits.begin(), logits.end()};
  }
  const model::SegmentationLoss loss;
  session::TrainingModel model(network, loss, compile::Adam{}, run);
  model.compile(batch.types());
  std::vector<double> losses;
  for (int step = 0; step < kCheckedSteps; ++step) {
    losses.push_back(model(batch.image, batch.label, kLearningRate).loss);
  }
  return losses;
}

/// Compares with the reference and says how far apart they are. Throws if that is too far.
std::string check(const BenchOptions& options) {
  model::UResNetOptions shape = model::preset(options.network);
  shape.depth = options.trains() ? std::min(shape.depth, kTrainedDepth) : shape.depth;
  const model::UResNet network(shape);
  const std::int64_t side = std::max(kCheckedSide, std::int64_t{1} << shape.depth);
  const Batch batch(1, side, side, Pixels::random);
  const std::vector<double> expected = answer(options, kOracle, network, batch);
  const std::vector<double> found = answer(options, options.target, network, batch);
  double largest = 0;
  for (const double number : expected) {
    largest = std::max(largest, std::abs(number));
  }
  double worst = 0;  // as a multiple of its limit
  double relative = 0;
  double tolerance = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double apart = std::abs(found[i] - expected[i]) / largest;
    const double limit = options.limit(i, (expected[0] - expected[i]) / largest);
    if (!(apart / limit <= worst)) {  // a NaN stays
      worst = apart / limit;
      relative = apart;
      tolerance = limit;
    }
  }
  std::ostringstream text;
  text << (options.trains() ? "losses of two steps" : "logits") << " at depth " << shape.depth
       << ", " << side << "x" << side << " differ from the " << kOracle << "'s by up to "
       << relative << " (limit " << tolerance << ")";
  COSMIC_REQUIRE(InternalError, worst <= 1,
                 "wrong answer: " << text.str() << "; timing it would be meaningless");
  return text.str();
}

/// In a process of its own, so that the memory it needs is not counted with the step's.
std::string check_apart(const BenchOptions& options) {
  int ends[2];
  COSMIC_REQUIRE(TargetError, pipe(ends) == 0, "cannot make a pipe for the check");
  const pid_t child = fork();
  COSMIC_REQUIRE(TargetError, child >= 0, "cannot start a process for the check");
  if (child == 0) {
    close(ends[0]);
    int status = 0;
    std::string text;
    try {
      text = check(options);
    } catch (const std::exception& error) {
      text = error.what();
      status = 1;
    }
    const bool told = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    std::_Exit(told ? status : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  COSMIC_REQUIRE(InternalError, WIFEXITED(status) && WEXITSTATUS(status) == 0,
                 (text.empty() ? "the check crashed" : text));
  return text;
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Since 1970, so that who started this process knows how long it took until then.
double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

struct Timing {
  double compile_seconds = 0;
  double first_step_at = 0;     ///< when it had ended
  std::vector<double> seconds;  ///< sorted
  /// Of the target's part alone, without copies to it and from it, on its own clock.
  std::vector<double> target_seconds;
  /// Of all threads together, the least of a run: what is left to compare on a busy machine.
  double cpu_seconds = 0;
  session::CompileReport report;
  std::vector<session::OpTiming> ops;  ///< of the last run
};

template <class Model, class Types, class Step>
Timing time_steps(Model& model, const Types& types, int repeat, const Step& step) {
  Timing timing;
  timing.report = model.compile(types);
  timing.compile_seconds = timing.report.seconds;
  step();  // the first run touches memory for the first time
  timing.first_step_at = now();
  for (int run = 0; run < repeat; ++run) {
    const Stopwatch watch;
    const std::clock_t before = std::clock();
    step();
    const double cpu_seconds =
        static_cast<double>(std::clock() - before) / static_cast<double>(CLOCKS_PER_SEC);
    timing.seconds.push_back(watch.seconds());
    timing.target_seconds.push_back(model.last_call().compute.mean);
    timing.cpu_seconds = run == 0 ? cpu_seconds : std::min(timing.cpu_seconds, cpu_seconds);
  }
  std::sort(timing.seconds.begin(), timing.seconds.end());
  timing.ops = model.timings();
  // A device's steps are timed in a run of their own, once for each step that is asked about.
  constexpr int kTimings = 3;
  for (int again = 1; timing.report.device_memory && again < kTimings; ++again) {
    step();
    const std::vector<session::OpTiming> ops = model.timings();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      timing.ops[i].seconds = std::min(timing.ops[i].seconds, ops[i].seconds);
    }
  }
  return timing;
}

Timing time_steps(const BenchOptions& options) {
  const Batch batch(options.batch, options.rows, options.columns,
                    options.resident_inputs ? Pixels::none : Pixels::random);
  const model::UResNet network(model::preset(options.network));
  session::Options run = session_options(options, options.target);
  run.synthetic_data = options.resident_inputs;
  if (!options.trains()) {
    session::InferenceModel model(network, run);
    return time_steps(model, batch.types().image, options.repeat, [&] { model(batch.image); });
  }
  const model::SegmentationLoss loss;
  session::TrainingModel model(network, loss, compile::Adam{}, run);
  return time_steps(model, batch.types(), options.repeat,
                    [&] { model(batch.image, batch.label, kLearningRate); });
}

/// The ops that took longest in the last run, those of the same kind and size together.
void print_ops(const std::vector<session::OpTiming>& ops) {
  constexpr std::size_t kShown = 20;
  std::map<std::string, session::OpTiming> kinds;
  double total = 0;
  for (const session::OpTiming& op : ops) {
    session::OpTiming& kind = kinds[op.op + " " + graph::to_string(op.type.shape)];
    kind.seconds += op.seconds;
    kind.cost.flops += op.cost.flops;
    total += op.seconds;
  }
  std::vector<std::pair<double, std::string>> slowest;
  for (const auto& [name, kind] : kinds) {
    slowest.emplace_back(kind.seconds, name);
  }
  std::sort(slowest.rbegin(), slowest.rend());
  std::fprintf(stderr, "%-44s %9s %6s %9s\n", "op and result", "ms", "%", "Gflop/s");
  for (std::size_t i = 0; i < std::min(kShown, slowest.size()); ++i) {
    const auto& [seconds, name] = slowest[i];
    std::fprintf(stderr, "%-44s %9.2f %6.1f %9.1f\n", name.c_str(), 1e3 * seconds,
                 100 * seconds / total, kinds[name].cost.flops / seconds / 1e9);
  }
}

void print_profile(const Timing& timing, double median) {
  print_ops(timing.ops);
  std::fprintf(stderr, "%-36s %9s %7s\n", "pass", "ms", "nodes");
  for (const compile::PassReport& pass : timing.report.passes) {
    std::fprintf(stderr, "%-36s %9.2f %7zu\n", pass.name.c_str(), 1e3 * pass.seconds, pass.nodes);
  }
  std::fprintf(stderr, "%.1f Gflop, %.1f Gflop/s; arena %.1f MB, memory for running %.1f MB\n",
               timing.report.flops / 1e9, timing.report.flops / 1e9 / median,
               static_cast<double>(timing.report.arena_bytes) / 1e6,
               static_cast<double>(timing.report.memory_bytes) / 1e6);
}

/// The steps of the program that took longest, with what they do and move, and the share of the
/// time that the machine's peaks allow for that.
nlohmann::ordered_json longest_steps(const Timing& timing,
                                     const std::optional<target::Peak>& peak) {
  constexpr std::size_t kShown = 10;
  std::vector<session::OpTiming> ops = timing.ops;
  std::stable_sort(ops.begin(), ops.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  ops.resize(std::min(ops.size(), kShown));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const session::OpTiming& op : ops) {
    nlohmann::ordered_json json{{"op", op.op},
                                {"layer", op.layer},
                                {"type", graph::to_string(op.type)},
                                {"riders", op.riders},
                                {"evaluates", op.evaluates},
                                {"seconds", op.seconds},
                                {"flops", op.cost.flops},
                                {"bytes", op.cost.bytes},
                                {"roofline_share", nullptr},
                                {"bound", nullptr}};
    if (peak && op.seconds > 0) {
      const double arithmetic = op.cost.flops / peak->flops_per_second;
      const double memory = op.cost.bytes / peak->bytes_per_second;
      json["roofline_share"] = std::max(arithmetic, memory) / op.seconds;
      json["bound"] = arithmetic > memory ? "arithmetic" : "memory";
    }
    list.push_back(std::move(json));
  }
  return list;
}

/// The sum over all steps of the least time that the machine's peaks allow, and of what they took.
nlohmann::ordered_json all_steps(const Timing& timing, const std::optional<target::Peak>& peak) {
  double seconds = 0;
  double least = 0;
  double bytes = 0;
  double flops = 0;
  for (const session::OpTiming& op : timing.ops) {
    seconds += op.seconds;
    bytes += op.cost.bytes;
    flops += op.cost.flops;
    least += peak ? std::max(op.cost.flops / peak->flops_per_second,
                             op.cost.bytes / peak->bytes_per_second)
                  : 0;
  }
  return {{"steps", timing.ops.size()},
          {"seconds", seconds},
          {"flops", flops},
          {"bytes", bytes},
          {"roofline_seconds", peak ? nlohmann::ordered_json(least) : nullptr}};
}

nlohmann::ordered_json json_of(const std::optional<session::DeviceMemoryPlan>& memory) {
  if (!memory) {
    return nullptr;
  }
  nlohmann::ordered_json parts;
  for (const target::MemoryNeed::Part& part : memory->need.parts()) {
    parts[part.what] = part.bytes;
  }
  return {{"device", memory->room.device.name},
          {"planned_bytes", memory->need.bytes()},
          {"free_bytes_before", memory->room.free},
          {"total_bytes", memory->room.total},
          {"parts", std::move(parts)}};
}

void bench(const BenchOptions& options) {
  const std::string checked = options.checks ? check_apart(options) : "not checked";
  const Timing timing = time_steps(options);
  const double median = timing.seconds[timing.seconds.size() / 2];
  const double target_median = median_of(timing.target_seconds);
  // A host would have to measure its own, in memory that counts as this process's.
  const std::optional<target::Peak> peak =
      timing.report.device_memory
          ? session::find_machine(
                session_options(options, options.target),
                options.trains() ? session::Purpose::training : session::Purpose::inference)
                .peak
          : std::nullopt;
  const nlohmann::ordered_json line{
      {"peer", "cosmictagger"},
      {"net", options.network},
      {"mode", options.mode},
      {"threads", options.threads},
      {"precision", options.precision},
      {"seconds_median", median},
      {"seconds_min", timing.seconds.front()},
      {"cpu_seconds_min", timing.cpu_seconds},
      {"peak_rss_mb", peak_rss_mb()},
      {"compile_seconds", timing.compile_seconds},
      {"arena_mb", static_cast<double>(timing.report.arena_bytes) / 1e6},
      {"checked", checked},
      {"revision", std::string(revision)},
      {"target", options.target},
      {"batch", options.batch},
      {"rows", options.rows},
      {"columns", options.columns},
      {"inputs", options.resident_inputs ? "resident" : "from the host"},
      {"events_per_second", static_cast<double>(options.batch) / median},
      {"target_seconds_median", target_median},
      {"target_events_per_second", static_cast<double>(options.batch) / target_median},
      {"first_step_at", timing.first_step_at},
      {"device_memory", json_of(timing.report.device_memory)},
      {"peak", peak ? nlohmann::ordered_json{{"flops_per_second", peak->flops_per_second},
                                             {"bytes_per_second", peak->bytes_per_second},
                                             {"origin", peak->origin}}
                    : nlohmann::ordered_json(nullptr)},
      {"all_steps", all_steps(timing, peak)},
      {"longest_steps", longest_steps(timing, peak)},
  };
  std::cout << line.dump() << std::endl;
  if (options.profile) {
    print_profile(timing, median);
  }
}

}  // namespace

int main(int argc, char** argv) {
  BenchOptions options;
  CLI::App app("Times one step, after checking its answer against the reference.");
  app.add_option("NET", options.network, "Preset of the network: a21, uresnet, ...")->required();
  app.add_option("MODE", options.mode)->required()->check(CLI::IsMember({"infer", "train"}));
  app.add_option("--repeat", options.repeat, "Timed runs")->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "0 for all cores")->check(CLI::NonNegativeNumber);
  app.add_option("--rows", options.rows);
  app.add_option("--columns", options.columns);
  app.add_option("--batch", options.batch, "Events of a step")->check(CLI::PositiveNumber);
  app.add_option("--target", options.target);
  app.add_option("--device", options.device, "Which of the target's, counted from 0");
  app.add_option_function<std::string>(
         "--inputs",
         [&](const std::string& where) { options.resident_inputs = where == "resident"; },
         "resident: handed over once, as a peer's benchmark does; host (default): with every step")
      ->check(CLI::IsMember({"resident", "host"}));
  app.add_flag_function(
      "--no-check", [&](std::int64_t) { options.checks = false; },
      "Without comparing with the reference first, for who has just done so");
  std::vector<std::string> names;
  for (const auto& [name, precision] : precisions()) {
    names.push_back(name);
  }
  app.add_option("--precision", options.precision, "Format of activations")
      ->check(CLI::IsMember(names));
  app.add_flag("--profile", options.profile,
               "Also print where the time of a step, of compiling, and the memory went");
  CLI11_PARSE(app, argc, argv);
  try {
    options.threads = options.threads == 0 ? available_cores() : options.threads;
    bench(options);
    return 0;
  } catch (const Error& error) {
    std::cerr << "cosmic_step_bench: error: " << error.what() << '\n';
    return exit_status(error);
  }
}
