// A program as the formulas see it: for each node the kind of work, its sizes, and the bytes that
// must be moved for it. What is true for every machine is worked out here once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace cosmic::machine {

/// Sums of products, seen the same way whether they are a convolution, one of its gradients or a
/// matrix product: `rows` results for each of `columns`, each a sum over `common` channels and the
/// positions of a kernel.
struct Contraction {
  double rows = 1;  ///< pixels of all images, for a convolution
  std::int64_t common = 1;
  std::int64_t columns = 1;
  std::int64_t kernel_rows = 1;  ///< times its depth
  std::int64_t kernel_columns = 1;
  /// Rows that read the same elements: in the gradient of a kernel, those of its positions.
  double rows_per_element = 1;
  bool strided = false;  ///< the window moves by more than one pixel

  /// Of the kernel, whether it is a factor or the result.
  double kernel_positions() const {
    return rows_per_element * static_cast<double>(kernel_rows * kernel_columns);
  }
  double multiply_adds() const {
    return rows * static_cast<double>(common * columns * kernel_rows * kernel_columns);
  }
};

/// One op's work. Bytes are those of stored values: what is recomputed where it is read costs
/// arithmetic there, and its operands are read instead.
struct Work {
  enum class Kind {
    nothing,        ///< inputs, states, another view of the same elements, what an inference
                    ///< computes once from its weights
    contraction,    ///< see Contraction
    elementwise,    ///< each result from a few elements nearby
    reduction,      ///< few results from many elements
    rearrangement,  ///< elements go elsewhere
    update,         ///< of the optimizer: once per update, not once per batch
  };

  enum class Phase { forward, backward, update };

  graph::ValueId value;
  std::string layer;
  std::string op;
  Kind kind = Kind::nothing;
  Phase phase = Phase::forward;  ///< backward: what is computed again for it included
  std::size_t stage = 0;         ///< of a pipeline
  std::optional<Contraction> contraction = {};
  double flops = 0;
  double elements = 0;  ///< of the largest among result and operands
  double bytes_read = 0;
  double bytes_written = 0;
  double weight_bytes = 0;         ///< of a convolution's kernel, part of what is read
  std::int64_t element_bytes = 4;  ///< 2 where all that is computed with is narrow
  bool tf32 = false;               ///< a product whose float32 factors are rounded to tf32
  std::int64_t channels = 0;       ///< of the largest image that it works on; 0 if there is none
  bool per_channel = false;        ///< sums over an image for each channel, or applies such sums
  bool stored = true;
  std::vector<std::size_t> reads = {};  ///< nodes whose stored values it reads, each once
  /// What forces a recompilation if it changes: the op and the shapes it reads.
  std::string signature = {};

  double bytes() const { return bytes_read + bytes_written; }
};

struct Workload {
  std::vector<Work> works;           ///< one per node, in program order
  std::vector<double> value_bytes;   ///< of each node's stored value
  std::vector<bool> leaves_program;  ///< whether the value is a result or becomes a state
  double input_bytes = 0;            ///< from the host, for one run
  double gradient_bytes = 0;         ///< of all parameters, all-reduced by replicas; 0 in inference
  double gradient_elements = 0;      ///< numbers in them
  /// Of each batch statistic that replicas agree on in every run, forwards and backwards.
  std::vector<double> statistics_bytes;
  /// What processes exchange of them, in the order of the backward pass and as large as they go at
  /// once.
  std::vector<double> gradient_buckets = {};
  std::size_t stages = 1;  ///< of a pipeline
  NumberFormat partials = NumberFormat::f32;

  bool trains() const { return gradient_bytes > 0; }
};

Workload workload_of(const graph::Graph& graph);

}  // namespace cosmic::machine
