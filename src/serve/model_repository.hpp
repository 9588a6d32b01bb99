// The models of a server, by name and version. Weights can be replaced while requests come in: the
// new ones are made ready beside the old ones, which answer until then, and after it whatever they
// had accepted. Weights that cannot be used leave everything as it was.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/served_model.hpp"

namespace cosmic::serve {

/// What a model is called that nobody gave a name, and what clients ask for that name none.
inline constexpr const char* kDefaultModel = "cosmictagger";

/// "NAME=FILE", "NAME/3=FILE" for version 3, or "FILE" for the default model. Throws UserError.
ModelSource model_source(const std::string& text);

/// Models in a folder: FOLDER/NAME/VERSION is anything that weights can be. Throws UserError if
/// there is none.
std::vector<ModelSource> model_sources_in(const std::filesystem::path& folder);

class ModelRepository {
 public:
  /// Makes a model ready; throws Error.
  using Make = std::function<std::shared_ptr<const ServedModel>(const ModelSource&)>;
  /// Which sources there are now: a folder may have got new ones.
  using Sources = std::function<std::vector<ModelSource>()>;

  /// Makes all of them ready. Throws Error, UserError for a version that is there twice.
  ModelRepository(Sources sources, Make make);

  /// A version, or the highest. The one who asks may keep it as long as a request takes. Throws
  /// Refusal.
  std::shared_ptr<const ServedModel> find(const std::string& name,
                                          const std::string& version = "") const;
  std::vector<std::int64_t> versions(const std::string& name) const;
  std::vector<std::shared_ptr<const ServedModel>> all() const;

  struct IndexEntry {
    std::string name;
    std::string version;
    bool ready;
    std::string reason;
  };
  std::vector<IndexEntry> index() const;

  /// Takes up the weights of a name again, as they are now. Throws Refusal, and Error for weights
  /// that cannot be used.
  void load(const std::string& name);
  /// Throws Refusal if there is none.
  void unload(const std::string& name);

  /// Returns when every accepted call is answered; there are no others then.
  void drain();

 private:
  using Versions = std::map<std::int64_t, std::shared_ptr<const ServedModel>>;

  Sources sources_;
  Make make_;
  std::mutex changing_;  ///< one load or unload at a time
  mutable std::mutex mutex_;
  std::map<std::string, Versions> models_;       ///< shared with the requests that use them
  std::map<std::string, std::string> unloaded_;  ///< and why
};

}  // namespace cosmic::serve
