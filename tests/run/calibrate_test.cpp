#include "run/calibrate.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

#include "config/parse.hpp"
#include "core/error.hpp"
#include "machine/write_description.hpp"
#include "run/explain.hpp"
#include "scratch_folder.hpp"
#include "target/registry.hpp"

namespace cosmic::run {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Kind = Observation::Kind;

const std::vector<std::string> kSmall{"network=a21", "network.depth=3", "data.downsample=3",
                                      "mode=train", "run.compute_mode=CPU"};

double observed(const Record& record, Kind kind) {
  for (const Observation& observation : record.observations) {
    if (observation.kind == kind) {
      return observation.value;
    }
  }
  return 0;
}

TEST(Records, ours_say_what_ran_how_long_and_how_much) {
  const Record record = parse_record(
      R"({"format": "cosmictagger record 1", "settings": ["network=a21", "mode=train"],
          "step": {"seconds": 0.5}, "peak_bytes": 1e9})",
      "a.json");
  EXPECT_THAT(record.settings, testing::ElementsAre("network=a21", "mode=train"));
  EXPECT_EQ(observed(record, Kind::step), 0.5);
  EXPECT_EQ(observed(record, Kind::memory), 1e9);
  const Record again = parse_record(to_json(record), "b.json");
  EXPECT_EQ(again.settings, record.settings);
  EXPECT_EQ(observed(again, Kind::memory), 1e9);
}

TEST(Records, of_a_port_kit_have_a_configuration) {
  const Record record = parse_record(
      R"({"format": "cosmictagger record 1",
          "settings": {"configuration": {"network": {"depth": 3, "name": "a21"},
                                         "run": {"minibatch_size": 4, "id": "x"}}},
          "step": {"kind": "training", "seconds": 0.5}, "peak_bytes": null})",
      "kit.json");
  EXPECT_THAT(record.settings, testing::UnorderedElementsAre("network.depth=3", "network.name=a21",
                                                             "run.minibatch_size=4", "mode=train"));
}

TEST(Records, that_say_only_how_long_leave_what_ran_to_the_command_line) {
  const Record record = parse_record(
      R"({"format": "cosmictagger record 1", "step": {"kind": "training", "seconds": 0.5}})", "a");
  EXPECT_THAT(record.settings, testing::IsEmpty());
  EXPECT_EQ(observed(record, Kind::step), 0.5);
}

TEST(Records, a_trace_of_torch_tells_products_from_other_kernels) {
  const Record record = parse_record(
      R"({"traceEvents": [
          {"name": "ProfilerStep#1", "dur": 1000, "cat": "user_annotation"},
          {"name": "ProfilerStep#2", "dur": 3000, "cat": "user_annotation"},
          {"name": "ProfilerStep#1", "dur": 9000, "cat": "gpu_user_annotation"},
          {"name": "sm90_xmma_fprop_implicit_gemm", "dur": 800, "cat": "kernel"},
          {"name": "cudnn::bn_fw_tr_1C11", "dur": 600, "cat": "kernel"},
          {"name": "aten::conv2d", "dur": 5000, "cat": "cpu_op"}, {"ph": "M"}]})",
      "trace.json");
  EXPECT_DOUBLE_EQ(observed(record, Kind::step), 3e-3);
  EXPECT_DOUBLE_EQ(observed(record, Kind::products), 0.4e-3);  // of one of two steps
  EXPECT_DOUBLE_EQ(observed(record, Kind::other), 0.3e-3);
}

TEST(Records, kernels_that_convert_are_no_products_and_those_of_cublas_are) {
  const Record record = parse_record(
      R"({"traceEvents": [
          {"name": "ProfilerStep#1", "dur": 1000, "cat": "user_annotation"},
          {"name": "nvjet_hsh_128x32_64x9_2x1_v_bz_TNN", "dur": 100, "cat": "kernel"},
          {"name": "sm90_bf16_convertTensor_kernel", "dur": 20, "cat": "kernel"},
          {"name": "Memcpy DtoD", "dur": 7, "cat": "gpu_memcpy"}]})",
      "trace.json");
  EXPECT_DOUBLE_EQ(observed(record, Kind::products), 100e-6);
  EXPECT_DOUBLE_EQ(observed(record, Kind::other), 27e-6);
}

