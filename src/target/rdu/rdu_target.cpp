#include "target/rdu/rdu_target.hpp"

#include "target/modelled/modelled_target.hpp"
#include "target/rdu/rdu_family.hpp"

namespace cosmic::target::rdu {

std::unique_ptr<Target> make_rdu_target(machine::Description machine) {
  return modelled::make_modelled_target({.target_name = kName}, std::move(machine));
}

}  // namespace cosmic::target::rdu
