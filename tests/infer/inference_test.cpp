#include "infer/inference.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "core/error.hpp"
#include "data/larcv/file_check.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/sparse2d_reader.hpp"
#include "infer/event_scores.hpp"
#include "model/classify.hpp"
#include "report/page/well_formed.hpp"
#include "run/some_events.hpp"
#include "scratch_folder.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::infer {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr const char* kTarget = "cpu";
constexpr std::int64_t kEvents = 5;

class Inference : public testing::Test {
 protected:
  Inference() {
    write_random_events(folder() / "train.h5", kEvents, 1);
    train::train(tiny_configuration(folder(), config::Mode::train,
                                    {"data.aux_file=none.h5", "run.length=3"}),
                 kTarget, log_.log());
  }

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path profiles() const { return folder() / "out" / "profiles"; }
  InferenceSummary run(const std::vector<std::string>& words = {},
                       Existing existing = Existing::replace) {
    return infer(tiny_configuration(folder(), config::Mode::inference, words), kTarget, log_.log(),
                 {}, {.existing = existing});
  }
  const KeptLog& log() const { return log_; }
  data::SparseImage prediction(const std::filesystem::path& file, const char* producer,
                               std::int64_t entry) const {
    data::larcv::ReadWarnings warnings;
    const data::larcv::EventFile opened(file, warnings);
    data::SparseImage image;
    data::larcv::Sparse2dReader(opened, producer, data::larcv::PixelMeaning::charge, warnings)
        .read(entry, image);
    EXPECT_EQ(warnings.total(), 0);
    return image;
  }

 private:
  RunFolder folder_;
  KeptLog log_;
};

TEST_F(Inference, in_other_formats_tags_the_same_events_a_little_differently) {
  const auto tagged_in = [&](const std::string& precision) {
    return prediction(run({"run.precision=" + precision}).predictions, "cosmic_prediction", 0)[0];
  };
  const data::SparsePlane full = tagged_in("float32");
  for (const char* const format : {"bfloat16", "float16"}) {
    const data::SparsePlane narrow = tagged_in(format);
    ASSERT_EQ(narrow.ids, full.ids);
    EXPECT_NE(narrow.values, full.values) << format;
    for (std::size_t i = 0; i < full.values.size(); ++i) {
      EXPECT_NEAR(narrow.values[i], full.values[i], 0.05) << format;
    }
  }
}

TEST_F(Inference, writes_the_probabilities_of_charged_pixels_beside_what_the_file_had) {
  const InferenceSummary summary = run();
  EXPECT_EQ(summary.events, kEvents);
  const data::larcv::LarcvSource copied({.files = {summary.predictions}});
  EXPECT_EQ(copied.size(), kEvents);
  data::SparseEvent event;
  copied.reader()->read(3, event);
  EXPECT_EQ(event.id.event, 3);
  const data::SparseImage cosmic = prediction(summary.predictions, "cosmic_prediction", 3);
  const data::SparseImage neutrino = prediction(summary.predictions, "neutrino_prediction", 3);
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    EXPECT_EQ(cosmic[plane].ids, event.image[plane].ids);
    EXPECT_EQ(neutrino[plane].ids, event.image[plane].ids);
    for (std::size_t i = 0; i < cosmic[plane].values.size(); ++i) {
      EXPECT_GT(cosmic[plane].values[i], 0);
      EXPECT_GT(neutrino[plane].values[i], 0);
      EXPECT_LT(cosmic[plane].values[i] + neutrino[plane].values[i], 1);
    }
  }
}

TEST_F(Inference, has_the_same_scores_for_every_batch_size) {
  const output::Metrics one = run({"run.minibatch_size=1"}).scores;
  const output::Metrics three = run({"run.minibatch_size=3"}).scores;
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].key, three[i].key);
    EXPECT_NEAR(one[i].value, three[i].value, 1e-12) << one[i].key;
  }
}

TEST_F(Inference, starts_at_the_entry_it_is_told_to) {
  const InferenceSummary summary = run({"mode.start_index=2"});
  EXPECT_EQ(summary.events, kEvents - 2);
  const data::SparseImage whole = prediction(run().predictions, "cosmic_prediction", 2);
  const data::SparseImage part =
      prediction(run({"mode.start_index=2"}).predictions, "cosmic_prediction", 0);
  EXPECT_EQ(part[0].ids, whole[0].ids);
  EXPECT_EQ(part[0].values, whole[0].values);
}

