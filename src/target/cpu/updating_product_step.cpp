#include "target/cpu/updating_product_step.hpp"

#include <algorithm>

#include "target/cpu/kernels/matrix_kernels.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Node;
using graph::op_if;
using graph::ValueId;

class UpdatingProductStep final : public Step {
 public:
  UpdatingProductStep(const Memory& memory, ValueId id, const std::vector<ValueId>& updates) {
    const graph::Graph& graph = memory.graph();
    const Node& product = graph.node(id);
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
    const Node& moment = graph.node(updates[0]);
    const Node& step = graph.node(updates[1]);
    const auto& rule = std::get<graph::Moment>(moment.op);
    update_.decay = static_cast<float>(rule.decay);
    update_.gain = static_cast<float>(rule.gain);
    update_.moment = memory.floats(moment.operands[0]);
    update_.new_moment = memory.floats(updates[0]);
    update_.weights = memory.floats(step.operands[0]);
    update_.new_weights = memory.floats(updates[1]);
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

bool is_output(const graph::Graph& graph, ValueId id) {
  return std::any_of(graph.outputs.begin(), graph.outputs.end(),
                     [&](const graph::NamedValue& output) { return output.value == id; });
}

}  // namespace

std::vector<ValueId> updates_by(const Memory& memory, ValueId product) {
  const graph::Graph& graph = memory.graph();
  const auto* op = op_if<graph::MatMul>(graph.node(product));
  if (op == nullptr || op->b == graph::Transposed::yes || is_output(graph, product) ||
      graph::partials_of(graph, product) != NumberFormat::f32 ||
      product.index() + 2 >= graph.size()) {
    return {};
  }
  const ValueId moment_id(product.index() + 1);
  const ValueId step_id(product.index() + 2);
  const Node& moment = graph.node(moment_id);
  const Node& step = graph.node(step_id);
  const auto* rule = op_if<graph::Moment>(moment);
  if (rule == nullptr || rule->power != 1 || op_if<graph::SgdStep>(step) == nullptr ||
      moment.operands.size() != 2 || moment.operands[1] != product ||
      step.operands[1] != moment_id || readers_of(graph)[product.index()].size() != 1) {
    return {};
  }
  // What is written early may not have been given the place of something that is still read.
  const auto& read = graph.node(product).operands;
  const bool clear = std::none_of(read.begin(), read.end(), [&](ValueId operand) {
    return memory.overlap(operand, moment_id) || memory.overlap(operand, step_id);
  });
  return clear ? std::vector<ValueId>{moment_id, step_id} : std::vector<ValueId>{};
}

std::unique_ptr<Step> make_updating_product_step(const Memory& memory, ValueId product,
                                                 const std::vector<ValueId>& updates) {
  return std::make_unique<UpdatingProductStep>(memory, product, updates);
}

}  // namespace cosmic::target::cpu
