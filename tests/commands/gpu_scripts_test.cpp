// What bench/compare_gpu, scripts/gpu_check and scripts/gpu_processes_check make of answers that
// stand-ins for the programs give: tables, records and exit statuses, where there is no GPU.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run_command.hpp"
#include "scratch_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// What they were asked goes to the file $TRACE.
constexpr const char* kProgram = R"sh(#!/bin/sh
case "$1" in
  --version) echo "cosmictagger 0.1.0 (revision 0123456789ab, Release, GNU 12.2.0)" ;;
  targets) echo '[{"target": "cuda", "compute_mode": "GPU", "machine": "compute capability 9.0",
    "devices": "device 0 (Toy GPU), 8 GB", "available": true, "reason": ""}]' ;;
  test)
    echo "$@" >> "$TRACE"
    case "$*" in *run.tf32=true*|*run.precision=float16*|*run.precision=mixed*)
      echo "error: the format is refused" >&2; exit 5 ;;
    esac
    echo "  WRONG          0; closest to its bound"
    exit "${TEST_STATUS:-0}" ;;
  *) exit 3 ;;
esac
)sh";

constexpr const char* kBench = R"py(#!/usr/bin/env python3
import json, os, sys, time
with open(os.environ["TRACE"], "a") as trace:
    trace.write("bench " + " ".join(sys.argv[1:]) + "\n")
batch = int(sys.argv[sys.argv.index("--batch") + 1])
seconds = batch / float(os.environ.get("RATE", "3000"))
print(json.dumps({
    "events_per_second": batch / (2 * seconds), "target_events_per_second": batch / seconds,
    "seconds_median": 2 * seconds, "target_seconds_median": seconds, "first_step_at": time.time(),
    "device_memory": {"planned_bytes": 5900000000 * batch // 8},
    "all_steps": {"roofline_seconds": seconds / 4},
    "longest_steps": [{"op": "conv", "layer": "first", "type": "f32[1]", "seconds": 2e-4, "bytes": 1e8,
                       "flops": 1e9, "roofline_share": 0.5, "bound": "memory"}]}))
)py";

/// A build whose programs are short scripts.
class GpuScripts : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("python3")) {
      GTEST_SKIP() << "needs python3";
    }
    write("bin/cosmictagger", kProgram);
    write("bench/cosmic_step_bench", kBench);
  }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  /// With the script's exit status as such.
  CommandResult run(const std::string& command) const {
    CommandResult result = run_command("TRACE=" + trace().string() + " " + command);
    result.status = WEXITSTATUS(result.status);
    return result;
  }
  CommandResult compare(const std::string& words, const std::string& variables = "") const {
    return run(variables + " python3 bench/compare_gpu --build " + folder_.path().string() +
               " --peer /no/such/peer " + words);
  }
  std::filesystem::path trace() const { return folder_ / "trace"; }
  nlohmann::json record(const std::string& name) const {
    return nlohmann::json::parse(content_of(folder_ / name));
  }

  ScratchFolder folder_{"gpu_scripts"};
};

TEST_F(GpuScripts, compare_gpu_writes_a_table_and_a_record_with_the_program_s_revision) {
  const CommandResult result = compare("--batch 1,8");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(
      result.output,
      AllOf(HasSubstr("PyTorch is skipped: there is no /no/such/peer"),
            HasSubstr("float16 is left out: error: the format is refused"),
            HasSubstr("| a21 training | bfloat16 | 8 | 3,000 | 1,500 | – | – | 500 | 1,000 "
                      "| pass | 5.90 |"),
            HasSubstr("| a21 inference | float32 | 1 | 3,000 |"), HasSubstr("| 25 % |"),
            HasSubstr("| conv of first | `f32[1]` | 200.0 | 100.0 | 1.00 | 50 % | memory |"),
            HasSubstr("4 of 4 floors are met")));
  const nlohmann::json json = record("compare_gpu.json");
  EXPECT_EQ(json.at("revision"), "0123456789ab");
  EXPECT_EQ(json.at("device"), "device 0 (Toy GPU), 8 GB");
  EXPECT_EQ(json.at("rows").size(), 2U * 2 * 2 * 2) << "nets, modes, formats, batches";
  EXPECT_EQ(json.at("checks").size(), 4U);
  EXPECT_THAT(content_of(folder_ / "compare_gpu.md"), HasSubstr("revision 0123456789ab"));
  EXPECT_THAT(content_of(trace()),
              HasSubstr("bench uresnet infer --target cuda --device 0 --batch 8 "
                        "--precision bfloat16 --inputs resident --no-check"));
}

TEST_F(GpuScripts, compare_gpu_sets_the_best_of_pytorch_beside_ours) {
  write("peer/torch.py", "");  // so that there is one
  write("peer/uresnet_torch.py", R"py(
import json, os, sys
with open(os.environ["TRACE"], "a") as trace:
    trace.write("peer " + " ".join(sys.argv[1:]) + "\n")
rate = 120.0 if "--compile" in sys.argv else 100.0
print(json.dumps({"peer": "pytorch 2.11", "seconds_median": 8 / rate, "events_per_second": rate}))
)py");
  const CommandResult result = compare("--quick --net a21 --mode train --peer-compile --peer " +
                                           (folder_ / "peer/uresnet_torch.py").string(),
                                       "PYTHONPATH=" + (folder_ / "peer").string());
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("| 8 | 3,000 | 1,500 | 120 | 25.0 | 500 | 1,000 | pass |"),
                    HasSubstr("pytorch 2.11")));
  EXPECT_THAT(content_of(trace()),
              HasSubstr("peer bench a21 train --device cuda --channels-last --batch 8 --repeat 10 "
                        "--bf16 --compile"));
  const nlohmann::json row = record("compare_gpu.json").at("rows").at(0);
  EXPECT_EQ(row.at("peer").at("name"), "PyTorch compiled");
  EXPECT_EQ(row.at("ratio"), 25.0);
}

