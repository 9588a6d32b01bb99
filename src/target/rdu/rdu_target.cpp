#include "target/rdu/rdu_target.hpp"

#include "target/modelled/modelled_target.hpp"
#include "target/rdu/rdu_family.hpp"

namespace cosmic::target::rdu {
namespace {

/// `machine` is one of this folder's family.
std::unique_ptr<Target> make_target(machine::Description machine) {
  return modelled::make_modelled_target({.target_name = kName}, std::move(machine));
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
