#include "core/process_memory.hpp"

#include <gmock/gmock.h>

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(HostMemory, that_is_there_is_not_refused) {
  EXPECT_GT(available_bytes(), 0);
  EXPECT_NO_THROW(require_host_memory(1'000'000, "a little"));
}

TEST(HostMemory, that_is_surely_not_there_is_refused_with_both_figures) {
  constexpr std::int64_t kPetabyte = 1'000'000'000'000'000;
  EXPECT_THAT([] { require_host_memory(kPetabyte, "batches of 7 events"); },
              ThrowsMessage<HostMemoryError>(
                  AllOf(HasSubstr("batches of 7 events would take 1000000.0 GB of memory"),
                        HasSubstr("GB free"), HasSubstr("run.minibatch_size"))));
}

}  // namespace
}  // namespace cosmic