TEST_F(GpuScripts, compare_gpu_times_nothing_if_an_answer_is_wrong) {
  const CommandResult result = compare("--quick", "TEST_STATUS=1");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output, HasSubstr("WRONG ANSWER, nothing is timed"));
  EXPECT_THAT(content_of(trace()), Not(HasSubstr("bench")));
}

TEST_F(GpuScripts, compare_gpu_fails_if_a_floor_is_missed) {
  const CommandResult result = compare("--quick --net a21 --mode infer", "RATE=2000");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("| 2,200 | 4,500 | FAIL |"), HasSubstr("0 of 1 floors are met")));
}

TEST_F(GpuScripts, gpu_check_names_what_is_missing_and_fails) {
  const CommandResult result = run("python3 scripts/gpu_check " + folder_.path().string() +
                                   " --only conformance,memcheck --sanitizer /no/such/program");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output, AllOf(HasSubstr("ok       device"),
                                   HasSubstr("compute capability 9.0; device 0 (Toy GPU), 8 GB"),
                                   HasSubstr("FAIL     conformance"), HasSubstr("there is no "),
                                   HasSubstr("conformance_tests")));
  const nlohmann::json json = record("gpu_check.json");
  EXPECT_EQ(json.at("revision"), "0123456789ab");
  EXPECT_EQ(json.at("checks").at(0).at("result"), "ok");
  EXPECT_EQ(json.at("checks").at(1).at("result"), "FAIL");
}

TEST_F(GpuScripts, gpu_check_says_in_one_line_that_there_is_no_compute_sanitizer) {
  write("tests/conformance_tests",
        "#!/bin/sh\necho '[==========] 3 tests from 1 test suite ran. (1 ms total)'\n");
  const std::string path = "/usr/bin:/bin";  // without CUDA's own folder
  if (run_command("PATH=" + path + " command -v compute-sanitizer").status == 0) {
    GTEST_SKIP() << "needs a system without compute-sanitizer in " << path;
  }
  const CommandResult result =
      run("sh -c 'python=$(command -v python3); PATH=" + path + " exec $python scripts/gpu_check " +
          folder_.path().string() + " --only conformance,racecheck'");
  EXPECT_THAT(result.output, AllOf(HasSubstr("ok       conformance"), HasSubstr("3 tests from 1"),
                                   HasSubstr("not run  racecheck"),
                                   HasSubstr("compute-sanitizer is not on the PATH")));
}

/// $DIFF is what comparing two checkpoints says, $LOSS what two ranks lose.
constexpr const char* kTogether = R"sh(#!/bin/sh
case "$1" in
  generate) ;;
  measure-performance) echo '{"latency_seconds": {"median": 0.0165}}' ;;
  train)
    for word in "$@"; do
      case "$word" in output_dir=*)
        mkdir -p "${word#output_dir=}"
        printf 'step,loss\n0,%s\n' "$(test -z "$RANKS" && echo 1.5 || echo "${LOSS:-1.5001}")" \
          > "${word#output_dir=}/train_metrics.csv" ;;
      esac
    done
    case "$*" in *run.exchange=host*) exit 0 ;; esac
    test -z "$RANKS" || case "$*" in
      *run.device=0*) echo "rank 0 and rank 1 on host node share a GPU" ; exit 5 ;;
      *) echo "2 processes on host node are to train on its 1 device" ; exit 2 ;;
    esac ;;
  checkpoint) printf 'tensors\n  %s\n' "${DIFF:-all 3 are identical}" ;;
esac
)sh";

TEST_F(GpuScripts, gpu_processes_check_says_in_a_line_each_what_was_found) {
  write("bin/cosmictagger", kTogether);
  write("bin/mpirun", "#!/bin/sh\nshift 2\nRANKS=2 exec \"$@\"\n");
  const std::string script = "MPIRUN=" + (folder_ / "bin/mpirun").string() +
                             " scripts/gpu_processes_check " + folder_.path().string();
  const CommandResult sound = run(script);
  EXPECT_EQ(sound.status, 0) << sound.output;
  EXPECT_THAT(sound.output,
              AllOf(HasSubstr("host-bits   ok       float32, 2 ranks on one card by the host, 1 "
                              "process with 2 replicas: all 3 are identical"),
                    HasSubstr("host-bits   ok       bfloat16"), HasSubstr("narrow-bits ok "),
                    HasSubstr("statistics  ok       2 ranks with the statistics of both, 1 process "
                              "with the whole batch: losses of 1 updates differ by 6.7e-05"),
                    HasSubstr("refusals    ok")));
  const CommandResult wrong = run("DIFF='2 of 3 differ' " + script);
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.output,
              AllOf(HasSubstr("host-bits   FAILED   float32"), HasSubstr("tensors 2 of 3 differ")));
  const CommandResult other_losses = run("LOSS=1.6 " + script);
  EXPECT_EQ(other_losses.status, 1);
  EXPECT_THAT(other_losses.output, HasSubstr("statistics  FAILED"));
}

TEST_F(GpuScripts, gpu_processes_check_says_that_there_is_no_mpirun) {
  write("bin/cosmictagger", kTogether);
  const CommandResult result =
      run("MPIRUN=/no/such/program scripts/gpu_processes_check " + folder_.path().string());
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("host-bits   not run  there is no mpirun"));
}

}  // namespace
}  // namespace cosmic
