// `cosmictagger evaluate` from files to numbers, with a tiny network.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "comm/threads_together.hpp"
#include "config/parse.hpp"
#include "core/error.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/file_check.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/sparse_events.hpp"
#include "report/evaluation/evaluation.hpp"
#include "report/evaluation/json.hpp"
#include "report/evaluation/page.hpp"
#include "report/evaluation/write_report.hpp"
#include "report/page/well_formed.hpp"
#include "scratch_folder.hpp"
#include "train/training.hpp"

namespace cosmic::report::evaluation {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kTarget = "reference";

class Evaluate : public testing::Test {
 protected:
  enum class Content {
    labelled,
    without_labels,
    without_neutrinos,
    labels_of_other_planes,
    without_pixels,
    huge_charge,
  };

  void write_events(const std::string& name, std::int64_t count,
                    Content content = Content::labelled) const {
    data::larcv::EventFileWriter writer(folder_ / name);
    for (std::int64_t number = 0; number < count; ++number) {
      data::SparseEvent event = data::random_event(data::grid_of(32, 64), 0.05, 1, number);
      if (content == Content::without_neutrinos) {
        for (data::SparsePlane& plane : event.labels) {
          std::replace(plane.values.begin(), plane.values.end(), 2.0F, 1.0F);
        }
      }
      if (content == Content::labels_of_other_planes) {
        std::swap(event.labels[0], event.labels[1]);
        std::swap(event.labels[0].meta.projection, event.labels[1].meta.projection);
      }
      if (content == Content::huge_charge) {
        event.image[1].values[2] = 3e38F;
      }
      if (content == Content::without_pixels) {
        for (data::SparseImage* const image : {&event.image, &event.labels}) {
          for (data::SparsePlane& plane : *image) {
            plane.ids.clear();
            plane.values.clear();
          }
        }
      }
      writer.begin_event(event.id);
      writer.write_sparse("sbndwire", event.image);
      if (content != Content::without_labels) {
        writer.write_sparse("sbnd_cosmicseg", event.labels);
      }
      data::Particle neutrino;
      neutrino.pdg = 14;
      neutrino.current_type = 1;
      neutrino.initial_energy = 0.5 * static_cast<double>(number + 1);
      writer.write_particles("sbndneutrino", std::vector<data::Particle>{neutrino});
    }
    writer.commit();
  }

  config::Configuration configuration(config::Mode mode, const std::string& file,
                                      std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"network=a21",
                                   "network.depth=2",
                                   "network.n_initial_filters=2",
                                   "network.bottleneck_deepest=4",
                                   "network.blocks_deepest_layer=1",
                                   "network.blocks_per_layer=1",
                                   "run.id=test",
                                   "run.distributed=false",
                                   "run.threads=1",
                                   "data.downsample=0",
                                   "data.data_directory=" + folder_.path().string(),
                                   "data.file=" + file,
                                   "output_dir=" + (folder_ / "run").string()};
    words.insert(words.end(), more.begin(), more.end());
    return config::parse(words, {.mode = mode}).configuration;
  }

  void train_on(const std::string& file) {
    train::train(configuration(config::Mode::train, file,
                               {"run.iterations=2", "run.minibatch_size=2", "data.aux_file="}),
                 kTarget, log_);
  }

  Evaluation evaluate(const std::string& file, std::vector<std::string> more = {}) {
    more.insert(more.begin(), "run.iterations=0");
    return measure(configuration(config::Mode::inference, file, std::move(more)), kTarget, log_);
  }

  ScratchFolder folder_{"evaluate"};
  std::string logged_;
  output::RunLog log_{"", [this](const std::string& line) { logged_ += line + "\n"; }};
};

