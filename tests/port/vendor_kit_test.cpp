// The parts of port kits that are for vendors' software: imported and run with stand-ins that have
// the vendors' names and signatures and compute on the CPU (stand_ins/README.md). No more than that
// is shown here: none of it was ever run on a vendor's machine.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "checkpoint/onnx/network_cases.hpp"
#include "core/error.hpp"
#include "port/kit_for_test.hpp"

namespace cosmic::port {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

class VendorKit : public testing::Test {
 protected:
  KitRequest request(Platform platform, const std::vector<std::string>& words = {}) const {
    std::vector<std::string> all = words_of(checkpoint::onnx::reduced("a21"));
    all.push_back("data=synthetic");
    all.insert(all.end(), words.begin(), words.end());
    return {.source = {.settings = all},
            .platform = platform,
            .output = kit_,
            .rows = 16,
            .columns = 24};
  }
  nlohmann::json settings() const {
    return nlohmann::json::parse(content_of(kit_ / "settings.json"));
  }

  ScratchFolder folder_;
  std::filesystem::path kit_ = folder_ / "kit";
};

TEST_F(VendorKit, says_what_was_never_run_and_what_the_model_predicts) {
  for (const Platform platform : {Platform::ipu, Platform::hpu, Platform::rdu}) {
    KitRequest one = request(platform);
    one.existing = Existing::replace;
    const WrittenKit kit = write_kit(one);
    EXPECT_THAT(content_of(kit_ / "README.md"),
                AllOf(HasSubstr("was ever run on"), HasSubstr("modelled"), HasSubstr(kit.verdict),
                      Not(HasSubstr("{{"))));
    EXPECT_THAT(kit.verdict, AllOf(HasSubstr("fits"), HasSubstr("modelled")));
    EXPECT_EQ(kit.changed, "") << "it fits as it is";
  }
}

TEST_F(VendorKit, is_changed_as_make_it_fit_says_where_it_would_not_fit) {
  KitRequest large = request(Platform::ipu);
  large.source.settings = {"network=a21", "data=synthetic"};
  large.rows = large.columns = 0;
  const WrittenKit kit = write_kit(large);
  EXPECT_THAT(kit.changed, HasSubstr("run.precision=float16"));
  EXPECT_THAT(content_of(kit_ / "README.md"), HasSubstr(kit.changed));
  const nlohmann::json run = settings()["configuration"]["run"];
  EXPECT_EQ(run["precision"], "float16");
  EXPECT_EQ(settings()["plan"]["blocks"].size(), run["stages"]);
}

TEST_F(VendorKit, is_for_the_machine_that_the_settings_name) {
  write_kit(request(Platform::ipu, {"run.machine=bow"}));
  EXPECT_EQ(settings()["plan"]["machine"], "Bow");
  EXPECT_THAT(
      [&] { write_kit(request(Platform::hpu, {"run.compute_mode=IPU"})); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("--for hpu"), HasSubstr("run.compute_mode=IPU"))));
}

TEST_F(VendorKit, refuses_an_optimizer_that_the_software_lacks) {
  EXPECT_THAT([&] { write_kit(request(Platform::rdu, {"mode.optimizer.name=rmsprop"})); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("rmsprop"), HasSubstr("adamw"))));
}

class StandIns : public VendorKit {
 protected:
  void SetUp() override {
    python_ = python_with("torch, numpy, h5py");
    if (!python_) {
      GTEST_SKIP() << "needs PyTorch (packages python3-torch, python3-h5py)";
    }
  }

  /// `python3 WORDS` in the kit, with the stand-ins of a platform.
  CommandResult run(const std::string& platform, const std::string& words,
                    const std::string& environment = "") const {
    const auto stand_ins = std::filesystem::absolute("tests/port/stand_ins/" + platform);
    return run_command("cd '" + kit_.string() + "' && " + environment + " PYTHONPATH='" +
                       stand_ins.string() + "' PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 " +
                       *python_ + " " + words);
  }

  std::optional<std::string> python_;
};

TEST_F(StandIns, of_poptorch_train_a_pipeline_as_plain_pytorch_does) {
  write_kit(request(Platform::ipu, {"run.stages=2", "run.partials=float32"}));
  EXPECT_THAT(settings()["plan"]["blocks"], SizeIs(2));
  const CommandResult result = run("ipu", "on_ipu.py test --steps 2 --tolerance 1e-4");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("losses agree"));
}

TEST_F(StandIns, of_poptorch_that_take_no_cycles_end_the_run) {
  write_kit(request(Platform::ipu));
  const CommandResult result = run("ipu", "on_ipu.py train --steps 1", "COSMIC_STAND_IN_HOST=1");
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("no cycle of an IPU"));
}

TEST_F(StandIns, of_poptorch_write_a_record_for_each_optimizer) {
  for (const std::string name : {"adamw", "rmsprop", "sgd"}) {
    KitRequest one = request(Platform::ipu, {"mode.optimizer.name=" + name});
    one.existing = Existing::replace;
    write_kit(one);
    const CommandResult result = run("ipu", "on_ipu.py measure --steps 3");
    ASSERT_EQ(result.status, 0) << result.output;
    const nlohmann::json record = nlohmann::json::parse(content_of(kit_ / "record.json"));
    EXPECT_EQ(record["machine"], "ipu");
    EXPECT_TRUE(record["peak_bytes"].is_null());
    EXPECT_EQ(record["settings"]["configuration"]["mode"]["optimizer"]["name"], name);
  }
}

TEST_F(StandIns, of_habana_end_a_run_whose_step_was_computed_on_the_host) {
  write_kit(request(Platform::hpu));
  const CommandResult result = run("hpu", "on_hpu.py train --steps 1");
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("computed on cpu, not on hpu"));
  EXPECT_THAT(content_of(kit_ / "ops_bfloat16.txt"), HasSubstr("conv2d\n"));
}

TEST_F(StandIns, of_sambaflow_compile_test_and_measure) {
  write_kit(request(Platform::rdu));
  CommandResult result = run("rdu", "sections.py");
  ASSERT_EQ(result.status, 0) << result.output;
  const nlohmann::json decision = nlohmann::json::parse(content_of(kit_ / "decision.json"));
  EXPECT_THAT(content_of(kit_ / "decision.json"),
              HasSubstr("stepwithlogits__network__initial_convolution__conv__conv2d"));
  EXPECT_THAT(decision["fwd_section_boundaries"], Each(Not(SizeIs(0))));
  result = run("rdu",
               "on_rdu.py compile --pef-name=cosmictagger --output-folder=pef --enable-conv-tiling "
               "--num-tiles=4 --mac-human-decision decision.json");
  ASSERT_EQ(result.status, 0) << result.output;
  const std::string pef = " --pef=pef/cosmictagger/cosmictagger.pef";
  result = run("rdu", "on_rdu.py test --tolerance 1e-4" + pef);
  EXPECT_EQ(result.status, 0) << result.output;
  result = run("rdu", "on_rdu.py measure-performance --steps 3" + pef);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(content_of(kit_ / "record.json"), HasSubstr("\"machine\": \"rdu\""));
  result = run("rdu", "on_rdu.py run --steps 1" + pef, "COSMIC_STAND_IN_HOST=1");
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("the host trained them"));
}

}  // namespace
}  // namespace cosmic::port
