#include "validation/comparisons.hpp"

#include <utility>

#include "core/error.hpp"
#include "model/fashion_mnist.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/modelled_program.hpp"
#include "target/registry.hpp"
#include "validation/published_networks.hpp"

namespace cosmic::validation {
namespace {

using graph::Graph;
using graph::Shape;
using machine::ExecutionOptions;
using machine::HostData;
using machine::Launching;
using machine::Prediction;
using session::LocalValues;
using session::ProgramOptions;
using session::Recomputation;

constexpr compile::Precision kBfloat16{.format = NumberFormat::bf16};

/// 16 bits throughout, weights and their gradients included.
constexpr compile::Precision kPure{.format = NumberFormat::bf16,
                                   .weights = compile::Precision::Weights::pure};

/// Half precision as the vendors' examples use it: for gradients, too. Our own compiler keeps
/// gradients of half activations in float32.
Graph in_half(Graph graph, NumberFormat partials) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    graph::Node& node = graph.node(graph::ValueId(i));
    node.format = node.format == NumberFormat::bf16 ? NumberFormat::f16 : node.format;
  }
  graph.numerics.partials = partials;
  return graph;
}

Graph classifier_step(const model::Network& network, Shape image, const ProgramOptions& options) {
  return session::training_program(network, model::NegativeLogLikelihoodLoss{}, std::move(image),
                                   options);
}

Graph tagger_step(const model::UResNetOptions& network, Shape image,
                  const ProgramOptions& options) {
  return session::training_program(model::UResNet(network), model::SegmentationLoss{},
                                   std::move(image), options);
}

Prediction predicted(const std::string& machine, const Graph& graph,
                     const ExecutionOptions& options) {
  return machine::predict(target::find_machine(machine), graph, options);
}

/// The row with the predicted rate, in items per second.
FigureRow rate(FigureRow row, const Prediction& prediction, double things) {
  row.predicted = things / prediction.step.best.modelled_seconds();
  row.low = things / prediction.step.high.modelled_seconds();
  row.high = things / prediction.step.low.modelled_seconds();
  return row;
}

/// The same for its time, in a unit of the given number of seconds.
FigureRow time(FigureRow row, const Prediction& prediction, double unit_seconds) {
  row.predicted = prediction.step.best.modelled_seconds() / unit_seconds;
  row.low = prediction.step.low.modelled_seconds() / unit_seconds;
  row.high = prediction.step.high.modelled_seconds() / unit_seconds;
  return row;
}

constexpr double kMilliseconds = 1e-3;
constexpr double kMicroseconds = 1e-6;

using Rows = std::vector<FigureRow>;

// --- IPU ---

/// Every result of an op is kept, as PopART does without recomputation.
constexpr ProgramOptions kAllKept{.local_values = LocalValues::store};

void add_resnet_on_bow(Rows& rows) {
  const Graph step = in_half(classifier_step(ResNet50(), {18, 3, 224, 224},
                                             {.precision = kPure,
                                              .local_values = LocalValues::store,
                                              .recomputation = Recomputation::yes}),
                             NumberFormat::f16);
  const auto images = [&](int replicas, int accumulation) {
    return predicted(
        "bow", step,
        {.replicas = replicas, .accumulation = accumulation, .host_data = HostData::synthetic});
  };
  rows.push_back(rate({.id = "resnet-bow",
                       .workload = "ResNet-50, training, PyTorch",
                       .machine = "4 Bow",
                       .how = "micro-batch 18, 228 per replica and update, 16.16, recomputation",
                       .unit = "images/s per IPU",
                       .figure = 2031,
                       .source = "ALCF user guide, Graphcore examples: 7,600 to 8,126 images/s",
                       .calibrated = "compute_efficiency of GC200 and Bow"},
                      images(4, 228), 18));
  struct Pod {
    int chips;
    double images;
    int batch;
  };
  for (const Pod& pod : {Pod{16, 42029, 1920}, {64, 145287, 2560}, {256, 425514, 10240}}) {
    const std::string chips = std::to_string(pod.chips);
    const int accumulation = std::max(1, pod.batch / pod.chips / 18);
    rows.push_back(rate({.id = "resnet-pod" + chips,
                         .workload = "ResNet-50, training, TensorFlow 1",
                         .machine = "Bow Pod" + chips,
                         .how = "batch " + std::to_string(pod.batch) + ", 16.16",
                         .unit = "images/s per IPU",
                         .figure = pod.images / pod.chips,
                         .source = "vendor's performance results",
                         .words = "not the framework of the fitted row"},
                        images(pod.chips, accumulation), 18));
  }
}

