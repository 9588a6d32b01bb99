// The module cosmictagger._core, which python/cosmictagger wraps.
#include <pybind11/pybind11.h>

#include <string>

#include "bindings.hpp"
#include "core/config.hpp"
#include "core/error.hpp"

namespace cosmic::python {

void add_errors(py::module_& module) {
  const auto with = [](py::object type, const char* what) {
    type.attr("__doc__") = what;
    return type;
  };
  const py::object base =
      with(py::register_exception<Error>(module, "Error", PyExc_RuntimeError),
           "What is wrong, why that matters, and what to do; its kinds say whose mistake it was.");
  // Those that come later are asked first.
  with(py::register_exception<UserError>(module, "UserError", base), "A setting or an argument.");
  with(py::register_exception<DataError>(module, "DataError", base),
       "A file, an event or an array.");
  with(py::register_exception<ShapeError>(module, "ShapeError", base),
       "A network that cannot be put together, or does not fit its images.");
  with(py::register_exception<TargetError>(module, "TargetError", base),
       "The machine that was to compute.");
  with(py::register_exception<InternalError>(module, "InternalError", base),
       "A mistake of CosmicTagger; please report it.");
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
