// The state of a model: weights, running statistics, optimizer moments, by name. It lives where the
// target keeps it; reading brings a copy to the host. A training and an inference model may share
// one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "session/tensor.hpp"
#include "target/target.hpp"

namespace cosmic::session {

class ModelState {
 public:
  /// Every state of every program given, initialised from the seed: each tensor from a stream of
  /// its own name, so that it does not matter which other tensors there are.
  ModelState(const target::Target& target, const std::vector<const graph::Graph*>& programs,
             std::uint64_t seed);

  std::vector<std::string> names() const;
  bool has(const std::string& name) const;
  const graph::TensorType& type(const std::string& name) const { return entry(name).type; }
  graph::StateKind kind(const std::string& name) const { return entry(name).kind; }

  Tensor read(const std::string& name) const;
  /// Throws DataError if there is no such state or the type differs. A state that is kept in a
  /// narrow format takes the rounded numbers.
  void write(const std::string& name, const Tensor& tensor);

  /// All parameters and buffers: what the reference calls a state dict.
  NamedTensors read_weights() const;
  /// Replaces all parameters and buffers. Throws DataError listing every tensor that is missing,
  /// unknown or of another shape; then nothing has been changed.
  void write_weights(const NamedTensors& tensors);

  /// The same for all states, those of the optimizer included: what a run needs to go on as if it
  /// had never stopped.
  NamedTensors read_all() const;
  void write_all(const NamedTensors& tensors);

  /// Copies everything to the host and gives the target's memory back, unless an executable still
  /// uses it. Reading and writing go on as before, with the copy.
  void release();
  /// Brings everything back to the target, if it is not there.
  void restore(const target::Target& target);
  bool on_target() const { return bank_ != nullptr; }

  /// Null while the state is not on a target.
  const std::shared_ptr<target::StateBank>& bank() const { return bank_; }

 private:
  struct Entry {
    std::string name;
    graph::TensorType type;
    graph::StateKind kind;
    graph::Initializer initializer;
    NumberFormat format;  ///< in which programs keep it
  };

  enum class Part { weights, all };

  const Entry& entry(const std::string& name) const;
  std::vector<const Entry*> entries(Part part) const;
  NamedTensors read(Part part) const;
  void write(Part part, const NamedTensors& tensors);
  void initialize(const Entry& entry, std::uint64_t seed);
  /// Writes it, rounded to what programs can keep.
  void put(const Entry& entry, const Tensor& tensor);
  std::shared_ptr<target::StateBank> make_bank(const target::Target& target) const;
  void read_bytes(const std::string& name, std::span<std::byte> out) const;
  void write_bytes(const std::string& name, std::span<const std::byte> in);

  std::vector<Entry> entries_;
  std::shared_ptr<target::StateBank> bank_;  // shared with the executables of the models
  NamedTensors released_;                    // while there is no bank
};

}  // namespace cosmic::session
