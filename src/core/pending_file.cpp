#include "core/pending_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace cosmic {
namespace {

constexpr std::string_view kMark = ".partial-";

// Somebody else may take a new file for an abandoned one and remove it; hardly twice.
constexpr int kAttempts = 100;

/// Hidden, and not to be guessed, so that nobody can put something else there.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  std::random_device random;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%08x%08x", random(), random());
  return path.parent_path() /
         ("." + path.filename().string() + std::string(kMark) + std::string(text.data()));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

bool is_held_by_another(int reason) {
  return reason == EAGAIN || reason == EACCES;
}

bool has_name(int descriptor) {
  struct stat facts {};
  return ::fstat(descriptor, &facts) == 0 && facts.st_nlink > 0;
}

enum class Writer { alive, dead, unknown };

/// The writer of an unfinished file; that of a dead one is removed.
Writer remove_if_abandoned(const std::filesystem::path& file) {
  const int descriptor =
      ::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);  // a FIFO must not wait
  if (descriptor < 0) {
    return errno == ENOENT ? Writer::dead : Writer::unknown;
  }
  Writer writer = Writer::dead;
  if (system_files().lock(descriptor) == 0) {
    system_files().remove(file);
  } else {
    writer = is_held_by_another(errno) ? Writer::alive : Writer::unknown;
  }
  ::close(descriptor);
  return writer;
}

/// Calls `visit` with each unfinished file of a folder and the name it would have become.
template <class Visit>
void for_each_unfinished(const std::filesystem::path& folder, const Visit& visit) {
  std::error_code error;  // a folder that cannot be read has nothing to offer
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (const auto name = PendingFile::final_name(entry->path().filename().string())) {
      visit(entry->path(), *name);
    }
  }
}

/// What is left of a file when that of the dead is removed: one whose writer lives, if there is
/// one.
struct Unfinished {
  Writer writer = Writer::dead;
  std::filesystem::path file = {};
};

Unfinished remove_abandoned(const std::filesystem::path& path) {
  Unfinished left;
  for_each_unfinished(
      folder_of(path), [&](const std::filesystem::path& file, const std::string& name) {
        const Writer writer = name == path.filename() ? remove_if_abandoned(file) : Writer::dead;
        if (writer == Writer::alive || (writer == Writer::unknown && left.writer == Writer::dead)) {
          left = {writer, file};
        }
      });
  return left;
}

/// Names of temporary files for a signal handler, which can neither wait for a lock nor follow
/// pointers that others change. Files beyond the last place are not listed; they are found by the
/// next who writes their name.
struct ListedName {
  std::atomic<pid_t> owner{0};  ///< 0: free
  std::atomic<bool> filled{false};
  std::array<char, PATH_MAX> path{};
};
constexpr std::size_t kListedNames = 64;
std::array<ListedName, kListedNames> listed_names;

std::size_t list_name(const std::filesystem::path& path) {
  const std::string& name = path.native();
  for (std::size_t i = 0; i < kListedNames && name.size() < PATH_MAX; ++i) {
    pid_t nobody = 0;
    if (listed_names[i].owner.compare_exchange_strong(nobody, ::getpid())) {
      std::copy_n(name.c_str(), name.size() + 1, listed_names[i].path.begin());
      listed_names[i].filled = true;
      return i;
    }
  }
  return kListedNames;
}

void forget_name(std::size_t place) {
  if (place < kListedNames) {
    listed_names[place].filled = false;
    listed_names[place].owner = 0;
  }
}

/// Lists a name unless what follows fails.
class Listing {
 public:
  explicit Listing(const std::filesystem::path& path) : place_(list_name(path)) {}
  ~Listing() { forget_name(place_); }
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  std::size_t keep() { return std::exchange(place_, kListedNames); }

 private:
  std::size_t place_;
};

}  // namespace

