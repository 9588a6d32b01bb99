#include "compile/artifact/executable_cache.hpp"

#include <algorithm>
#include <chrono>

#include "compile/artifact/artifact_file.hpp"
#include "core/error.hpp"
#include "core/pending_file.hpp"

namespace cosmic::compile::artifact {
namespace {

using compile::Facts;
using compile::Plan;
using std::filesystem::path;

// No process takes that long to write a file; what is unfinished for longer was left by one that
// was killed.
constexpr std::chrono::hours kAbandoned{1};

struct CachedFile {
  path name;
  std::uint64_t bytes = 0;
  std::filesystem::file_time_type used;
};

/// Files that vanish while we look are other processes' business.
std::vector<CachedFile> files_in(const path& folder) {
  std::vector<CachedFile> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code vanished;
    CachedFile file{entry->path(), entry->file_size(vanished), {}};
    file.used = vanished ? file.used : entry->last_write_time(vanished);
    if (!vanished) {
      files.push_back(std::move(file));
    }
  }
  return files;
}

void remove_file(const path& file) {
  std::error_code another_was_faster;
  std::filesystem::remove(file, another_was_faster);
}

}  // namespace

ExecutableCache::ExecutableCache(path folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

path ExecutableCache::file_of(const Facts& facts) const {
  return folder_ / (key_of(facts) + std::string(kExtension));
}

std::optional<Plan> ExecutableCache::find(const Facts& facts, const compile::TargetInfo& target,
                                          std::vector<std::string>& warnings) const {
  const path file = file_of(facts);
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    return std::nullopt;
  }
  try {
    Plan plan = plan_made_from(facts, load_artifact(file));
    compile::verify(plan, target);
    plan.origin.found_in = file.string();
    // The time of the last use decides what is removed first.
    std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now(), error);
    return plan;
  } catch (const Error& refused) {
    warnings.push_back("A file in the executable cache is unusable and will be replaced: " +
                       std::string(refused.what()));
    return std::nullopt;
  }
}

void ExecutableCache::keep(Plan& plan) const {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);  // what fails here, writing reports
  const path file = file_of(plan.origin.made_from);
  const Plan* const one[] = {&plan};
  try {
    const std::string bytes = artifact_bytes(one);
    COSMIC_REQUIRE(UserError, bytes.size() <= most_bytes_,
                   file.string() << ": has " << bytes.size() << " bytes (the cache is limited to "
                                 << most_bytes_ << "); allow it more");
    PendingFile pending(file, Existing::replace);
    pending.append(std::as_bytes(std::span(bytes)));
    pending.commit();
  } catch (const Error& failed) {
    plan.origin.warnings.push_back(
        "The compiled program could not be cached, so the next start will compile it again: " +
        std::string(failed.what()));
    return;
  }
  remove_what_is_too_much(file);
}

void ExecutableCache::remove_what_is_too_much(const path& newest) const {
  const auto now = std::filesystem::file_time_type::clock::now();
  std::vector<CachedFile> kept;
  std::uint64_t bytes = 0;
  for (CachedFile& file : files_in(folder_)) {
    const std::string name = file.name.filename().string();
    const std::optional<std::string> unfinished = PendingFile::final_name(name);
    if (unfinished && unfinished->ends_with(kExtension) && now - file.used > kAbandoned) {
      remove_file(file.name);
    } else if (!unfinished && name.ends_with(kExtension)) {  // whatever else is there is not ours
      bytes += file.bytes;
      kept.push_back(std::move(file));
    }
  }
  std::sort(kept.begin(), kept.end(),
            [](const CachedFile& a, const CachedFile& b) { return a.used < b.used; });
  for (const CachedFile& file : kept) {
    if (bytes <= most_bytes_) {
      break;
    }
    if (file.name != newest) {
      remove_file(file.name);
      bytes -= file.bytes;
    }
  }
}

}  // namespace cosmic::compile::artifact
