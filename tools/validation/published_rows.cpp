// The rows: what was published or measured, and how to ask for it. Ids are those of the collection
// that the figures were taken from, where there is one. Several submissions of one configuration
// are one row, with their median.
#include <fmt/core.h>

#include "machine/explanation.hpp"
#include "run/explain.hpp"
#include "validation/comparisons.hpp"

namespace cosmic::validation {
namespace {

using Words = std::vector<std::string>;
using Rows = std::vector<RowSpec>;
using run::ExplainOptions;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

enum class Format { amp, tf32, f32, bf16, f16 };

Words format_words(Format format, bool trains) {
  switch (format) {
    case Format::amp:
      return {trains ? "run.precision=mixed" : "run.precision=float16"};
    case Format::tf32:
      return {"run.tf32=true"};
    case Format::bf16:
      return {"run.precision=bfloat16"};
    case Format::f16:
      return {"run.precision=float16"};
    case Format::f32:
      break;
  }
  return {};
}

Words on(const std::string& mode, const std::string& machine, int batch, bool trains) {
  return {trains ? "mode=train" : "mode=inference", "run.compute_mode=" + mode,
          "run.machine=" + machine, fmt::format("run.minibatch_size={}", batch)};
}

const Words kSgd{"mode.optimizer.name=sgd"};
const Words kSynthetic{"data.synthetic=true"};

// --- IPU ---

/// Of MLPerf: 16.16, recomputation. Images come as bytes, which cost little; they are left out.
RowSpec ipu_resnet(const std::string& id, const std::string& machine, int chips, int micro,
                   int accumulation, double images, const std::string& source) {
  return {
      .id = id,
      .topic = Topic::ipu,
      .workload = fmt::format("ResNet-50, training, TensorFlow 1, {} chips, {} x {} each", chips,
                              micro, accumulation),
      .figure = images,
      .source = source,
      .settings = on("IPU", machine, micro, true) + kSgd + kSynthetic +
                  Words{"run.precision=float16", "run.partials=float16",
                        fmt::format("mode.optimizer.gradient_accumulation={}", accumulation)},
      .options = {
          .recompute = true, .replicas = chips, .stack = "tensorflow", .published = "resnet50"}};
}

RowSpec small_cnn(const std::string& id, const std::string& stack, int chips, bool real,
                  double images, const std::string& source) {
  return {
      .id = id,
      .topic = Topic::ipu,
      .workload = fmt::format("small CNN at 128x128, training, batch 16, {} chip{}, data {}", chips,
                              chips > 1 ? "s" : "", real ? "from the host" : "made on the chip"),
      .figure = images,
      .source = source,
      .settings = on("IPU", "gc200", 16, true) + kSgd + (real ? Words{} : kSynthetic),
      .options = {
          .replicas = chips, .stack = stack, .published = "small-cnn", .iterations_per_call = 50}};
}

void add_ipu(Rows& rows) {
  rows.push_back(ipu_resnet("i1", "gc200", 16, 20, 6, 27522, "MLPerf 1.0 logs, SDK 2.1"));
  rows.push_back(ipu_resnet("i2", "gc200", 64, 20, 2, 83420, "MLPerf 1.0 logs, SDK 2.1"));
  rows.push_back(ipu_resnet("i3", "gc200", 16, 20, 10, 29465, "MLPerf 1.1 logs, SDK 2.3"));
  rows.push_back(ipu_resnet("i5", "bow", 16, 22, 10, 43133, "MLPerf 2.0 logs, SDK 2.5.1"));
  rows.push_back(ipu_resnet("i6", "bow", 64, 20, 4, 145952, "MLPerf 2.0 logs, SDK 2.5.1"));
  rows.push_back(ipu_resnet("i7", "bow", 16, 22, 10, 44059, "vendor's page, SDK 3.0"));
  rows.push_back(ipu_resnet("i8", "bow", 64, 20, 4, 153205, "vendor's page, SDK 3.0"));
  RowSpec pod256 = ipu_resnet("resnet-pod256", "bow", 256, 20, 2, 425514, "vendor's page");
  rows.push_back(pod256);
  rows.push_back({.id = "i16",
                  .topic = Topic::ipu,
                  .workload = "ResNet-50, training, PopTorch, 4 chips, 18 x 228 each",
                  .figure = 7863,
                  .source = "ALCF user guide: 7,600 and 8,126 images/s",
                  .settings = on("IPU", "bow", 18, true) + kSgd + kSynthetic +
                              Words{"run.precision=float16", "run.partials=float16",
                                    "mode.optimizer.gradient_accumulation=228"},
                  .options = {.recompute = true,
                              .replicas = 4,
                              .stack = "poptorch-16.16",
                              .published = "resnet50"},
                  .words = "one host process, which may be what limits it"});
  rows.push_back({.id = "i18",
                  .topic = Topic::ipu,
                  .workload = "ResNet-50, inference, PopRT, one C600, batch 4",
                  .figure = 7062,
                  .source = "ByteMLPerf: float16, 128 batches per call",
                  .settings = on("IPU", "c600", 4, false) +
                              Words{"run.precision=float16", "run.partials=float16"},
                  .options = {.published = "resnet50", .iterations_per_call = 128}});
  const std::string tutorial = "Graphcore tutorials, efficient data loading, ";
  rows.push_back(small_cnn("i21", "poptorch-2", 1, false, 23613, tutorial + "SDK 2.1"));
  rows.push_back(small_cnn("i21-real", "poptorch-2", 1, true, 14280, tutorial + "SDK 2.1"));
  rows.push_back(small_cnn("i23", "poptorch-2", 1, false, 22170, tutorial + "SDK 2.2"));
  rows.push_back(small_cnn("i23-real", "poptorch-2", 1, true, 17150, tutorial + "SDK 2.2"));
  rows.push_back(
      small_cnn("small-cnn-sdk3", "poptorch", 1, false, 47000,
                "Graphcore examples, efficient_data_loading, SDK 3.1: 46,739 to 47,324"));
  rows.push_back(small_cnn("small-cnn-sdk3-2", "poptorch", 2, false, 46384,
                           "Graphcore examples, efficient_data_loading, SDK 3.1"));
  RowSpec detaching = small_cnn("small-cnn-sdk3-real", "poptorch", 1, true, 17957,
                                "Graphcore examples, efficient_data_loading, SDK 3.1");
  detaching.not_judged = "its timer includes detaching from the chip";
  rows.push_back(detaching);
  rows.push_back({.id = "fashion-mnist",
                  .topic = Topic::ipu,
                  .workload = "Fashion-MNIST CNN, training, PopTorch, one GC200, batch 16, a call "
                              "for each step",
                  .figure = 2.67,
                  .source = "the tutorial: 365 to 376 iterations/s",
                  .settings = on("IPU", "gc200", 16, true) + kSgd,
                  .options = {.published = "fashion-mnist"},
                  .quantity = Quantity::milliseconds});
  rows.push_back({.id = "popxl-train",
                  .topic = Topic::ipu,
                  .workload = "MNIST perceptron 784-512-512-512-10, training, PopXL, one GC200, "
                              "batch 8",
                  .figure = 3.38,
                  .source = "Graphcore examples, popxl 1 and 2: 285 to 307 iterations/s",
                  .settings = on("IPU", "gc200", 8, true),
                  .options = {.stack = "popxl", .published = "mnist-mlp-deep"},
                  .quantity = Quantity::milliseconds});
  rows.push_back(
      {.id = "i27",
       .topic = Topic::ipu,
       .workload = "the same, 4 replicas, batch 8 x 4, optimizer state beside the chip",
       .figure = 37989,
       .source = "Graphcore examples, popxl 5: 3.369 ms per call",
       .settings = on("IPU", "gc200", 8, true) + Words{"mode.optimizer.gradient_accumulation=4"},
       .options = {.stream_optimizer = true,
                   .replicas = 4,
                   .stack = "popxl",
                   .published = "mnist-mlp-deep"}});
  rows.push_back({.id = "i28",
                  .topic = Topic::ipu,
                  .workload = "the same, inference, batch 80",
                  .figure = 99972,
                  .source = "Graphcore examples, popxl 5: 0.800 ms per call",
                  .settings = on("IPU", "gc200", 80, false),
                  .options = {.stack = "popxl-inference", .published = "mnist-mlp-deep"}});
  const std::string python = "the machine waits for Python, which reads and transforms images";
  rows.push_back({.id = "mnist-keras",
                  .topic = Topic::ipu,
                  .workload =
                      "MNIST perceptron 784-128-10, training, Keras, one Bow, batch 32, 100 "
                      "steps per call",
                  .figure = 0.275,
                  .source = "ALCF user guide: 262 to 289 us",
                  .settings = on("IPU", "bow", 32, true) + kSgd,
                  .options = {.published = "mnist-mlp", .iterations_per_call = 100},
                  .quantity = Quantity::milliseconds,
                  .not_judged = python});
  rows.push_back({.id = "mnist-poptorch",
                  .topic = Topic::ipu,
                  .workload = "MNIST CNN 32-64, training, PopTorch, one Bow, batch 8, 50 steps per "
                              "call",
                  .figure = 1.03,
                  .source = "ALCF user guide: 7.71 s per epoch",
                  .settings = on("IPU", "bow", 8, true) + kSgd,
                  .options = {.published = "mnist-cnn", .iterations_per_call = 50},
                  .quantity = Quantity::milliseconds,
                  .not_judged = python});
  rows.push_back(
      {.id = "mnist-pipeline",
       .topic = Topic::ipu,
       .workload = "MNIST CNN 10-20, 5x5, training, pipeline of 4 GC200, batch 40, 10 "
                   "batches per update, 10 steps per call",
       .figure = 60000,
       .source = "Graphcore examples, pipelining: 15.0 calls/s",
       .settings =
           on("IPU", "gc200", 40, true) + kSgd + Words{"mode.optimizer.gradient_accumulation=10"},
       .options = {.pipeline = 4, .published = "mnist-cnn-small", .iterations_per_call = 10},
       .not_judged = python});
}

// --- Gaudi ---

RowSpec gaudi(const std::string& id, const std::string& machine, int chips, double images,
              const std::string& source) {
  return {.id = id,
          .topic = Topic::hpu,
          .workload = fmt::format("ResNet-50, training, {} chip{}, batch 256 each, bfloat16", chips,
                                  chips > 1 ? "s" : ""),
          .figure = images,
          .source = source,
          .settings = on("HPU", machine, 256, true) + kSgd + Words{"run.precision=bfloat16"},
          .options = {.replicas = chips, .stack = "mlperf", .published = "resnet50"}};
}

void add_gaudi(Rows& rows) {
  const std::string page = "vendor's performance page 1.0.0";
  rows.push_back(gaudi("gaudi1-1", "gaudi1", 1, 1695, page + ": 1,690 to 1,700"));
  rows.push_back(gaudi("gaudi1-8", "gaudi1", 8, 12765, page + ": 12,580 to 12,950"));
  rows.push_back(gaudi("gaudi1-16", "gaudi1", 16, 23400, page));
  rows.push_back(gaudi("gaudi1-32", "gaudi1", 32, 46400, page));
  rows.push_back(gaudi("g1-g2-g6", "gaudi1", 8, 13183,
                       "MLPerf 1.0, 1.1 and 2.0 logs: 13,164, 13,443 and 13,183"));
  rows.push_back(gaudi("g7", "gaudi1", 16, 26316, "MLPerf 2.0 logs, Supermicro"));
  rows.push_back(gaudi("g8-g15", "gaudi2", 8, 46500,
                       "MLPerf 2.0 to 3.1 logs, eight submissions: 41,001 to 47,830"));
  for (const auto& [id, batch, images] :
       {std::tuple{"g17", 8, 3809.0}, {"g19", 32, 7843.0}, {"g20", 64, 8279.0}}) {
    rows.push_back({.id = id,
                    .topic = Topic::hpu,
                    .workload = fmt::format("ResNet-50, inference, one chip, batch {}", batch),
                    .figure = images,
                    .source = "ByteMLPerf, PyTorch 2.0: bfloat16, copies to and from the host "
                              "included; the chip is inferred from the host",
                    .settings = on("HPU", "gaudi2", batch, false) + Words{"run.precision=bfloat16"},
                    .options = {.stack = "synchronous", .published = "resnet50"}});
  }
  rows.push_back({.id = "tagger-gaudi1",
                  .topic = Topic::hpu,
                  .workload = "CosmicTagger uresnet, training, batch 3, float32, software of 2022",
                  .figure = 0.493,
                  .source = "CosmicTagger, fork for Habana 1.5 (SPEC B.3): 243.4 s for 40 "
                            "iterations",
                  .settings = Words{"network=uresnet"} + on("HPU", "gaudi1", 3, true),
                  .options = {.stack = "eager"},
                  .not_judged = "a step of one event took 15 s, of two 5 s, of three 6 s: ops that "
                                "ran on the host or were recompiled repeatedly"});
}

// --- RDU ---

void add_rdu(Rows& rows) {
  rows.push_back({.id = "s1",
                  .topic = Topic::rdu,
                  .workload = "UNet 256x256, 32 features, training, half an SN30, batch 256",
                  .figure = 88.82,
                  .source = "ALCF user guide: measured end to end over 10 epochs, bfloat16",
                  .settings = on("RDU", "sn30", 256, true) + Words{"run.precision=bfloat16"},
                  .options = {.published = "unet-256", .share = 0.5}});
  rows.push_back(
      {.id = "sn30-gate",
       .topic = Topic::rdu,
       .workload = "the same without the host",
       .figure = 395,
       .source = "the application's own gate, --min-throughput 395",
       .settings = on("RDU", "sn30", 256, true) + Words{"run.precision=bfloat16"} + kSynthetic,
       .options = {.published = "unet-256", .share = 0.5},
       .not_judged = "a limit that the vendor's program sets, not a measurement"});
}

// --- GPU ---

struct GpuRow {
  const char* id;
  const char* stack;
  const char* machine;
  int gpus;
  int batch;
  Format format;
  double images;
  const char* source;
};

const char* word_of(Format format) {
  switch (format) {
    case Format::amp:
      return "16 bits";
    case Format::tf32:
      return "TF32";
    case Format::bf16:
      return "bfloat16";
    case Format::f16:
      return "float16";
    case Format::f32:
      break;
  }
  return "float32";
}

RowSpec gpu_row(const GpuRow& gpu, const std::string& network, bool trains, const Words& more) {
  return {.id = gpu.id,
          .topic = !trains        ? Topic::gpu_infer
                   : gpu.gpus > 1 ? Topic::gpu_many
                                  : Topic::gpu,
          .workload = fmt::format("{}, {}, {}, {} GPU{}, batch {}, {}", network,
                                  trains ? "training" : "inference", gpu.stack, gpu.gpus,
                                  gpu.gpus > 1 ? "s" : "", gpu.batch, word_of(gpu.format)),
          .figure = gpu.images,
          .source = gpu.source,
          .settings =
              on("GPU", gpu.machine, gpu.batch, trains) + format_words(gpu.format, trains) + more,
          .options = {.replicas = gpu.gpus, .stack = gpu.stack, .published = network}};
}

constexpr const char* kDle = "NVIDIA DeepLearningExamples";
constexpr const char* kLambda = "Lambda's benchmark, random tensors on the GPU";
constexpr const char* kMlperf = "MLPerf logs";

void add_resnet_on_gpus(Rows& rows) {
  using enum Format;
  for (const GpuRow& row : {
           GpuRow{"n23-1", "pytorch", "a100", 1, 256, amp, 2470, kDle},
           {"n23-8", "pytorch", "a100", 8, 256, amp, 16621, kDle},
           {"n24-1", "pytorch-nchw-float32", "a100", 1, 256, tf32, 938, kDle},
           {"n24-8", "pytorch-nchw-float32", "a100", 8, 256, tf32, 7248, kDle},
           {"n25-1", "pytorch", "v100", 1, 256, amp, 1200, kDle},
           {"n25-8", "pytorch", "v100", 8, 256, amp, 8322, kDle},
           {"n25-1-fp32", "pytorch-nchw-float32", "v100", 1, 112, f32, 367, kDle},
           {"n25-8-fp32", "pytorch-nchw-float32", "v100", 8, 112, f32, 2855, kDle},
           {"n31", "pytorch", "a100-40", 1, 256, amp, 2244, "ALCF, PMBS 2022 artefact"},
           {"n22", "pytorch", "a100", 8, 256, amp, 16823, "MLPerf 2.0 logs, MosaicML baseline"},
           {"n26-1", "mxnet", "a100", 1, 512, amp, 3410.5, kDle},
           {"n26-4", "mxnet", "a100", 4, 512, amp, 13442.7, kDle},
           {"n26-8", "mxnet", "a100", 8, 512, amp, 26673.7, kDle},
           {"n27-1", "mxnet-float32", "a100", 1, 512, tf32, 1055.8, kDle},
           {"n27-8", "mxnet-float32", "a100", 8, 512, tf32, 8247.4, kDle},
           {"n27-4", "mxnet-float32", "a100", 4, 512, tf32, 4182.3, kDle},
           {"n30", "mxnet", "v100", 1, 192, amp, 1376, kDle},
           {"n30-fp32", "mxnet-float32", "v100", 1, 96, f32, 384, kDle},
           {"n1-n4", "mxnet", "a100", 8, 408, amp, 26900, "MLPerf logs, four: 26,345 to 28,581"},
           {"n5", "mxnet", "a100", 4, 408, amp, 13568, kMlperf},
           {"n6", "mxnet", "a100-pcie", 2, 408, amp, 6496, "MLPerf logs: 6,289 and 6,703"},
           {"n7", "mxnet", "a100", 64, 204, amp, 198692, kMlperf},
           {"n13-n14", "mxnet", "h100", 8, 400, amp, 56400,
            "MLPerf logs, sixteen: 52,439 to 57,291"},
           {"n15", "mxnet", "h100", 4, 400, amp, 28619, kMlperf},
           {"n15-816", "mxnet", "h100", 4, 816, amp, 29146, kMlperf},
           {"n16", "mxnet", "h100-pcie", 4, 816, amp, 18914, kMlperf},
           {"n17", "mxnet", "h100", 16, 200, amp, 98600, "MLPerf logs: 96,499 and 100,780"},
           {"n18", "mxnet", "h100", 32, 100, amp, 168997, kMlperf},
           {"n28-1", "paddle", "a100", 1, 256, amp, 2897, kDle},
           {"n28-8", "paddle", "a100", 8, 256, amp, 23874, kDle},
           {"n28-1-tf32", "paddle-float32", "a100", 1, 256, tf32, 1024, kDle},
           {"n28-8-tf32", "paddle-float32", "a100", 8, 256, tf32, 8013, kDle},
           {"n29-1", "tensorflow", "a100-40", 1, 256, amp, 2375, kDle},
           {"n29-8", "tensorflow", "a100-40", 8, 256, amp, 17400, kDle},
           {"n29-1-tf32", "tensorflow-1-float32", "a100-40", 1, 256, tf32, 909, kDle},
           {"n29-8-tf32", "tensorflow-1-float32", "a100-40", 8, 256, tf32, 7000, kDle},
       }) {
    rows.push_back(gpu_row(row, "resnet50", true, kSgd));
  }
  for (const GpuRow& row : {
           GpuRow{"n31-nchw", "pytorch-nchw-float32", "a100-40", 1, 256, tf32, 801,
                  "ALCF, PMBS 2022 artefact"},
           {"n32", "pytorch-nchw", "a100-40", 1, 720, amp, 1455, kLambda},
           {"n32-tf32", "pytorch-nchw-float32", "a100-40", 1, 360, tf32, 929, kLambda},
           {"n33", "pytorch-nchw", "a100", 1, 1280, amp, 1582, kLambda},
           {"n33-tf32", "pytorch-nchw-float32", "a100", 1, 640, tf32, 1067, kLambda},
           {"n34-8", "pytorch-nchw", "a100", 8, 1280, amp, 11439, kLambda},
           {"n34-2", "pytorch-nchw", "a100", 2, 1280, amp, 3038, kLambda},
           {"n34-4", "pytorch-nchw", "a100", 4, 1280, amp, 6070, kLambda},
           {"n34-2-tf32", "pytorch-nchw-float32", "a100", 2, 640, tf32, 2029, kLambda},
           {"n34-4-tf32", "pytorch-nchw-float32", "a100", 4, 640, tf32, 4042, kLambda},
           {"n34-8-tf32", "pytorch-nchw-float32", "a100", 8, 640, tf32, 7397, kLambda},
           {"n35", "pytorch-nchw", "h100", 1, 1280, amp, 2700, kLambda},
           {"n35-tf32", "pytorch-nchw-float32", "h100", 1, 640, tf32, 1826, kLambda},
           {"n36", "pytorch-nchw", "h100", 8, 1280, amp, 21400, kLambda},
           {"n36-tf32", "pytorch-nchw-float32", "h100", 8, 640, tf32, 14400, kLambda},
           {"n37", "pytorch-nchw", "h100-pcie", 1, 1280, amp, 1976, kLambda},
           {"n37-tf32", "pytorch-nchw-float32", "h100-pcie", 1, 640, tf32, 1248, kLambda},
           {"n40", "pytorch-nchw", "v100", 1, 256, amp, 833, kLambda},
           {"n40-fp32", "pytorch-nchw-float32", "v100", 1, 128, f32, 369, kLambda},
       }) {
    rows.push_back(gpu_row(row, "resnet50", true, kSgd + kSynthetic));
  }
}

void add_unets_on_gpus(Rows& rows) {
  using enum Format;
  for (const GpuRow& row : {
           GpuRow{"n51", "tensorflow", "a100-40", 1, 1, amp, 64.22, kDle},
           {"n51-tf32", "tensorflow-1-float32", "a100-40", 1, 1, tf32, 29.81, kDle},
           {"n52", "tensorflow", "a100-40", 1, 8, amp, 120.08, kDle},
           {"n52-tf32", "tensorflow-1-float32", "a100-40", 1, 8, tf32, 46.5, kDle},
           {"n54", "tensorflow", "a100-40", 8, 8, amp, 738.6, kDle},
           {"n54-tf32", "tensorflow-1-float32", "a100-40", 8, 8, tf32, 304.6, kDle},
           {"n56-1", "tensorflow", "a100", 1, 1, amp, 75.04, kDle},
           {"n56-1-tf32", "tensorflow", "a100", 1, 1, tf32, 46.88, kDle},
           {"n56-8", "tensorflow", "a100", 1, 8, amp, 141.03, kDle},
           {"n56-8-tf32", "tensorflow", "a100", 1, 8, tf32, 63.33, kDle},
           {"n58", "tensorflow", "a100", 8, 8, amp, 1000.9, kDle},
           {"n58-tf32", "tensorflow", "a100", 8, 8, tf32, 470.5, kDle},
           {"n60", "tensorflow", "v100", 1, 8, amp, 60.4, kDle},
           {"n60-fp32", "tensorflow", "v100", 1, 8, f32, 19.1, kDle},
       }) {
    rows.push_back(gpu_row(row, "unet-medical", true, {}));
  }
}

void add_inference_on_gpus(Rows& rows) {
  using enum Format;
  for (const GpuRow& row : {
           GpuRow{"n44-1", "mxnet-dali", "a100", 1, 1, amp, 1432, kDle},
           {"n44-32", "mxnet-dali", "a100", 1, 32, amp, 6808, kDle},
           {"n44-128", "mxnet-dali", "a100", 1, 128, amp, 8018, kDle},
           {"n44-256", "mxnet-dali", "a100", 1, 256, amp, 7910, kDle},
           {"n45-256", "tensorflow-1-float32", "a100-40", 1, 256, tf32, 2549, kDle},
           {"n45-1", "tensorflow-1-no-xla", "a100-40", 1, 1, tf32, 191, kDle},
           {"n45-128", "tensorflow-1-no-xla", "a100-40", 1, 128, tf32, 1876, kDle},
           {"n45-256-no-xla", "tensorflow-1-no-xla", "a100-40", 1, 256, tf32, 1912, kDle},
           {"n46-256", "tensorflow-1-loading", "a100-40", 1, 256, amp, 3676, kDle},
           {"n46-64", "tensorflow-1-loading", "a100-40", 1, 64, amp, 3941, kDle},
           {"n47-1", "tensorrt", "a100", 1, 1, tf32, 969, kDle},
           {"n47-64", "tensorrt", "a100", 1, 64, tf32, 8023, kDle},
           {"n47-256", "tensorrt", "a100", 1, 256, tf32, 8623, kDle},
           {"n49-1", "tensorrt", "a100", 1, 1, amp, 1306, kDle},
           {"n49-128", "tensorrt", "a100", 1, 128, amp, 16387, kDle},
           {"n49-256", "tensorrt", "a100", 1, 256, amp, 17364, kDle},
       }) {
    rows.push_back(gpu_row(row, "resnet50", false, {}));
  }
  for (const GpuRow& row : {
           GpuRow{"n55-1", "tensorflow", "a100-40", 1, 1, amp, 251.1, kDle},
           {"n55-8", "tensorflow", "a100-40", 1, 8, amp, 382.5, kDle},
           {"n55-16", "tensorflow", "a100-40", 1, 16, amp, 400.6, kDle},
           {"n55-8-tf32", "tensorflow-1-float32", "a100-40", 1, 8, tf32, 131.5, kDle},
           {"n55-1-tf32", "tensorflow-1-float32", "a100-40", 1, 1, tf32, 88.8, kDle},
           {"n55-16-tf32", "tensorflow-1-float32", "a100-40", 1, 16, tf32, 137.4, kDle},
           {"n59-1", "tensorflow", "a100", 1, 1, amp, 276.0, kDle},
           {"n59-8", "tensorflow", "a100", 1, 8, amp, 440.7, kDle},
           {"n59-16", "tensorflow", "a100", 1, 16, amp, 462.8, kDle},
           {"n60-infer", "tensorflow", "v100", 1, 8, amp, 178.3, kDle},
           {"n60-infer-fp32", "tensorflow", "v100", 1, 8, f32, 54.4, kDle},
       }) {
    rows.push_back(gpu_row(row, "unet-medical", false, {}));
  }
  for (const GpuRow& row : {
           GpuRow{"n64-1", "tensorflow", "a100-40", 1, 1, amp, 247.8, kDle},
           {"n64-8", "tensorflow", "a100-40", 1, 8, amp, 761.4, kDle},
           {"n64-16", "tensorflow", "a100-40", 1, 16, amp, 823.5, kDle},
           {"n64-16-tf32", "tensorflow-1-float32", "a100-40", 1, 16, tf32, 424.6, kDle},
           {"n64-8-tf32", "tensorflow-1-float32", "a100-40", 1, 8, tf32, 419.7, kDle},
           {"n64-1-tf32", "tensorflow-1-float32", "a100-40", 1, 1, tf32, 228.0, kDle},
           {"n65-1", "tensorflow", "v100", 1, 1, amp, 157.9, kDle},
           {"n65-8", "tensorflow", "v100", 1, 8, amp, 438.0, kDle},
           {"n65-1-fp32", "tensorflow", "v100", 1, 1, f32, 159.7, kDle},
           {"n65-8-fp32", "tensorflow", "v100", 1, 8, f32, 244.0, kDle},
           {"n65-16", "tensorflow", "v100", 1, 16, amp, 469.3, kDle},
           {"n65-16-fp32", "tensorflow", "v100", 1, 16, f32, 250.2, kDle},
       }) {
    rows.push_back(gpu_row(row, "unet-industrial", false, {}));
  }
}

RowSpec tagger(const std::string& id, Topic topic, const std::string& stack, const Words& settings,
               double events, const std::string& workload, const std::string& source) {
  return {.id = id,
          .topic = topic,
          .workload = "CosmicTagger " + workload,
          .figure = events,
          .source = source,
          .settings = settings,
          .options = {.stack = stack}};
}

/// The same run, by what it held at its fullest.
RowSpec memory_of(RowSpec row, double gigabytes, const std::string& source) {
  constexpr double kGigabyte = 1e9;
  row.id += "-memory";
  row.topic = Topic::memory;
  row.quantity = Quantity::bytes;
  row.figure = kGigabyte * gigabytes;
  row.source = source;
  return row;
}

void add_tagger_on_gpus(Rows& rows) {
  const std::string polaris = "CosmicTagger, analysis/Scaling Plots.ipynb, 2022-10";
  for (const auto& [id, stack, gpus, events] :
       {std::tuple{"n70-4", "pytorch-nchw-float32-out-of-place", 4, 13.42},
        {"n70-8", "pytorch-nchw-float32-out-of-place", 8, 26.44},
        {"n70-16", "pytorch-nchw-float32-out-of-place", 16, 52.77},
        {"n70-32", "pytorch-nchw-float32-out-of-place", 32, 101.7},
        {"n70-64", "pytorch-nchw-float32-out-of-place", 64, 208.0},
        {"n71-4", "tensorflow-no-xla", 4, 10.14},
        {"n71-8", "tensorflow-no-xla", 8, 19.85},
        {"n71-16", "tensorflow-no-xla", 16, 39.60},
        {"n71-32", "tensorflow-no-xla", 32, 78.60},
        {"n71-64", "tensorflow-no-xla", 64, 155.5}}) {
    RowSpec row = tagger(
        id, Topic::gpu_many, stack,
        Words{"network=polaris"} + on("GPU", "a100-40", 1, true) +
            Words{"data.downsample=0", "run.tf32=true"} + kSynthetic,
        events,
        fmt::format("on Polaris, training, {}, {} GPUs, batch 1 each, 1280x2048", stack, gpus),
        polaris);
    row.options.replicas = gpus;
    row.words =
        "the network was not recorded; `polaris` in full resolution is taken, as the job script of "
        "that time runs it";
    rows.push_back(row);
  }
  const std::string measured = "measured on an H200, PyTorch 2.11, 2026-11";
  const std::string thrice = measured + ", on three days: ";
  for (const auto& [id, stack, network, trains, events, gigabytes, source] :
       {std::tuple{"h200-a21-train", "pytorch-out-of-place", "a21", true, 83.2, 11.23,
                   thrice + "80.0 to 85.3"},
        {"h200-a21-infer", "pytorch-out-of-place", "a21", false, 261.0, 2.59,
         thrice + "245 to 268"},
        {"h200-uresnet-train", "pytorch-out-of-place", "uresnet", true, 22.6, 50.25,
         thrice + "22.6 to 22.8"},
        {"h200-uresnet-infer", "pytorch-out-of-place", "uresnet", false, 70.0, 4.17,
         thrice + "69.9 to 71.0"},
        {"h200-compiled-a21-train", "torch-compile", "a21", true, 100.0, 0.0, measured},
        {"h200-compiled-a21-infer", "torch-compile", "a21", false, 440.0, 0.0, measured}}) {
    RowSpec row = tagger(id, trains ? Topic::gpu : Topic::gpu_infer, stack,
                         Words{std::string("network=") + network} + on("GPU", "h200", 8, trains) +
                             Words{"run.precision=bfloat16"} + (trains ? kSynthetic : Words{}),
                         events,
                         fmt::format("{}, {}, {}, batch 8, bfloat16", network,
                                     trains ? "training" : "inference", stack),
                         source);
    row.evidence = Evidence::measured;
    rows.push_back(row);
    if (gigabytes > 0) {
      rows.push_back(memory_of(row, gigabytes, "docs/numbers.md: NVML, contexts included"));
    }
  }
}

void add_pvc(Rows& rows) {
  const auto resnet = [&](const std::string& id, int tiles, int batch, double images) {
    RowSpec row = gpu_row({id.c_str(), "tensorflow", "pvc-tile", tiles, batch, Format::tf32, images,
                           "Intel Extension for TensorFlow, performance guide"},
                          "resnet50", true, kSgd);
    row.topic = Topic::pvc;
    rows.push_back(row);
  };
  resnet("p1", 1, 256, 918.96);
  resnet("p3", 2, 256, 1762.8);
  RowSpec openvino = gpu_row(
      {"p6", "openvino", "pvc-tile", 1, 1, Format::amp, 1164.3, "ALCF user guide, OpenVINO"},
      "resnet50", false, {});
  openvino.topic = Topic::pvc;
  rows.push_back(openvino);
  const auto a21 = [&](const std::string& id, int tiles, int batch, double events,
                       const std::string& source) {
    RowSpec row = tagger(
        id, Topic::pvc, "tensorflow",
        Words{"network=a21"} + on("GPU", "pvc-tile", batch, true) + Words{"run.tf32=true"} +
            kSynthetic,
        events,
        fmt::format("a21, training, {} tile{}, batch {}, TF32", tiles, tiles > 1 ? "s" : "", batch),
        source);
    row.options.replicas = tiles;
    rows.push_back(row);
  };
  const std::string sunspot = "CosmicTagger, performance-measurement, Sunspot, 2023-09";
  a21("p8", 1, 8, 21.18, sunspot);
  a21("pvc-batch-12", 1, 12, 18.85, "CosmicTagger on PVC, batch 12");
  a21("p10", 12, 8, 12 * 18.98, sunspot + ", Horovod");
}

// --- this program ---

void add_ours(Rows& rows) {
  struct Step {
    const char* id;
    const char* network;
    bool trains;
    double seconds;
    double megabytes;
  };
  for (const Step& step : {Step{"cpu-a21-train", "a21", true, 0.452, 932},
                           {"cpu-a21-infer", "a21", false, 0.160, 301},
                           {"cpu-uresnet-train", "uresnet", true, 3.907, 4427},
                           {"cpu-uresnet-infer", "uresnet", false, 1.041, 574}}) {
    RowSpec row{.id = step.id,
                .topic = Topic::ours,
                .workload = fmt::format("{}, {}, two cores of a Zen 4, one event, float32",
                                        step.network, step.trains ? "training" : "inference"),
                .figure = 1e3 * step.seconds,
                .source = "docs/numbers.md",
                .settings = Words{std::string("network=") + step.network} +
                            on("CPU", "zen4-2core", 1, step.trains),
                .quantity = Quantity::milliseconds,
                .evidence = Evidence::measured};
    rows.push_back(row);
    rows.push_back(memory_of(row, 1e-3 * step.megabytes, row.source));
  }
  struct GpuStep {
    const char* id;
    const char* network;
    bool trains;
    int batch;
    Format format;
    double events;
    double gigabytes;  ///< 0 if it was not noted
  };
  using enum Format;
  for (const GpuStep& step : {GpuStep{"ours-a21-train", "a21", true, 8, bf16, 458, 4.28},
                              {"ours-a21-infer", "a21", false, 8, bf16, 2326, 1.56},
                              {"ours-uresnet-train", "uresnet", true, 8, bf16, 82.4, 25.31},
                              {"ours-uresnet-infer", "uresnet", false, 8, bf16, 437, 2.39},
                              {"ours-a21-train-1", "a21", true, 1, bf16, 168, 0},
                              {"ours-a21-train-2", "a21", true, 2, bf16, 274, 0},
                              {"ours-a21-train-32", "a21", true, 32, bf16, 549, 0},
                              {"ours-a21-infer-1", "a21", false, 1, bf16, 861, 0},
                              {"ours-a21-infer-2", "a21", false, 2, bf16, 1474, 0},
                              {"ours-a21-infer-32", "a21", false, 32, bf16, 2418, 0},
                              {"ours-a21-train-f32", "a21", true, 8, f32, 100, 0},
                              {"ours-a21-infer-f32", "a21", false, 8, f32, 462, 0}}) {
    RowSpec row{.id = step.id,
                .topic = Topic::ours,
                .workload = fmt::format("{}, {}, H200, batch {} on the device, {}", step.network,
                                        step.trains ? "training" : "inference", step.batch,
                                        word_of(step.format)),
                .figure = step.events,
                .source = "docs/numbers.md, revision f345a28",
                .settings = Words{std::string("network=") + step.network} +
                            on("GPU", "h200", step.batch, step.trains) +
                            format_words(step.format, step.trains) + kSynthetic,
                .options = {.stack = "cosmictagger"},
                .evidence = Evidence::measured};
    rows.push_back(row);
    if (step.gigabytes > 0) {
      rows.push_back(memory_of(row, step.gigabytes, row.source + ": NVML, contexts included"));
    }
  }
}

void add_memory(Rows& rows) {
  rows.push_back(
      {.id = "tagger-memory",
       .topic = Topic::memory,
       .workload = "CosmicTagger a21 of 2023, training, Gaudi1, batch 2, float32",
       .figure = 4495598336.0,
       .source = "CosmicTagger, log of the fork for Habana 1.8: MaxInUse",
       .settings = Words{"network=a21", "network.connections=concat", "network.blocks_final=5"} +
                   on("HPU", "gaudi1", 2, true),
       .quantity = Quantity::bytes,
       .words = "the settings were inferred from scripts; the way in which this machine "
                "stores results was chosen knowing the figure"});
  constexpr double kMiB = 1024.0 * 1024;
  using enum Format;
  for (const auto& [id, machine, batch, format, mebibytes] :
       {std::tuple{"nm1", "a100", 1440, amp, 74734.0},
        {"nm2", "a100", 1440, f16, 78018.0},
        {"nm3", "a100", 720, tf32, 73552.0},
        {"nm7-amp", "v100", 608, amp, 31703.0},
        {"nm7-fp16", "v100", 596, f16, 32209.0},
        {"nm7-fp32", "v100", 296, f32, 32333.0}}) {
    RowSpec row = gpu_row({id, "pytorch-nchw", machine, 1, batch, format, mebibytes * kMiB,
                           "Lambda's benchmark, nvidia-smi; batches chosen to fill the card"},
                          "resnet50", true, kSgd + kSynthetic);
    row.topic = Topic::memory;
    row.quantity = Quantity::bytes;
    rows.push_back(row);
  }
}

}  // namespace

std::vector<RowSpec> row_specs() {
  Rows rows;
  add_ipu(rows);
  add_gaudi(rows);
  add_rdu(rows);
  add_resnet_on_gpus(rows);
  add_unets_on_gpus(rows);
  add_inference_on_gpus(rows);
  add_tagger_on_gpus(rows);
  add_pvc(rows);
  add_ours(rows);
  add_memory(rows);
  return rows;
}

std::vector<FitSpec> fit_specs() {
  const Words half{"run.precision=float16", "run.partials=float16"};
  const auto unet = [&](int chips, bool fits) {
    return FitSpec{
        .workload = fmt::format("U-Net 572x572, training, {} GC200, micro-batch 1, 16.16, "
                                "recomputation, SGD, optimizer state off chip",
                                chips),
        .published_fits = fits,
        .source = "Graphcore examples, unet_medical: training needs four IPUs",
        .settings =
            on("IPU", "gc200", 1, true) + kSgd + half +
            Words{"mode.optimizer.momentum=0.99", "mode.optimizer.gradient_accumulation=24"},
        .options = {.recompute = true,
                    .stream_optimizer = true,
                    .pipeline = chips,
                    .stack = "poptorch-fused",
                    .published = "unet-medical",
                    .temporary_share = 0.3}};
  };
  std::vector<FitSpec> specs{unet(1, false), unet(4, true)};
  specs.push_back(
      {.workload = "U-Net 572x572, inference, one GC200, micro-batch 2, 16.16",
       .source = "Graphcore examples, unet_medical: two images fit one",
       .settings = on("IPU", "gc200", 2, false) + half,
       .options = {
           .stack = "poptorch-fused", .published = "unet-medical", .temporary_share = 0.3}});
  const std::string mlperf = "MLPerf 1.0 to 2.0, configs.yml: the shipped settings";
  for (const auto& [machine, micro, share, source] :
       {std::tuple{"gc200", 20, 0.15, mlperf},
        {"bow", 22, 0.15, mlperf},
        {"bow", 18, 0.16, "Graphcore examples, vision/cnns: the shipped settings"}}) {
    specs.push_back({.workload = fmt::format("ResNet-50, training, one {}, micro-batch {}, 16.16, "
                                             "recomputation",
                                             machine, micro),
                     .source = source,
                     .settings = on("IPU", machine, micro, true) + kSgd + half +
                                 Words{"mode.optimizer.gradient_accumulation=10"},
                     .options = {.recompute = true,
                                 .stack = "poptorch-fused",
                                 .published = "resnet50",
                                 .temporary_share = share}});
  }
  for (const auto& [machine, batch] : {std::pair{"a100", 1280}, {"h100", 1280}, {"v100", 256}}) {
    specs.push_back({.workload = fmt::format("ResNet-50, training, {}, batch {}, PyTorch NCHW, "
                                             "16 bits",
                                             machine, batch),
                     .source = "Lambda's benchmark ran it",
                     .settings = on("GPU", machine, batch, true) + kSgd + kSynthetic +
                                 Words{"run.precision=mixed"},
                     .options = {.stack = "pytorch-nchw", .published = "resnet50"}});
  }
  specs.push_back({.workload = "U-Net 572x572, training, V100 of 16 GB, batch 8, float32",
                   .source = "NVIDIA DeepLearningExamples ran it",
                   .settings = on("GPU", "v100", 8, true),
                   .options = {.stack = "tensorflow", .published = "unet-medical"}});
  return specs;
}

std::vector<SectionRow> section_rows() {
  const Words settings{"network=uresnet3d", "mode=train",           "run.compute_mode=RDU",
                       "run.machine=sn10",  "run.minibatch_size=4", "run.precision=bfloat16"};
  std::vector<SectionRow> rows{
      {.workload = "CosmicTagger uresnet3d, training, batch 4, 4 tiles of an SN10",
       .published = "171 (84 forward, 82 backward, 5 update), and 101 in another plan",
       .settings = settings}};
  for (SectionRow& row : rows) {
    const run::RunChoice choice = choice_of(row.settings, row.options);
    row.predicted = run::predicted_run("", run::machine_of(choice.configuration.run), choice)
                        .prediction.launches;
  }
  return rows;
}

std::vector<UnpredictedRow> unpredicted_rows() {
  return {
      {"ResNeXt101", "Bow Pod16, Gaudi1", "12,221 and 650 images/s",
       "there is no op for grouped convolutions"},
      {"EfficientNet-B4", "Bow Pod16", "8,936 images/s", "there is no op for grouped convolutions"},
      {"SSD-ResNet34", "Gaudi1", "470 images/s", "there are no ops for its boxes and their loss"},
      {"nnU-Net 2D", "A100", "1,818 to 3,850 images/s in inference",
       "instance normalization and deep supervision are not written down here"},
      {"BERT-large", "SN10", "665.9 samples/s", "there are no ops for attention"},
      {"ResNet-50 in fp8", "C600", "18,851 images/s", "there is no such number format"},
      {"CosmicTagger a21 of 2023, 1 to 16 IPUs", "host CPU", "13.1 to 13.6 s per step",
       "these runs were not on the IPU, and the host is not described"},
      {"CosmicTagger uresnet, IPU", "host CPU", "51 s per step", "the same"},
      {"CosmicTagger on Polaris, one step by its parts (N72)", "4 A100",
       "input 6.5, forward 47.2, backward 172.5, optimizer 51.2 ms",
       "by the host's clock, which runs ahead of the GPU: what is issued in one part is "
       "computed in another; the whole step is row n70-4"},
      {"CosmicTagger, RDU", "SN10, SN30", "none", "no throughput was published"},
      {"compile times", "GC200, Bow, SN30", "15 to 1,844 s",
       "the vendors' compilers are not modelled; Gaudi's is a parameter that nobody published"},
      {"small MLP, sntilestat", "SN10", "idle 80 %, program load twice as long as execution",
       "the program was not published; section_switch has a range instead"},
      {"IPU micro-benchmarks", "GC2", "31.1 and 124.5 Tflop/s",
       "the first generation is not described; the peaks of the second follow from its figures"},
  };
}

}  // namespace cosmic::validation