TEST_F(Evaluate, counts_every_pixel_of_every_event_whatever_the_batch_size) {
  write_events("train.h5", 4);
  write_events("test.h5", 5);
  train_on("train.h5");
  const Evaluation one = evaluate("test.h5", {"run.minibatch_size=1"});
  const Evaluation three = evaluate("test.h5", {"run.minibatch_size=3"});
  ASSERT_EQ(one.events.size(), 5U);
  EXPECT_EQ(one.all().pixels(), 5 * 3 * 32 * 64);
  EXPECT_EQ(one.all().counts, three.all().counts);
  EXPECT_EQ(one.events[4].id.event, 4);
  EXPECT_EQ(one.provenance.step, 2);
  EXPECT_EQ(one.provenance.trained_on_these, false);
  EXPECT_EQ(one.best.size() + one.typical.size() + one.worst.size(), 5U);
  EXPECT_EQ(one.curve.training.size(), 2U);
  ASSERT_TRUE(one.events[1].neutrino.has_value());
  EXPECT_DOUBLE_EQ(one.events[1].neutrino->energy, 1.0);
  EXPECT_EQ(one.events[1].neutrino->interaction, Interaction::neutral);
  // All have a neutrino, so cosmic-only events are made of them.
  ASSERT_TRUE(one.selection.has_value());
  EXPECT_EQ(one.selection->neutrino_events(), 5);
  EXPECT_EQ(one.selection->cosmic_only_events(), 5);
  EXPECT_EQ(one.cosmic_only, CosmicOnlyKind::neutrino_removed);
}

TEST_F(Evaluate, by_several_processes_has_the_bytes_of_the_report_of_one) {
  write_events("train.h5", 4);
  write_events("a.h5", 4, Content::labels_of_other_planes);
  write_events("b.h5", 5);
  write_events("c.h5", 2, Content::labels_of_other_planes);
  train_on("train.h5");
  const std::string files = "[b.h5,c.h5,a.h5]";
  const auto report_of = [](Evaluation evaluation) {
    evaluation.provenance.date = "";
    return to_json(evaluation) + page(evaluation);
  };
  for (const int processes : {2, 3}) {
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"run.minibatch_size=1"},
          {"run.minibatch_size=2", "mode.start_index=1"},
          {"run.minibatch_size=3", "run.iterations=2", "mode.start_index=4"}}) {
      std::vector<std::string> words{"run.iterations=0"};
      words.insert(words.end(), more.begin(), more.end());
      const config::Configuration settings = configuration(config::Mode::inference, files, words);
      const std::string alone = report_of(measure(settings, kTarget, log_));
      EXPECT_THAT(alone, HasSubstr("labels without a pixel"));
      std::string together;
      comm::ThreadsTogether(processes).run([&](comm::Communicator& all) {
        output::RunLog unheard("", [](const std::string&) {});
        Evaluation evaluation = measure(settings, kTarget, unheard, {}, &all);
        if (all.rank() == 0) {
          together = report_of(std::move(evaluation));
        }
      });
      const auto apart = static_cast<std::size_t>(
          std::mismatch(alone.begin(), alone.end(), together.begin(), together.end()).first -
          alone.begin());
      const std::size_t before = apart - std::min<std::size_t>(apart, 80);
      EXPECT_TRUE(together == alone)
          << processes << " processes, " << more.front() << ": ..." << together.substr(before, 160)
          << "... instead of ..." << alone.substr(before, 160) << "...";
    }
  }
}

TEST_F(Evaluate, by_several_processes_of_a_file_without_a_single_pixel_is_an_error) {
  write_events("train.h5", 4);
  write_events("test.h5", 3, Content::without_pixels);
  train_on("train.h5");
  const config::Configuration settings =
      configuration(config::Mode::inference, "test.h5", {"run.iterations=0"});
  EXPECT_THAT(
      [&] {
        comm::ThreadsTogether(2).run([&](comm::Communicator& all) {
          output::RunLog unheard("", [](const std::string&) {});
          measure(settings, kTarget, unheard, {}, &all);
        });
      },
      ThrowsMessage<DataError>(HasSubstr("that were read have no pixel")));
}

TEST_F(Evaluate, of_several_files_is_that_of_one_with_all_their_events) {
  write_events("train.h5", 4);
  write_events("a.h5", 2);
  write_events("b.h5", 3);
  train_on("train.h5");
  const Evaluation both = evaluate("[a.h5,b.h5]");
  const Evaluation first = evaluate("a.h5");
  const Evaluation second = evaluate("b.h5");
  ASSERT_EQ(both.events.size(), 5U);
  EXPECT_EQ(both.all().pixels(), first.all().pixels() + second.all().pixels());
  for (std::size_t i = 0; i < 5; ++i) {
    const EventResult& alone = i < 2 ? first.events[i] : second.events[i - 2];
    EXPECT_EQ(both.events[i].all().counts, alone.all().counts);
    EXPECT_EQ(both.events[i].id, alone.id);
    ASSERT_TRUE(both.events[i].neutrino.has_value());
    EXPECT_DOUBLE_EQ(both.events[i].neutrino->energy, alone.neutrino->energy);
  }
}

