// An event, and what was said about one, as Python has them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "data/event.hpp"
#include "infer/tagger.hpp"

namespace cosmic::python {

struct Event {
  data::SparseEvent stored;
  std::string title;  ///< of its picture: the file
  std::int64_t entry = 0;
};

struct Tags {
  infer::StoredPixels pixels;
  std::shared_ptr<const Event> of;  ///< whose picture they are drawn on; shared with Python
};

/// A picture of the event, with tags if there are any, as the bytes of a PNG file.
py::bytes png(const Event& event, const data::SparseImage* tags);

/// [3, rows, columns], 0 where nothing is stored.
template <class Element>
Array<Element> dense(const data::SparseImage& image) {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  for (const data::SparsePlane& plane : image) {
    rows = std::max(rows, plane.meta.rows());
    columns = std::max(columns, plane.meta.columns());
  }
  Array<Element> array = made<Element>(
      {data::kPlanes, static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)});
  const std::span<Element> to = fill(array);
  std::fill(to.begin(), to.end(), Element{0});
  for (std::size_t plane = 0; plane < image.size(); ++plane) {
    const data::SparsePlane& from = image[plane];
    for (std::size_t i = 0; i < from.ids.size(); ++i) {
      const std::uint64_t row = from.ids[i] % from.meta.rows();
      const std::uint64_t column = from.ids[i] / from.meta.rows();
      to[(plane * rows + row) * columns + column] = static_cast<Element>(from.values[i]);
    }
  }
  return array;
}

}  // namespace cosmic::python
