#include "trace.hpp"

#include <array>

#include "core/error.hpp"
#include "graph/all_ops.hpp"
#include "model/identity_loss.hpp"

namespace cosmic::python {
namespace {

using Pair = std::array<std::int64_t, 2>;

/// Declares the layer where it is used first, and applies it.
template <class Declare>
Value through(const Value& x, const std::string& name, const Declare& declare) {
  graph::Builder& g = x.builder();
  auto layer = x.trace->layers.find(name);
  if (layer == x.trace->layers.end()) {
    layer = x.trace->layers.emplace(name, declare(g)).first;
  }
  return {x.trace, layer->second(g, x.id)};
}

std::int64_t axis_of(const Value& x, std::int64_t axis) {
  return axis < 0 ? axis + static_cast<std::int64_t>(x.type().rank()) : axis;
}

Value flatten(const Value& x, std::int64_t from) {
  const graph::Shape& shape = x.type().shape;
  const auto first = static_cast<std::size_t>(axis_of(x, from));
  COSMIC_REQUIRE(ShapeError, first < shape.size(),
                 "flatten from axis " << from << " of " << x.type()
                                      << " (there is no such axis); give a smaller one");
  graph::Shape flat(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  for (std::size_t axis = first + 1; axis < shape.size(); ++axis) {
    flat.back() *= shape[axis];
  }
  return x.with(graph::Reshape{flat});
}

}  // namespace

graph::Builder& Value::builder() const {
  COSMIC_REQUIRE(UserError, trace->builder != nullptr,
                 "a value of forward() was used after it (it stands for a tensor of the program, "
                 "which is complete by then); return what is needed from forward()");
  return *trace->builder;
}

Value Value::with(graph::AnyOp op) const {
  return {trace, builder().add(std::move(op), {id})};
}

graph::ValueId TracedNetwork::logits(graph::Builder& g, graph::ValueId image,
                                     model::Phase phase) const {
  const py::gil_scoped_acquire python;
  trace_ = std::make_shared<Trace>(Trace{&g, phase, {}});
  const py::object result = forward_(Value{trace_, image}, phase == model::Phase::training);
  return result.cast<Value>().id;
}

void TracedNetwork::end_trace() {
  if (trace_) {
    trace_->builder = nullptr;
    trace_->layers.clear();
  }
}

graph::ValueId TracedLoss::loss(graph::Builder&, graph::ValueId, graph::ValueId labels) const {
  const py::gil_scoped_acquire python;
  return loss_(Value{network_.trace(), labels}).cast<Value>().id;
}

void add_trace(py::module_& module) {
  py::class_<Value>(module, "Value")
      .def_property_readonly("shape",
                             [](const Value& x) { return py::tuple(py::cast(x.type().shape)); })
      .def("__repr__", [](const Value& x) { return "<Value " + to_string(x.type()) + ">"; })
      .def("__add__",
           [](const Value& a, const Value& b) {
             return Value{a.trace, a.builder().add(graph::Add{}, {a.id, b.id})};
           })
      .def("__mul__", [](const Value& x, double factor) { return x.with(graph::Scale{factor}); })
      .def("__rmul__", [](const Value& x, double factor) { return x.with(graph::Scale{factor}); })
      .def(
          "flatten", [](const Value& x, std::int64_t start) { return flatten(x, start); },
          py::arg("start_dim") = 0)
      .def("reshape",
           [](const Value& x, const graph::Shape& shape) { return x.with(graph::Reshape{shape}); });
  module.def(
      "conv2d", [](const Value& x, const std::string& name, std::int64_t from, std::int64_t to,
                   Pair kernel, Pair stride, Pair padding, bool bias, bool transposed) {
        return through(x, name, [&](graph::Builder& g) {
          return model::convolution(
              g, name,
              {.from = from,
               .to = to,
               .kernel = {kernel[0], kernel[1]},
               .window = {.stride = {1, stride[0], stride[1]}, .pad = {0, padding[0], padding[1]}},
               .bias = bias ? model::Bias::yes : model::Bias::no,
               .direction = transposed ? model::Direction::transposed : model::Direction::forward});
        });
      });
  module.def("linear", [](const Value& x, const std::string& name, std::int64_t from,
                          std::int64_t to) {
    return through(x, name, [&](graph::Builder& g) { return model::linear(g, name, from, to); });
  });
  module.def("group_norm", [](const Value& x, const std::string& name, std::int64_t channels,
                              std::int64_t groups) {
    return through(x, name,
                   [&](graph::Builder& g) { return model::group_norm(g, name, channels, groups); });
  });
  module.def("batch_norm", [](const Value& x, const std::string& name, std::int64_t channels) {
    return through(x, name, [&](graph::Builder& g) {
      return model::batch_norm(g, name, {.channels = channels, .phase = x.trace->phase});
    });
  });
  module.def("leaky_relu",
             [](const Value& x, double slope) { return x.with(graph::LeakyRelu{slope}); });
  module.def("max_pool2d", [](const Value& x, Pair window) {
    return x.with(graph::MaxPool{{1, window[0], window[1]}});
  });
  module.def("softmax", [](const Value& x, std::int64_t axis, bool logarithm) {
    return x.with(graph::Softmax{
        .axis = axis_of(x, axis),
        .kind = logarithm ? graph::SoftmaxKind::logarithm : graph::SoftmaxKind::probability});
  });
  module.def("concat", [](const std::vector<Value>& values, std::int64_t axis) {
    COSMIC_REQUIRE(UserError, !values.empty(),
                   "cat of no values (there is nothing to join); give at least one");
    std::vector<graph::ValueId> ids;
    for (const Value& value : values) {
      ids.push_back(value.id);
    }
    const Value& first = values.front();
    return Value{first.trace,
                 first.builder().add(graph::Concat{axis_of(first, axis)}, std::move(ids))};
  });
  module.def("negative_log_likelihood", [](const Value& log_probabilities, const Value& labels) {
    return Value{labels.trace, labels.builder().add(graph::NegativeLogLikelihood{},
                                                    {log_probabilities.id, labels.id})};
  });
  module.def("reduced", [](const Value& x, bool mean) {
    const model::IdentityLoss loss(
        [](graph::Builder&, graph::ValueId value, graph::ValueId) { return value; },
        mean ? model::LossReduction::mean : model::LossReduction::sum);
    return Value{x.trace, loss.loss(x.builder(), x.id, x.id)};
  });
}

}  // namespace cosmic::python
