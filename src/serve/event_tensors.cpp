#include "serve/event_tensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>

#include "core/checked_product.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "data/larcv/larcv_source.hpp"
#include "serve/body_file.hpp"

namespace cosmic::serve {
namespace {

// Tensors travel little-endian and are used as they come.
static_assert(std::endian::native == std::endian::little);

constexpr std::array kIntegerTypes{"UINT8", "INT32", "UINT32", "INT64", "UINT64"};

std::int64_t element_bytes(const std::string& datatype) {
  if (datatype == "UINT8") {
    return 1;
  }
  return datatype == "INT64" || datatype == "UINT64" ? 8 : 4;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + "]";
}

/// The number of elements, which the tensor is then known to have.
std::size_t checked_elements(const InputTensor& tensor) {
  constexpr std::size_t kMostAxes = 8;
  const auto refuse = [&](const std::string& why) {
    throw Refusal(Reason::invalid, "input " + printable(tensor.name) + " " + why);
  };
  if (tensor.shape.size() > kMostAxes) {
    refuse("has " + std::to_string(tensor.shape.size()) + " axes; at most 8 are possible");
  }
  std::int64_t elements = 1;
  for (const std::int64_t extent : tensor.shape) {
    if (extent < 0) {
      refuse("has the shape " + shape_text(tensor.shape) + ", in which an extent is negative");
    }
    const std::optional<std::int64_t> product = checked_product({elements, extent});
    if (!product) {
      refuse("has the shape " + shape_text(tensor.shape) + ", which is more than any memory");
    }
    elements = *product;
  }
  const auto count = static_cast<std::size_t>(elements);
  if (tensor.bytes) {
    const auto wide = static_cast<std::size_t>(element_bytes(tensor.datatype));
    if (tensor.bytes->size() % wide != 0 || tensor.bytes->size() / wide != count) {
      refuse("has the shape " + shape_text(tensor.shape) + " of " + tensor.datatype + " and " +
             std::to_string(tensor.bytes->size()) + " bytes, which do not agree");
    }
  } else if (tensor.numbers.size() != count) {
    refuse("has the shape " + shape_text(tensor.shape) + " and " +
           std::to_string(tensor.numbers.size()) + " numbers, which do not agree");
  }
  return count;
}

template <class Stored>
std::int64_t integer_at(std::string_view bytes, std::size_t i, const InputTensor& tensor) {
  Stored value{};
  std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
  if constexpr (sizeof(Stored) == sizeof(std::int64_t) && std::is_unsigned_v<Stored>) {
    require(value <= static_cast<Stored>(INT64_MAX), Reason::invalid,
            [&] { return "input " + printable(tensor.name) + " has numbers above 2^63"; });
  }
  return static_cast<std::int64_t>(value);
}

std::vector<std::int64_t> integers(const InputTensor& tensor) {
  require(
      std::find(kIntegerTypes.begin(), kIntegerTypes.end(), tensor.datatype) != kIntegerTypes.end(),
      Reason::invalid, [&] {
        return "input " + printable(tensor.name) + " is " + printable(tensor.datatype) +
               "; it takes UINT8, INT32, UINT32, INT64 or UINT64";
      });
  require(tensor.shape.size() == 1, Reason::invalid, [&] {
    return "input " + printable(tensor.name) + " has the shape " + shape_text(tensor.shape) +
           "; it is a list, [pixels]";
  });
  const std::size_t count = checked_elements(tensor);
  std::vector<std::int64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!tensor.bytes) {
      constexpr double kExact = 9007199254740992;  // 2^53
      const double number = tensor.numbers[i];
      require(std::abs(number) <= kExact && std::trunc(number) == number, Reason::invalid, [&] {
        return "input " + printable(tensor.name) + " has numbers that are no integers";
      });
      values[i] = static_cast<std::int64_t>(number);
    } else if (tensor.datatype == "UINT8") {
      values[i] = integer_at<std::uint8_t>(*tensor.bytes, i, tensor);
    } else if (tensor.datatype == "INT32") {
      values[i] = integer_at<std::int32_t>(*tensor.bytes, i, tensor);
    } else if (tensor.datatype == "UINT32") {
      values[i] = integer_at<std::uint32_t>(*tensor.bytes, i, tensor);
    } else if (tensor.datatype == "INT64") {
      values[i] = integer_at<std::int64_t>(*tensor.bytes, i, tensor);
    } else {
      values[i] = integer_at<std::uint64_t>(*tensor.bytes, i, tensor);
    }
  }
  return values;
}

