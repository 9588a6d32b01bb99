// The profile files of a run on a machine that is not here, figure by figure: every time is the
// model's and named so, or the host's and marked so; and none of it is in the files of a run whose
// times are measured.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "infer/inference.hpp"
#include "report/page/well_formed.hpp"
#include "scratch_folder.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"
#include "unmarked_figures.hpp"

namespace cosmic::train {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kHostClock = "(host clock of a modelled run)";

/// "step.modelled_seconds" for every number of a document whose key speaks of time or memory.
void collect_quantities(const json& document, const std::string& path,
                        std::vector<std::string>& found) {
  if (document.is_object()) {
    for (const auto& [key, value] : document.items()) {
      const std::string here = path.empty() ? key : path + "." + key;
      const bool quantity =
          key.find("second") != std::string::npos || key.find("bytes") != std::string::npos;
      if (quantity && (value.is_number() || value.is_array())) {
        found.push_back(here);
      }
      collect_quantities(value, here, found);
    }
  } else if (document.is_array()) {
    for (const json& element : document) {
      collect_quantities(element, path, found);
    }
  }
}

std::set<std::string> quantities(const json& document) {
  std::vector<std::string> found;
  collect_quantities(document, "", found);
  return {found.begin(), found.end()};
}

std::string last_key(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

/// Seconds of all events of a timeline with this name, in one iteration.
double seconds_of(const json& timeline, const std::string& name, int iteration) {
  double seconds = 0;
  for (const json& event : timeline.at("traceEvents")) {
    if (event.at("name") == name && event.at("args").value("iteration", -1) == iteration) {
      seconds += event.at("dur").get<double>() * 1e-6;
    }
  }
  return seconds;
}

class ModelledProfile : public testing::TestWithParam<const char*> {
 protected:
  ModelledProfile() {
    write_random_events(folder() / "train.h5", 12, 1);
    write_random_events(folder() / "test.h5", 6, 2);
  }

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path profiles(const std::string& output = "out") const {
    return folder() / output / "profiles";
  }

  std::string train_on(const std::string& target, const std::string& output = "out") {
    KeptLog log;
    train(tiny_configuration(folder(), config::Mode::train,
                             {"run.profile=true", "output_dir=" + (folder() / output).string()}),
          target, log.log());
    return log.text();
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(profiles())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  json read(const std::string& file, const std::string& output = "out") const {
    return json::parse(content_of(profiles(output) / file));
  }

  RunFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(, ModelledProfile, testing::Values("ipu", "hpu", "rdu"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(ModelledProfile, has_files_whose_names_say_whose_times_they_hold) {
  train_on(GetParam());
  EXPECT_THAT(files(),
              ElementsAre("host_of_modelled_run_profiling_info_rank_0.npy", "modelled_profile.html",
                          "modelled_profile.json", "timeline.json"));
}

TEST_P(ModelledProfile, names_every_time_and_every_size_modelled) {
  train_on(GetParam());
  const json profile = read("modelled_profile.json");
  EXPECT_EQ(profile.at("format"), "cosmictagger prediction");
  EXPECT_EQ(profile.at("provenance"), "modelled");
  const std::set<std::string> all = quantities(profile);
  EXPECT_GT(all.size(), 20U);
  for (const std::string& path : all) {
    // Rates hold modelled, modelled_low and modelled_high; what a machine has is a given figure.
    const std::string key = last_key(path);
    EXPECT_TRUE(key.starts_with("modelled_") || key == "available_bytes") << path;
  }
}

TEST_P(ModelledProfile, has_figures_that_follow_from_one_another) {
  train_on(GetParam());
  const json profile = read("modelled_profile.json");
  const double step = profile.at("step").at("modelled_seconds");
  EXPECT_GT(step, 0);
  EXPECT_LE(profile.at("step").at("modelled_seconds_low"), step);
  EXPECT_GE(profile.at("step").at("modelled_seconds_high"), step);
  const double events = profile.at("events_per_step");
  EXPECT_EQ(events, 2);
  EXPECT_NEAR(profile.at("events_per_second").at("modelled"), events / step, 1e-9 * events / step);
  double by_bound = 0;
  for (const json& bound : profile.at("by_bound")) {
    by_bound += bound.at("modelled_seconds").get<double>();
  }
  EXPECT_NEAR(by_bound, step, 1e-6 * step);
  double ops = 0;
  std::set<std::string> layers;
  for (const json& op : profile.at("ops")) {
    EXPECT_GE(op.at("modelled_seconds"), 0);
    ops += op.at("modelled_seconds").get<double>();
    layers.insert(op.at("layer").get<std::string>());
  }
  EXPECT_GT(ops, 0);
  EXPECT_LE(ops, step * (1 + 1e-9));
  EXPECT_GT(layers.size(), 10U);
  double needed = 0;
  for (const char* const part : {"modelled_always_live_bytes", "modelled_transient_bytes",
                                 "modelled_temporary_bytes", "modelled_overhead_bytes"}) {
    needed += profile.at("memory").at(part).get<double>();
  }
  EXPECT_NEAR(profile.at("memory").at("modelled_bytes"), needed, 1e-6 * needed);
}

// A clock of the host would never show the same twice.
TEST_P(ModelledProfile, is_the_same_for_every_run) {
  train_on(GetParam(), "first");
  train_on(GetParam(), "second");
  json first = read("modelled_profile.json", "first");
  json second = read("modelled_profile.json", "second");
  for (json* const profile : {&first, &second}) {
    profile->erase("date");
    profile->erase("configuration");  // has the folder
  }
  EXPECT_EQ(first, second);
}

TEST_P(ModelledProfile, has_a_page_on_which_every_figure_is_marked) {
  train_on(GetParam());
  const std::string page = content_of(profiles() / "modelled_profile.html");
  EXPECT_EQ(report::page::what_is_malformed(page), "");
  EXPECT_THAT(unmarked_figures(page), IsEmpty());
  EXPECT_THAT(page, HasSubstr("none is measured"));
  EXPECT_THAT(page, HasSubstr("initial_convolution"));
}

TEST_P(ModelledProfile, has_a_timeline_of_the_host_that_says_so) {
  train_on(GetParam());
  const json timeline = read("timeline.json");
  EXPECT_EQ(timeline.at("traceEvents").at(0).at("args").at("name"),
            std::string("rank 0 ") + kHostClock);
}

TEST_P(ModelledProfile, of_an_inference_is_marked_as_well) {
  train_on(GetParam());
  KeptLog log;
  infer::infer(tiny_configuration(folder(), config::Mode::inference, {"run.profile=true"}),
               GetParam(), log.log());
  const json profile = read("modelled_inference_profile.json");
  EXPECT_EQ(profile.at("provenance"), "modelled");
  EXPECT_GT(profile.at("step").at("modelled_seconds"), 0);
  for (const std::string& path : quantities(profile)) {
    const std::string key = last_key(path);
    EXPECT_TRUE(key.starts_with("modelled_") || key == "available_bytes") << path;
  }
  EXPECT_THAT(unmarked_figures(content_of(profiles() / "modelled_inference_profile.html")),
              IsEmpty());
  EXPECT_EQ(read("inference_timeline.json").at("traceEvents").at(0).at("args").at("name"),
            std::string("rank 0 ") + kHostClock);
}

using MeasuredProfile = ModelledProfile;

TEST_F(MeasuredProfile, has_measured_times_and_no_mark) {
  train_on("cpu");
  EXPECT_THAT(files(), ElementsAre("profile.html", "profile.json", "profiling_info_rank_0.npy",
                                   "timeline.json"));
  const json profile = read("profile.json");
  EXPECT_EQ(profile.at("machine").at("provenance"), "measured");
  EXPECT_EQ(profile.at("machine").at("target"), "cpu");
  EXPECT_GT(profile.at("machine").at("peak").at("flops_per_second"), 1e8);
  const std::set<std::string> all = quantities(profile);
  EXPECT_GT(all.size(), 20U);
  for (const std::string& path : all) {
    EXPECT_THAT(path, Not(HasSubstr("modelled")));
  }
  EXPECT_THAT(content_of(profiles() / "profile.html"), Not(HasSubstr("modelled")));
}

TEST_F(MeasuredProfile, has_a_timeline_in_which_the_parts_fit_into_the_whole) {
  train_on("cpu");
  const json timeline = read("timeline.json");
  EXPECT_EQ(timeline.at("traceEvents").at(0).at("args").at("name"), "rank 0");
  for (int iteration = 0; iteration < 6; ++iteration) {
    const double whole = seconds_of(timeline, "iteration", iteration);
    const double train = seconds_of(timeline, "train", iteration);
    const double step = seconds_of(timeline, "step", iteration);
    EXPECT_GT(step, 0) << iteration;
    EXPECT_LE(seconds_of(timeline, "io", iteration) + step, train + 1e-8) << iteration;
    EXPECT_LE(train, whole + 1e-8) << iteration;
  }
}

}  // namespace
}  // namespace cosmic::train
