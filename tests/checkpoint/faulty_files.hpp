// A disk that fails at a chosen operation, or a machine that stops there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/file_operations.hpp"

namespace cosmic::checkpoint {

/// Thrown where the process or the machine stops. No Error, so that nobody takes it for one.
struct Stopped {};

enum class Fault {
  io_error,              ///< EIO, again and again
  disk_full,             ///< ENOSPC for whatever takes space, again and again
  short_writes,          ///< a write takes half of the bytes; no error, but it has to be noticed
  kill,                  ///< the process stops; what it did stays
  power_cut_names_lost,  ///< the machine stops; bytes and names that were not synced are lost
  power_cut_names_kept,  ///< the same, but the names are there
};

/// Does as the system does until operation number `at`, counted from 0. A write is stopped half
/// way.
class FaultyFiles : public FileOperations {
 public:
  FaultyFiles(Fault fault, std::size_t at) : fault_(fault), at_(at) {}

  int create(const std::filesystem::path& path) override;
  ssize_t write(int descriptor, std::span<const std::byte> bytes) override;
  int sync(int descriptor) override;
  int close(int descriptor) override;
  int rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  int remove(const std::filesystem::path& path) override;
  int sync_folder(const std::filesystem::path& folder) override;

  /// The machine stops now: bytes and names that were not synced are lost.
  void lose_what_was_not_synced();

  /// Whether the fault has come yet.
  bool happened() const { return count_ > at_; }

 private:
  enum class Takes { nothing, space };

  /// Runs one operation, or lets it fail.
  int perform(Takes takes, const std::function<int()>& operation);
  bool is_power_cut() const;
  [[noreturn]] void stop();

  Fault fault_;
  std::size_t at_;
  std::size_t count_ = 0;
  bool stopped_ = false;
  std::map<int, std::filesystem::path> open_;
  std::map<std::filesystem::path, std::uintmax_t> synced_bytes_;  ///< of files written
  std::vector<std::function<void()>> undo_names_;                 ///< since the folder was synced
};

}  // namespace cosmic::checkpoint
