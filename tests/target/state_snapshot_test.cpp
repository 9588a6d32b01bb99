// A snapshot of states is kept beside them on the target and brought back without the host.
#include <gtest/gtest.h>

#include "target/targets_here.hpp"

namespace cosmic::target {
namespace {

using graph::DType;

class StateSnapshots : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    bank_ = make_target(GetParam())
                ->make_bank({{"weights", {DType::f32, {3, 5}}},
                             {"steps", {DType::i64, {}}},
                             {"mean", {DType::f32, {2}}}});
    set(1);
  }

  void set(float value) {
    write("weights", std::vector<float>(15, value));
    write("mean", std::vector<float>(2, value + 0.5F));
    write("steps", std::vector<std::int64_t>{static_cast<std::int64_t>(value)});
  }

  template <class Element>
  void write(const std::string& name, const std::vector<Element>& elements) {
    bank_->write(name, std::as_bytes(std::span(elements)));
  }

  template <class Element>
  Element read(const std::string& name, std::size_t count) const {
    std::vector<Element> elements(count);
    bank_->read(name, std::as_writable_bytes(std::span(elements)));
    for (const Element& element : elements) {
      EXPECT_EQ(element, elements.front()) << name;
    }
    return elements.front();
  }

  void expect(float value) const {
    EXPECT_EQ(read<float>("weights", 15), value);
    EXPECT_EQ(read<float>("mean", 2), value + 0.5F);
    EXPECT_EQ(read<std::int64_t>("steps", 1), static_cast<std::int64_t>(value));
  }

  std::shared_ptr<StateBank> bank_;
};

INSTANTIATE_TEST_SUITE_P(, StateSnapshots, testing::ValuesIn(targets_here()),
                         [](const auto& test) { return test.param; });

TEST_P(StateSnapshots, bring_every_state_back_as_often_as_asked) {
  const std::unique_ptr<StateSnapshot> snapshot = bank_->snapshot();
  for (const float value : {2.0F, 3.0F}) {
    set(value);
    expect(value);
    bank_->restore(*snapshot);
    expect(1);
  }
}

TEST_P(StateSnapshots, of_some_states_leave_the_others_alone) {
  const std::vector<std::string> names{"mean", "steps"};
  const std::unique_ptr<StateSnapshot> snapshot = bank_->snapshot(names);
  set(2);
  bank_->restore(*snapshot);
  EXPECT_EQ(read<float>("weights", 15), 2);
  EXPECT_EQ(read<float>("mean", 2), 1.5F);
  EXPECT_EQ(read<std::int64_t>("steps", 1), 1);
}

TEST_P(StateSnapshots, can_be_taken_again) {
  const std::unique_ptr<StateSnapshot> snapshot = bank_->snapshot();
  set(2);
  bank_->take_again(*snapshot);
  set(3);
  bank_->restore(*snapshot);
  expect(2);
}

}  // namespace
}  // namespace cosmic::target
