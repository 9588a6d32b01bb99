#include "session/tensor_source.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace cosmic::session {

TensorSource TensorSource::of(const NamedTensors& tensors) {
  std::vector<Entry> entries;
  for (const auto& [name, tensor] : tensors) {
    entries.push_back({name, tensor.type});
  }
  return {std::move(entries),
          [&tensors](const Entry& entry) -> const Tensor& { return tensors.at(entry.name); }};
}

TensorSource TensorSource::of(const ModelState& state,
                              const std::function<bool(const std::string&)>& leaves_out) {
  std::vector<Entry> entries;
  for (const std::string& name : state.names()) {
    if (!leaves_out(name)) {
      entries.push_back({name, state.type(name)});
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  // Whoever copies the source reads in turns, so copies share it.
  auto latest = std::make_shared<Tensor>();
  return {std::move(entries), [&state, latest](const Entry& entry) -> const Tensor& {
            *latest = {};  // not two at once
            *latest = state.read(entry.name);
            return *latest;
          }};
}

}  // namespace cosmic::session
