#include "session/model_state.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "compile/passes/passes.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

namespace cosmic::session {
namespace {

/// What keeps tensors from being those of a model, by kind: one of each says what is wrong, and a
/// network that is another one has hundreds.
struct Misfits {
  struct Kind {
    std::size_t count = 0;
    std::string first;

    void add(std::string what) {
      if (count++ == 0) {
        first = std::move(what);
      }
    }
  };

  Kind other_shape;  ///< first: this one names the option that differs
  Kind missing;
  Kind unknown;

  std::size_t count() const { return other_shape.count + missing.count + unknown.count; }
  std::string text() const {
    std::string all;
    for (const Kind* kind : {&other_shape, &missing, &unknown}) {
      if (kind->count > 0) {
        all +=
            (all.empty() ? "" : "; ") + kind->first +
            (kind->count > 1 ? ", and " + std::to_string(kind->count - 1) + " more like it" : "");
      }
    }
    return all;
  }
};

}  // namespace

ModelState::ModelState(const target::Target& target,
                       const std::vector<const graph::Graph*>& programs, std::uint64_t seed) {
  std::set<std::string> known;
  for (const graph::Graph* program : programs) {
    for (const graph::StateVariable& state : program->states) {
      if (known.insert(state.name).second) {
        const graph::Node& node = program->node(state.value);
        entries_.push_back({state.name, node.type, state.kind, state.initializer, node.format});
      }
    }
  }
  bank_ = make_bank(target);
  for (const Entry& e : entries_) {
    initialize(e, seed);
  }
}

std::shared_ptr<target::StateBank> ModelState::make_bank(const target::Target& target) const {
  std::vector<std::pair<std::string, graph::TensorType>> types;
  for (const Entry& e : entries_) {
    types.emplace_back(e.name, e.type);
  }
  return target.make_bank(types);
}

void ModelState::release() {
  if (bank_ == nullptr || bank_.use_count() > 1) {
    return;
  }
  released_ = read_all();
  bank_.reset();
}

void ModelState::restore(const target::Target& target) {
  if (bank_ != nullptr) {
    return;
  }
  bank_ = make_bank(target);
  for (const auto& [name, tensor] : released_) {
    bank_->write(name, tensor.bytes);
  }
  released_.clear();
}

void ModelState::read_bytes(const std::string& name, std::span<std::byte> out) const {
  if (bank_ != nullptr) {
    bank_->read(name, out);
  } else {
    const std::vector<std::byte>& bytes = released_.at(name).bytes;
    std::copy(bytes.begin(), bytes.end(), out.begin());
  }
}

void ModelState::write_bytes(const std::string& name, std::span<const std::byte> in) {
  if (bank_ != nullptr) {
    bank_->write(name, in);
  } else {
    std::copy(in.begin(), in.end(), released_.at(name).bytes.begin());
  }
}

void ModelState::initialize(const Entry& entry, std::uint64_t seed) {
  Tensor tensor(entry.type);
  if (entry.type.dtype == graph::DType::f32) {
    // An average begins as what it is the average of.
    const std::string averaged = compile::averaged_weight(entry.name);
    RandomStream random(seed, averaged.empty() ? entry.name : averaged);
    const double value = entry.initializer.value;
    const bool uniform = entry.initializer.kind == graph::Initializer::Kind::uniform;
    for (float& element : tensor.as<float>()) {
      element = static_cast<float>(uniform ? random.uniform(-value, value) : value);
    }
  } else {
    for (std::int64_t& element : tensor.as<std::int64_t>()) {
      element = static_cast<std::int64_t>(entry.initializer.value);
    }
  }
  put(entry, tensor);
}

void ModelState::put(const Entry& entry, const Tensor& tensor) {
  if (entry.format == NumberFormat::f32) {
    write_bytes(entry.name, tensor.bytes);
    return;
  }
  Tensor kept = tensor;
  for (float& element : kept.as<float>()) {
    element = rounded(element, entry.format);
  }
  write_bytes(entry.name, kept.bytes);
}

std::vector<std::string> ModelState::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const Entry& e : entries_) {
    names.push_back(e.name);
  }
  return names;
}

bool ModelState::has(const std::string& name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& e) { return e.name == name; });
}

const ModelState::Entry& ModelState::entry(const std::string& name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return e.name == name; });
  COSMIC_REQUIRE(DataError, found != entries_.end(),
                 "this model has no state '"
                     << name << "' (it has " << entries_.size()
                     << " tensors); are the network options those the weights were trained with?");
  return *found;
}

Tensor ModelState::read(const std::string& name) const {
  Tensor tensor(entry(name).type);
  read_bytes(name, tensor.bytes);
  return tensor;
}

void ModelState::write(const std::string& name, const Tensor& tensor) {
  const graph::TensorType& type = entry(name).type;
  COSMIC_REQUIRE(DataError, tensor.type == type,
                 "state '" << name << "' is " << tensor.type << ", this model needs " << type
                           << " (the network options differ); use the options the weights were "
                              "trained with");
  put(entry(name), tensor);
}

std::vector<const ModelState::Entry*> ModelState::entries(Part part) const {
  std::vector<const Entry*> result;
  for (const Entry& e : entries_) {
    if (part == Part::all || e.kind != graph::StateKind::optimizer) {
      result.push_back(&e);
    }
  }
  return result;
}

NamedTensors ModelState::read(Part part) const {
  NamedTensors tensors;
  for (const Entry* e : entries(part)) {
    tensors.emplace(e->name, read(e->name));
  }
  return tensors;
}

void ModelState::write(Part part, const NamedTensors& tensors) {
  const std::vector<const Entry*> wanted = entries(part);
  std::set<std::string> names;
  Misfits misfits;
  for (const Entry* e : wanted) {
    names.insert(e->name);
    const auto found = tensors.find(e->name);
    if (found == tensors.end()) {
      misfits.missing.add("there is no '" + e->name + "' " + to_string(e->type));
    } else if (found->second.type != e->type) {
      misfits.other_shape.add("'" + e->name + "' is " + to_string(found->second.type) +
                              " where this model needs " + to_string(e->type));
    }
  }
  for (const auto& [name, tensor] : tensors) {
    if (!names.contains(name)) {
      misfits.unknown.add("this model knows no '" + name + "' " + to_string(tensor.type));
    }
  }
  COSMIC_REQUIRE(
      DataError, misfits.count() == 0,
      "the weights do not belong to this model: "
          << misfits.text() << " (it has " << wanted.size() << " tensors, " << tensors.size()
          << " were given; a partly loaded network would give wrong answers); use the "
          << (part == Part::all ? "network options and the optimizer" : "network options")
          << " they were trained with");
  for (const auto& [name, tensor] : tensors) {
    put(entry(name), tensor);
  }
}

NamedTensors ModelState::read_weights() const {
  return read(Part::weights);
}

void ModelState::write_weights(const NamedTensors& tensors) {
  write(Part::weights, tensors);
}

NamedTensors ModelState::read_all() const {
  return read(Part::all);
}

void ModelState::write_all(const NamedTensors& tensors) {
  write(Part::all, tensors);
}

}  // namespace cosmic::session