void require_finite(float value, const InputTensor& tensor, std::size_t at) {
  require(std::isfinite(value), Reason::invalid, [&] {
    return "input " + printable(tensor.name) + " has a number that is not finite, at place " +
           std::to_string(at) + "; nothing can be said about such an event";
  });
}

void require_floats(const InputTensor& tensor) {
  require(tensor.datatype == "FP32", Reason::invalid, [&] {
    return "input " + printable(tensor.name) + " is " + printable(tensor.datatype) +
           "; it takes FP32";
  });
}

float float_at(const InputTensor& tensor, std::size_t i) {
  float value = 0;
  if (tensor.bytes) {
    std::memcpy(&value, tensor.bytes->data() + i * sizeof(value), sizeof(value));
  } else {
    value = static_cast<float>(tensor.numbers[i]);
  }
  require_finite(value, tensor, i);
  return value;
}

const InputTensor* find(const InferRequest& request, std::string_view name) {
  const auto found = std::find_if(request.inputs.begin(), request.inputs.end(),
                                  [&](const InputTensor& input) { return input.name == name; });
  return found == request.inputs.end() ? nullptr : &*found;
}

data::SparseImage empty_image(const data::ImageMeta& grid) {
  data::SparseImage image;
  for (std::size_t plane = 0; plane < image.size(); ++plane) {
    image[plane].meta = grid;
    image[plane].meta.projection = plane;
  }
  return image;
}

void require_events(std::int64_t events, const Limits& limits) {
  require(events >= 1, Reason::invalid, "a request without events; send at least one");
  require(events <= limits.events, Reason::too_large, [&] {
    return "a request of " + std::to_string(events) + " events; this server takes " +
           std::to_string(limits.events) + " at once";
  });
}

void require_pixels(std::int64_t pixels, const Limits& limits) {
  require(pixels <= limits.pixels, Reason::too_large, [&] {
    return "a request of " + std::to_string(pixels) + " pixels; this server takes " +
           std::to_string(limits.pixels) + " at once";
  });
}

void take_image(const InputTensor& tensor, const ServedModel& model, const Limits& limits,
                PreparedCall& prepared) {
  require_floats(tensor);
  const auto rows = static_cast<std::int64_t>(model.grid().rows());
  const auto columns = static_cast<std::int64_t>(model.grid().columns());
  require(tensor.shape.size() == 4 && tensor.shape[1] == data::kPlanes && tensor.shape[2] == rows &&
              tensor.shape[3] == columns,
          Reason::invalid, [&] {
            return "input 'image' has the shape " + shape_text(tensor.shape) +
                   "; this model takes " + shape_text({-1, data::kPlanes, rows, columns});
          });
  const std::int64_t events = tensor.shape[0];
  require_events(events, limits);
  require_pixels(events * data::kPlanes * rows * columns, limits);
  checked_elements(tensor);
  const auto height = static_cast<std::size_t>(rows);
  const auto width = static_cast<std::size_t>(columns);
  std::size_t first = 0;
  for (std::int64_t event = 0; event < events; ++event) {
    EventWork& work = prepared.call->events.emplace_back();
    work.image = empty_image(model.grid());
    for (data::SparsePlane& plane : work.image) {
      // Pixels are stored column by column.
      for (std::size_t column = 0; column < width; ++column) {
        for (std::size_t row = 0; row < height; ++row) {
          const float charge = float_at(tensor, first + row * width + column);
          if (charge != 0) {
            plane.ids.push_back(column * height + row);
            plane.values.push_back(charge);
          }
        }
      }
      first += height * width;
    }
  }
}

