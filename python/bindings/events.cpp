// larcv3 files and the detector's events, as numpy arrays and pictures.
#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

#include "bindings.hpp"
#include "core/error.hpp"
#include "data/detector/detector_source.hpp"
#include "data/larcv/event_files.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/predictions.hpp"
#include "data/larcv/product_name.hpp"
#include "data/larcv/sparse2d_reader.hpp"
#include "event.hpp"
#include "picture/event_picture.hpp"

namespace cosmic::python {
namespace {

/// Events of files, or of the detector, by number.
class Events {
 public:
  explicit Events(std::unique_ptr<data::EventSource> source)
      : source_(std::move(source)), reader_(source_->reader()) {}

  std::int64_t size() const { return source_->size(); }
  const data::EventSource& source() const { return *source_; }

  std::shared_ptr<Event> read(std::int64_t entry) {
    if (entry < 0) {
      entry += size();
    }
    if (entry < 0 || entry >= size()) {
      throw py::index_error("event " + std::to_string(entry) + " of " + std::to_string(size()));
    }
    const py::gil_scoped_release others_may_run;
    const std::lock_guard lock(mutex_);
    auto event = std::make_shared<Event>();
    reader_->read(entry, event->stored);
    for (const data::SourcePart& part : source_->parts()) {
      if (entry >= part.begin && entry < part.end) {
        event->title = part.name;
        event->entry = entry - part.begin;
      }
    }
    return event;
  }

