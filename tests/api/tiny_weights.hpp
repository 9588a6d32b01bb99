// Weights of a tiny network for images of 16 rows and 32 columns, and events on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/event.hpp"
#include "data/sparse_events.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::api {

inline constexpr std::uint32_t kRows = 16;
inline constexpr std::uint32_t kColumns = 32;

class TinyWeights {
 public:
  TinyWeights() {
    write_random_events(folder_.path() / "train.h5", 4, 1);
    KeptLog log;
    train::train(tiny_configuration(folder_.path(), config::Mode::train,
                                    {"data.aux_file=none.h5", "run.length=2"}),
                 "cpu", log.log());
  }

  std::string path() const { return (folder_.path() / "out" / "checkpoints").string(); }
  std::string nothing() const { return (folder_.path() / "nothing").string(); }

 private:
  RunFolder folder_;
};

/// Of any number.
inline data::SparseEvent an_event(std::int64_t number) {
  return data::random_event(data::grid_of(kRows, kColumns), 0.2, 3, number);
}

}  // namespace cosmic::api
