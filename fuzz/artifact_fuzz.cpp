// Gives any bytes to the reader of executables: as a file, as a file whose checksum is right, and
// as a plan alone. The only things that may happen are a DataError, or a plan that is sound and
// gives the same bytes again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "artifact/artifact_file.hpp"
#include "artifact/plan_bytes.hpp"
#include "core/error.hpp"

namespace cosmic::artifact {
namespace {

void read_plan(std::string_view bytes) {
  try {
    if (plan_bytes(plan_of(bytes)) != bytes) {
      std::abort();
    }
  } catch (const DataError&) {
  }
}

void read_file(std::string_view bytes) {
  try {
    for (const StoredProgram& program : artifact_of(bytes).programs) {
      read_plan(program.plan);
    }
  } catch (const DataError&) {
  }
}

}  // namespace
}  // namespace cosmic::artifact

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  cosmic::artifact::read_file(bytes);
  cosmic::artifact::read_file(cosmic::artifact::sealed(bytes));
  cosmic::artifact::read_plan(bytes);
  return 0;
}
