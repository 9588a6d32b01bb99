#include "tagger/box.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "core/error.hpp"

namespace cosmic::tagger {
namespace {

constexpr const char* kShared = "share/cosmictagger/weights";
/// lib/x86_64-linux-gnu/python3/dist-packages/cosmictagger is five deep.
constexpr int kMostAbove = 6;

/// The program or the shared library that this code is part of.
std::filesystem::path own_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_file), &info) != 0 && info.dli_fname != nullptr) {
    const std::filesystem::path file = info.dli_fname;
    // A program is called as somebody typed it, which need not be where it is.
    if (file.is_absolute()) {
      return file;
    }
  }
  return "/proc/self/exe";
}

}  // namespace

std::vector<std::filesystem::path> weights_folders() {
  std::vector<std::filesystem::path> folders;
  if (const char* const named = std::getenv(kWeightsVariable); named != nullptr && *named != '\0') {
    folders.emplace_back(named);
  }
  std::error_code error;
  std::filesystem::path folder = std::filesystem::canonical(own_file(), error).parent_path();
  for (int above = 0; above < kMostAbove && !error && folder.has_relative_path(); ++above) {
    folder = folder.parent_path();
    folders.push_back(folder / kShared);
  }
  return folders;
}

std::filesystem::path boxed_network(std::string_view name) {
  COSMIC_REQUIRE(
      UserError,
      std::find(kBoxedNetworks.begin(), kBoxedNetworks.end(), name) != kBoxedNetworks.end(),
      "there is no network '" << name << "' in the box (there are " << kBoxedNetworks[0] << " and "
                              << kBoxedNetworks[1] << "); choose one of them, or give --weights");
  const std::string file = std::string(name) + ".safetensors";
  std::string looked;
  for (const std::filesystem::path& folder : weights_folders()) {
    std::error_code error;
    if (std::filesystem::is_regular_file(folder / file, error)) {
      return folder / file;
    }
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  throw UserError("no " + file + " was found (this installation came without the network '" +
                  std::string(name) + "'; looked in " + looked + "); give --weights, or name the " +
                  "folder with the environment variable " + kWeightsVariable);
}

std::optional<std::string_view> boxed_name(const std::filesystem::path& file) {
  for (const std::filesystem::path& folder : weights_folders()) {
    for (const std::string_view name : kBoxedNetworks) {
      if (file == folder / (std::string(name) + ".safetensors")) {
        return name;
      }
    }
  }
  return std::nullopt;
}

std::string weights_or_boxed(const std::string& named) {
  if (named.empty()) {
    return boxed_network().string();
  }
  std::error_code error;
  const bool boxed =
      std::find(kBoxedNetworks.begin(), kBoxedNetworks.end(), named) != kBoxedNetworks.end();
  return boxed && !std::filesystem::exists(named, error) ? boxed_network(named).string() : named;
}

}  // namespace cosmic::tagger
