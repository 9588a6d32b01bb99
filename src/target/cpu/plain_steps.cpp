#include "target/cpu/plain_steps.hpp"

#include "core/error.hpp"
#include "target/cpu/plain_step_kinds.hpp"

namespace cosmic::target::cpu {

std::unique_ptr<Step> make_plain_step(const Memory& memory, graph::ValueId id) {
  const PlainNode n(memory, id);
  return std::visit(
      [&](const auto& op) -> std::unique_ptr<Step> {
        if constexpr (requires { plain_step(op, n); }) {
          return plain_step(op, n);
        } else {
          throw InternalError("there is no plain step for " + std::string(op.name));
        }
      },
      n.node().op);
}

}  // namespace cosmic::target::cpu
