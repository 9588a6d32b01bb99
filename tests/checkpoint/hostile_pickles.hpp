// Pickles that must be refused, each with a piece of the refusal: those that would run something in
// Python, those that would take all memory or the stack, and those that lie about their tensors.
// The tests check the refusals; the fuzzer starts from them.
#pragma once

#include <string>
#include <vector>

namespace cosmic::checkpoint {

struct HostilePickle {
  std::string name;
  std::string bytes;
  std::string refusal;
};

std::vector<HostilePickle> hostile_pickles();

}  // namespace cosmic::checkpoint
