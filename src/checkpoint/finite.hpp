// Whether all numbers of a checkpoint are numbers. One that is infinite or NaN makes a network
// blind or loses every weight at the next update, so such a checkpoint is neither written nor taken
// up.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "session/tensor.hpp"

namespace cosmic::checkpoint {

/// What a reader or writer of checkpoints wants of their numbers.
enum class Numbers {
  finite,  ///< all of them, or it is an error
  any,     ///< for who looks at checkpoints and does not compute with them
};

/// The first tensor with numbers that are not finite.
struct NonFinite {
  std::string tensor;
  std::int64_t count = 0;  ///< of its numbers
  float first = 0;
  std::int64_t more_tensors = 0;  ///< that have such numbers too

  std::string text() const;  ///< "'bn.running_var' has 3 numbers that are not finite, such as inf"
};

/// Looks at numbers as they pass by: while a checksum has them in the cache, that costs a tenth of
/// the checksum.
class FiniteCheck {
 public:
  /// A tensor, or the parts of one in turn; then the next.
  void add(const std::string& tensor, std::span<const float> numbers);
  void add(const session::NamedTensors& tensors);

  /// Nothing if all were finite.
  const std::optional<NonFinite>& found() const { return found_; }

 private:
  std::optional<NonFinite> found_;
  std::string latest_;  // tensor with such numbers
};

/// Nothing if all are finite.
std::optional<NonFinite> find_non_finite(const session::NamedTensors& tensors);

struct NonFiniteCheckpoint : DataError {
  NonFiniteCheckpoint(const std::string& message, NonFinite what)
      : DataError(message), found(std::move(what)) {}

  NonFinite found;
};

}  // namespace cosmic::checkpoint