/// Events like those of train.h5, changed by `change(event)`, as odd.h5.
class OddInput : public Inference {
 protected:
  template <class Change>
  void write_changed(const Change& change) const {
    data::larcv::EventFileWriter writer(folder() / "odd.h5", {.existing = Existing::replace});
    for (std::int64_t i = 0; i < kEvents; ++i) {
      data::SparseEvent event = data::random_event(data::grid_of(16, 32), 0.2, 1, i);
      change(event);
      writer.begin_event(event.id);
      writer.write_sparse("sbndwire", event.image);
      writer.write_sparse("sbnd_cosmicseg", event.labels);
    }
    writer.commit();
  }
  InferenceSummary run_on_it(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"data.file=odd.h5"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  static nlohmann::json json_of(const InferenceSummary& summary) {
    return nlohmann::json::parse(content_of(summary.report));
  }
};

// Labels of two planes are exchanged: most lie where their plane has no pixel.
TEST_F(OddInput, with_labels_of_other_planes_is_told_in_the_log_and_kept_in_the_report) {
  write_changed([](data::SparseEvent& event) {
    std::swap(event.labels[0], event.labels[1]);
    std::swap(event.labels[0].meta.projection, event.labels[1].meta.projection);
  });
  const InferenceSummary summary = run_on_it();
  EXPECT_THAT(log().text(),
              AllOf(HasSubstr("WARNING - Reading found "),
                    HasSubstr("labels without a pixel (dropped); the first: " + folder().string()),
                    HasSubstr("odd.h5: sparse2d_sbnd_cosmicseg, event "),
                    HasSubstr("pixels without a label (taken for background)")));
  std::size_t lines = 0;
  for (std::size_t at = log().text().find("Reading found"); at != std::string::npos;
       at = log().text().find("Reading found", at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, 2U) << log().text();  // one for each kind
  const nlohmann::json warnings = json_of(summary).at("read_warnings");
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[0].at("what"), "labels without a pixel (dropped)");
  EXPECT_GT(warnings[0].at("count"), 100);
  EXPECT_THAT(std::string(warnings[0].at("first")), HasSubstr("odd.h5"));
}

// `test` and `measure-performance` take their events from there.
TEST_F(OddInput, gives_whoever_tries_a_network_out_the_same_warnings) {
  write_changed([](data::SparseEvent& event) {
    event.image[0].ids.pop_back();
    event.image[0].values.pop_back();
  });
  const auto warnings = [&](const char* file) {
    const config::Configuration settings =
        tiny_configuration(folder(), config::Mode::inference, {std::string("data.file=") + file});
    return run::some_events(settings, {16, 32}, 2).warnings;
  };
  EXPECT_THAT(warnings("odd.h5"), ElementsAre(AllOf(HasSubstr("labels without a pixel (dropped)"),
                                                    HasSubstr("odd.h5"))));
  EXPECT_THAT(warnings("train.h5"), ElementsAre());
}

TEST_F(OddInput, that_is_sound_leaves_no_warning) {
  write_changed([](data::SparseEvent&) {});
  const InferenceSummary summary = run_on_it();
  EXPECT_EQ(json_of(summary).at("read_warnings").size(), 0U);
  EXPECT_EQ(log().text().find("Reading found"), std::string::npos);
}

TEST_F(OddInput, without_a_single_pixel_is_an_error_and_leaves_no_predictions) {
  write_changed([](data::SparseEvent& event) {
    for (data::SparseImage* const image : {&event.image, &event.labels}) {
      for (data::SparsePlane& plane : *image) {
        plane.ids.clear();
        plane.values.clear();
      }
    }
  });
  EXPECT_THAT([&] { run_on_it(); }, testing::ThrowsMessage<DataError>(HasSubstr(
                                        "odd.h5: the 5 events that were read have no pixel")));
  EXPECT_FALSE(std::filesystem::exists(folder() / "out" / "predictions.h5"));
}

TEST_F(OddInput, with_a_charge_of_3e38_is_refused_and_leaves_no_predictions) {
  write_changed([](data::SparseEvent& event) {
    event.image[2].values[1] = event.id.event == 3 ? 3e38F : event.image[2].values[1];
  });
  EXPECT_THAT([&] { run_on_it(); },
              testing::ThrowsMessage<DataError>(
                  AllOf(HasSubstr("odd.h5: sparse2d_sbndwire, event 3, plane 2: id "),
                        HasSubstr("has the charge 3e+38"))));
  EXPECT_FALSE(std::filesystem::exists(folder() / "out" / "predictions.h5"));
}

// Of charges in the file, not of the weights, which the message says.
TEST_F(OddInput, with_charges_that_have_no_logarithm_is_refused) {
  write_changed([](data::SparseEvent& event) {
    event.image[2].values[1] = event.id.event == 3 ? -5.0F : event.image[2].values[1];
  });
  EXPECT_THAT(
      [&] {
        run_on_it({"data.img_transform=true", "mode.insist_on_settings=true"});
      },
      testing::ThrowsMessage<DataError>(
          AllOf(HasSubstr("event 3 (run 1, subrun 2, event 3) has charges below -1"),
                HasSubstr("data.img_transform"))));
}

TEST_F(OddInput, has_the_fingerprint_of_data_check_in_the_report) {
  write_changed([](data::SparseEvent&) {});
  EXPECT_EQ(json_of(run_on_it()).at("data_fingerprint"),
            data::larcv::check_file(folder() / "odd.h5", {}).fingerprint);
}

// Finite weights can be large enough for scores that are not; they are not written as if they were.
TEST_F(Inference, with_scores_that_are_not_finite_is_refused_names_the_event_and_writes_nothing) {
  checkpoint::Checkpoint huge =
      checkpoint::load_newest(folder() / "out" / "checkpoints").checkpoint;
  for (auto& [name, tensor] : huge.tensors) {
    if (tensor.type.dtype == graph::DType::f32 && name.ends_with("weight")) {
      for (float& value : tensor.as<float>()) {
        value *= 1e30F;
      }
    }
  }
  const std::filesystem::path file = folder() / "huge.safetensors";
  checkpoint::save_checkpoint(file, huge);
  EXPECT_THAT([&] { run({"mode.weights_location=" + file.string()}); },
              testing::ThrowsMessage<DataError>(
                  AllOf(HasSubstr("event 0 (run 1, subrun 2, event 0) has the score "),
                        HasSubstr("huge.safetensors"), HasSubstr("probably"))));
  EXPECT_FALSE(std::filesystem::exists(folder() / "out" / "predictions.h5"));
}

TEST(Classes, of_logits_that_are_not_finite_are_said_to_mean_nothing) {
  std::vector<std::uint8_t> classes(40);
  for (const float lost : {std::numeric_limits<float>::infinity(), std::nanf(""),
                           -std::numeric_limits<float>::infinity()}) {
    for (std::size_t at = 0; at < 3 * classes.size(); ++at) {
      std::vector<float> logits(3 * classes.size(), 1.5F);
      EXPECT_TRUE(model::classify(logits, classes));
      logits[at] = lost;
      EXPECT_FALSE(model::classify(logits, classes)) << at;
    }
  }
  // As large as a number gets, of both signs.
  std::vector<float> logits(3 * classes.size(), std::numeric_limits<float>::max());
  logits[0] = -logits[0];
  EXPECT_TRUE(model::classify(logits, classes));
}

class ManyInputs : public Inference {
 protected:
  ManyInputs() {
    for (const auto& [name, events] : std::vector<std::pair<std::string, std::int64_t>>{
             {"runs/1/events.h5", 3}, {"runs/2.h5", 0}, {"runs/3.h5", 2}}) {
      std::filesystem::create_directories((folder() / name).parent_path());
      data::larcv::EventFileWriter writer(folder() / name);
      for (std::int64_t i = 0; i < events; ++i) {
        const data::SparseEvent event = data::random_event(data::grid_of(16, 32), 0.2, 9, next_);
        writer.begin_event({7, next_ % 2, next_});
        ++next_;
        writer.write_sparse("sbndwire", event.image);
        writer.write_sparse("sbnd_cosmicseg", event.labels);
        data::Particle neutrino;
        neutrino.track_id = static_cast<std::uint32_t>(next_);
        writer.write_particles("sbndneutrino", std::vector<data::Particle>{neutrino});
      }
      writer.commit();
    }
  }

