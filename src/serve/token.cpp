#include "serve/token.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>

#include "core/error.hpp"
#include "core/regular_file.hpp"

namespace cosmic::serve {

BearerToken::BearerToken(std::string secret) : secret_(std::move(secret)) {
  constexpr std::size_t kShortest = 16;
  constexpr std::size_t kLongest = 1024;
  const bool plain =
      std::all_of(secret_.begin(), secret_.end(), [](char c) { return c > ' ' && c <= '~'; });
  COSMIC_REQUIRE(UserError, secret_.size() >= kShortest && secret_.size() <= kLongest && plain,
                 "a token of " << secret_.size()
                               << " characters (it must have 16 to 1024, none of them a space, or "
                                  "it could be guessed or not be sent); make one with `openssl "
                                  "rand -hex 32`");
}

BearerToken BearerToken::from_file(const std::filesystem::path& file) {
  std::ifstream stream(regular_file(file));
  std::string line;
  COSMIC_REQUIRE(DataError, stream && std::getline(stream, line),
                 file.string() << " holds no token (nobody could be let in); write one into it "
                                  "with `openssl rand -hex 32`");
  return BearerToken(line);
}

bool BearerToken::is_in(std::string_view authorization_header) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization_header.starts_with(kScheme)) {
    return false;
  }
  const std::string_view shown = authorization_header.substr(kScheme.size());
  // No early end: the time depends on the length that was sent and on nothing else.
  std::size_t difference = shown.size() ^ secret_.size();
  for (std::size_t i = 0; i < shown.size(); ++i) {
    difference |= static_cast<unsigned char>(shown[i]) ^
                  static_cast<unsigned char>(secret_[i % secret_.size()]);
  }
  return difference == 0;
}

}  // namespace cosmic::serve
