// What there is to know about a server and its models, as the JSON of the open inference protocol.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serve/model_repository.hpp"

namespace cosmic::serve {

/// As Triton names the extensions of the protocol.
std::vector<std::string> protocol_extensions();
/// "cosmictagger"
std::string server_name();

std::string server_metadata();
std::string metadata_text(const ServedModel& model, const std::vector<std::int64_t>& versions);
/// Also what a client needs to prepare events itself: rows and columns of the network's image,
/// `downsample`, `img_transform`.
std::string config_text(const ServedModel& model);
std::string statistics_text(const std::vector<std::shared_ptr<const ServedModel>>& models);
std::string index_text(const ModelRepository& models);

/// "uresnet" and so on are nobody's business; this is what metadata say the model is made by.
inline constexpr const char* kPlatform = "cosmictagger";

/// By name: what config_text has under "parameters".
std::vector<std::pair<std::string, std::string>> model_parameters(const ServedModel& model);

}  // namespace cosmic::serve
