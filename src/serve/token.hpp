// A secret that a client shows with every request: `Authorization: Bearer TOKEN`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace cosmic::serve {

/// The first line of a file. Throws DataError if there is no such file, or no line.
std::string token_in(const std::filesystem::path& file);

class BearerToken {
 public:
  /// Throws UserError for one that is too short to be a secret, or that no header can carry.
  explicit BearerToken(std::string secret);
  /// The first line of a file. Throws DataError if there is none, UserError as above.
  static BearerToken from_file(const std::filesystem::path& file);

  /// Takes as long whether the header is nearly right or quite wrong.
  bool is_in(std::string_view authorization_header) const;
  /// For a client.
  std::string header() const { return "Bearer " + secret_; }

 private:
  std::string secret_;
};

}  // namespace cosmic::serve