// Written by torch 1.13 of Debian, which has no Kineto; shortened.
TEST(Records, a_trace_without_kineto_is_a_list_and_has_steps_only) {
  const Record record = parse_record(
      R"([{"name": "aten::zeros", "ph": "X", "ts": 81, "dur": 13, "tid": 1,
           "pid": "CPU functions", "args": {}},
          {"name": "ProfilerStep#1", "ph": "X", "ts": 110, "dur": 345897, "tid": 1,
           "pid": "CPU functions", "args": {}}])",
      "trace.json");
  EXPECT_DOUBLE_EQ(observed(record, Kind::step), 0.345897);
  EXPECT_EQ(record.observations.size(), 1U);
}

TEST(Records, logs_of_habana_and_sntilestat_are_read_by_their_words) {
  const Record log =
      parse_record("pool limit 32466264145\nInUse: 5\nMaxInUse:  4495598336\n", "log");
  EXPECT_EQ(observed(log, Kind::memory), 4495598336.0);
  const Record tiles = parse_record(
      "TILE %idle %exec %pload %aload\n/XRDU_0/RDU_0/TILE_0 80.0 5.0 10.0 2.0\n"
      "/XRDU_0/RDU_0/TILE_1 80.0 7.0 12.0 1.0\n",
      "sntilestat.txt");
  EXPECT_DOUBLE_EQ(observed(tiles, Kind::loading), 22.0 / 12);
}

TEST(Records, what_is_none_is_refused_with_what_is_missing) {
  const auto reading = [](const std::string& text) { return [text] { parse_record(text, "x"); }; };
  EXPECT_THAT(reading("hello"), ThrowsMessage<DataError>(HasSubstr("neither our record")));
  EXPECT_THAT(reading("{\"a\":"), ThrowsMessage<DataError>(HasSubstr("begins like JSON")));
  EXPECT_THAT(reading("{\"a\": 1}"), ThrowsMessage<DataError>(HasSubstr("traceEvents")));
  EXPECT_THAT(reading("{\"traceEvents\": []}"),
              ThrowsMessage<DataError>(HasSubstr("ProfilerStep")));
  EXPECT_THAT(reading("{\"format\": \"cosmictagger record 1\", \"step\": {\"seconds\": -1}}"),
              ThrowsMessage<DataError>(HasSubstr("positive number")));
  for (const char* step : {"{}", "{\"seconds\": null}", "{\"seconds\": \"1\"}"}) {
    EXPECT_THAT(
        reading("{\"format\": \"cosmictagger record 1\", \"step\": " + std::string(step) + "}"),
        ThrowsMessage<DataError>(HasSubstr("'step.seconds' is")))
        << step;
  }
  for (const char* step : {"5", "[1]", "\"fast\""}) {
    EXPECT_THAT(
        reading("{\"format\": \"cosmictagger record 1\", \"step\": " + std::string(step) + "}"),
        ThrowsMessage<DataError>(HasSubstr("must be an object with 'seconds'")))
        << step;
  }
  EXPECT_THAT(reading("%exec %pload\n0 0\n"), ThrowsMessage<DataError>(HasSubstr("nothing ran")));
  EXPECT_THAT([] { read_record("nowhere/record.json"); },
              ThrowsMessage<UserError>(HasSubstr("nowhere/record.json")));
}

/// What the machine would do if one of its figures were another.
Record made_up(const std::string& name, const machine::Description& machine,
               const std::vector<std::string>& settings) {
  const machine::BestEstimate best = [&] {
    config::Configuration configuration =
        config::parse(settings,
                      {.command = config::Command::explain, .missing = config::MissingKeys::leave})
            .configuration;
    const PreparedRun run = prepared_run(machine, choice_of(configuration));
    return machine::best_estimate(run.machine, run.program, run.execution);
  }();
  return {
      name,
      settings,
      {{Kind::step, best.step.modelled_seconds()}, {Kind::memory, best.needed.modelled_bytes()}}};
}

