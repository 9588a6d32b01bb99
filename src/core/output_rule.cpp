#include "core/output_rule.hpp"

#include <sys/stat.h>

#include "core/error.hpp"

namespace cosmic {
namespace {

/// A file by what it is, whatever its names are; nothing if there is none.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const FileIdentity&) const = default;
};

std::optional<FileIdentity> identity_of(const std::filesystem::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    return std::nullopt;
  }
  return FileIdentity{facts.st_dev, facts.st_ino};
}

/// What stands in the way even of a command that may replace files.
void require_not_an_input(const std::filesystem::path& path, const OutputRule& rule) {
  std::error_code unknown;  // whoever opens it will say what is wrong
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, unknown);
  if (!std::filesystem::exists(status)) {
    return;
  }
  COSMIC_REQUIRE(
      UserError, !std::filesystem::is_symlink(status),
      path.string() << ": is a link to '" << std::filesystem::read_symlink(path, unknown).string()
                    << "' (nothing is written through links, and they are not replaced); name the "
                       "file itself, or remove the link");
  COSMIC_REQUIRE(UserError, !std::filesystem::is_directory(status),
                 path.string() << ": is a folder (a file name is needed); name a file in it");
  COSMIC_REQUIRE(UserError, std::filesystem::is_regular_file(status),
                 path.string() << ": is a device, a pipe or a socket (it would be replaced by a "
                                  "file); name a file");
  const std::optional<FileIdentity> output = identity_of(path);
  for (const std::filesystem::path& input : rule.inputs) {
    COSMIC_REQUIRE(UserError, !output || identity_of(input) != output,
                   path.string() << ": is the same file as " << input.string()
                                 << ", which this command reads (writing would destroy it; "
                                    "--overwrite does not allow that); write elsewhere");
  }
}

}  // namespace

void require_output(const std::filesystem::path& path, const OutputRule& rule) {
  COSMIC_REQUIRE(UserError, path.has_filename(),
                 path.string() << ": is a folder (a file name is needed); name a file in it");
  require_not_an_input(path, rule);
  if (rule.existing == Existing::refuse) {
    require_new(path);
  }
  require_not_being_written(path);
}

void require_appendable(const std::filesystem::path& path, const OutputRule& rule) {
  require_not_an_input(path, rule);
}

}  // namespace cosmic
