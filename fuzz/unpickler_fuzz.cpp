// Gives any bytes to the restricted unpickler, and to the reader of the reference's archives. The
// only thing that may happen is a DataError: another exception, a sanitizer's complaint, a slow or
// a greedy run is a bug.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/reference_checkpoint.hpp"
#include "core/error.hpp"
#include "memory_file.hpp"

namespace cosmic::checkpoint {
namespace {

/// The storages '0' to '3' of the seeds, so that tensors can be made without an archive, whose
/// checksums a fuzzer does not find.
class FewStorages : public StorageSource {
 public:
  std::vector<std::byte> read(std::string_view key) const override {
    return std::vector<std::byte>(bytes(key));
  }
  std::uint64_t bytes(std::string_view key) const override {
    constexpr std::uint64_t kBytes[] = {16, 8, 8, 4};
    COSMIC_REQUIRE(DataError, key.size() == 1 && key[0] >= '0' && key[0] <= '3',
                   "there is no such storage");
    return kBytes[key[0] - '0'];
  }
  std::uint64_t total_bytes() const override { return 1 << 16; }
};

void read_as_pickle(std::span<const std::byte> bytes) {
  try {
    from_reference(read_reference_checkpoint(bytes, FewStorages()));
  } catch (const DataError&) {
  }
}

void read_as_archive(const std::filesystem::path& path) {
  try {
    from_reference(load_reference_checkpoint(path));
  } catch (const DataError&) {
  }
}

}  // namespace
}  // namespace cosmic::checkpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const cosmic::MemoryFile file;
  file.replace(data, size);
  cosmic::checkpoint::read_as_pickle(std::as_bytes(std::span(data, size)));
  cosmic::checkpoint::read_as_archive(file.path());
  return 0;
}
