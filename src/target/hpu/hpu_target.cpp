#include "target/hpu/hpu_target.hpp"

#include "target/hpu/hpu_family.hpp"
#include "target/modelled/modelled_target.hpp"

namespace cosmic::target::hpu {

std::unique_ptr<Target> make_hpu_target(machine::Description machine) {
  return modelled::make_modelled_target(
      {.target_name = kName, .coercions = {"Integers of 64 bits are kept in 32 on an HPU."}},
      std::move(machine));
}

}  // namespace cosmic::target::hpu
