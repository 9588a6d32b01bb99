// Gives any bytes to the reader of executables: as a file, as a file whose checksum is right, and
// as a plan alone. The only things that may happen are a DataError, or a plan that is sound and
// gives the same bytes again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compile/artifact/artifact_file.hpp"
#include "compile/artifact/plan_bytes.hpp"
#include "core/error.hpp"

namespace cosmic::compile::artifact {
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
}  // namespace cosmic::compile::artifact

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  cosmic::compile::artifact::read_file(bytes);
  cosmic::compile::artifact::read_file(cosmic::compile::artifact::sealed(bytes));
  cosmic::compile::artifact::read_plan(bytes);
  return 0;
}
