#include "target/ipu/ipu_target.hpp"

#include "target/ipu/ipu_family.hpp"
#include "target/modelled/modelled_target.hpp"

namespace cosmic::target::ipu {

std::unique_ptr<Target> make_ipu_target(machine::Description machine) {
  return modelled::make_modelled_target(
      {.target_name = kName,
       .half_partials = true,
       .coercions = {"64-bit integers are stored in 32 bits on an IPU."}},
      std::move(machine));
}

}  // namespace cosmic::target::ipu
