#include "target/rdu/rdu_target.hpp"

#include "target/modelled/modelled_target.hpp"
#include "target/rdu/rdu_family.hpp"

namespace cosmic::target::rdu {
namespace {

/// `machine` is one of this folder's family.
std::unique_ptr<Target> make_target(machine::Description machine) {
  return modelled::make_modelled_target(
      {.target_name = kName,
       .narrow_operations =
           "The whole network is bf16, as in the port to SambaFlow: weights, their gradients, "
           "moments and the scores that the loss reads too; there are no float32 master weights "
           "(run.rounding=stochastic keeps small updates from being lost)."},
      std::move(machine));
}

}  // namespace

Registration registration() {
  return {.name = std::string(kName),
          .compute_mode = "RDU",
          .usual_machine = "sn30",
          .family = family,
          .make_modelled = make_target};
}

}  // namespace cosmic::target::rdu