void take_pixels(const InferRequest& request, const ServedModel& model, const Limits& limits,
                 PreparedCall& prepared) {
  const auto given = [&](const char* name) -> const InputTensor& {
    const InputTensor* const tensor = find(request, name);
    require(tensor != nullptr, Reason::invalid, [&] {
      return std::string("sparse pixels without input '") + name +
             "'; they are plane, index, charge and, for several events, event";
    });
    return *tensor;
  };
  const InputTensor& charge = given("charge");
  require_floats(charge);
  require(charge.shape.size() == 1, Reason::invalid, [&] {
    return "input 'charge' has the shape " + shape_text(charge.shape) + "; it is a list, [pixels]";
  });
  const std::size_t count = checked_elements(charge);
  require_pixels(static_cast<std::int64_t>(count), limits);
  const std::vector<std::int64_t> planes = integers(given("plane"));
  const std::vector<std::int64_t> indices = integers(given("index"));
  const InputTensor* const event_tensor = find(request, "event");
  const std::vector<std::int64_t> events =
      event_tensor == nullptr ? std::vector<std::int64_t>(count) : integers(*event_tensor);
  require(planes.size() == count && indices.size() == count && events.size() == count,
          Reason::invalid, "inputs plane, index, charge and event have different lengths");
  const std::int64_t named =
      count == 0 ? 1
                 : 1 + std::clamp<std::int64_t>(*std::max_element(events.begin(), events.end()), 0,
                                                INT32_MAX);
  const std::int64_t all = request.events.value_or(named);
  require_events(all, limits);
  const auto size = static_cast<std::int64_t>(model.grid().rows() * model.grid().columns());
  for (std::size_t i = 0; i < count; ++i) {
    const bool there = planes[i] >= 0 && planes[i] < data::kPlanes && indices[i] >= 0 &&
                       indices[i] < size && events[i] >= 0 && events[i] < all;
    require(there, Reason::invalid, [&] {
      return "pixel " + std::to_string(i) + " is event " + std::to_string(events[i]) + ", plane " +
             std::to_string(planes[i]) + ", index " + std::to_string(indices[i]) + "; there are " +
             std::to_string(all) + " events, 3 planes and " + std::to_string(size) + " indices";
    });
  }
  prepared.order.resize(count);
  std::iota(prepared.order.begin(), prepared.order.end(), 0U);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(events[a], planes[a], indices[a]) < std::tie(events[b], planes[b], indices[b]);
  };
  if (!std::is_sorted(prepared.order.begin(), prepared.order.end(), before)) {
    std::sort(prepared.order.begin(), prepared.order.end(), before);
  }
  prepared.call->events.resize(static_cast<std::size_t>(all));
  for (EventWork& work : prepared.call->events) {
    work.image = empty_image(model.grid());
  }
  for (const std::uint32_t i : prepared.order) {
    data::SparsePlane& plane = prepared.call->events[static_cast<std::size_t>(events[i])]
                                   .image[static_cast<std::size_t>(planes[i])];
    const auto id = static_cast<std::uint64_t>(indices[i]);
    require(plane.ids.empty() || plane.ids.back() != id, Reason::invalid, [&] {
      return "pixel " + std::to_string(i) + ", plane " + std::to_string(planes[i]) + ", index " +
             std::to_string(id) + ", is there twice; it is not clear which charge counts";
    });
    plane.ids.push_back(id);
    plane.values.push_back(float_at(charge, i));
  }
}

