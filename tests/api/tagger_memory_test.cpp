// What a tagger says that it takes, against what the process takes. In a program of its own, so
// that nothing else grows meanwhile.
#include <gtest/gtest.h>

#include <fstream>

#include "cosmictagger/tagger.hpp"

namespace cosmictagger {
namespace {

/// A line of /proc/self/status such as "VmHWM:    1234 kB", in bytes.
std::int64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) {
      return 1024 * std::stoll(line.substr(name.size() + 1));
    }
  }
  return 0;
}

/// A straight track through every plane.
Event an_event() {
  Event event;
  for (PlanePixels& plane : event) {
    for (std::uint32_t i = 0; i < 1000; ++i) {
      plane.rows.push_back(i);
      plane.columns.push_back(2 * i);
      plane.charges.push_back(30);
    }
  }
  return event;
}

class TaggerMemory : public testing::TestWithParam<int> {};

TEST_P(TaggerMemory, is_what_the_process_grows_by) {
  constexpr std::int64_t kOnTop = 12'000'000;     // of events, results and code that is read in
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins here
  const std::int64_t before = status_bytes("VmRSS");
  ASSERT_GT(before, 0);
  Tagger tagger({.weights = "weights/fast.safetensors",
                 .threads = 1,
                 .events_at_a_time = GetParam(),
                 .rows = 1280,
                 .columns = 2048});
  const std::int64_t said = tagger.memory_bytes();
  const std::vector<Event> events(static_cast<std::size_t>(GetParam()), an_event());
  tagger.tag(events);
  const std::int64_t grown = status_bytes("VmHWM") - before;
  EXPECT_LE(grown, said + kOnTop);
  EXPECT_LE(said, grown + grown / 10) << "more is said than is ever used";
}

INSTANTIATE_TEST_SUITE_P(EventsAtATime, TaggerMemory, testing::Values(1, 4),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace cosmictagger
