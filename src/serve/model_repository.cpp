#include "serve/model_repository.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::serve {
namespace {

constexpr std::int64_t kMostVersion = 1'000'000'000;

bool is_name(const std::string& text) {
  constexpr std::size_t kLongest = 100;
  return !text.empty() && text.size() <= kLongest && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
         });
}

std::optional<std::int64_t> version_in(const std::string& text) {
  std::int64_t version = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, version);
  const bool sound = error == std::errc() && last == end && version >= 1 && version <= kMostVersion;
  return sound ? std::optional(version) : std::nullopt;
}

Refusal no_such_model(const std::string& name) {
  return {Reason::not_found, "there is no model " + printable(name) +
                                 "; /v2/repository/index lists those that there are"};
}

}  // namespace

ModelSource model_source(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || std::filesystem::exists(text)) {
    return {kDefaultModel, 1, text};
  }
  std::string name = text.substr(0, equals);
  std::optional<std::int64_t> version = 1;
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
    version = version_in(name.substr(slash + 1));
    name.resize(slash);
  }
  COSMIC_REQUIRE(UserError, is_name(name) && version && equals + 1 < text.size(),
                 "--weights " << text
                              << " (a model is a name of letters, digits, '_', '-' and '.', "
                                 "perhaps a version such as /3, and its weights); write for "
                                 "example --weights sbnd=out/checkpoints");
  return {name, *version, text.substr(equals + 1)};
}

std::vector<ModelSource> model_sources_in(const std::filesystem::path& folder) {
  std::vector<ModelSource> sources;
  std::error_code error;
  for (const auto& model : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = model.path().filename().string();
    if (!model.is_directory() || !is_name(name)) {
      continue;
    }
    for (const auto& version : std::filesystem::directory_iterator(model.path(), error)) {
      if (const auto number = version_in(version.path().filename().string())) {
        sources.push_back({name, *number, version.path()});
      }
    }
  }
  COSMIC_REQUIRE(UserError, !sources.empty(),
                 "--repository " << folder.string()
                                 << " has no models (they are looked for as NAME/VERSION, for "
                                    "example sbnd/1/model-500.safetensors); give such a folder, or "
                                    "--weights NAME=FILE");
  std::sort(sources.begin(), sources.end(), [](const ModelSource& a, const ModelSource& b) {
    return std::pair(a.name, a.version) < std::pair(b.name, b.version);
  });
  return sources;
}

ModelRepository::ModelRepository(Sources sources, Make make)
    : sources_(std::move(sources)), make_(std::move(make)) {
  for (const ModelSource& source : sources_()) {
    Versions& versions = models_[source.name];
    COSMIC_REQUIRE(UserError, !versions.contains(source.version),
                   "model " << source.name << " has version " << source.version
                            << " twice (a request could mean either); give them different "
                               "versions, as in --weights "
                            << source.name << "/" << source.version + 1 << "=FILE");
    versions[source.version] = make_(source);
  }
}

std::shared_ptr<const ServedModel> ModelRepository::find(const std::string& name,
                                                         const std::string& version) const {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) {
    throw no_such_model(name);
  }
  if (version.empty()) {
    return found->second.rbegin()->second;
  }
  const std::optional<std::int64_t> number = version_in(version);
  const auto of_version = number ? found->second.find(*number) : found->second.end();
  require(of_version != found->second.end(), Reason::not_found, [&] {
    return "model " + printable(name) + " has no version " + printable(version) +
           "; leave the version out for the highest";
  });
  return of_version->second;
}

std::vector<std::int64_t> ModelRepository::versions(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::int64_t> numbers;
  if (const auto found = models_.find(name); found != models_.end()) {
    for (const auto& [number, model] : found->second) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

std::vector<std::shared_ptr<const ServedModel>> ModelRepository::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const ServedModel>> models;
  for (const auto& [name, versions] : models_) {
    for (const auto& [number, model] : versions) {
      models.push_back(model);
    }
  }
  return models;
}

std::vector<ModelRepository::IndexEntry> ModelRepository::index() const {
  std::vector<IndexEntry> entries;
  for (const auto& model : all()) {
    entries.push_back({model->name(), std::to_string(model->version()), true, ""});
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [name, reason] : unloaded_) {
    entries.push_back({name, "", false, reason});
  }
  return entries;
}

void ModelRepository::load(const std::string& name) {
  const std::lock_guard one_at_a_time(changing_);
  Versions fresh;
  for (const ModelSource& source : sources_()) {
    if (source.name == name) {
      fresh[source.version] = make_(source);
    }
  }
  if (fresh.empty()) {
    throw no_such_model(name);
  }
  Versions before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(models_[name], std::move(fresh));
    unloaded_.erase(name);
  }
  // The last request that uses an old one takes it away; here, if there is none.
}

void ModelRepository::unload(const std::string& name) {
  const std::lock_guard one_at_a_time(changing_);
  Versions before;
  {
    const std::lock_guard lock(mutex_);
    const auto found = models_.find(name);
    if (found == models_.end()) {
      throw no_such_model(name);
    }
    before = std::move(found->second);
    models_.erase(found);
    unloaded_[name] = "unloaded";
  }
}

void ModelRepository::drain() {
  for (const auto& model : all()) {
    model->drain();
  }
}

}  // namespace cosmic::serve
