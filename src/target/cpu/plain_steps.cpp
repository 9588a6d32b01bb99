#include "target/cpu/plain_steps.hpp"

#include "core/error.hpp"
#include "target/cpu/plain_step_kinds.hpp"

namespace cosmic::target::cpu {

bool has_plain_step(const graph::AnyOp& any) {
  return std::visit(
      [](const auto& op) {
        return requires(const PlainNode& n) {
          plain_step(op, n);
        };
      },
      any);
}

std::unique_ptr<PreparedStep> make_plain_step(const Memory& memory, const compile::Step& step,
                                              const Team&) {
  const PlainNode n(memory, step.leader.value);
  return std::visit(
      [&](const auto& op) -> std::unique_ptr<PreparedStep> {
        if constexpr (requires { plain_step(op, n); }) {
          return plain_step(op, n);
        } else {
          throw InternalError("there is no plain step for " + std::string(op.name));
        }
      },
      n.node().op);
}

}  // namespace cosmic::target::cpu
