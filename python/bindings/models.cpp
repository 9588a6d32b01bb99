// Training and inference models of the session, for networks that are written in Python.
#include <algorithm>

#include "bindings.hpp"
#include "compile/optimizer.hpp"
#include "core/error.hpp"
#include "data/idx/fashion_mnist.hpp"
#include "session/model.hpp"
#include "session/options_file.hpp"
#include "session/safetensors.hpp"
#include "target/registry.hpp"
#include "trace.hpp"

namespace cosmic::python {
namespace {

using State = session::ModelState;

py::array tensor_array(const session::Tensor& tensor) {
  const std::vector<py::ssize_t> shape(tensor.type.shape.begin(), tensor.type.shape.end());
  const auto filled = [&]<class Element>(Element) {
    auto array = made<Element>(shape);
    const std::span<const Element> from = tensor.as<Element>();
    std::copy(from.begin(), from.end(), fill(array).begin());
    return py::array(array);
  };
  switch (tensor.type.dtype) {
    case graph::DType::i64:
      return filled(std::int64_t{});
    case graph::DType::u8:
      return filled(std::uint8_t{});
    case graph::DType::f32:
      break;
  }
  return filled(float{});
}

py::dict weights_of(const State& state) {
  py::dict weights;
  for (const auto& [name, tensor] : state.read_weights()) {
    weights[py::str(name)] = tensor_array(tensor);
  }
  return weights;
}

void set_weights(State& state, const py::dict& weights) {
  session::NamedTensors tensors;
  for (const auto& [key, value] : weights) {
    const auto name = key.cast<std::string>();
    const auto put = [&]<class Element>(graph::DType dtype, Element) {
      const auto array = value.cast<Array<Element>>();
      session::Tensor tensor(
          graph::TensorType{dtype, graph::Shape(array.shape(), array.shape() + array.ndim())});
      const std::span<const Element> from = view(array);
      std::copy(from.begin(), from.end(), tensor.as<Element>().begin());
      tensors.emplace(name, std::move(tensor));
    };
    if (state.has(name) && state.type(name).dtype == graph::DType::i64) {
      put(graph::DType::i64, std::int64_t{});
    } else {
      put(graph::DType::f32, float{});
    }
  }
  state.write_weights(tensors);
}

compile::Optimizer optimizer_of(const py::dict& constants) {
  const auto number = [&](const char* name) { return constants[name].cast<double>(); };
  const auto kind = constants["kind"].cast<std::string>();
  if (kind == "adam") {
    return compile::Adam{number("beta1"), number("beta2"), number("epsilon"),
                         number("weight_decay")};
  }
  if (kind == "rmsprop") {
    return compile::Rmsprop{number("alpha"), number("epsilon")};
  }
  COSMIC_REQUIRE(UserError, kind == "sgd",
                 "optimizer '" << kind << "' (there are sgd, adam and rmsprop); take one of them");
  return compile::Sgd{number("momentum")};
}

session::Options options_of(const std::string& yaml, const std::string& compute_mode) {
  session::Options options = session::options_from_yaml(yaml, "Options");
  if (!compute_mode.empty()) {
    options.target = target::target_of_compute_mode(compute_mode);
  }
  return options;
}

/// The results of a call: as many as there were images in it, or in those that are returned.
Array<float> logits_array(std::span<const float> logits, std::size_t images) {
  const std::size_t each = images == 0 ? 0 : logits.size() / images;
  auto array = made<float>({static_cast<py::ssize_t>(images), static_cast<py::ssize_t>(each)});
  std::copy(logits.begin(), logits.end(), fill(array).begin());
  return array;
}

class TrainingModel {
 public:
  TrainingModel(const std::string& name, py::object forward, py::object loss,
                const std::string& options, const std::string& compute_mode,
                const py::dict& optimizer)
      : network_(name, std::move(forward)),
        loss_(network_, std::move(loss)),
        model_(network_, loss_, optimizer_of(optimizer), options_of(options, compute_mode)) {}

  void compile(const graph::Shape& image, const graph::Shape& label) {
    {
      const py::gil_scoped_release others_may_run;
      model_.compile({{graph::DType::f32, image}, {graph::DType::u8, label}});
    }
    network_.end_trace();
    images_ = static_cast<std::size_t>(image.front());
  }

  py::tuple call(const Array<float>& image, const Array<std::uint8_t>& label, double rate) {
    const session::StepResult* result = nullptr;
    {
      const std::span<const float> images = view(image);
      const std::span<const std::uint8_t> labels = view(label);
      const py::gil_scoped_release others_may_run;
      result = &model_(images, labels, rate);
    }
    return py::make_tuple(logits_array(result->logits, result->logits.empty() ? 0 : images_),
                          result->loss);
  }

