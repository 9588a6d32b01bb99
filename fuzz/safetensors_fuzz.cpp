// Gives any bytes to the readers of tensors and of checkpoints as a safetensors file. The only
// thing that may happen is a DataError: another exception, a sanitizer's complaint, a slow or a
// greedy run is a bug.
#include <cstddef>
#include <cstdint>

#include "checkpoint/checkpoint_file.hpp"
#include "core/error.hpp"
#include "memory_file.hpp"
#include "session/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const cosmic::MemoryFile file;
  file.replace(data, size);
  try {
    cosmic::session::load_tensors(file.path());
  } catch (const cosmic::DataError&) {
  }
  try {
    cosmic::checkpoint::load_checkpoint(file.path());
  } catch (const cosmic::DataError&) {
  }
  return 0;
}