TEST(Calibrate, finds_the_figure_that_made_the_records) {
  const machine::Description shipped = target::find_machine("zen4-2core");
  const machine::Description truth = machine::with_unknown(
      machine::with_unknown(shipped, "float_efficiency", 0.7), "pool_overhead", 0.3e9);
  std::vector<std::string> larger = kSmall;
  larger.push_back("run.minibatch_size=8");
  const Calibration fitted =
      calibrate(shipped, {made_up("one", truth, kSmall), made_up("two", truth, larger)}, {});
  EXPECT_NEAR(fitted.machine["float_efficiency"], 0.7, 0.02);
  for (const Judgement& judgement : fitted.judgements) {
    EXPECT_NEAR(judgement.after, 1, 0.03) << judgement.record << " " << to_string(judgement.kind);
    ASSERT_TRUE(judgement.left_out);
    EXPECT_NEAR(*judgement.left_out, 1, 0.06);
  }
  EXPECT_THAT(text_of(fitted), AllOf(HasSubstr("float_efficiency"), HasSubstr("fitted to one, two"),
                                     HasSubstr("left out")));
}

TEST(Calibrate, writes_a_description_that_says_what_it_was_fitted_to) {
  const machine::Description shipped = target::find_machine("zen4-2core");
  const machine::Description truth = machine::with_unknown(shipped, "float_efficiency", 0.7);
  const Calibration fitted = calibrate(shipped, {made_up("mine.json", truth, kSmall)}, {});
  const ScratchFolder folder("calibrated");
  const std::string file = (folder / "mine.yaml").string();
  std::ofstream(file) << machine::to_yaml(fitted.machine);
  const machine::Description read = target::find_machine(file);
  EXPECT_EQ(read.name, "zen4-2core (calibrated)");
  EXPECT_NEAR(read["float_efficiency"] / fitted.machine["float_efficiency"], 1, 1e-4);
  for (const machine::Unknown& unknown : read.unknowns) {
    if (unknown.figure.name == "float_efficiency") {
      EXPECT_EQ(unknown.figure.status, machine::Status::calibrated);
      EXPECT_THAT(unknown.figure.fitted_to, testing::ElementsAre("mine.json"));
    }
  }
}

TEST(Calibrate, every_shipped_description_can_be_written_and_read_again) {
  const ScratchFolder folder("written");
  for (const std::string& name : machine::built_in_machines()) {
    SCOPED_TRACE(name);
    const machine::Description machine = target::find_machine(name);
    const std::string file = (folder / (name + ".yaml")).string();
    std::ofstream(file) << machine::to_yaml(machine);
    const machine::Description read = target::find_machine(file);
    EXPECT_EQ(read.unknowns.size(), machine.unknowns.size());
    for (const machine::Unknown& unknown : machine.unknowns) {
      EXPECT_NEAR(read[unknown.figure.name], unknown.figure.value,
                  1e-5 * std::abs(unknown.figure.value));
    }
    EXPECT_EQ(read.stack().stored, machine.stack().stored);
    EXPECT_EQ(read.links.size(), machine.links.size());
  }
}

TEST(Calibrate, a_record_that_does_not_say_what_ran_is_refused) {
  EXPECT_THAT(
      [] {
        calibrate(target::find_machine("gaudi1"), {{"log", {}, {{Kind::memory, 1e9}}}}, {});
      },
      ThrowsMessage<UserError>(
          AllOf(HasSubstr("log does not say what ran"), HasSubstr("settings"))));
}