void take_file(const InputTensor& tensor, const ServedModel& model, const Limits& limits,
               PreparedCall& prepared) {
  require(
      tensor.datatype == "BYTES" && tensor.bytes && tensor.shape == std::vector<std::int64_t>{1},
      Reason::invalid,
      "input 'larcv' is one element of BYTES, sent as binary data: the bytes of a larcv3 file");
  const BodyFile file(*tensor.bytes);
  try {
    const data::larcv::LarcvSource source({.files = {file.path()},
                                           .image_producer = model.image_producer(),
                                           .labels = data::larcv::LabelUse::ignored});
    require_events(source.size(), limits);
    const data::ImageMeta meta = source.meta();
    require(meta.pixels == model.grid().pixels, Reason::invalid, [&] {
      return "the file has images of " + std::to_string(meta.rows()) + " rows and " +
             std::to_string(meta.columns()) + " columns; this model takes " +
             std::to_string(model.grid().rows()) + " and " + std::to_string(model.grid().columns());
    });
    const std::unique_ptr<data::EventReader> reader = source.reader();
    data::SparseEvent event;
    std::int64_t pixels = 0;
    for (std::int64_t entry = 0; entry < source.size(); ++entry) {
      reader->read(entry, event);
      for (const data::SparsePlane& plane : event.image) {
        pixels += static_cast<std::int64_t>(plane.ids.size());
        require(std::all_of(plane.values.begin(), plane.values.end(),
                            [](float value) { return std::isfinite(value); }),
                Reason::invalid, [&] {
                  return "event " + std::to_string(entry) +
                         " of the file has a charge that is not finite; nothing can be said "
                         "about such an event";
                });
      }
      require_pixels(pixels, limits);
      prepared.ids.push_back(event.id);
      prepared.call->events.emplace_back().image = event.image;
    }
  } catch (const Error& error) {
    // It names the place in memory where the body was put.
    std::string text = error.what();
    for (std::size_t at = text.find(file.path().string()); at != std::string::npos;
         at = text.find(file.path().string())) {
      text.replace(at, file.path().string().size(), "the file");
    }
    throw Refusal(Reason::invalid, text);
  }
}

bool of_pixels(std::string_view output) {
  return output.starts_with("pixel_");
}

void choose_outputs(const InferRequest& request, const ServedModel& model, const Limits& limits,
                    PreparedCall& prepared) {
  prepared.outputs = request.outputs;
  if (prepared.outputs.empty()) {
    std::vector<std::string> names{"tag", "cosmic", "neutrino"};
    if (prepared.form != InputForm::image) {
      names = {"pixel_tag", "pixel_cosmic", "pixel_neutrino"};
    }
    if (prepared.form == InputForm::larcv) {
      names.insert(names.begin(), {"event_id", "pixel_event", "pixel_plane", "pixel_index"});
    }
    for (const std::string& name : names) {
      prepared.outputs.push_back({name, request.binary_output});
    }
  }
  const std::vector<TensorDescription> known = outputs_of(model);
  Wanted& wanted = prepared.call->wanted;
  std::vector<std::string> seen;
  for (const RequestedOutput& output : prepared.outputs) {
    require(std::any_of(known.begin(), known.end(),
                        [&](const TensorDescription& one) { return one.name == output.name; }),
            Reason::invalid, [&] {
              return "there is no output " + printable(output.name) +
                     "; the model's metadata list those that there are";
            });
    require(std::find(seen.begin(), seen.end(), output.name) == seen.end(), Reason::invalid,
            [&] { return "output " + printable(output.name) + " is asked for twice"; });
    seen.push_back(output.name);
    require(!of_pixels(output.name) || prepared.form != InputForm::image, Reason::invalid, [&] {
      return "output " + printable(output.name) +
             " is about the pixels that were sent; with input 'image' ask for tag, cosmic, "
             "neutrino "
             "or logits";
    });
    const bool of_file = output.name == "pixel_event" || output.name == "pixel_plane" ||
                         output.name == "pixel_index" || output.name == "event_id";
    require(!of_file || prepared.form == InputForm::larcv, Reason::invalid, [&] {
      return "output " + printable(output.name) +
             " is for a larcv file; whoever sends pixels has it";
    });
    wanted.pixels |= of_pixels(output.name);
    wanted.tag |= output.name == "tag";
    wanted.cosmic |= output.name == "cosmic";
    wanted.neutrino |= output.name == "neutrino";
    wanted.logits |= output.name == "logits";
  }
  const std::size_t per_pixel = (wanted.tag ? 1U : 0U) + (wanted.cosmic ? 4U : 0U) +
                                (wanted.neutrino ? 4U : 0U) + (wanted.logits ? 12U : 0U);
  const std::size_t bytes = per_pixel * model.shape().event_pixels() * prepared.call->events.size();
  require(bytes <= limits.answer_bytes, Reason::too_large, [&] {
    return "the answer would have " + std::to_string(bytes) + " bytes; this server gives " +
           std::to_string(limits.answer_bytes) + " at once: send fewer events, or ask for pixels";
  });
}

