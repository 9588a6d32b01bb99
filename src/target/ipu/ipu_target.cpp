#include "target/ipu/ipu_target.hpp"

#include "target/ipu/ipu_family.hpp"
#include "target/modelled/modelled_target.hpp"

namespace cosmic::target::ipu {
namespace {

/// `machine` is one of this folder's family.
std::unique_ptr<Target> make_target(machine::Description machine) {
  return modelled::make_modelled_target(
      {.target_name = kName,
       .half_partials = true,
       .coercions = {"64-bit integers are stored in 32 bits on an IPU."},
       .narrow_operations = "Gradients of float16 images are float16, as in a PopTorch model in "
                            "half precision; without a scaled loss (run.precision=mixed) small "
                            "ones become 0."},
      std::move(machine));
}

}  // namespace

Registration registration() {
  return {.name = std::string(kName),
          .compute_mode = "IPU",
          .usual_machine = "gc200",
          .family = family,
          .make_modelled = make_target};
}

}  // namespace cosmic::target::ipu
