// A network written in Python: its forward() is called once, with values that stand for tensors to
// come, and what it does with them becomes a program.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "bindings.hpp"
#include "graph/builder.hpp"
#include "model/layers.hpp"
#include "model/network.hpp"

namespace cosmic::python {

/// One call of forward(). Values of a trace that has ended are refused.
struct Trace {
  graph::Builder* builder = nullptr;  ///< null when it has ended
  model::Phase phase = model::Phase::training;
  std::map<std::string, model::Layer> layers;  ///< declared so far, so that one can be used twice
};

/// A tensor of the program under construction.
struct Value {
  std::shared_ptr<Trace> trace;  // shared by all values of a call, which Python may keep for longer
  graph::ValueId id;

  graph::Builder& builder() const;
  const graph::TensorType& type() const { return builder().type(id); }
  Value with(graph::AnyOp op) const;
};

/// `forward(image, training)` returns the value of the logits.
class TracedNetwork final : public model::Network {
 public:
  TracedNetwork(std::string name, py::object forward)
      : name_(std::move(name)), forward_(std::move(forward)) {}

  std::string name() const override { return name_; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, model::Phase phase) const override;
  /// Ends the latest call.
  void end_trace();
  const std::shared_ptr<Trace>& trace() const { return trace_; }

 private:
  std::string name_;
  py::object forward_;
  mutable std::shared_ptr<Trace> trace_;
};

/// `loss(labels)` returns the value of the loss, from what forward() has kept.
class TracedLoss final : public model::Loss {
 public:
  TracedLoss(const TracedNetwork& network, py::object loss)
      : network_(network), loss_(std::move(loss)) {}

  graph::ValueId loss(graph::Builder& g, graph::ValueId logits,
                      graph::ValueId labels) const override;

 private:
  const TracedNetwork& network_;
  py::object loss_;
};

}  // namespace cosmic::python