  std::vector<std::string> all(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), "data.file=[runs/1/events.h5,runs/2.h5,runs/3.h5]");
    return more;
  }
  static std::vector<std::int64_t> ids_in(const std::filesystem::path& file) {
    const data::larcv::LarcvSource source({.files = {file},
                                           .image_producer = "cosmic_prediction",
                                           .labels = data::larcv::LabelUse::ignored});
    std::vector<std::int64_t> ids;
    data::SparseEvent event;
    for (std::int64_t entry = 0; entry < source.size(); ++entry) {
      source.reader()->read(entry, event);
      ids.push_back(event.id.event);
    }
    return ids;
  }
  static std::vector<std::string> products_of(const std::filesystem::path& path) {
    data::larcv::ReadWarnings warnings;
    std::vector<std::string> names;
    const data::larcv::EventFile file(path, warnings);
    for (const data::larcv::ProductName& product : file.products()) {
      names.push_back(product.producer);
    }
    return names;
  }

 private:
  std::int64_t next_ = 0;
};

TEST_F(ManyInputs, have_an_output_each_with_their_name_and_their_products) {
  const InferenceSummary summary = run(all());
  const std::filesystem::path outputs = folder() / "out" / "predictions";
  EXPECT_EQ(summary.events, 5);
  EXPECT_EQ(summary.predictions, outputs);
  EXPECT_THAT(summary.prediction_files,
              ElementsAre(outputs / "1" / "events.h5", outputs / "2.h5", outputs / "3.h5"));
  EXPECT_TRUE(std::filesystem::exists(outputs / "2.h5"));  // of an input without events
  EXPECT_THAT(ids_in(outputs / "1" / "events.h5"), ElementsAre(0, 1, 2));
  EXPECT_THAT(ids_in(outputs / "3.h5"), ElementsAre(3, 4));
  EXPECT_THAT(products_of(outputs / "3.h5"),
              UnorderedElementsAre("sbndwire", "sbnd_cosmicseg", "sbndneutrino",
                                   "cosmic_prediction", "neutrino_prediction"));
  const auto json = nlohmann::json::parse(content_of(summary.report));
  EXPECT_EQ(json.at("prediction_files").size(), 3U);
}