void add_small_cnn(Rows& rows) {
  const Graph step = classifier_step(SmallCnn(), {16, 1, 128, 128}, kAllKept);
  const auto iteration = [&](int replicas, HostData data) {
    return predicted("gc200", step,
                     {.replicas = replicas, .iterations_per_call = 50, .host_data = data});
  };
  const std::string source = "Graphcore examples, efficient_data_loading";
  const std::string name = "small CNN at 128x128, training";
  rows.push_back(time({.id = "small-cnn-synthetic",
                       .workload = name,
                       .machine = "GC200",
                       .how = "batch 16, float32, 50 iterations per call, data made on the chip",
                       .unit = "us per iteration",
                       .figure = 340,
                       .source = source + ": 46,739 to 47,324 images/s"},
                      iteration(1, HostData::synthetic), kMicroseconds));
  rows.push_back(time({.id = "small-cnn-real",
                       .workload = name,
                       .machine = "GC200",
                       .how = "the same, data from the host",
                       .unit = "us per iteration",
                       .figure = 891,
                       .source = source + ": 17,957 images/s",
                       .calibrated = "host_bandwidth, from the difference to the row above"},
                      iteration(1, HostData::real), kMicroseconds));
  rows.push_back(time({.id = "small-cnn-2-synthetic",
                       .workload = name,
                       .machine = "2 GC200",
                       .how = "2 replicas, data made on the chip",
                       .unit = "us per iteration",
                       .figure = 32 / 46384.0 / kMicroseconds,
                       .source = source + ": 46,384 images/s"},
                      iteration(2, HostData::synthetic), kMicroseconds));
  rows.push_back(time({.id = "small-cnn-2-real",
                       .workload = name,
                       .machine = "2 GC200",
                       .how = "2 replicas, data from the host",
                       .unit = "us per iteration",
                       .figure = 32 / 14974.0 / kMicroseconds,
                       .source = source + ": 14,974 images/s"},
                      iteration(2, HostData::real), kMicroseconds));
  rows.push_back(
      time({.id = "fashion-mnist",
            .workload = "Fashion-MNIST CNN, training",
            .machine = "GC200",
            .how = "batch 16, float32, one iteration per call",
            .unit = "ms per call",
            .figure = 2.67,
            .source = "the tutorial: 365 to 376 iterations/s",
            .calibrated = "host_call"},
           predicted("gc200", classifier_step(SmallCnn(), {16, 1, 28, 28}, kAllKept), {}),
           kMilliseconds));
}

void add_mnist(Rows& rows) {
  const std::string python =
      "the machine waits for Python, which reads and transforms images; the model covers only the "
      "call and the bytes";
  rows.push_back(rate(
      {.id = "mnist-pipeline",
       .workload = "MNIST CNN 10-20, 5x5, training",
       .machine = "4 GC200",
       .how = "batch 40, pipeline of 4, 10 batches per update, 10 iterations per call, float32",
       .unit = "images/s",
       .figure = 60000,
       .source = "Graphcore examples, pipelining: 15.0 calls/s",
       .words = python},
      predicted("gc200",
                classifier_step(MnistCnn({.first = 10, .second = 20, .kernel = 5, .hidden = 50}),
                                {40, 1, 28, 28}, {.local_values = LocalValues::store, .stages = 4}),
                {.accumulation = 10, .pipeline = 4, .iterations_per_call = 10}),
      40));
  rows.push_back(
      time({.id = "mnist-popxl",
            .workload = "MNIST perceptron 784-512-512-512-10, training, PopXL",
            .machine = "GC200",
            .how = "batch 8, float32, one iteration per call",
            .unit = "ms per iteration",
            .figure = 3.38,
            .source = "Graphcore examples, popxl 1 and 2: 285 to 307 iterations/s",
            .words = "the call time is PopTorch's, a different framework"},
           predicted("gc200",
                     classifier_step(Perceptron({512, 512, 512}), {8, 1, 28, 28}, kAllKept), {}),
           kMilliseconds));
  rows.push_back(
      time({.id = "mnist-keras",
            .workload = "MNIST perceptron 784-128-10, training, Keras",
            .machine = "Bow",
            .how = "batch 32, float32, 100 steps per call",
            .unit = "us per step",
            .figure = 275,
            .source = "ALCF user guide: 262 to 289 us",
            .words = python},
           predicted("bow", classifier_step(Perceptron({128}), {32, 1, 28, 28}, kAllKept),
                     {.iterations_per_call = 100}),
           kMicroseconds));
  rows.push_back(time({.id = "mnist-poptorch",
                       .workload = "MNIST CNN 32-64, training, PopTorch",
                       .machine = "Bow",
                       .how = "batch 8, float32, 50 iterations per call",
                       .unit = "ms per iteration",
                       .figure = 1.03,
                       .source = "ALCF user guide: 7.71 s per epoch",
                       .words = python},
                      predicted("bow", classifier_step(MnistCnn({}), {8, 1, 28, 28}, kAllKept),
                                {.iterations_per_call = 50}),
                      kMilliseconds));
}