TEST_F(Evaluate, shows_the_picture_of_the_event_that_was_measured) {
  write_events("train.h5", 4);
  write_events("test.h5", 5);
  train_on("train.h5");
  const Evaluation evaluation = evaluate("test.h5");
  for (const auto* views : {&evaluation.best, &evaluation.typical, &evaluation.worst}) {
    for (const EventView& view : *views) {
      const EventResult& event = evaluation.events.at(static_cast<std::size_t>(view.result.entry));
      for (std::size_t plane = 0; plane < infer::kPlanes; ++plane) {
        const auto drawn = [&](Outcome outcome) {
          const auto& pixels = view.planes[plane].overview.pixels;
          return std::count(pixels.begin(), pixels.end(), outcome_color(outcome));
        };
        const infer::Confusion& counts = event.planes[plane];
        EXPECT_EQ(drawn(Outcome::found), counts.counts[2][2]);
        EXPECT_EQ(drawn(Outcome::missed), counts.counts[2][0] + counts.counts[2][1]);
        EXPECT_EQ(drawn(Outcome::false_neutrino), counts.counts[0][2] + counts.counts[1][2]);
      }
    }
  }
}

TEST_F(Evaluate, notices_that_the_events_were_trained_on) {
  write_events("train.h5", 4);
  train_on("train.h5");
  EXPECT_EQ(evaluate("train.h5").provenance.trained_on_these, true);
}

TEST_F(Evaluate, and_data_check_give_a_file_the_same_fingerprint) {
  write_events("train.h5", 4);
  write_events("test.h5", 3);
  train_on("train.h5");
  const std::string checked = data::larcv::check_file(folder_ / "test.h5", {}).fingerprint;
  const Evaluation evaluation = evaluate("test.h5");
  EXPECT_EQ(evaluation.provenance.data_fingerprint, checked);
  EXPECT_EQ(nlohmann::json::parse(to_json(evaluation)).at("provenance").at("data_fingerprint"),
            checked);
}

// What a network was trained on is not known from fingerprints that stood for something else.
TEST_F(Evaluate, does_not_know_what_weights_of_an_earlier_version_were_trained_on) {
  write_events("train.h5", 4);
  train_on("train.h5");
  checkpoint::Checkpoint earlier =
      checkpoint::load_newest(folder_ / "run" / "checkpoints").checkpoint;
  earlier.run.data_fingerprint = "4af9c1";
  const std::filesystem::path file = folder_ / "earlier.safetensors";
  checkpoint::save_checkpoint(file, earlier);
  EXPECT_EQ(
      evaluate("train.h5", {"mode.weights_location=" + file.string()}).provenance.trained_on_these,
      std::nullopt);
}

TEST_F(Evaluate, tells_what_is_odd_in_the_events_in_log_page_and_json) {
  write_events("train.h5", 4);
  write_events("test.h5", 3, Content::labels_of_other_planes);
  train_on("train.h5");
  const Evaluation evaluation = evaluate("test.h5");
  ASSERT_EQ(evaluation.read_notes.size(), 2U);
  EXPECT_EQ(evaluation.read_notes[0].what, "labels without a pixel (dropped)");
  // The events are read more than once for the report, and counted once.
  const data::larcv::LarcvSource source({.files = {folder_ / "test.h5"}});
  data::SparseEvent event;
  for (std::int64_t entry = 0; entry < 3; ++entry) {
    source.reader()->read(entry, event);
  }
  EXPECT_EQ(evaluation.read_notes, source.notes());
  EXPECT_THAT(page(evaluation), AllOf(HasSubstr("Reading the events found"),
                                      HasSubstr("labels without a pixel (dropped)")));
  EXPECT_EQ(nlohmann::json::parse(to_json(evaluation)).at("read_warnings").size(), 2U);
  EXPECT_THAT(logged_, AllOf(HasSubstr("WARNING - Reading found "), HasSubstr("test.h5")));
}

