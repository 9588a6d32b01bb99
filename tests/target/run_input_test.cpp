// What a run can be given: all bytes of an input, some pixels, or nothing. Every target makes the
// same of an image whichever way it comes, and says what is wrong with one that does not fit.
#include "target/run_input.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "graph/builder.hpp"
#include "target/registry.hpp"
#include "target/targets_here.hpp"

namespace cosmic::target {
namespace {

using graph::DType;
using graph::ValueId;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const graph::TensorType kImage{DType::f32, {4, 3, 10, 12}};
const graph::TensorType kLabel{DType::u8, {4, 3, 10, 12}};
constexpr float kBackground = 0.25F;

template <class Element>
std::span<const std::byte> bytes_of(const std::vector<Element>& elements) {
  return std::as_bytes(std::span(elements));
}

/// A nearly empty image, in both forms.
template <class Element>
struct Image {
  explicit Image(const graph::TensorType& type, Element background)
      : fill(background), dense(static_cast<std::size_t>(type.elements()), background) {
    RandomStream random(5, "image");
    const std::int64_t size = type.elements() / type.dim(0);
    for (std::int64_t image = 0; image < type.dim(0); ++image) {
      for (std::int64_t pixel = 0; pixel < size; ++pixel) {
        if (image != 2 && random.uniform() < 0.05) {  // one image is empty
          indices.push_back(static_cast<std::int32_t>(pixel));
          values.push_back(static_cast<Element>(random.uniform(1, 3)));
          dense[static_cast<std::size_t>(image * size + pixel)] = values.back();
        }
      }
      first.push_back(static_cast<std::int64_t>(indices.size()));
    }
  }

  SparsePixels pixels() const { return {first, indices, bytes_of(values), fill}; }

  double fill;
  std::vector<Element> dense;
  std::vector<std::int64_t> first{0};
  std::vector<std::int32_t> indices;
  std::vector<Element> values;
};

/// A convolution of the image, and the cross entropy of its result with the label.
graph::Graph small_program() {
  graph::Builder g;
  const ValueId image = g.input("image", kImage);
  const ValueId label = g.input("label", kLabel);
  const ValueId kernel = g.parameter("kernel", {3, 3, 3, 3}, graph::Initializer::uniform(0.5));
  g.output("y",
           g.add(graph::LeakyRelu{}, {g.add(graph::Conv{{.pad = {0, 1, 1}}}, {image, kernel})}));
  g.output("kept", g.add(graph::Scale{2}, {image}));
  g.output("label", label);
  return g.take();
}

class Compiled {
 public:
  explicit Compiled(const std::string& name, const compile::Precision& precision = {}) {
    const std::unique_ptr<Target> target = make_target(name);
    const compile::TargetInfo info = target->info();
    const compile::Plan plan =
        compile::make_plan(small_program(), compile::finishing_passes(info, precision), info, {});
    const graph::TensorType kernel = plan.graph.type(plan.graph.state("kernel").value);
    const std::shared_ptr<StateBank> bank = target->make_bank({{"kernel", kernel}});
    std::vector<float> weights(static_cast<std::size_t>(kernel.elements()));
    RandomStream random(3, "kernel");
    for (float& weight : weights) {
      weight = static_cast<float>(random.uniform(-1, 1));
    }
    bank->write("kernel", bytes_of(weights));
    executable_ =
        compile_all(*target, plan, bank, {.threads = 2, .work_worth_sharing = 0, .progress = {}});
    for (const graph::NamedValue& output : plan.graph.outputs) {
      outputs_.emplace_back(static_cast<std::size_t>(plan.graph.type(output.value).bytes()));
    }
    spans_.assign(outputs_.begin(), outputs_.end());
  }

  const std::vector<std::vector<std::byte>>& run(const RunInput& image, const RunInput& label) {
    executable_->run(std::vector{image, label}, spans_);
    return outputs_;
  }

  Executable& executable() { return *executable_; }
  std::span<const std::span<std::byte>> outputs() const { return spans_; }

