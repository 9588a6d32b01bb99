#include "compile/artifact/executable_cache.hpp"

#include <algorithm>
#include <chrono>

#include "compile/artifact/artifact_file.hpp"
#include "compile/artifact/plan_bytes.hpp"
#include "compile/artifact/private_folder.hpp"
#include "core/content_hash.hpp"
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

// Notes of a file in the cache: the key it was made for, and a hash over the key and the plan.
constexpr const char* kKeyNote = "cache key";
constexpr const char* kBindingNote = "cache binding";

/// What ties a plan to the key of the facts it was made from.
std::string binding_of(const std::string& key, std::string_view plan) {
  ContentHash hash;
  hash.add(writer());
  hash.add(key);
  hash.add(plan);
  return hash.text();
}

Facts notes_of(const Plan& plan) {
  const std::string key = key_of(plan.origin.made_from);
  return {{kKeyNote, key}, {kBindingNote, binding_of(key, plan_bytes(plan))}};
}

/// A file whose name, facts, plan and notes do not belong together was put together by somebody.
void require_bound(const Artifact& artifact, const Facts& facts) {
  const std::string* const key = find_fact(artifact.notes, kKeyNote);
  const std::string* const binding = find_fact(artifact.notes, kBindingNote);
  COSMIC_REQUIRE(DataError, key != nullptr && binding != nullptr && artifact.programs.size() == 1,
                 "was not written by this cache (it does not say what key it is for)");
  COSMIC_REQUIRE(
      DataError, *key == key_of(facts),
      "was made for the key " << *key << " (the key asked for is " << key_of(facts) << ")");
  COSMIC_REQUIRE(DataError, *binding == binding_of(*key, artifact.programs.front().plan),
                 "has another plan than the one that was cached under the key "
                     << *key << " (it was changed, or put together from several files)");
}

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

std::string not_used(const DataError& reason) {
  return "The executable cache is not used, so every start compiles again: " +
         std::string(reason.what());
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
  std::optional<std::string> bytes;
  try {
    const PrivateFolder folder(folder_, PrivateFolder::Missing::leave);
    bytes = folder.read(file.filename().string(), kMostArtifactBytes);
  } catch (const DataError& refused) {
    warnings.push_back(not_used(refused));
    return std::nullopt;
  }
  if (!bytes) {
    return std::nullopt;
  }
  try {
    const Artifact artifact = artifact_of(*bytes);
    Plan plan = plan_made_from(facts, artifact);
    require_bound(artifact, facts);
    compile::verify(plan, target);
    plan.origin.found_in = file.string();
    return plan;
  } catch (const Error& refused) {
    warnings.push_back("A file in the executable cache is unusable and will be replaced: " +
                       file.string() + ": " + refused.what());
    return std::nullopt;
  }
}

void ExecutableCache::keep(Plan& plan) const {
  std::vector<std::string>& warnings = plan.origin.warnings;
  try {
    const PrivateFolder folder(folder_, PrivateFolder::Missing::create);
  } catch (const DataError& refused) {
    const std::string warning = not_used(refused);
    if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) {
      warnings.push_back(warning);
    }
    return;
  }
  const path file = file_of(plan.origin.made_from);
  const Plan* const one[] = {&plan};
  try {
    const std::string bytes = artifact_bytes(one, notes_of(plan));
    COSMIC_REQUIRE(UserError, bytes.size() <= most_bytes_,
                   file.string() << ": has " << bytes.size() << " bytes (the cache is limited to "
                                 << most_bytes_ << "); allow it more");
    PendingFile pending(file, Existing::replace);
    make_private(pending.descriptor());  // a umask may let a group write
    pending.append(std::as_bytes(std::span(bytes)));
    pending.commit();
  } catch (const Error& failed) {
    warnings.push_back(
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