TEST_F(Evaluate, of_a_file_without_a_single_pixel_is_an_error) {
  write_events("train.h5", 4);
  write_events("test.h5", 3, Content::without_pixels);
  train_on("train.h5");
  EXPECT_THAT([&] { evaluate("test.h5"); },
              ThrowsMessage<DataError>(HasSubstr("the 3 events that were read have no pixel")));
}

TEST_F(Evaluate, of_a_charge_of_3e38_is_refused) {
  write_events("train.h5", 4);
  write_events("test.h5", 3, Content::huge_charge);
  train_on("train.h5");
  EXPECT_THAT([&] { evaluate("test.h5"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("test.h5: sparse2d_sbndwire, event 0"),
                                             HasSubstr("has the charge 3e+38"))));
}

TEST_F(Evaluate, does_not_make_percentages_of_scores_that_are_not_finite) {
  write_events("train.h5", 4);
  train_on("train.h5");
  checkpoint::Checkpoint huge = checkpoint::load_newest(folder_ / "run" / "checkpoints").checkpoint;
  for (auto& [name, tensor] : huge.tensors) {
    if (name.ends_with("weight")) {
      for (float& value : tensor.as<float>()) {
        value *= 1e30F;
      }
    }
  }
  const std::filesystem::path file = folder_ / "huge.safetensors";
  checkpoint::save_checkpoint(file, huge);
  EXPECT_THAT(
      [&] { evaluate("train.h5", {"mode.weights_location=" + file.string()}); },
      ThrowsMessage<DataError>(AllOf(HasSubstr("has the score "), HasSubstr("huge.safetensors"))));
}

TEST_F(Evaluate, writes_page_and_json_beside_each_other) {
  write_events("train.h5", 3);
  write_events("o<n>e&.h5", 1);
  train_on("train.h5");
  const Evaluation evaluation = evaluate("o<n>e&.h5", {"run.minibatch_size=2"});
  const ReportFiles files = report_files(configuration(config::Mode::inference, "o<n>e&.h5"));
  EXPECT_EQ(files.page, folder_ / "run" / "evaluation.html");
  ReportWriter(files).write(evaluation);
  EXPECT_THAT([&] { ReportWriter again(files); },
              ThrowsMessage<UserError>(HasSubstr("already exists")));
  ReportWriter(files, Existing::replace).write(evaluation);
  EXPECT_EQ(page::what_is_malformed(content_of(files.page)), "");
  EXPECT_EQ(nlohmann::json::parse(content_of(files.json)).at("events"), 1);
  EXPECT_THAT(
      [&] {
        report_files(configuration(config::Mode::inference, "x.h5", {"mode.output_file=a.json"}));
      },
      ThrowsMessage<UserError>(HasSubstr("a.json")));
}

TEST_F(Evaluate, takes_files_without_neutrinos) {
  write_events("train.h5", 3);
  write_events("cosmic.h5", 2, Content::without_neutrinos);
  train_on("train.h5");
  const Evaluation evaluation = evaluate("cosmic.h5");
  EXPECT_EQ(evaluation.all().of_class(kNeutrinoClass), 0);
  EXPECT_FALSE(evaluation.selection.has_value());
  EXPECT_TRUE(evaluation.best.empty());
}

TEST_F(Evaluate, refuses_a_file_without_labels) {
  write_events("train.h5", 3);
  write_events("data.h5", 2, Content::without_labels);
  train_on("train.h5");
  EXPECT_THAT([&] { evaluate("data.h5"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("has no labels 'sbnd_cosmicseg'"),
                                             HasSubstr("cosmictagger infer"))));
}

TEST_F(Evaluate, refuses_to_measure_a_network_without_weights) {
  write_events("test.h5", 2);
  EXPECT_THAT(
      [&] { evaluate("test.h5"); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("no weights"), HasSubstr("mode.weights_location"))));
}

TEST_F(Evaluate, refuses_a_file_without_events_or_a_start_beyond_them) {
  write_events("test.h5", 2);
  write_events("empty.h5", 0);
  EXPECT_THAT([&] { evaluate("empty.h5"); }, ThrowsMessage<DataError>(HasSubstr("empty.h5")));
  EXPECT_THAT([&] { evaluate("test.h5", {"mode.start_index=2"}); },
              ThrowsMessage<UserError>(HasSubstr("mode.start_index=2")));
}

}  // namespace
}  // namespace cosmic::report::evaluation