TEST_F(ManyInputs, are_tagged_as_each_alone_would_be) {
  run(all());
  const data::SparseImage together =
      prediction(folder() / "out" / "predictions" / "3.h5", "neutrino_prediction", 1);
  const data::SparseImage alone =
      prediction(run({"data.file=runs/3.h5"}).predictions, "neutrino_prediction", 1);
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    EXPECT_EQ(together[plane].ids, alone[plane].ids);
    EXPECT_EQ(together[plane].values, alone[plane].values);
  }
}

TEST_F(ManyInputs, come_into_one_file_if_one_is_named) {
  const std::filesystem::path one = folder() / "all.h5";
  const InferenceSummary summary = run(all({"mode.output_file=" + one.string()}));
  EXPECT_EQ(summary.predictions, one);
  EXPECT_THAT(ids_in(one), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(products_of(one), UnorderedElementsAre("sbndwire", "sbnd_cosmicseg", "sbndneutrino",
                                                     "cosmic_prediction", "neutrino_prediction"));
  data::SparseEvent event;
  data::larcv::LarcvSource({.files = {one}}).reader()->read(4, event);
  EXPECT_EQ(event.id, (data::EventId{7, 0, 4}));
  const data::SparseEvent expected = data::random_event(data::grid_of(16, 32), 0.2, 9, 4);
  EXPECT_EQ(event.image[1].values, expected.image[1].values);
  EXPECT_EQ(event.labels[2].values, expected.labels[2].values);
}

TEST_F(ManyInputs, of_which_some_events_are_wanted_have_outputs_for_those_with_their_products) {
  const InferenceSummary summary =
      run(all({"mode.start_index=1", "run.iterations=1", "run.minibatch_size=3",
               "mode.output_file=" + (folder() / "some").string() + "/"}));
  EXPECT_EQ(summary.events, 3);
  EXPECT_THAT(summary.prediction_files,
              ElementsAre(folder() / "some" / "1" / "events.h5", folder() / "some" / "3.h5"));
  EXPECT_THAT(ids_in(folder() / "some" / "1" / "events.h5"), ElementsAre(1, 2));
  EXPECT_THAT(ids_in(folder() / "some" / "3.h5"), ElementsAre(3));
  EXPECT_THAT(products_of(folder() / "some" / "3.h5"),
              UnorderedElementsAre("sbndwire", "sbnd_cosmicseg", "sbndneutrino",
                                   "cosmic_prediction", "neutrino_prediction"));
}

TEST_F(ManyInputs, are_refused_before_the_first_event_if_an_output_exists) {
  std::filesystem::create_directories(folder() / "out" / "predictions");
  std::ofstream(folder() / "out" / "predictions" / "3.h5") << "mine";
  try {
    run(all(), Existing::refuse);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("predictions/3.h5"), HasSubstr("already exists"),
                                    HasSubstr("--overwrite")));
  }
  EXPECT_FALSE(std::filesystem::exists(folder() / "out" / "predictions" / "1" / "events.h5"));
}

