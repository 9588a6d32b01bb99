#include "checkpoint/checkpoint_difference.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

namespace cosmic::checkpoint {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Lines of `from` that are not in `other`, counting repetitions.
std::vector<std::string> lines_only_in(const std::vector<std::string>& from,
                                       const std::vector<std::string>& other) {
  std::multiset<std::string> left(other.begin(), other.end());
  std::vector<std::string> result;
  for (const std::string& line : from) {
    if (const auto found = left.find(line); found != left.end()) {
      left.erase(found);
    } else {
      result.push_back(line);
    }
  }
  return result;
}

template <class Element>
void compare_elements(const session::Tensor& left, const session::Tensor& right,
                      TensorDifference& difference) {
  const std::span<const Element> a = left.as<Element>();
  const std::span<const Element> b = right.as<Element>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    // By their bits: NaN is the same as itself, and 0 is not -0.
    if (std::ranges::equal(std::as_bytes(a.subspan(i, 1)), std::as_bytes(b.subspan(i, 1)))) {
      continue;
    }
    ++difference.different;
    const auto x = static_cast<double>(a[i]);
    const auto y = static_cast<double>(b[i]);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      ++difference.incomparable;
      continue;
    }
    const double distance = std::abs(x - y);
    const double magnitude = std::max(std::abs(x), std::abs(y));
    difference.largest = std::max(difference.largest, distance);
    if (magnitude > 0) {
      difference.largest_relative = std::max(difference.largest_relative, distance / magnitude);
    }
  }
}

TensorDifference compare_tensors(const std::string& name, const session::Tensor& left,
                                 const session::Tensor& right) {
  TensorDifference difference;
  difference.name = name;
  difference.left = left.type;
  difference.right = right.type;
  if (left.type != right.type) {
    return difference;
  }
  switch (left.type.dtype) {
    case graph::DType::f32:
      compare_elements<float>(left, right, difference);
      break;
    case graph::DType::i64:
      compare_elements<std::int64_t>(left, right, difference);
      break;
    case graph::DType::u8:
      compare_elements<std::uint8_t>(left, right, difference);
      break;
  }
  return difference;
}

void compare_tensors(const Checkpoint& left, const Checkpoint& right,
                     CheckpointDifference& difference) {
  std::set<std::string> names;
  for (const Checkpoint* checkpoint : {&left, &right}) {
    for (const auto& [name, tensor] : checkpoint->tensors) {
      names.insert(name);
    }
  }
  for (const std::string& name : names) {
    const auto a = left.tensors.find(name);
    const auto b = right.tensors.find(name);
    if (a == left.tensors.end()) {
      difference.tensors.push_back({.name = name, .left = {}, .right = b->second.type});
    } else if (b == right.tensors.end()) {
      difference.tensors.push_back({.name = name, .left = a->second.type, .right = {}});
    } else {
      ++difference.tensors_in_both;
      if (a->second.type != b->second.type || a->second.bytes != b->second.bytes) {
        difference.tensors.push_back(compare_tensors(name, a->second, b->second));
      }
    }
  }
}

void compare_texts(const RunRecord& left, const RunRecord& right,
                   CheckpointDifference& difference) {
  const auto add = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (a != b) {
      difference.texts.push_back(compare_lines(what, a, b));
    }
  };
  add("configuration", left.configuration, right.configuration);
  add("schedule", left.schedule, right.schedule);
  add("random", left.random, right.random);
  add("loader", left.loader, right.loader);
  add("data fingerprint", left.data_fingerprint, right.data_fingerprint);
  add("program", left.program, right.program);
  std::set<std::string> notes;
  for (const RunRecord* run : {&left, &right}) {
    for (const auto& [name, text] : run->notes) {
      notes.insert(name);
    }
  }
  const auto note = [](const RunRecord& run, const std::string& name) {
    const auto found = run.notes.find(name);
    return found == run.notes.end() ? std::string() : found->second;
  };
  for (const std::string& name : notes) {
    add("note " + name, note(left, name), note(right, name));
  }
}

}  // namespace

TextDifference compare_lines(const std::string& what, const std::string& left,
                             const std::string& right) {
  const std::vector<std::string> a = lines_of(left);
  const std::vector<std::string> b = lines_of(right);
  return {what, lines_only_in(a, b), lines_only_in(b, a)};
}

CheckpointDifference compare(const Checkpoint& left, const Checkpoint& right) {
  CheckpointDifference difference;
  if (left.step != right.step) {
    difference.step.emplace(left.step, right.step);
  }
  compare_texts(left.run, right.run, difference);
  compare_tensors(left, right, difference);
  return difference;
}

}  // namespace cosmic::checkpoint
