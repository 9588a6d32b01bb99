#include "target/cpu/updating_product_step.hpp"

#include <algorithm>

#include "target/cpu/kernels/matrix_kernels.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Node;
using graph::op_if;
using graph::ValueId;

class UpdatingProductStep final : public SimpleStep {
 public:
  UpdatingProductStep(const Memory& memory, const compile::Step& of_plan) {
    const graph::Graph& graph = memory.graph();
    const Node& product = graph.node(of_plan.leader.value);
    const ValueId moment_id = of_plan.riders[0].computed.value;
    const ValueId step_id = of_plan.riders[1].computed.value;
    const bool a_transposed = std::get<graph::MatMul>(product.op).a == graph::Transposed::yes;
    const graph::TensorType& a = graph.type(product.operands[0]);
    product_.rows = product.type.dim(0);
    product_.columns = product.type.dim(1);
    product_.inner = a.dim(a_transposed ? 0 : 1);
    product_.a = memory.floats(product.operands[0]);
    product_.a_row_stride = a_transposed ? 1 : product_.inner;
    product_.a_inner_stride = a_transposed ? product_.rows : 1;
    product_.b = memory.floats(product.operands[1]);
    product_.b_stride = product_.columns;
    product_.out_stride = product_.columns;
    const Node& moment = graph.node(moment_id);
    const Node& step = graph.node(step_id);
    const auto& rule = std::get<graph::Moment>(moment.op);
    update_.decay = static_cast<float>(rule.decay);
    update_.gain = static_cast<float>(rule.gain);
    update_.moment = memory.floats(moment.operands[0]);
    update_.new_moment = memory.floats(moment_id);
    update_.weights = memory.floats(step.operands[0]);
    update_.new_weights = memory.floats(step_id);
    rate_ = memory.floats(step.operands[2]);
  }

  void run(const Team& all, const Scratch&) override {
    const Team team =
        all.for_work(static_cast<double>(product_.rows * product_.columns * product_.inner));
    update_.rate = *rate_;
    team.run([&](int thread) {
      const Range rows = slice_of(product_.rows, thread, team.size());
      const std::int64_t at = rows.begin * product_.columns;
      MatrixProduct part = product_;
      part.a += rows.begin * part.a_row_stride;
      part.rows = rows.size();
      ProductUpdate update = update_;
      update.moment += at;
      update.new_moment += at;
      update.weights += at;
      update.new_weights += at;
      multiply_and_update(part, update);
    });
  }

 private:
  MatrixProduct product_;
  ProductUpdate update_;
  const float* rate_;
};

}  // namespace

Support can_update(const graph::Graph& graph, ValueId product, std::span<const ValueId> updates) {
  const auto* op = op_if<graph::MatMul>(graph.node(product));
  if (op == nullptr || op->b == graph::Transposed::yes) {
    return Support::no("only a product with a plain second factor updates weights on the way");
  }
  if (graph::partials_of(graph, product) != NumberFormat::f32) {
    return Support::no("its sums are rounded");
  }
  const auto* moment = updates.empty() ? nullptr : op_if<graph::Moment>(graph.node(updates[0]));
  if (updates.size() != 2 || moment == nullptr || moment->power != 1 ||
      graph.node(updates[0]).operands.size() != 2 ||
      op_if<graph::SgdStep>(graph.node(updates[1])) == nullptr) {
    return Support::no("only a first moment followed by an SGD step is made on the way");
  }
  return Support::yes();
}

std::unique_ptr<PreparedStep> make_updating_product_step(const Memory& memory,
                                                         const compile::Step& step, const Team&) {
  return std::make_unique<UpdatingProductStep>(memory, step);
}

}  // namespace cosmic::target::cpu
