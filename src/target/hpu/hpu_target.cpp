#include "target/hpu/hpu_target.hpp"

#include "target/hpu/hpu_family.hpp"
#include "target/modelled/modelled_target.hpp"

namespace cosmic::target::hpu {
namespace {

/// `machine` is one of this folder's family.
std::unique_ptr<Target> make_target(machine::Description machine) {
  return modelled::make_modelled_target(
      {.target_name = kName,
       .coercions = {"Integers of 64 bits are kept in 32 on an HPU."},
       .narrow_operations =
           "As on Gaudi's lists, convolutions, products, normalizations and activations write "
           "bf16, and what has no list follows its operands; the loss is float32. The last layer's "
           "scores, which the lists make bf16, stay float32 here unless run.master_weights=false."},
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