 private:
  std::unique_ptr<data::EventSource> source_;
  std::unique_ptr<data::EventReader> reader_;
  std::mutex mutex_;  // the reader belongs to one thread at a time
};

std::unique_ptr<Events> open_files(const std::vector<std::string>& files,
                                   const std::string& image_producer,
                                   const std::string& label_producer) {
  const std::vector<std::filesystem::path> paths(files.begin(), files.end());
  return std::make_unique<Events>(std::make_unique<data::larcv::LarcvSource>(
      data::larcv::LarcvOptions{.files = data::larcv::find_event_files(paths, "files"),
                                .image_producer = image_producer,
                                .label_producer = label_producer}));
}

std::unique_ptr<Events> detector(std::int64_t count, std::uint64_t seed) {
  return std::make_unique<Events>(std::make_unique<data::detector::DetectorSource>(count, seed));
}

/// What `tag` or `infer` wrote about an event: the tag and both probabilities of every pixel, on
/// the grid of the input if the file has that, otherwise on the one that the network saw.
std::unique_ptr<Tags> read_predictions(const std::string& path, std::int64_t entry) {
  const py::gil_scoped_release others_may_run;
  using namespace data::larcv;
  ReadWarnings warnings;
  const EventFile file(path, warnings);
  COSMIC_REQUIRE(DataError, entry >= 0 && entry < file.size(),
                 path << " has no event " << entry << " (it has " << file.size()
                      << ", counted from 0); give another number");
  const auto read = [&](const char* producer) {
    data::SparseImage image;
    Sparse2dReader(file, producer, PixelMeaning::any, warnings).read(entry, image);
    return image;
  };
  auto tags = std::make_unique<Tags>();
  const bool original =
      std::any_of(file.products().begin(), file.products().end(),
                  [](const ProductName& product) { return product.producer == kPixelTag; });
  if (original) {
    tags->pixels = {read(kPixelTag), read(kPixelCosmic), read(kPixelNeutrino)};
  } else {
    tags->pixels.cosmic = read(kCosmicPrediction);
    tags->pixels.neutrino = read(kNeutrinoPrediction);
    tags->pixels.tag = tags_of(tags->pixels.cosmic, tags->pixels.neutrino);
  }
  return tags;
}

py::list planes_of(const data::SparseImage& image) {
  py::list planes;
  for (const data::SparsePlane& plane : image) {
    const auto count = static_cast<py::ssize_t>(plane.ids.size());
    auto rows = made<std::uint32_t>({count});
    auto columns = made<std::uint32_t>({count});
    auto charges = made<float>({count});
    for (std::size_t i = 0; i < plane.ids.size(); ++i) {
      fill(rows)[i] = static_cast<std::uint32_t>(plane.ids[i] % plane.meta.rows());
      fill(columns)[i] = static_cast<std::uint32_t>(plane.ids[i] / plane.meta.rows());
      fill(charges)[i] = plane.values[i];
    }
    planes.append(py::make_tuple(rows, columns, charges));
  }
  return planes;
}

}  // namespace

py::bytes png(const Event& event, const data::SparseImage* tags) {
  return picture::encode_png(picture::draw_event(event.stored, {event.title, event.entry}, tags));
}

void add_events(py::module_& module) {
  py::class_<Event, std::shared_ptr<Event>>(
      module, "Event", "An event with its stored pixels; a picture in a notebook.")
      .def_property_readonly("run", [](const Event& event) { return event.stored.id.run; })
      .def_property_readonly("subrun", [](const Event& event) { return event.stored.id.subrun; })
      .def_property_readonly("event", [](const Event& event) { return event.stored.id.event; })
      .def_property_readonly("file", [](const Event& event) { return event.title; })
      .def_property_readonly("entry", [](const Event& event) { return event.entry; })
      .def_property_readonly("labelled", [](const Event& event) { return event.stored.labelled; })
      .def_property_readonly("image",
                             [](const Event& event) { return dense<float>(event.stored.image); })
      .def_property_readonly("labels",
                             [](const Event& event) -> py::object {
                               if (!event.stored.labelled) {
                                 return py::none();
                               }
                               return dense<std::uint8_t>(event.stored.labels);
                             })
      .def_property_readonly("planes",
                             [](const Event& event) { return planes_of(event.stored.image); })
      .def("_repr_png_", [](const Event& event) { return png(event, nullptr); })
      .def("__repr__", [](const Event& event) {
        std::size_t pixels = 0;
        for (const data::SparsePlane& plane : event.stored.image) {
          pixels += plane.ids.size();
        }
        return "<Event run " + std::to_string(event.stored.id.run) + ", subrun " +
               std::to_string(event.stored.id.subrun) + ", event " +
               std::to_string(event.stored.id.event) + ": " + std::to_string(pixels) + " pixels>";
      });
  py::class_<Events>(module, "Events", "Events by number, read when they are asked for.")
      .def("__len__", &Events::size)
      .def("__getitem__", &Events::read)
      .def_property_readonly("shape",
                             [](const Events& events) {
                               const data::ImageMeta meta = events.source().meta();
                               return py::make_tuple(data::kPlanes, meta.rows(), meta.columns());
                             })
      .def_property_readonly("labelled",
                             [](const Events& events) { return events.source().labelled(); })
      .def("__repr__", [](const Events& events) {
        return "<Events " + events.source().description() + ": " + std::to_string(events.size()) +
               ">";
      });
  py::class_<Tags>(module, "Tags",
                   "What was said about every stored pixel of an event; a picture in a notebook.")
      .def_property_readonly("tag",
                             [](const Tags& tags) { return dense<std::uint8_t>(tags.pixels.tag); })
      .def_property_readonly("cosmic",
                             [](const Tags& tags) { return dense<float>(tags.pixels.cosmic); })
      .def_property_readonly("neutrino",
                             [](const Tags& tags) { return dense<float>(tags.pixels.neutrino); })
      .def_property_readonly(
          "event", [](const Tags& tags) { return std::const_pointer_cast<Event>(tags.of); })
      .def("_repr_png_",
           [](const Tags& tags) -> py::object {
             if (tags.of == nullptr) {
               return py::none();
             }
             return png(*tags.of, &tags.pixels.tag);
           })
      .def("__repr__", [](const Tags& tags) {
        std::size_t pixels = 0;
        std::size_t neutrino = 0;
        for (const data::SparsePlane& plane : tags.pixels.tag) {
          pixels += plane.values.size();
          neutrino += static_cast<std::size_t>(std::count(
              plane.values.begin(), plane.values.end(), static_cast<float>(data::Label::neutrino)));
        }
        return "<Tags of " + std::to_string(pixels) + " pixels, " + std::to_string(neutrino) +
               " neutrino>";
      });
  module.def("open_files", &open_files, py::arg("files"), py::arg("image_producer"),
             py::arg("label_producer"));
  module.def("detector", &detector, py::arg("count"), py::arg("seed"));
  module.def("read_predictions", &read_predictions, py::arg("file"), py::arg("entry"));
}

}  // namespace cosmic::python
