// Writes what the fuzzers of checkpoints start from: the hostile pickles of the tests, a good one
// alone and in an archive, and checkpoints of our own.
//
//   make_checkpoint_seeds UNPICKLER_FOLDER SAFETENSORS_FOLDER
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/hostile_pickles.hpp"
#include "checkpoint/reference_parts.hpp"
#include "checkpoint/some_checkpoint.hpp"

namespace cosmic::checkpoint {
namespace {

void write_pickles(const std::filesystem::path& folder) {
  constexpr std::size_t kMaxBytes = 16384;  // larger ones only repeat themselves
  std::size_t number = 0;
  for (const HostilePickle& pickle : hostile_pickles()) {
    if (pickle.bytes.size() <= kMaxBytes) {
      write_file(folder / ("hostile-" + std::to_string(number++)), pickle.bytes);
    }
  }
  const std::string good = ReferenceParts().pickle();
  write_file(folder / "good", good);
  std::vector<ArchiveEntry> entries = reference_storages();
  entries.insert(entries.begin(), {"model-3/data.pkl", good});
  write_file(folder / "archive", archive_of(entries));
}

void write_safetensors(const std::filesystem::path& folder) {
  save_checkpoint(folder / "checkpoint", some_checkpoint(3));
  save_plain_weights(folder / "weights", some_checkpoint(3), Existing::replace);
}

}  // namespace
}  // namespace cosmic::checkpoint

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: make_checkpoint_seeds UNPICKLER_FOLDER SAFETENSORS_FOLDER\n";
    return 2;
  }
  for (const char* folder : {argv[1], argv[2]}) {
    std::filesystem::create_directories(folder);
  }
  cosmic::checkpoint::write_pickles(argv[1]);
  cosmic::checkpoint::write_safetensors(argv[2]);
  return 0;
}