 private:
  std::unique_ptr<Executable> executable_;
  std::vector<std::vector<std::byte>> outputs_;
  std::vector<std::span<std::byte>> spans_;
};

class RunInputs : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(, RunInputs, testing::ValuesIn(targets_here()),
                         [](const auto& test) { return test.param; });

TEST_P(RunInputs, sparse_pixels_give_the_bits_of_the_dense_image) {
  const Image<float> image(kImage, kBackground);
  const Image<std::uint8_t> label(kLabel, 1);
  Compiled compiled(GetParam());
  const auto dense = compiled.run(RunInput(bytes_of(image.dense)), RunInput(bytes_of(label.dense)));
  EXPECT_EQ(compiled.executable().run_times().bytes_to_target, kImage.bytes() + kLabel.bytes());
  compiled.run(RunInput(bytes_of(std::vector(image.dense.size(), 7.0F))),
               RunInput(bytes_of(std::vector(label.dense.size(), std::uint8_t{9}))));
  EXPECT_EQ(compiled.run(image.pixels(), label.pixels()), dense);
  EXPECT_LT(compiled.executable().run_times().bytes_to_target, kImage.bytes());
}

TEST_P(RunInputs, sparse_pixels_of_a_narrow_format_are_rounded_like_dense_ones) {
  // Every target has one of the two.
  compile::Precision precision{.format = NumberFormat::bf16};
  if (!make_target(GetParam())->supports_precision(precision).ok) {
    precision.format = NumberFormat::f16;
  }
  const Image<float> image(kImage, kBackground);
  const Image<std::uint8_t> label(kLabel, 0);
  Compiled compiled(GetParam(), precision);
  const auto dense = compiled.run(RunInput(bytes_of(image.dense)), RunInput(bytes_of(label.dense)));
  Compiled other(GetParam(), precision);
  EXPECT_EQ(other.run(image.pixels(), label.pixels()), dense);
}

TEST_P(RunInputs, an_input_that_is_kept_is_that_of_the_run_before_dense_or_sparse) {
  const Image<float> image(kImage, kBackground);
  const Image<std::uint8_t> label(kLabel, 0);
  Compiled compiled(GetParam());
  const auto once = compiled.run(image.pixels(), RunInput(bytes_of(label.dense)));
  EXPECT_EQ(compiled.run({}, {}), once);
  EXPECT_EQ(compiled.executable().run_times().bytes_to_target, 0);
}

TEST_P(RunInputs, memory_from_the_target_gives_the_bits_of_any_other) {
  const Image<float> image(kImage, kBackground);
  const Image<std::uint8_t> label(kLabel, 0);
  const HostBuffer buffer = make_target(GetParam())->host_buffer(kImage.bytes());
  ASSERT_EQ(buffer.bytes().size(), static_cast<std::size_t>(kImage.bytes()));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % 64, 0U);
  std::memcpy(buffer.bytes().data(), image.dense.data(), buffer.bytes().size());
  Compiled compiled(GetParam());
  const auto usual = compiled.run(RunInput(bytes_of(image.dense)), RunInput(bytes_of(label.dense)));
  EXPECT_EQ(compiled.run(RunInput(buffer.bytes(), buffer.memory()), {}), usual);
}

/// What a run with a broken image says, on a target that then still works.
std::string error_of(const std::string& target, const RunInput& image) {
  const Image<std::uint8_t> label(kLabel, 0);
  Compiled compiled(target);
  std::string error;
  try {
    compiled.run(image, RunInput(bytes_of(label.dense)));
  } catch (const UserError& e) {
    error = e.what();
  }
  EXPECT_FALSE(compiled.executable().in_flight());
  const Image<float> sound(kImage, kBackground);
  EXPECT_NO_THROW(compiled.run(sound.pixels(), RunInput(bytes_of(label.dense))));
  return error;
}

TEST_P(RunInputs, staging_is_a_hint_that_changes_no_result) {
  const Image<float> first(kImage, kBackground);
  const Image<std::uint8_t> label(kLabel, 0);
  std::vector<float> other(first.dense.size(), 1.5F);
  Compiled plain(GetParam());
  const auto expected = plain.run(bytes_of(other), label.pixels());
  Compiled compiled(GetParam());
  Executable& executable = compiled.executable();
  executable.submit(std::vector<RunInput>{first.pixels(), label.pixels()});
  executable.stage(0, bytes_of(other));
  executable.stage(1, label.pixels());
  executable.wait(compiled.outputs());
  EXPECT_EQ(compiled.run(bytes_of(other), label.pixels()), expected) << "what was staged";
  executable.stage(0, first.pixels());
  EXPECT_EQ(compiled.run(bytes_of(other), label.pixels()), expected) << "something else";
}

TEST(RunInputViews, are_the_same_if_they_are_of_the_same_memory) {
  const Image<float> image(kImage, kBackground);
  const Image<float> twin(kImage, kBackground);
  EXPECT_TRUE(same_views(RunInput(), RunInput()));
  EXPECT_TRUE(same_views(image.pixels(), image.pixels()));
  EXPECT_TRUE(same_views(bytes_of(image.dense), bytes_of(image.dense)));
  EXPECT_FALSE(same_views(image.pixels(), twin.pixels()));
  EXPECT_FALSE(same_views(image.pixels(), bytes_of(image.dense)));
  EXPECT_FALSE(same_views(bytes_of(image.dense), RunInput()));
  EXPECT_FALSE(same_views(image.pixels(), RunInput(image.pixels(), HostMemory::pinned)));
  SparsePixels brighter = image.pixels();
  brighter.fill = 1;
  EXPECT_FALSE(same_views(image.pixels(), brighter));
}

TEST_P(RunInputs, an_index_outside_its_image_is_refused_with_both) {
  Image<float> image(kImage, kBackground);
  image.indices[static_cast<std::size_t>(image.first[4] - 1)] = 360;  // the last of image 3
  EXPECT_THAT(error_of(GetParam(), image.pixels()),
              AllOf(HasSubstr("image 3 of the sparse image"), HasSubstr("index 360"),
                    HasSubstr("has 360 pixels")));
  image.indices[0] = -1;
  EXPECT_THAT(error_of(GetParam(), image.pixels()),
              AllOf(HasSubstr("image 0 of the sparse image"), HasSubstr("index -1")));
}

TEST_P(RunInputs, a_pixel_that_comes_twice_is_refused_with_image_and_index) {
  Image<float> image(kImage, kBackground);
  const auto second = static_cast<std::size_t>(image.first[1] + 1);
  image.indices[second] = image.indices[second - 1];
  EXPECT_THAT(error_of(GetParam(), image.pixels()),
              AllOf(HasSubstr("image 1 of the sparse image"),
                    HasSubstr("has index " + std::to_string(image.indices[second]) + " after"),
                    HasSubstr("sort them, and add up or drop duplicates")));
}

TEST_P(RunInputs, pixels_that_belong_to_no_image_are_refused) {
  Image<float> image(kImage, kBackground);
  image.first.pop_back();
  EXPECT_THAT(error_of(GetParam(), image.pixels()), HasSubstr("of the 4 images of f32[4x3x10x12]"));
}

TEST_P(RunInputs, values_of_another_type_are_refused) {
  Image<float> image(kImage, kBackground);
  SparsePixels pixels = image.pixels();
  pixels.values = pixels.values.first(image.values.size());
  EXPECT_THAT(error_of(GetParam(), pixels), HasSubstr("give 4 bytes for each"));
}

TEST_P(RunInputs, a_dense_image_of_another_size_is_refused) {
  const std::vector<float> image(17);
  EXPECT_THAT(error_of(GetParam(), RunInput(bytes_of(image))),
              AllOf(HasSubstr("the image has 68 bytes"), HasSubstr("f32[4x3x10x12]")));
}

TEST_P(RunInputs, a_second_submission_without_a_wait_is_refused_and_the_first_is_not_lost) {
  const Image<float> image(kImage, kBackground);
  const Image<std::uint8_t> label(kLabel, 0);
  const std::vector<RunInput> inputs{image.pixels(), RunInput(bytes_of(label.dense))};
  Compiled compiled(GetParam());
  const auto expected = compiled.run(inputs[0], inputs[1]);
  Executable& executable = compiled.executable();
  executable.submit(inputs);
  EXPECT_TRUE(executable.in_flight());
  EXPECT_THAT([&] { executable.submit(inputs); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("target '" + GetParam() + "'"),
                                             HasSubstr("while another is in flight"),
                                             HasSubstr("call wait()"))));
  executable.wait(compiled.outputs());
  EXPECT_EQ(compiled.run({}, {}), expected);
}

TEST_P(RunInputs, there_is_nothing_to_wait_for_before_a_submission) {
  Compiled compiled(GetParam());
  EXPECT_THAT([&] { compiled.executable().wait(compiled.outputs()); },
              ThrowsMessage<UserError>(HasSubstr("call submit() first")));
}

TEST(HostBuffer, of_pinned_memory_is_given_back_the_way_it_was_got) {
  std::vector<std::byte> memory(64);
  std::byte* freed = nullptr;
  {
    const HostBuffer buffer(memory.data(), 64, [&](std::byte* at) { freed = at; });
    EXPECT_EQ(buffer.memory(), HostMemory::pinned);
    EXPECT_EQ(freed, nullptr);
  }
  EXPECT_EQ(freed, memory.data());
}

}  // namespace
}  // namespace cosmic::target