TEST(Calibrate, a_record_of_another_kind_of_machine_is_refused) {
  const Record record{"cpu.json", kSmall, {{Kind::step, 1}}};
  EXPECT_THAT([&] { calibrate(target::find_machine("gaudi1"), {record}, {}); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("cpu.json ran with run.compute_mode=CPU"),
                                             HasSubstr("Gaudi1 is of the family hpu"))));
}

TEST(Calibrate, says_so_where_no_figure_explains_a_record) {
  const auto calibrated = [](double seconds) {
    return calibrate(target::find_machine("zen4-2core"),
                     {{"mine.json", kSmall, {{Kind::step, seconds}}}}, {});
  };
  const double usual =
      observed(made_up("usual", target::find_machine("zen4-2core"), kSmall), Kind::step);
  const Calibration sensible = calibrated(usual * 1.1);
  EXPECT_FALSE(sensible.changes.front().stopped);
  EXPECT_THAT(text_of(sensible), testing::Not(HasSubstr("Do not use")));
  for (const double factor : {1e-3, 1e3}) {  // milliseconds for seconds, and the other way
    const Calibration absurd = calibrated(usual * factor);
    EXPECT_TRUE(absurd.changes.front().stopped) << factor;
    EXPECT_THAT(text_of(absurd), AllOf(HasSubstr("units are wrong"), HasSubstr("Do not use")));
  }
}

struct Step {
  const char* machine;
  const char* stack;
  const char* settings;
  const char* mode;
  double a21_seconds;
  double uresnet_seconds;
};

class CalibrateOnOneNetwork : public testing::TestWithParam<Step> {};

constexpr const char* kOneEvent = "run.compute_mode=CPU run.minibatch_size=1";
constexpr const char* kEightOnGpu =
    "run.compute_mode=GPU run.minibatch_size=8 run.precision=bfloat16 data.synthetic=true";

/// docs/calibrate.md: two cores of a Zen 4, processor time of one thread, halved, and PyTorch on an
/// H200.
INSTANTIATE_TEST_SUITE_P(
    , CalibrateOnOneNetwork,
    testing::Values(Step{"zen4-2core", "", kOneEvent, "train", 0.452, 3.907},
                    Step{"zen4-2core", "", kOneEvent, "inference", 0.160, 1.041},
                    Step{"zen4-2core", "", kOneEvent, "train", 0.488, 4.057},
                    Step{"zen4-2core", "", kOneEvent, "inference", 0.133, 0.984},
                    Step{"h200", "pytorch-out-of-place", kEightOnGpu, "train", 0.0962, 0.3539},
                    Step{"h200", "pytorch-out-of-place", kEightOnGpu, "inference", 0.0326,
                         0.1144}));

TEST_P(CalibrateOnOneNetwork, predicts_the_other_within_20_percent) {
  const Step& step = GetParam();
  const auto settings = [&](const char* network) {
    std::vector<std::string> words{std::string("network=") + network,
                                   std::string("mode=") + step.mode};
    std::istringstream more(step.settings);
    words.insert(words.end(), std::istream_iterator<std::string>(more), {});
    return words;
  };
  const auto predicted_to_measured = [&](const char* from, double from_seconds, const char* to,
                                         double to_seconds) {
    const Calibration fitted =
        calibrate(target::find_machine(step.machine),
                  {{from, settings(from), {{Kind::step, from_seconds}}}}, {.stack = step.stack});
    return observed(made_up(to, fitted.machine, settings(to)), Kind::step) / to_seconds;
  };
  const double of_uresnet =
      predicted_to_measured("a21", step.a21_seconds, "uresnet", step.uresnet_seconds);
  const double of_a21 =
      predicted_to_measured("uresnet", step.uresnet_seconds, "a21", step.a21_seconds);
  EXPECT_NEAR(of_uresnet, 1, 0.2);
  EXPECT_NEAR(of_a21, 1, 0.2);
  RecordProperty("uresnet_predicted_to_measured", std::to_string(of_uresnet));  // docs/calibrate.md
  RecordProperty("a21_predicted_to_measured", std::to_string(of_a21));
}

}  // namespace
}  // namespace cosmic::run
