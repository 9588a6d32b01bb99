#include "serve/token.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>

#include "core/error.hpp"
#include "core/regular_file.hpp"

namespace cosmic::serve {

std::string token_in(const std::filesystem::path& file) {
  std::ifstream stream(regular_file(file));
  COSMIC_REQUIRE(DataError, stream.is_open(),
                 file.string() << ": cannot be opened (" << std::strerror(errno)
                               << "; it should have the token that servers ask for); give a file "
                                  "that you may read");
  std::string line;
  COSMIC_REQUIRE(DataError, std::getline(stream, line) && !line.empty(),
                 file.string() << ": its first line is empty (it should be the token that servers "
                                  "ask for); `openssl rand -hex 32` makes one");
  return line;
}

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
  return BearerToken(token_in(file));
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