TEST_F(Inference, without_weights_is_an_error_and_writes_nothing) {
  std::filesystem::remove_all(folder() / "out" / "checkpoints");
  try {
    run();
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no weights found at"));
    EXPECT_THAT(error.what(), HasSubstr("mode.weights_location"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder() / "out" / "predictions.h5"));
}

TEST(Confusion, gives_the_reference_its_scores) {
  const std::vector<std::uint8_t> truth{0, 0, 1, 1, 1, 2, 2, 2, 2, 0};
  const std::vector<std::uint8_t> predicted{0, 1, 1, 1, 2, 2, 2, 0, 2, 0};
  Confusion confusion;
  confusion.add(truth, predicted);
  EXPECT_DOUBLE_EQ(confusion.accuracy(), 0.7);
  EXPECT_DOUBLE_EQ(confusion.accuracy_without_background(), 5.0 / 7);
  EXPECT_DOUBLE_EQ(confusion.iou(1), 2.0 / 4);
  EXPECT_DOUBLE_EQ(confusion.iou(2), 3.0 / 5);
  EXPECT_DOUBLE_EQ(confusion.efficiency(2), 3.0 / 4);
  EXPECT_DOUBLE_EQ(confusion.purity(2), 3.0 / 4);
}

TEST(Confusion, of_a_class_that_is_nowhere_has_a_perfect_iou) {
  Confusion confusion;
  confusion.add(std::vector<std::uint8_t>{0, 1}, std::vector<std::uint8_t>{0, 1});
  EXPECT_EQ(confusion.iou(2), 1);
}

TEST_F(Inference, is_profiled_only_if_asked_for) {
  run();
  EXPECT_FALSE(std::filesystem::exists(profiles() / "inference_profile.html"));
  EXPECT_FALSE(std::filesystem::exists(profiles() / "inference_timeline.json"));
}

TEST_F(Inference, leaves_a_profile_whose_parts_add_up_to_the_whole) {
  const InferenceSummary summary = run({"run.profile=true"});
  const nlohmann::json profile =
      nlohmann::json::parse(content_of(profiles() / "inference_profile.json"));
  EXPECT_EQ(profile.at("purpose"), "inference");
  EXPECT_EQ(profile.at("step").at("steps").get<int>() +
                profile.at("step").at("steps_left_out").get<int>(),
            summary.batches);
  EXPECT_GT(profile.at("step").at("ops_seconds"), 0);
  EXPECT_LE(profile.at("step").at("ops_seconds"), profile.at("step").at("seconds"));
  EXPECT_GT(profile.at("memory").at("peak_live_bytes"), 0);
  double sum = 0;
  for (const nlohmann::json& part : profile.at("run_time").at("parts")) {
    EXPECT_GE(part.at("seconds"), 0) << part.at("what");
    sum += part.at("seconds").get<double>();
  }
  EXPECT_NEAR(sum, profile.at("run_time").at("seconds"), 1e-6);
}

TEST_F(Inference, leaves_a_page_and_a_timeline_beside_those_of_the_training) {
  const std::string before = content_of(profiles() / "profiling_info_rank_0.npy");
  run({"run.profile=true"});
  const std::string page = content_of(profiles() / "inference_profile.html");
  EXPECT_EQ(report::page::what_is_malformed(page), "");
  EXPECT_THAT(page, HasSubstr("Where an inference step spends its time and memory"));
  EXPECT_THAT(page, HasSubstr("initial_convolution"));
  EXPECT_THAT(content_of(profiles() / "inference_timeline.json"), HasSubstr("predictions"));
  EXPECT_EQ(content_of(profiles() / "profiling_info_rank_0.npy"), before);
}

}  // namespace
}  // namespace cosmic::infer
