#include "checkpoint/faulty_files.hpp"

#include <cerrno>

#include "checkpoint/archive_writer.hpp"

namespace cosmic::checkpoint {

bool FaultyFiles::is_power_cut() const {
  return fault_ == Fault::power_cut_names_lost || fault_ == Fault::power_cut_names_kept;
}

void FaultyFiles::lose_what_was_not_synced() {
  if (fault_ == Fault::power_cut_names_lost) {
    for (auto undo = undo_names_.rbegin(); undo != undo_names_.rend(); ++undo) {
      (*undo)();
    }
  }
  for (const auto& [path, bytes] : synced_bytes_) {
    if (std::filesystem::exists(path)) {
      std::filesystem::resize_file(path, bytes);
    }
  }
}

void FaultyFiles::stop() {
  stopped_ = true;
  if (is_power_cut()) {
    lose_what_was_not_synced();
  }
  throw Stopped{};
}

int FaultyFiles::perform(Takes takes, const std::function<int()>& operation) {
  if (stopped_) {
    return 0;  // nobody is there any more; destructors get to see it
  }
  const bool now = count_++ >= at_;
  if (now && fault_ == Fault::io_error) {
    errno = EIO;
    return -1;
  }
  if (now && fault_ == Fault::disk_full && takes == Takes::space) {
    errno = ENOSPC;
    return -1;
  }
  if (now && (fault_ == Fault::kill || is_power_cut())) {
    stop();
  }
  return operation();
}

int FaultyFiles::create(const std::filesystem::path& path) {
  return perform(Takes::space, [&] {
    const int descriptor = FileOperations::create(path);
    open_[descriptor] = path;
    synced_bytes_[path] = 0;
    return descriptor;
  });
}

ssize_t FaultyFiles::write(int descriptor, std::span<const std::byte> bytes) {
  const bool cut = !stopped_ && count_ >= at_ && bytes.size() > 1;
  if (cut) {  // half of it gets through, whatever comes then
    const ssize_t half = FileOperations::write(descriptor, bytes.first(bytes.size() / 2));
    if (fault_ == Fault::short_writes) {
      ++count_;
      return half;
    }
  }
  ssize_t written = 0;
  const int result = perform(Takes::space, [&] {
    written = FileOperations::write(descriptor, bytes);
    return written < 0 ? -1 : 0;
  });
  return result < 0 ? -1 : written;
}

int FaultyFiles::sync(int descriptor) {
  return perform(Takes::space, [&] {
    const std::filesystem::path& path = open_.at(descriptor);
    synced_bytes_[path] = std::filesystem::file_size(path);
    return FileOperations::sync(descriptor);
  });
}

int FaultyFiles::close(int descriptor) {
  // Closed in any case: a process that is gone has no open files.
  const int closed = FileOperations::close(descriptor);
  return perform(Takes::nothing, [&] { return closed; });
}

int FaultyFiles::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  return perform(Takes::nothing, [&] {
    const std::optional<std::string> before =
        std::filesystem::exists(to) ? std::optional(read_file(to)) : std::nullopt;
    const std::uintmax_t synced = synced_bytes_.at(from);
    synced_bytes_.erase(from);
    synced_bytes_[to] = synced;
    undo_names_.push_back([this, from, to, before, synced] {
      std::filesystem::rename(to, from);
      synced_bytes_.erase(to);
      synced_bytes_[from] = synced;
      if (before) {
        write_file(to, *before);
      }
    });
    return FileOperations::rename(from, to);
  });
}

int FaultyFiles::remove(const std::filesystem::path& path) {
  return perform(Takes::nothing, [&] {
    if (std::filesystem::exists(path)) {
      undo_names_.push_back([path, before = read_file(path)] { write_file(path, before); });
    }
    return FileOperations::remove(path);
  });
}

int FaultyFiles::sync_folder(const std::filesystem::path& folder) {
  return perform(Takes::space, [&] {
    undo_names_.clear();
    return FileOperations::sync_folder(folder);
  });
}

}  // namespace cosmic::checkpoint
