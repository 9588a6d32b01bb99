// A trained network that tags events and arrays.
#include "api/shared_tagger.hpp"
#include "bindings.hpp"
#include "core/error.hpp"
#include "event.hpp"

namespace cosmic::python {
namespace {

/// Three arrays like `charges`: tags and both probabilities.
py::tuple tag_array(api::SharedTagger& tagger, const Array<float>& charges) {
  const std::vector<py::ssize_t> shape(charges.shape(), charges.shape() + charges.ndim());
  auto tag = made<std::uint8_t>(shape);
  auto cosmic = made<float>(shape);
  auto neutrino = made<float>(shape);
  {
    const std::span<const float> given = view(charges);
    const api::WantedTags wanted{fill(tag), fill(cosmic), fill(neutrino)};
    const py::gil_scoped_release others_may_run;
    tagger.tag(given, wanted);
  }
  return py::make_tuple(tag, cosmic, neutrino);
}

std::vector<std::unique_ptr<Tags>> tag_events(api::SharedTagger& tagger,
                                              const std::vector<std::shared_ptr<Event>>& events) {
  std::vector<std::unique_ptr<Tags>> results;
  std::vector<data::SparseEvent> stored;
  for (const std::shared_ptr<Event>& event : events) {
    results.push_back(std::make_unique<Tags>());
    results.back()->of = event;
    stored.push_back(event->stored);
  }
  const py::gil_scoped_release others_may_run;
  tagger.tag_stored(stored, [&](std::size_t number, const infer::StoredPixels& pixels) {
    results[number]->pixels = pixels;
  });
  return results;
}

}  // namespace

void add_tagger(py::module_& module) {
  using api::SharedTagger;
  py::class_<SharedTagger>(module, "Tagger")
      .def(py::init([](const std::string& weights, int threads, int events_at_a_time,
                       std::uint32_t rows, std::uint32_t columns,
                       const std::vector<std::string>& settings) {
             const py::gil_scoped_release others_may_run;
             return std::make_unique<SharedTagger>(api::SharedTaggerOptions{
                 weights, threads, events_at_a_time, rows, columns, settings});
           }),
           py::arg("weights"), py::arg("threads"), py::arg("events_at_a_time"), py::arg("rows"),
           py::arg("columns"), py::arg("settings"))
      .def("tag_array", &tag_array, py::arg("charges"))
      .def("tag_events", &tag_events, py::arg("events"))
      .def_property_readonly("threads", [](const SharedTagger& t) { return t.tagger().threads(); })
      .def_property_readonly("memory_bytes",
                             [](const SharedTagger& t) { return t.tagger().memory_bytes(); })
      .def_property_readonly(
          "weights", [](const SharedTagger& t) { return t.tagger().network().weights().string(); })
      .def_property_readonly("step",
                             [](const SharedTagger& t) { return t.tagger().network().step(); })
      .def_property_readonly("shape",
                             [](const SharedTagger& t) {
                               return py::make_tuple(data::kPlanes, t.tagger().grid().rows(),
                                                     t.tagger().grid().columns());
                             })
      .def_property_readonly("notes", &SharedTagger::notes)
      .def_property_readonly("oddities", [](const SharedTagger& t) {
        const py::gil_scoped_release others_may_run;  // one of them may be tagging
        return t.oddities();
      });
}

}  // namespace cosmic::python
