// Tensors by name that are looked at one after the other: those of a map, or the states of a model,
// which are copied from its target one at a time. Who writes a model need not have it twice.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "session/model_state.hpp"
#include "session/tensor.hpp"

namespace cosmic::session {

class TensorSource {
 public:
  struct Entry {
    std::string name;
    graph::TensorType type;
  };

  /// The map outlives the source.
  static TensorSource of(const NamedTensors& tensors);
  /// All states of a model but those left out. The state outlives the source, and stays as it is
  /// while somebody reads it.
  static TensorSource of(const ModelState& state,
                         const std::function<bool(const std::string&)>& leaves_out);

  /// By name.
  const std::vector<Entry>& entries() const { return entries_; }
  /// It is there until the next call.
  const Tensor& tensor(const Entry& entry) const { return read_(entry); }

 private:
  using Read = std::function<const Tensor&(const Entry&)>;

  TensorSource(std::vector<Entry> entries, Read read)
      : entries_(std::move(entries)), read_(std::move(read)) {}

  std::vector<Entry> entries_;
  Read read_;
};

}  // namespace cosmic::session
