// Batches whose neutrino has no charge: what a file would have if only cosmic rays had come.
#pragma once

#include <cstdint>
#include <vector>

#include "data/loader/batch.hpp"

namespace cosmic::report::evaluation {

/// It keeps its memory from batch to batch.
class WithoutNeutrino {
 public:
  /// The images of the batch are here from now on, until the next is changed.
  void change(data::Batch& batch);

 private:
  void change_pixels(data::Batch& batch);

  std::vector<float> images_;  ///< or the values of their pixels
  std::vector<std::int64_t> first_;
  std::vector<std::int32_t> places_;
};

}  // namespace cosmic::report::evaluation
