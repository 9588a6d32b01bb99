// The parts of the module cosmictagger._core, and what they share.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cosmic::python {

namespace py = pybind11;

/// C-contiguous; anything else that numpy knows is copied into one.
template <class Element>
using Array = py::array_t<Element, py::array::c_style | py::array::forcecast>;

template <class Element>
std::span<const Element> view(const Array<Element>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

/// An array that owns its elements, to be filled.
template <class Element>
Array<Element> made(const std::vector<py::ssize_t>& shape) {
  return Array<Element>(shape);
}
template <class Element>
std::span<Element> fill(Array<Element>& array) {
  return {array.mutable_data(), static_cast<std::size_t>(array.size())};
}

void add_errors(py::module_& module);
void add_events(py::module_& module);
void add_tagger(py::module_& module);
void add_trace(py::module_& module);
void add_models(py::module_& module);
void add_training(py::module_& module);

}  // namespace cosmic::python
