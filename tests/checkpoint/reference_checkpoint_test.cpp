// Checkpoints as the reference's framework writes them, built here piece by piece.
#include "checkpoint/reference_checkpoint.hpp"

#include <gmock/gmock.h>

#include "checkpoint/archive_writer.hpp"
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/hostile_pickles.hpp"
#include "checkpoint/pickle_writer.hpp"
#include "checkpoint/reference_parts.hpp"
#include "checkpoint/scratch_folder.hpp"
#include "compile/passes/passes.hpp"
#include "core/error.hpp"

namespace cosmic::checkpoint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using View = PickleWriter::View;

class ReferenceCheckpointTest : public ScratchFolder {
 protected:
  ReferenceCheckpointTest() : path_(folder_ / "model-3.ckpt") {}

  ReferenceCheckpoint load(const std::string& pickle,
                           std::vector<ArchiveEntry> entries = reference_storages()) const {
    entries.insert(entries.begin(), {"model-3/data.pkl", pickle});
    entries.push_back({"model-3/version", "3\n"});
    write_file(path_, archive_of(entries));
    return load_reference_checkpoint(path_);
  }

  void expect_refusal(const std::string& pickle, const std::string& reason,
                      std::vector<ArchiveEntry> entries = reference_storages()) const {
    EXPECT_THAT([&] { load(pickle, std::move(entries)); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("model-3.ckpt: "), HasSubstr(reason))));
  }

  /// A checkpoint whose only weight is this view.
  static std::string pickle_of(const View& view) {
    ReferenceParts parts;
    parts.state_dict = [view](PickleWriter& p) {
      p.ordered_dict().text("w").tensor(view).set_item();
    };
    parts.state = [](PickleWriter& p) { p.empty_dict(); };
    return parts.pickle();
  }

  session::Tensor load_view(const View& view, const std::string& storage) const {
    return load(pickle_of(view), {{"model-3/data/" + view.key, storage}}).weights.at("w");
  }

  std::filesystem::path path_;
};

std::vector<float> floats_of(const session::Tensor& tensor) {
  const std::span<const float> values = tensor.as<float>();
  return {values.begin(), values.end()};
}