template <class Value>
void append(std::string& bytes, std::span<const Value> values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

/// Calls visit(event, plane, place in the plane) for all pixels, sorted.
template <class Visit>
void for_each_pixel(const PreparedCall& prepared, const Visit& visit) {
  for (std::size_t event = 0; event < prepared.call->events.size(); ++event) {
    const data::SparseImage& image = prepared.call->events[event].image;
    for (std::size_t plane = 0; plane < image.size(); ++plane) {
      for (std::size_t at = 0; at < image[plane].ids.size(); ++at) {
        visit(event, plane, at);
      }
    }
  }
}

template <class Value, class Of>
std::string pixel_values(const PreparedCall& prepared, std::size_t pixels, const Of& of) {
  std::vector<Value> values(pixels);
  std::size_t next = 0;
  for_each_pixel(prepared, [&](std::size_t event, std::size_t plane, std::size_t at) {
    const std::size_t place = prepared.order.empty() ? next : prepared.order[next];
    values[place] = static_cast<Value>(of(event, plane, at));
    ++next;
  });
  std::string bytes;
  append(bytes, std::span<const Value>(values));
  return bytes;
}

void fill(OutputTensor& output, const PreparedCall& prepared, const ServedModel& model) {
  const std::vector<EventWork>& events = prepared.call->events;
  const auto count = static_cast<std::int64_t>(events.size());
  const data::DenseShape& shape = model.shape();
  if (!of_pixels(output.name)) {
    output.shape = {count, data::kPlanes, shape.rows, shape.columns};
    if (output.name == "logits") {
      output.shape.insert(output.shape.begin() + 2, infer::kClasses);
    }
    if (output.name == "event_id") {
      output.shape = {count, 3};
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
      const EventWork& event = events[i];
      if (output.name == "tag") {
        append(output.bytes, std::span<const std::uint8_t>(event.tag));
      } else if (output.name == "event_id") {
        const std::array<std::int64_t, 3> id{prepared.ids[i].run, prepared.ids[i].subrun,
                                             prepared.ids[i].event};
        append(output.bytes, std::span<const std::int64_t>(id));
      } else {
        append(output.bytes, std::span<const float>(output.name == "cosmic"     ? event.cosmic
                                                    : output.name == "neutrino" ? event.neutrino
                                                                                : event.logits));
      }
    }
    return;
  }
  std::size_t pixels = 0;
  for_each_pixel(prepared, [&](std::size_t, std::size_t, std::size_t) { ++pixels; });
  output.shape = {static_cast<std::int64_t>(pixels)};
  const auto scores = [&](data::SparseImage infer::StoredPixels::*image) {
    return [&events, image](std::size_t event, std::size_t plane, std::size_t at) {
      return (events[event].pixels.*image)[plane].values[at];
    };
  };
  if (output.name == "pixel_tag") {
    output.bytes = pixel_values<std::uint8_t>(prepared, pixels, scores(&infer::StoredPixels::tag));
  } else if (output.name == "pixel_cosmic") {
    output.bytes = pixel_values<float>(prepared, pixels, scores(&infer::StoredPixels::cosmic));
  } else if (output.name == "pixel_neutrino") {
    output.bytes = pixel_values<float>(prepared, pixels, scores(&infer::StoredPixels::neutrino));
  } else if (output.name == "pixel_event") {
    output.bytes = pixel_values<std::int32_t>(
        prepared, pixels, [](std::size_t event, std::size_t, std::size_t) { return event; });
  } else if (output.name == "pixel_plane") {
    output.bytes = pixel_values<std::uint8_t>(
        prepared, pixels, [](std::size_t, std::size_t plane, std::size_t) { return plane; });
  } else {
    output.bytes = pixel_values<std::int64_t>(
        prepared, pixels, [&](std::size_t event, std::size_t plane, std::size_t at) {
          return events[event].image[plane].ids[at];
        });
  }
}

Priority priority_of(std::int64_t priority) {
  require(priority >= 0 && priority <= static_cast<std::int64_t>(kPriorities), Reason::invalid,
          "a priority is 1 (the highest), 2, 3, or 0 for the usual one, which is 2");
  return priority == 0 ? Priority::normal : static_cast<Priority>(priority - 1);
}

}  // namespace