PendingFile::PendingFile(std::filesystem::path path, Existing existing, FileOperations& files)
    : path_(std::move(path)), existing_(existing), files_(files), listed_(kListedNames) {
  std::error_code unknown;  // creating the file says what is wrong with its folder
  COSMIC_REQUIRE(UserError, path_.has_filename() && !std::filesystem::is_directory(path_, unknown),
                 path_.string() << ": is a folder (a file name is needed); name a file in it");
  if (existing_ == Existing::refuse) {
    require_new(path_);
    require_not_being_written(path_);
  } else {
    remove_abandoned(path_);
  }
  create_temporary();
}

/// A new file looks abandoned until it is locked, so another process may remove it before that.
void PendingFile::create_temporary() {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    temporary_ = temporary_name(path_);
    Listing listing(temporary_);  // a signal may come as soon as the file is there
    descriptor_ = files_.create(temporary_);
    if (descriptor_ < 0 && errno == EEXIST) {
      continue;
    }
    require(descriptor_ >= 0, "does its folder exist, and do you have permission to write there?");
    const bool locked = files_.lock(descriptor_) == 0 || !is_held_by_another(errno);
    if (locked && has_name(descriptor_)) {
      listed_ = listing.keep();
      return;
    }
    files_.close(std::exchange(descriptor_, -1));
    files_.remove(temporary_);
  }
  errno = EBUSY;
  require(false, "is somebody removing files there?");
}

PendingFile::~PendingFile() {
  if (!committed_) {
    files_.remove(temporary_);
  }
  if (descriptor_ >= 0) {
    files_.close(descriptor_);
  }
  if (lock_ >= 0) {
    ::close(lock_);
  }
  forget_name(listed_);
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
  // Closing may fail, and must therefore come before the file gets its name; but until then
  // somebody must hold the lock, or the file would look abandoned.
  lock_ = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  require(files_.close(std::exchange(descriptor_, -1)) == 0, "is the disk full?");
  const int renamed = existing_ == Existing::refuse ? files_.rename_new(temporary_, path_)
                                                    : files_.rename(temporary_, path_);
  COSMIC_REQUIRE(UserError, renamed == 0 || existing_ == Existing::replace || errno != EEXIST,
                 path_.string() << ": exists now, and did not before (another process has made it, "
                                   "and it is not replaced unless you ask for it); write "
                                   "elsewhere, remove it, or add --overwrite");
  require(renamed == 0, "was the unfinished file removed, or is there a folder of that name?");
  committed_ = true;
  ::close(std::exchange(lock_, -1));
  const bool durable = files_.sync_folder(folder_of(path_)) == 0;
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

void require_new(const std::filesystem::path& path) {
  std::error_code unknown;
  COSMIC_REQUIRE(UserError,
                 !std::filesystem::exists(std::filesystem::symlink_status(path, unknown)),
                 path.string() << ": already exists (it is not replaced unless you ask for it); "
                                  "write elsewhere, remove it, or add --overwrite");
}

void require_not_being_written(const std::filesystem::path& path) {
  const Unfinished left = remove_abandoned(path);
  COSMIC_REQUIRE(UserError, left.writer != Writer::alive,
                 path.string() << ": is being written by another process (only one of the two "
                                  "could have the name); wait for it, or write elsewhere");
  COSMIC_REQUIRE(UserError, left.writer == Writer::dead,
                 left.file.string()
                     << ": is unfinished, and would have become " << path.string()
                     << " (nothing tells whether a process is still writing it: the file system "
                        "has no locks, or the file is not yours); remove it if none is, or write "
                        "elsewhere");
}

void remove_abandoned_files(const std::filesystem::path& folder) {
  for_each_unfinished(folder, [](const std::filesystem::path& file, const std::string&) {
    remove_if_abandoned(file);
  });
}

void remove_pending_files() noexcept {
  for (ListedName& listed : listed_names) {
    // A child that was forked has the list too, and no right to the files.
    if (listed.filled && listed.owner == ::getpid()) {
      ::unlink(listed.path.data());
    }
  }
}

}  // namespace cosmic