  session::TrainingModel& model() { return model_; }

 private:
  TracedNetwork network_;
  TracedLoss loss_;
  session::TrainingModel model_;
  std::size_t images_ = 0;
};

class InferenceModel {
 public:
  InferenceModel(const std::string& name, py::object forward, const std::string& options,
                 const std::string& compute_mode, std::shared_ptr<State> state)
      : network_(name, std::move(forward)),
        model_(network_, options_of(options, compute_mode), std::move(state)) {}

  void compile(const graph::Shape& image) {
    {
      const py::gil_scoped_release others_may_run;
      model_.compile({graph::DType::f32, image});
    }
    network_.end_trace();
  }

  Array<float> call(const Array<float>& image) {
    std::span<const float> logits;
    {
      const std::span<const float> images = view(image);
      const py::gil_scoped_release others_may_run;
      logits = model_(images);
    }
    return logits_array(logits, static_cast<std::size_t>(image.shape(0)));
  }

  session::InferenceModel& model() { return model_; }

 private:
  TracedNetwork network_;
  session::InferenceModel model_;
};

py::dict report_of(const session::CompileReport& report) {
  py::dict facts;
  facts["seconds"] = report.seconds;
  facts["nodes"] = report.nodes;
  facts["memory_bytes"] = report.memory_bytes;
  facts["flops"] = report.flops;
  facts["found_in"] = report.found_in;
  facts["measured"] = report.provenance == Provenance::measured;
  if (report.prediction) {
    facts["machine"] = report.prediction->machine;
    facts["step"] = to_string(report.prediction->step);
  }
  return facts;
}

/// What both kinds of models have.
template <class Model>
py::class_<Model> add_model(py::module_& module, const char* name) {
  return py::class_<Model>(module, name)
      .def("state", [](Model& self) { return self.model().state(); })
      .def("report", [](Model& self) { return report_of(self.model().report()); })
      .def("layers", [](Model& self) { return self.model().layers(); })
      .def("detach", [](Model& self) { self.model().detach(); })
      .def("attach", [](Model& self) { self.model().attach(); })
      .def("attached", [](Model& self) { return self.model().attached(); })
      .def("export_executable", [](Model& self, const std::string& path) {
        self.model().export_executable(path, Existing::replace);
      });
}

py::tuple fashion_mnist(const std::string& folder, bool train) {
  const data::FashionMnist set = data::load_fashion_mnist(
      folder, train ? data::FashionMnistPart::train : data::FashionMnistPart::test);
  auto images =
      made<std::uint8_t>({set.size(), data::FashionMnist::kRows, data::FashionMnist::kColumns});
  auto labels = made<std::uint8_t>({set.size()});
  std::copy(set.images.begin(), set.images.end(), fill(images).begin());
  std::copy(set.labels.begin(), set.labels.end(), fill(labels).begin());
  return py::make_tuple(images, labels);
}

}  // namespace

void add_models(py::module_& module) {
  py::class_<State, std::shared_ptr<State>>(module, "State")
      .def("weights", &weights_of)
      .def("set_weights", &set_weights)
      .def("save",
           [](const State& state, const std::string& path) { session::save_weights(path, state); })
      .def("load",
           [](State& state, const std::string& path) { session::load_weights(path, state); });
  add_model<TrainingModel>(module, "TrainingModel")
      .def(py::init<const std::string&, py::object, py::object, const std::string&,
                    const std::string&, const py::dict&>())
      .def("compile", &TrainingModel::compile)
      .def("__call__", &TrainingModel::call)
      .def("set_optimizer", [](TrainingModel& self, const py::dict& optimizer) {
        self.model().set_optimizer(optimizer_of(optimizer));
      });
  add_model<InferenceModel>(module, "InferenceModel")
      .def(py::init<const std::string&, py::object, const std::string&, const std::string&,
                    std::shared_ptr<State>>())
      .def("compile", &InferenceModel::compile)
      .def("__call__", &InferenceModel::call);
  module.def("option_names", &session::option_names);
  module.def("check_options",
             [](const std::string& yaml) { session::options_from_yaml(yaml, "Options"); });
  module.def("fashion_mnist", &fashion_mnist);
  module.attr("FASHION_MNIST_FOLDER") = std::string(data::FashionMnist::kDebianFolder);
}

}  // namespace cosmic::python
