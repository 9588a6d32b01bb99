// A step of the plan, prepared to run: pointers, kernels and scratch are fixed when it is made, so
// running it only computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compile/step.hpp"
#include "core/error.hpp"
#include "core/threads.hpp"
#include "graph/graph.hpp"

namespace cosmic::target::cpu {

/// Memory a step may use while it runs; one private region per thread, 64-byte aligned.
class Scratch {
 public:
  Scratch(std::byte* base, std::int64_t bytes_per_thread)
      : base_(base), bytes_per_thread_(bytes_per_thread) {}

  float* floats(int thread) const {
    return reinterpret_cast<float*>(base_ + thread * bytes_per_thread_);
  }

 private:
  std::byte* base_;
  std::int64_t bytes_per_thread_;
};

class PreparedStep {
 public:
  PreparedStep() = default;
  virtual ~PreparedStep() = default;
  PreparedStep(const PreparedStep&) = delete;
  PreparedStep& operator=(const PreparedStep&) = delete;

  /// Brings constant operands (weights) into the form the kernels want. Called before the first run
  /// and whenever the state has changed; before every run if the program itself changes it.
  virtual void prepare(const Team& team) = 0;
  virtual void run(const Team& team, const Scratch& scratch) = 0;
  virtual std::int64_t scratch_bytes() const = 0;   ///< per thread
  virtual std::int64_t prepared_bytes() const = 0;  ///< held between runs
};

/// A step that reads its operands as they are and holds nothing between runs.
class UnpreparedStep : public PreparedStep {
 public:
  void prepare(const Team&) final {}
  std::int64_t prepared_bytes() const final { return 0; }
};

/// One that needs no scratch either.
class SimpleStep : public UnpreparedStep {
 public:
  std::int64_t scratch_bytes() const final { return 0; }
};

/// A step that computes every element from the same element of its operands, and from numbers that
/// were there before. Where several follow each other, each thread takes a few elements at a time
/// through all of them, which stay in its cache meanwhile.
class ElementStep : public SimpleStep {
 public:
  virtual std::int64_t elements() const = 0;
  virtual void compute(const Range& elements) = 0;
  void run(const Team& all, const Scratch&) final {
    const Team team = team_of(all);
    team.run([&](int thread) { compute(slice_of(elements(), thread, team.size())); });
  }
  /// As many threads as it is worth. An element costs a few operations and several loads.
  Team team_of(const Team& all) const { return all.for_work(16 * static_cast<double>(elements())); }
};

/// A step that can take part in a group of steps that run side by side (compile::StepGroup). There,
/// instead of run(), each thread calls the first function with the bundles that are its own; when
/// all have done so for the whole group, one thread calls the second.
class Bundled {
 public:
  Bundled() = default;
  virtual ~Bundled() = default;
  Bundled(const Bundled&) = delete;
  Bundled& operator=(const Bundled&) = delete;

  virtual void run_bundles(const Range& bundles) = 0;
  virtual void join_bundles() = 0;
};

/// Images in another format than float32 take two bytes a number. Everything else is small, and
/// rounded numbers of it are kept as floats.
inline bool is_narrow(const graph::Node& node) {
  return node.layout == graph::Layout::blocked && node.format != NumberFormat::f32;
}

/// How this run of the program rounds.
struct RunRounding {
  Rounding mode = Rounding::nearest;
  std::uint64_t noise = 0;  ///< see core/rounding_noise.hpp
};

/// Where every stored value of a plan lives.
class Memory {
 public:
  /// `rounding` is read by steps while they run.
  Memory(const graph::Graph& graph, std::vector<std::byte*> addresses, const RunRounding& rounding)
      : graph_(graph), addresses_(std::move(addresses)), rounding_(rounding) {}

  const graph::Graph& graph() const { return graph_; }
  const RunRounding& rounding() const { return rounding_; }

  template <class Element>
  Element* at(graph::ValueId id) const {
    return reinterpret_cast<Element*>(addresses_[id.index()]);
  }
  /// Not for narrow images, whose rows are read by a RowSource and written by a RowSink.
  float* floats(graph::ValueId id) const {
    COSMIC_ASSERT(!is_narrow(graph_.node(id)));
    return at<float>(id);
  }
  /// How a step of the plan computes a value.
  compile::TermView term(const compile::Computed& computed) const {
    return {graph_, computed.expression};
  }

 private:
  const graph::Graph& graph_;
  std::vector<std::byte*> addresses_;
  const RunRounding& rounding_;
};

inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

inline constexpr std::int64_t kAlignment = 64;  ///< bytes; a cache line
inline constexpr std::int64_t kFloatsPerLine = kAlignment / sizeof(float);

}  // namespace cosmic::target::cpu
