// The module cosmictagger._core, which python/cosmictagger wraps.
#include <pybind11/pybind11.h>

#include <string>

#include "bindings.hpp"
#include "core/config.hpp"
#include "core/error.hpp"

namespace cosmic::python {

void add_errors(py::module_& module) {
  const auto base = py::register_exception<Error>(module, "Error", PyExc_RuntimeError);
  // Those that come later are asked first.
  py::register_exception<UserError>(module, "UserError", base);
  py::register_exception<DataError>(module, "DataError", base);
  py::register_exception<ShapeError>(module, "ShapeError", base);
  py::register_exception<TargetError>(module, "TargetError", base);
  py::register_exception<InternalError>(module, "InternalError", base);
}

}  // namespace cosmic::python

PYBIND11_MODULE(_core, module) {
  using namespace cosmic::python;
  add_errors(module);
  add_events(module);
  add_tagger(module);
  add_trace(module);
  add_models(module);
  add_training(module);
  module.attr("__version__") = std::string(cosmic::version);
  module.attr("__revision__") = std::string(cosmic::revision);
}
