#include "target/hpu/hpu_target.hpp"

#include "target/hpu/hpu_family.hpp"
#include "target/modelled/modelled_target.hpp"

namespace cosmic::target::hpu {
namespace {

/// `machine` is one of this folder's family.
std::unique_ptr<Target> make_target(machine::Description machine) {
  return modelled::make_modelled_target(
      {.target_name = kName,
       .coercions = {"64-bit integers are stored in 32 bits on an HPU."},
       .narrow_operations =
           "As on Gaudi's lists, convolutions, products, normalizations and activations write "
           "bf16, the last layer's scores included, and ops on no list follow their operands; the "
           "loss is float32."},
      std::move(machine));
}

}  // namespace

Registration registration() {
  return {.name = std::string(kName),
          .compute_mode = "HPU",
          .usual_machine = "gaudi1",
          .family = family,
          .make_modelled = make_target};
}

}  // namespace cosmic::target::hpu
