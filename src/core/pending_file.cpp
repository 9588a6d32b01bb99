#include "core/pending_file.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace cosmic {
namespace {

constexpr std::string_view kMark = ".partial-";

/// Hidden, and unlike any other that this or another process writes now.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> count{0};
  std::string name = "." + path.filename().string() + std::string(kMark) + std::to_string(getpid());
  const unsigned number = count++;
  name += number == 0 ? "" : "-" + std::to_string(number);
  return path.parent_path() / name;
}

void refuse_existing(const std::filesystem::path& path) {
  COSMIC_REQUIRE(UserError, !std::filesystem::exists(std::filesystem::symlink_status(path)),
                 path.string() << ": already exists (it is not replaced unless you ask for it); "
                                  "choose another name, remove the file, or allow overwriting");
}

}  // namespace

PendingFile::PendingFile(std::filesystem::path path, Existing existing, FileOperations& files)
    : path_(std::move(path)),
      temporary_(temporary_name(path_)),
      existing_(existing),
      files_(files) {
  if (existing_ == Existing::refuse) {
    refuse_existing(path_);
  }
  COSMIC_REQUIRE(UserError, path_.has_filename() && !std::filesystem::is_directory(path_),
                 path_.string() << ": is a folder (a file name is needed); name a file in it");
  descriptor_ = files_.create(temporary_);
  require(descriptor_ >= 0, "does its folder exist, and do you have permission to write there?");
}

PendingFile::~PendingFile() {
  if (descriptor_ >= 0) {
    files_.close(descriptor_);
  }
  if (!committed_) {
    files_.remove(temporary_);
  }
}

std::uint64_t PendingFile::bytes() const {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(committed_ ? path_ : temporary_, error);
  return error ? 0 : size;
}

void PendingFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = files_.write(descriptor_, bytes);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    errno = done == 0 ? EIO : errno;  // no progress and no reason: do not try for ever
    require(done > 0, "is the disk full?");
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void PendingFile::commit() {
  require(files_.sync(descriptor_) == 0, "is the disk full?");
  require(files_.close(std::exchange(descriptor_, -1)) == 0, "is the disk full?");
  if (existing_ == Existing::refuse) {
    refuse_existing(path_);  // it may have come since
  }
  require(files_.rename(temporary_, path_) == 0,
          "was the unfinished file removed, or is there a folder of that name?");
  committed_ = true;
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  const bool durable = files_.sync_folder(folder) == 0;
  const int reason = errno;
  COSMIC_REQUIRE(DataError, durable,
                 path_.string() << ": is written, but its folder could not be made durable ("
                                << std::strerror(reason)
                                << "; a power cut may lose the file); is the disk healthy?");
}

std::optional<std::string> PendingFile::final_name(std::string_view file_name) {
  const std::size_t mark = file_name.rfind(kMark);
  if (mark == std::string_view::npos || !file_name.starts_with('.')) {
    return std::nullopt;
  }
  return std::string(file_name.substr(1, mark - 1));
}

void PendingFile::require(bool ok, const char* hint) const {
  const int reason = errno;
  COSMIC_REQUIRE(
      DataError, ok,
      path_.string() << ": cannot be written (" << std::strerror(reason) << "); " << hint);
}

}  // namespace cosmic
