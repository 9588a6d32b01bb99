#include "infer/inference_outputs.hpp"

namespace cosmic::infer {

Range Shard::part_of(const Range& entries) const {
  return {entries.begin + entries.size() * (number - 1) / of,
          entries.begin + entries.size() * number / of};
}

std::string Shard::name() const {
  if (of == 1) {
    return {};
  }
  const std::string all = std::to_string(of);
  std::string own = std::to_string(number);
  own.insert(0, all.size() - own.size(), '0');
  return "shard-" + own + "-of-" + all;
}

}  // namespace cosmic::infer