TEST_F(ReferenceCheckpointTest, gives_weights_moments_and_steps) {
  const ReferenceCheckpoint checkpoint = load(ReferenceParts().pickle());
  EXPECT_EQ(checkpoint.global_step, 3);
  EXPECT_EQ(checkpoint.schedule_step, 3);
  EXPECT_EQ(checkpoint.weights.size(), 4U);
  EXPECT_THAT(floats_of(checkpoint.weights.at("b.weight")), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(checkpoint.weights.at("b.num_batches_tracked").as<std::int64_t>()[0], 9);
  EXPECT_EQ(checkpoint.moments.at("a.weight").step, 3);
  EXPECT_EQ(checkpoint.optimizer_settings.at("lr"), 0.25);
  EXPECT_EQ(checkpoint.optimizer_settings.at("beta1"), 0.9);
}

TEST_F(ReferenceCheckpointTest, numbers_parameters_in_order_of_registration_without_buffers) {
  EXPECT_THAT(load(ReferenceParts().pickle()).parameters, ElementsAre("b.weight", "a.weight"));
  EXPECT_THAT(
      floats_of(load(ReferenceParts().pickle()).moments.at("a.weight").tensors.at("exp_avg")),
      ElementsAre(5, 6));
}

TEST_F(ReferenceCheckpointTest, becomes_a_checkpoint_of_ours) {
  const Checkpoint checkpoint = from_reference(load(ReferenceParts().pickle()));
  EXPECT_EQ(checkpoint.origin, Origin::reference);
  EXPECT_EQ(checkpoint.step, 3);
  EXPECT_EQ(checkpoint.tensors.at(compile::kStepState).as<std::int64_t>()[0], 3);
  EXPECT_THAT(floats_of(checkpoint.tensors.at(compile::moment_name("a.weight", "exp_avg"))),
              ElementsAre(5, 6));
  EXPECT_EQ(weights_of(checkpoint).size(), 4U);
}

/// SPEC 15, quirk 29: the reference strips characters, and eats the start of "model.weight".
TEST_F(ReferenceCheckpointTest, loses_the_prefix_of_distributed_training_and_nothing_else) {
  ReferenceParts parts;
  parts.state = [](PickleWriter& p) { p.empty_dict(); };
  parts.state_dict = [](PickleWriter& p) {
    p.ordered_dict();
    p.text("module.model.weight").tensor().set_item();
    p.text("module.encoder.module.weight").tensor().set_item();
    p.text("module_of_mine.weight").tensor().set_item();
  };
  EXPECT_THAT(load(parts.pickle()).parameters,
              ElementsAre("model.weight", "encoder.module.weight", "module_of_mine.weight"));
  parts.state_dict = [](PickleWriter& p) {
    p.ordered_dict();
    p.text("module.w").tensor().set_item();
    p.text("w").tensor().set_item();
  };
  expect_refusal(parts.pickle(), "with and without 'module.'");
}

TEST_F(ReferenceCheckpointTest, takes_views_apart) {
  const std::string six =
      little(0.F) + little(1.F) + little(2.F) + little(3.F) + little(4.F) + little(5.F);
  EXPECT_THAT(floats_of(load_view({.elements = 6, .shape = {2, 3}, .strides = {3, 1}}, six)),
              ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(floats_of(load_view({.elements = 6, .shape = {3, 2}, .strides = {1, 3}}, six)),
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(
      floats_of(load_view({.elements = 6, .offset = 4, .shape = {2, 1}, .strides = {1, 7}}, six)),
      ElementsAre(4, 5));
  EXPECT_THAT(floats_of(load_view({.elements = 6, .shape = {}, .strides = {}}, six)),
              ElementsAre(0));
  EXPECT_TRUE(
      floats_of(load_view({.elements = 6, .offset = 6, .shape = {0, 3}, .strides = {3, 1}}, six))
          .empty());
}

TEST_F(ReferenceCheckpointTest, converts_every_type_of_element) {
  const auto view = [](const std::string& type) {
    return View{.type = type, .elements = 2, .shape = {2}};
  };
  EXPECT_THAT(floats_of(load_view(view("DoubleStorage"), little(0.5) + little(-1e-3))),
              ElementsAre(0.5F, -1e-3F));
  // 1.5 and the largest finite; then the smallest subnormal and minus infinity.
  EXPECT_THAT(floats_of(load_view(view("HalfStorage"),
                                  little(std::uint16_t{0x3e00}) + little(std::uint16_t{0x7bff}))),
              ElementsAre(1.5F, 65504.F));
  EXPECT_THAT(floats_of(load_view(view("HalfStorage"),
                                  little(std::uint16_t{0x0001}) + little(std::uint16_t{0xfc00}))),
              ElementsAre(0x1p-24F, -INFINITY));
  EXPECT_THAT(floats_of(load_view(view("BFloat16Storage"),
                                  little(std::uint16_t{0x3fc0}) + little(std::uint16_t{0xc000}))),
              ElementsAre(1.5F, -2.F));
  const auto whole = [&](const std::string& type, const std::string& bytes) {
    const session::Tensor tensor = load_view(view(type), bytes);
    const std::span<const std::int64_t> values = tensor.as<std::int64_t>();
    return std::vector<std::int64_t>(values.begin(), values.end());
  };
  EXPECT_THAT(whole("LongStorage", little(INT64_MIN) + little(INT64_MAX)),
              ElementsAre(INT64_MIN, INT64_MAX));
  EXPECT_THAT(whole("IntStorage", little(-7) + little(7)), ElementsAre(-7, 7));
  EXPECT_THAT(whole("ShortStorage", little(std::int16_t{-7}) + little(std::int16_t{7})),
              ElementsAre(-7, 7));
  EXPECT_THAT(whole("CharStorage", "\xff\x02"), ElementsAre(-1, 2));
  EXPECT_EQ(load_view(view("BoolStorage"), std::string("\x01\x00", 2)).as<std::uint8_t>()[0], 1);
  EXPECT_EQ(load_view(view("ByteStorage"), "\xff\x02").as<std::uint8_t>()[0], 255);
}

TEST_F(ReferenceCheckpointTest, without_a_storage_is_refused) {
  expect_refusal(pickle_of({.key = "7"}), "state_dict['w']: there is no entry 'model-3/data/7'");
  expect_refusal(pickle_of({.key = "../data.pkl"}), "there is no entry 'model-3/data/../data.pkl'");
}

TEST_F(ReferenceCheckpointTest, with_a_storage_of_another_size_is_refused) {
  expect_refusal(pickle_of({.key = "1"}), "the storage '1' has 8 bytes (4 elements of float32");
}

TEST_F(ReferenceCheckpointTest, that_shows_one_storage_a_thousand_times_is_refused) {
  const auto many = [](std::int64_t elements, const std::vector<std::string>& keys) {
    ReferenceParts parts;
    parts.state = [](PickleWriter& p) { p.empty_dict(); };
    parts.state_dict = [=](PickleWriter& p) {
      p.ordered_dict();
      for (int i = 0; i < 1000; ++i) {
        p.text("w" + std::to_string(i))
            .tensor({.key = keys[static_cast<std::size_t>(i) % keys.size()],
                     .elements = 100'000,
                     .shape = {elements}})
            .set_item();
      }
    };
    return parts.pickle();
  };
  const std::vector<ArchiveEntry> large{{"model-3/data/0", std::string(400'000, '\0')},
                                        {"model-3/data/1", std::string(400'000, '\0')}};
  expect_refusal(many(100'000, {"0"}), "the tensors have more than", large);
  expect_refusal(many(1, {"0", "1"}), "is read again and again", large);
}

// Small files whose parts name each other so often that taking them apart would never end.
TEST_F(ReferenceCheckpointTest, whose_groups_are_one_group_many_times_is_refused_at_once) {
  constexpr std::int64_t kMany = 100'000;
  PickleWriter p;
  p.empty_dict().mark().text("global_step").number(3).text("state_dict").ordered_dict();
  p.text("optimizer").empty_dict().mark().text("state").empty_dict().text("param_groups");
  p.empty_list().mark();
  p.empty_dict().put(1).text("params").empty_list().mark();
  for (std::int64_t number = 0; number < kMany; ++number) {
    p.number(number);
  }
  p.appends().set_item();
  for (std::int64_t i = 1; i < kMany; ++i) {
    p.get(1);
  }
  p.appends().set_items().set_items();
  expect_refusal(p.finish(), "names a parameter twice");
}

TEST_F(ReferenceCheckpointTest, whose_parameters_share_a_dictionary_of_many_moments_is_refused) {
  constexpr std::int64_t kMany = 10'000;
  const View nothing{.elements = 4, .shape = {0}};
  ReferenceParts parts;
  parts.state_dict = [&](PickleWriter& p) {
    p.ordered_dict().mark();
    p.text("w0").tensor(nothing).put(1);
    for (std::int64_t i = 1; i < kMany; ++i) {
      p.text("w" + std::to_string(i)).get(1);
    }
    p.set_items();
  };
  parts.params.clear();
  parts.state = [&](PickleWriter& p) {
    p.empty_dict().mark().number(0).empty_dict().put(2).mark();
    for (std::int64_t i = 0; i < kMany; ++i) {
      p.text("moment" + std::to_string(i)).get(1);
    }
    p.set_items();
    for (std::int64_t i = 1; i < kMany; ++i) {
      p.number(i).get(2);
    }
    p.set_items();
  };
  for (std::int64_t i = 0; i < kMany; ++i) {
    parts.params.push_back(i);
  }
  expect_refusal(parts.pickle(), "has 10000 entries");
}

TEST_F(ReferenceCheckpointTest, whose_parts_are_not_what_they_should_be_is_refused) {
  expect_refusal(PickleWriter().none().finish(), "the pickle is None");
  expect_refusal(PickleWriter().empty_dict().finish(), "the pickle has no 'global_step'");
  ReferenceParts parts;
  parts.global_step = [](PickleWriter& p) { p.number(-1); };
  expect_refusal(parts.pickle(), "global_step is -1");
  parts.global_step = [](PickleWriter& p) { p.text("5"); };
  expect_refusal(parts.pickle(), "global_step is the text '5'");
  parts = {};
  parts.state_dict = [](PickleWriter& p) { p.tensor(); };
  expect_refusal(parts.pickle(), "state_dict is a tensor");
  parts.state_dict = [](PickleWriter& p) { p.ordered_dict().text("w").number(1).set_item(); };
  expect_refusal(parts.pickle(), "state_dict['w'] is the number 1");
  parts.state_dict = [](PickleWriter& p) { p.ordered_dict().number(1).tensor().set_item(); };
  expect_refusal(parts.pickle(), "state_dict has the key 1");
  parts.state_dict = [](PickleWriter& p) { p.ordered_dict().text("\x1b[2J").tensor().set_item(); };
  expect_refusal(parts.pickle(), "state_dict['\\x1b[2J'] is not a tensor name");
  parts.state_dict = [](PickleWriter& p) {
    p.ordered_dict().text("optimizer/step").tensor().set_item();
  };
  expect_refusal(parts.pickle(), "is not a tensor name");
}

TEST_F(ReferenceCheckpointTest, whose_optimizer_does_not_fit_is_refused) {
  ReferenceParts parts;
  parts.params = {0, 1, 2};
  expect_refusal(parts.pickle(), "the optimizer has 3 parameters, state_dict 2");
  parts.params = {0, 0};
  expect_refusal(parts.pickle(), "names a parameter twice");
  parts.params = {0, 7};
  expect_refusal(parts.pickle(), "optimizer['state'][7] is missing (it belongs to 'a.weight'");
  parts.params = {1, 0};
  expect_refusal(parts.pickle(), "is f32[2], but its parameter 'b.weight' is f32[4]");
  parts = {};
  parts.state = [](PickleWriter& p) {
    p.empty_dict();
    for (int i = 0; i < 2; ++i) {
      p.number(i).empty_dict().text("step").tensor({.key = "0"}).set_item().set_item();
    }
  };
  expect_refusal(parts.pickle(), "is f32[4] (it must be one number)");
}

TEST_F(ReferenceCheckpointTest, that_counts_parameters_differently_does_not_become_ours) {
  ReferenceParts parts;
  parts.state = [](PickleWriter& p) {
    p.empty_dict();
    for (int i = 0; i < 2; ++i) {
      p.number(i).empty_dict().text("step").number(i + 1).set_item().set_item();
    }
  };
  const ReferenceCheckpoint checkpoint = load(parts.pickle());
  EXPECT_THAT([&] { from_reference(checkpoint); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("'a.weight' 2 times"), HasSubstr("'b.weight' 1 times"))));
}

TEST_F(ReferenceCheckpointTest, without_or_with_two_pickles_is_refused) {
  write_file(path_, archive_of({{"model-3/version", "3\n"}}));
  EXPECT_THAT([&] { load_reference_checkpoint(path_); },
              ThrowsMessage<DataError>(HasSubstr("has 0 entries FOLDER/data.pkl")));
  write_file(path_, archive_of({{"a/data.pkl", ""}, {"b/data.pkl", ""}}));
  EXPECT_THAT([&] { load_reference_checkpoint(path_); },
              ThrowsMessage<DataError>(HasSubstr("has 2 entries FOLDER/data.pkl")));
}

TEST_F(ReferenceCheckpointTest, with_a_hostile_pickle_is_refused) {
  for (const HostilePickle& pickle : hostile_pickles()) {
    SCOPED_TRACE(pickle.name);
    expect_refusal(pickle.bytes, "data.pkl");
  }
}

TEST_F(ReferenceCheckpointTest, cut_anywhere_is_refused) {
  load(ReferenceParts().pickle());
  const std::string whole = read_file(path_);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(path_, whole.substr(0, size));
    EXPECT_THROW(load_reference_checkpoint(path_), DataError) << "cut to " << size << " bytes";
  }
}

}  // namespace
}  // namespace cosmic::checkpoint
