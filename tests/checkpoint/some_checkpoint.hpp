// A small checkpoint whose every value follows from its step, so that a mixture of two is noticed.
#pragma once

#include "checkpoint/checkpoint.hpp"
#include "core/random.hpp"

namespace cosmic::checkpoint {

inline session::Tensor random_tensor(std::int64_t step, const std::string& name,
                                     std::int64_t elements) {
  RandomStream random(static_cast<std::uint64_t>(step), name);
  session::Tensor tensor({graph::DType::f32, {elements}});
  for (float& value : tensor.as<float>()) {
    value = static_cast<float>(random.normal());
  }
  return tensor;
}

inline Checkpoint some_checkpoint(std::int64_t step, std::int64_t elements = 8) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  for (const std::string name : {"a.weight", "b.weight", "optimizer/a.weight/exp_avg"}) {
    checkpoint.tensors.emplace(name, random_tensor(step, name, elements));
  }
  checkpoint.tensors.emplace("optimizer/step", session::Tensor({graph::DType::i64, {}}));
  checkpoint.tensors.at("optimizer/step").as<std::int64_t>()[0] = step;
  checkpoint.run = {.configuration = "depth: 2\nname: \"small\"\n",
                    .schedule = "position " + std::to_string(step),
                    .random = "seed 7",
                    .loader = "epoch 0, entry " + std::to_string(step),
                    .data_fingerprint = "0123456789abcdef",
                    .program = {},
                    .notes = {{"best loss", "0.5"}}};
  return checkpoint;
}

/// Everything but the version that wrote it.
inline bool same(const Checkpoint& a, const Checkpoint& b) {
  RunRecord left = a.run;
  RunRecord right = b.run;
  left.program = right.program = "";
  return a.step == b.step && left == right && a.tensors.size() == b.tensors.size() &&
         std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && x.second.type == y.second.type &&
                             x.second.bytes == y.second.bytes;
                    });
}

}  // namespace cosmic::checkpoint
