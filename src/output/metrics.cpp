#include "output/metrics.hpp"

#include "core/error.hpp"

namespace cosmic::output {

std::string to_string(Series series) {
  switch (series) {
    case Series::train:
      return "train";
    case Series::test:
      return "test";
    case Series::ana:
      return "ana";
  }
  throw InternalError("unknown series of metrics");
}

}  // namespace cosmic::output