PreparedCall prepare(const InferRequest& request, const ServedModel& model, const Limits& limits) {
  const Clock::time_point now = Clock::now();
  PreparedCall prepared;
  prepared.call = std::make_shared<TaggingCall>();
  prepared.call->priority = priority_of(request.priority);
  constexpr std::int64_t kDay = 86'400'000'000;
  require(request.timeout_microseconds >= 0, Reason::invalid, "a timeout cannot be negative");
  if (request.timeout_microseconds > 0) {
    prepared.call->deadline =
        now + std::chrono::microseconds(std::min(request.timeout_microseconds, kDay));
  }
  const std::vector<TensorDescription> known = inputs_of(model);
  std::vector<std::string> seen;
  for (const InputTensor& input : request.inputs) {
    require(std::any_of(known.begin(), known.end(),
                        [&](const TensorDescription& one) { return one.name == input.name; }),
            Reason::invalid, [&] {
              return "there is no input " + printable(input.name) +
                     "; a request has image, or plane, index, charge and event, or larcv";
            });
    require(std::find(seen.begin(), seen.end(), input.name) == seen.end(), Reason::invalid,
            [&] { return "input " + printable(input.name) + " is there twice"; });
    seen.push_back(input.name);
  }
  const InputTensor* const image = find(request, "image");
  const InputTensor* const file = find(request, "larcv");
  const bool alone = request.inputs.size() == 1;
  require((image == nullptr && file == nullptr) || alone, Reason::invalid,
          "a request has image, or plane, index, charge and event, or larcv; not several of these");
  require(!request.events || (image == nullptr && file == nullptr), Reason::invalid,
          "parameter 'events' is for sparse pixels alone");
  if (image != nullptr) {
    prepared.form = InputForm::image;
    take_image(*image, model, limits, prepared);
  } else if (file != nullptr) {
    prepared.form = InputForm::larcv;
    take_file(*file, model, limits, prepared);
  } else {
    prepared.form = InputForm::pixels;
    take_pixels(request, model, limits, prepared);
  }
  choose_outputs(request, model, limits, prepared);
  return prepared;
}

std::vector<OutputTensor> answer_of(const PreparedCall& prepared, const ServedModel& model) {
  const std::vector<TensorDescription> known = outputs_of(model);
  std::vector<OutputTensor> outputs;
  for (const RequestedOutput& requested : prepared.outputs) {
    const auto description =
        std::find_if(known.begin(), known.end(),
                     [&](const TensorDescription& one) { return one.name == requested.name; });
    COSMIC_ASSERT(description != known.end());
    OutputTensor& output = outputs.emplace_back();
    output.name = requested.name;
    output.datatype = description->datatype;
    output.binary = requested.binary;
    fill(output, prepared, model);
  }
  return outputs;
}

std::vector<TensorDescription> inputs_of(const ServedModel& model) {
  const auto rows = static_cast<std::int64_t>(model.grid().rows());
  const auto columns = static_cast<std::int64_t>(model.grid().columns());
  return {{"image", "FP32", {-1, data::kPlanes, rows, columns}, true},
          {"plane", "UINT8", {-1}, true},
          {"index", "INT64", {-1}, true},
          {"charge", "FP32", {-1}, true},
          {"event", "INT32", {-1}, true},
          {"larcv", "BYTES", {1}, true}};
}

std::vector<TensorDescription> outputs_of(const ServedModel& model) {
  const std::int64_t rows = model.shape().rows;
  const std::int64_t columns = model.shape().columns;
  return {{"tag", "UINT8", {-1, data::kPlanes, rows, columns}},
          {"cosmic", "FP32", {-1, data::kPlanes, rows, columns}},
          {"neutrino", "FP32", {-1, data::kPlanes, rows, columns}},
          {"logits", "FP32", {-1, data::kPlanes, infer::kClasses, rows, columns}},
          {"pixel_tag", "UINT8", {-1}},
          {"pixel_cosmic", "FP32", {-1}},
          {"pixel_neutrino", "FP32", {-1}},
          {"pixel_event", "INT32", {-1}},
          {"pixel_plane", "UINT8", {-1}},
          {"pixel_index", "INT64", {-1}},
          {"event_id", "INT64", {-1, 3}}};
}

}  // namespace cosmic::serve