// --- Gaudi ---

Graph resnet_in_bfloat16() {
  return classifier_step(ResNet50(), {256, 3, 224, 224}, {.precision = kBfloat16});
}

void add_resnet_on_gaudi(Rows& rows) {
  const Graph step = resnet_in_bfloat16();
  struct Cards {
    int count;
    double images;
    const char* range;
  };
  for (const Cards& cards : {Cards{1, 1695, "1,690 to 1,700"},
                             {8, 12765, "12,580 to 12,950"},
                             {16, 23400, "23,400"},
                             {32, 46400, "46,400"}}) {
    const std::string count = std::to_string(cards.count);
    rows.push_back(rate(
        {.id = "resnet-gaudi1-" + count,
         .topic = Topic::hpu,
         .workload = "ResNet-50, training",
         .machine = (cards.count > 1 ? count + " " : "") + std::string("Gaudi1"),
         .how = "batch 256 each, bfloat16",
         .unit = "images/s per HPU",
         .figure = cards.images / cards.count,
         .source = std::string("vendor's performance page 1.0.0: ") + cards.range + " images/s",
         .words = cards.count == 1 ? "nothing was fitted, only the matrix engine's geometry is used"
                                   : ""},
        predicted("gaudi1", step, {.replicas = cards.count}), 256));
  }
  const Prediction gaudi = predicted("gaudi2", step, {.replicas = 8});
  const Prediction gpu = predicted("a100", step, {.replicas = 8});
  FigureRow ratio{.id = "resnet-gaudi2-a100",
                  .topic = Topic::hpu,
                  .workload = "ResNet-50, training, time on Gaudi2 over time on A100",
                  .machine = "8 Gaudi2, 8 A100",
                  .how = "batch 256 each, bfloat16",
                  .unit = "ratio",
                  .figure = 0.64,
                  .source = "MLPerf 2.0, Intel's newsroom: 36 % less time to train",
                  .words = "time to train is not throughput: batches and epochs may differ"};
  const auto seconds = [](machine::ModelledTime t) { return t.modelled_seconds(); };
  ratio.predicted = seconds(gaudi.step.best) / seconds(gpu.step.best);
  ratio.low = seconds(gaudi.step.low) / seconds(gpu.step.high);
  ratio.high = seconds(gaudi.step.high) / seconds(gpu.step.low);
  rows.push_back(ratio);
}

/// The network of 2023, which the forks ran.
model::UResNetOptions a21_of_2023() {
  model::UResNetOptions options = model::preset("a21");
  options.connections = model::Connections::concat;
  options.blocks_final = 5;
  return options;
}

void add_tagger_on_gaudi(Rows& rows) {
  const Graph step = tagger_step(
      a21_of_2023(), {2, 3, 640, 1024},
      {.local_values = LocalValues::activations_in_place, .optimizer = compile::Adam{}});
  const machine::MemoryVerdict memory = predicted("gaudi1", step, {}).memory;
  constexpr double kGigabyte = 1e9;
  rows.push_back({.id = "tagger-memory",
                  .topic = Topic::hpu,
                  .workload = "CosmicTagger a21 of 2023, training, peak memory",
                  .machine = "Gaudi1",
                  .how = "batch 2, float32 (inferred from scripts)",
                  .unit = "GB",
                  .predicted = memory.needed.modelled_bytes() / kGigabyte,
                  .low = memory.needed_low.modelled_bytes() / kGigabyte,
                  .high = memory.needed_high.modelled_bytes() / kGigabyte,
                  .figure = 4495598336.0 / kGigabyte,
                  .source = "CosmicTagger, log of the fork for Habana 1.8: MaxInUse",
                  .words = "the run's configuration is not in the log; a consistency check"});
  rows.push_back(rate(
      {.id = "tagger-gaudi1",
       .topic = Topic::hpu,
       .workload = "CosmicTagger uresnet, training",
       .machine = "Gaudi1",
       .how = "batch 3, float32, software of 2022, eager",
       .unit = "events/s",
       .figure = 0.493,
       .source = "CosmicTagger, fork for Habana 1.5 (SPEC B.3): 243.4 s for 40 iterations",
       .words = "a step of one event took 15 s there, one of two 5 s, one of three 6 s: such times "
                "come from ops that ran on the host or were recompiled repeatedly, not from the "
                "chip, and are not modelled"},
      predicted("gaudi1",
                tagger_step(model::preset("uresnet"), {3, 3, 640, 1024},
                            {.local_values = LocalValues::store, .optimizer = compile::Adam{}}),
                {.launching = Launching::per_op}),
      3));
}

