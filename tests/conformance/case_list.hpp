// Cases are inputs with numbers drawn from a stream of their own: adding one changes no other.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/op_cases.hpp"
#include "core/random.hpp"
#include "graph/builder.hpp"

namespace cosmic::conformance {

/// An input of the graph and how its numbers are drawn.
struct Operand {
  graph::TensorType type;
  std::function<double(RandomStream&, std::int64_t element)> number;
};

inline Operand f32(graph::Shape shape, double low, double high) {
  return {{graph::DType::f32, std::move(shape)},
          [=](RandomStream& random, std::int64_t) { return random.uniform(low, high); }};
}
inline Operand spread(graph::Shape shape) {
  return f32(std::move(shape), -1, 1);
}
inline Operand positive(graph::Shape shape) {
  return f32(std::move(shape), 0.5, 1.5);
}
/// Where a kink at zero would spoil finite differences.
inline Operand off_zero(graph::Shape shape) {
  return {{graph::DType::f32, std::move(shape)}, [](RandomStream& random, std::int64_t) {
            const double x = random.uniform(-1, 1);
            return x < 0 ? x - 0.1 : x + 0.1;
          }};
}
/// Few different numbers, zero among them: many are equal.
inline Operand tied(graph::Shape shape) {
  return {{graph::DType::f32, std::move(shape)}, [](RandomStream& random, std::int64_t) {
            return 0.5 * static_cast<double>(random.next() % 3) - 0.5;
          }};
}
inline Operand constant(graph::TensorType type, double value) {
  return {std::move(type), [=](RandomStream&, std::int64_t) { return value; }};
}
inline Operand zero(graph::Shape shape) {
  return constant({graph::DType::f32, std::move(shape)}, 0);
}
inline Operand scalar(double value) {
  return constant({graph::DType::f32, {}}, value);
}
inline Operand counter(double value, graph::Shape shape = {}) {
  return constant({graph::DType::i64, std::move(shape)}, value);
}
inline Operand labels(graph::Shape shape, std::uint64_t classes) {
  return {{graph::DType::u8, std::move(shape)}, [=](RandomStream& random, std::int64_t) {
            return static_cast<double>(random.next() % classes);
          }};
}
/// Sums of images of which the first has no weight, no foreground and nothing to unite.
inline Operand sums_with_an_empty_image(std::int64_t images) {
  return {{graph::DType::f32, {images, graph::kPixelSums}},
          [](RandomStream& random, std::int64_t element) {
            return element < graph::kPixelSums ? 0.0 : random.uniform(1, 2);
          }};
}

inline target::reference::Tensor draw(const Operand& operand, const std::string& stream) {
  RandomStream random(1, stream);
  target::reference::Tensor tensor = target::reference::zeros(operand.type);
  for (std::size_t i = 0; i < tensor.data.size(); ++i) {
    tensor.data[i] = operand.number(random, static_cast<std::int64_t>(i));
    if (operand.type.dtype == graph::DType::f32) {
      tensor.data[i] = static_cast<float>(tensor.data[i]);
    }
  }
  return tensor;
}

class CaseList {
 public:
  /// An op applied to inputs. The returned case may be adjusted before the next is added.
  OpCase& add(const graph::AnyOp& op, const std::string& what,
              const std::vector<Operand>& operands) {
    graph::Builder builder;
    std::vector<graph::ValueId> inputs;
    for (const Operand& operand : operands) {
      inputs.push_back(builder.input("in" + std::to_string(inputs.size()), operand.type));
    }
    const graph::ValueId y = builder.add(op, inputs);
    builder.output("y", y);
    return add(what, builder.take(), y, operands);
  }

  OpCase& add(const std::string& what, graph::Graph graph, graph::ValueId under_test,
              const std::vector<Operand>& inputs, const std::vector<Operand>& states = {}) {
    OpCase op_case;
    op_case.name = std::string(name_of(graph.node(under_test).op)) + "_" + what;
    op_case.graph = std::move(graph);
    op_case.under_test = under_test;
    for (const Operand& input : inputs) {
      op_case.inputs.push_back(
          draw(input, op_case.name + ".in" + std::to_string(op_case.inputs.size())));
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      const std::string& name = op_case.graph.states[i].name;
      op_case.states.emplace(name, draw(states[i], op_case.name + "." + name));
    }
    cases_.push_back(std::move(op_case));
    return cases_.back();
  }

  std::vector<OpCase> take() { return std::move(cases_); }

 private:
  std::vector<OpCase> cases_;
};

}  // namespace cosmic::conformance
