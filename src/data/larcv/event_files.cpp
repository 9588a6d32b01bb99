#include "data/larcv/event_files.hpp"

#include <glob.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"

namespace cosmic::data::larcv {
namespace {

class Matches {
 public:
  explicit Matches(const std::filesystem::path& pattern) {
    glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found_);
  }
  ~Matches() { globfree(&found_); }
  Matches(const Matches&) = delete;
  Matches& operator=(const Matches&) = delete;

  /// By their bytes, so that no locale changes the order of events.
  std::vector<std::filesystem::path> sorted() const {
    std::vector<std::string> names(found_.gl_pathv, found_.gl_pathv + found_.gl_pathc);
    std::sort(names.begin(), names.end());
    return {names.begin(), names.end()};
  }

 private:
  glob_t found_{};
};

/// The same for all names of one file.
std::filesystem::path identity_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::canonical(path, error);
  return error ? path.lexically_normal() : canonical;
}

void require_different(const std::vector<std::filesystem::path>& files, std::string_view given_as) {
  std::map<std::filesystem::path, std::filesystem::path> known;
  for (const std::filesystem::path& file : files) {
    const auto [first, is_new] = known.emplace(identity_of(file), file);
    COSMIC_REQUIRE(UserError, is_new,
                   given_as << " names " << file.string() << " twice"
                            << (first->second == file ? "" : ", first as " + first->second.string())
                            << " (its events would count twice); leave one of them out");
  }
}

}  // namespace

bool is_pattern(const std::filesystem::path& name) {
  std::error_code error;
  return name.native().find_first_of("*?[") != std::string::npos &&
         !std::filesystem::exists(name, error);
}

bool matches_file(const std::filesystem::path& pattern) {
  return !Matches(pattern).sorted().empty();
}

std::vector<std::filesystem::path> find_event_files(std::span<const std::filesystem::path> names,
                                                    std::string_view given_as) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& name : names) {
    if (!is_pattern(name)) {
      files.push_back(name);
      continue;
    }
    const std::vector<std::filesystem::path> matches = Matches(name).sorted();
    COSMIC_REQUIRE(UserError, !matches.empty(),
                   given_as << " = " << name.string()
                            << " matches no file (* stands for any letters of a name, but not for "
                               "folders); check the folder and the pattern");
    files.insert(files.end(), matches.begin(), matches.end());
  }
  require_different(files, given_as);
  return files;
}

}  // namespace cosmic::data::larcv
