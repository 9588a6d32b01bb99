// A program that certainly does not fit the machine it was compiled for. A separate type, because a
// caller that knows the run's settings can suggest others that fit.
#pragma once

#include <string>

#include "core/error.hpp"
#include "graph/tensor_type.hpp"

namespace cosmic::session {

class CapacityError : public TargetError {
 public:
  /// `image` is what one run of the program takes.
  CapacityError(std::string problem, const std::string& remedies, graph::TensorType image)
      : TargetError(problem + "; " + remedies),
        problem_(std::move(problem)),
        image_(std::move(image)) {}

  /// What is too large, without what could be done in general.
  const std::string& problem() const { return problem_; }
  const graph::TensorType& image() const { return image_; }

 private:
  std::string problem_;
  graph::TensorType image_;
};

}  // namespace cosmic::session