// --- RDU ---

void add_unet_on_sn30(Rows& rows) {
  rows.push_back(
      rate({.id = "unet-sn30",
            .topic = Topic::rdu,
            .workload = "UNet 256x256, 32 features, training",
            .machine = "half an SN30",
            .how = "batch 256, bfloat16",
            .unit = "samples/s",
            .figure = 395,
            .source = "ALCF user guide: the application's own gate, --min-throughput 395",
            .words = "88.8 samples/s were observed over 10 epochs, reading and the host included"},
           predicted("sn30",
                     classifier_step(MedicalUNet(32, MedicalUNet::Padding::same),
                                     {256, 3, 256, 256}, {.precision = kBfloat16}),
                     {.share = 0.5}),
           256));
}

// --- what can be measured ---

struct MeasuredStep {
  const char* network;
  bool trains;
  double figure;  ///< events/s or s
};

Graph tagger_program(const MeasuredStep& step, const Shape& image, const ProgramOptions& options) {
  return step.trains ? tagger_step(model::preset(step.network), image, options)
                     : session::inference_program(model::UResNet(model::preset(step.network)),
                                                  image, options);
}

std::string mode_of(const MeasuredStep& step) {
  return std::string(step.network) + (step.trains ? ", training" : ", inference");
}

std::string id_of(const std::string& machine, const MeasuredStep& step) {
  return machine + "-" + step.network + (step.trains ? "-train" : "-infer");
}

void add_tagger_on_h200(Rows& rows) {
  const Shape batch{8, 3, 640, 1024};
  for (const MeasuredStep& step : {MeasuredStep{"a21", true, 80},
                                   {"a21", false, 261},
                                   {"uresnet", true, 22.6},
                                   {"uresnet", false, 70}}) {
    rows.push_back(rate(
        {.id = id_of("h200", step),
         .topic = Topic::gpu,
         .workload = mode_of(step),
         .machine = "H200",
         .how = "PyTorch 2.11, bfloat16 autocast, channels last, batch 8",
         .unit = "events/s",
         .figure = step.figure,
         .evidence = Evidence::measured,
         .source = "measured, 2026-11",
         .calibrated =
             step.trains && std::string(step.network) == "uresnet" ? "eager_bandwidth_share" : ""},
        predicted("h200",
                  tagger_program(step, batch,
                                 {.precision = kBfloat16,
                                  .local_values = LocalValues::store,
                                  .optimizer = compile::Adam{}}),
                  {.launching = Launching::per_op}),
        8));
  }
  for (const MeasuredStep& step : {MeasuredStep{"a21", true, 100}, {"a21", false, 440}}) {
    rows.push_back(rate(
        {.id = id_of("h200-compiled", step),
         .topic = Topic::gpu,
         .workload = mode_of(step),
         .machine = "H200",
         .how = "the same with torch.compile",
         .unit = "events/s",
         .figure = step.figure,
         .evidence = Evidence::measured,
         .source = "measured, 2026-11"},
        predicted(
            "h200",
            tagger_program(step, batch, {.precision = kBfloat16, .optimizer = compile::Adam{}}),
            {}),
        8));
  }
}

void add_tagger_on_cpu(Rows& rows) {
  for (const MeasuredStep& step : {MeasuredStep{"a21", true, 0.452},
                                   {"a21", false, 0.160},
                                   {"uresnet", true, 3.907},
                                   {"uresnet", false, 1.041}}) {
    rows.push_back(
        time({.id = id_of("cores", step),
              .topic = Topic::cpu,
              .workload = mode_of(step),
              .machine = "zen4-2core",
              .how = "this program, float32, one event",
              .unit = "s",
              .figure = step.figure,
              .evidence = Evidence::measured,
              .source = "docs/numbers.md",
              .calibrated = "compute_efficiency, one value for all four rows"},
             predicted("zen4-2core",
                       tagger_program(step, {1, 3, 640, 1024}, {.optimizer = compile::Adam{}}), {}),
             1));
  }
}

