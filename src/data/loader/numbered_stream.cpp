#include "data/loader/numbered_stream.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/error.hpp"

namespace cosmic::data {

RandomStream numbered_stream(std::uint64_t seed, std::string_view name, std::int64_t number) {
  constexpr std::size_t kLongestName = 32;
  constexpr std::size_t kLongestNumber = 20;
  COSMIC_ASSERT(name.size() <= kLongestName);
  std::array<char, kLongestName + 1 + kLongestNumber> text{};
  char* end = std::copy(name.begin(), name.end(), text.data());
  *end++ = ' ';
  end = std::to_chars(end, text.data() + text.size(), number).ptr;
  return {seed, std::string_view(text.data(), static_cast<std::size_t>(end - text.data()))};
}

}  // namespace cosmic::data
