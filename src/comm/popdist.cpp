#include "comm/popdist.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/error.hpp"

namespace cosmic::comm::popdist {
namespace {

constexpr const char* kTotal = "POPDIST_NUM_TOTAL_REPLICAS";
constexpr const char* kLocal = "POPDIST_NUM_LOCAL_REPLICAS";
constexpr const char* kOffset = "POPDIST_REPLICA_INDEX_OFFSET";

std::int64_t number(const Environment& variable, const char* name, std::int64_t otherwise,
                    std::int64_t least) {
  const char* const value = variable(name);
  if (value == nullptr) {
    return otherwise;
  }
  const std::string_view text(value);
  std::int64_t result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  COSMIC_REQUIRE(UserError,
                 error == std::errc() && end == text.data() + text.size() && result >= least,
                 name << " is '" << text << "' (poprun sets it to a number of at least " << least
                      << "); start the program with poprun or mpirun, or unset it");
  return result;
}

}  // namespace

bool is_environment_set(const Environment& variable) {
  return variable(kTotal) != nullptr;
}

std::int64_t local_replicas(const Environment& variable) {
  return number(variable, kLocal, 1, 1);
}

std::int64_t total_replicas(const Environment& variable) {
  const std::int64_t local = local_replicas(variable);
  const std::int64_t total = number(variable, kTotal, local, 1);
  COSMIC_REQUIRE(UserError, total % local == 0,
                 kTotal << " is " << total << " and " << kLocal << " is " << local
                        << " (every instance has as many replicas); start the program with as many "
                           "replicas in each instance");
  return total;
}

std::int64_t instances(const Environment& variable) {
  return total_replicas(variable) / local_replicas(variable);
}

// The offset counts replicas over all hosts; POPDIST_LOCAL_INSTANCE_INDEX counts on each.
std::int64_t instance_index(const Environment& variable) {
  return number(variable, kOffset, 0, 0) / local_replicas(variable);
}

}  // namespace cosmic::comm::popdist