// --- what fits ---

/// 16 bits, half partial sums and recomputation, as published. The share for temporaries is not: it
/// is lowered until four chips fit for sure, as a person would.
constexpr double kTemporaryShare = 0.14;

FitRow unet_training(int chips, bool fits) {
  ProgramOptions options{.precision = kPure,
                         .optimizer = compile::Adam{},
                         .recomputation = Recomputation::yes,
                         .stages = chips};
  const Graph step = in_half(
      classifier_step(MedicalUNet(64, MedicalUNet::Padding::valid), {1, 1, 572, 572}, options),
      NumberFormat::f16);
  const machine::MemoryVerdict memory =
      predicted("gc200", step,
                {.accumulation = 24, .pipeline = chips, .temporary_share = kTemporaryShare})
          .memory;
  return {.workload = "U-Net 572x572, training",
          .machine = std::to_string(chips) + " GC200",
          .how = "micro-batch 1, 16.16, recomputation",
          .predicted = memory.fits,
          .verdict = memory,
          .published_fits = fits,
          .source = "Graphcore examples, unet_medical"};
}

}  // namespace

std::vector<FigureRow> figure_rows() {
  Rows rows;
  add_resnet_on_bow(rows);
  add_small_cnn(rows);
  add_mnist(rows);
  add_resnet_on_gaudi(rows);
  add_tagger_on_gaudi(rows);
  add_unet_on_sn30(rows);
  add_tagger_on_h200(rows);
  add_tagger_on_cpu(rows);
  return rows;
}

std::vector<FitRow> fit_rows() {
  std::vector<FitRow> rows;
  rows.push_back(unet_training(1, false));
  rows.push_back(unet_training(4, true));
  const Graph inference =
      in_half(session::inference_program(MedicalUNet(64, MedicalUNet::Padding::valid),
                                         {2, 1, 572, 572}, {.precision = kPure}),
              NumberFormat::f16);
  const machine::MemoryVerdict memory =
      predicted("gc200", inference, {.temporary_share = kTemporaryShare}).memory;
  rows.push_back({.workload = "U-Net 572x572, inference",
                  .machine = "GC200",
                  .how = "micro-batch 2, 16.16",
                  .predicted = memory.fits,
                  .verdict = memory,
                  .published_fits = true,
                  .source = "Graphcore examples, unet_medical"});
  return rows;
}

std::vector<UnpredictedRow> unpredicted_rows() {
  return {
      {"ResNeXt101", "Bow Pod16, Gaudi1", "12,221 and 650 images/s",
       "there is no op for grouped convolutions"},
      {"EfficientNet-B4", "Bow Pod16", "8,936 images/s", "there is no op for grouped convolutions"},
      {"SSD-ResNet34", "Gaudi1", "470 images/s", "there are no ops for its boxes and their loss"},
      {"CosmicTagger a21 of 2023, 1 to 16 IPUs", "host CPU", "13.1 to 13.6 s per step",
       "these runs were not on the IPU, and the host is not described"},
      {"CosmicTagger uresnet, IPU", "host CPU", "51 s per step", "the same"},
      {"CosmicTagger, RDU", "SN10, SN30", "none", "no throughput was published"},
      {"compile times", "GC200, Bow, SN30", "15 to 1,844 s",
       "the vendors' compilers are not modelled; Gaudi's is a parameter that nobody published"},
      {"UNet 256x256, 88.8 samples/s", "half an SN30", "88.8 samples/s end to end",
       "most of that time is reading and the host; the row above is for the chip alone"},
      {"IPU micro-benchmarks", "GC2", "31.1 and 124.5 Tflop/s",
       "the first generation is not described; the peaks of the second follow from its figures"},
      {"convolutions against other chips", "GC200", "at least twice a GPU's speed",
       "a comparison without an absolute figure"},
  };
}

const FigureRow& row(const std::vector<FigureRow>& rows, const std::string& id) {
  for (const FigureRow& candidate : rows) {
    if (candidate.id == id) {
      return candidate;
    }
  }
  throw InternalError("there is no comparison '" + id + "'");
}

}  // namespace cosmic::validation
