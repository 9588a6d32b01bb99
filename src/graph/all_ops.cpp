#include "graph/all_ops.hpp"

#include <array>
#include <sstream>
#include <type_traits>

namespace cosmic::graph {
namespace {

std::string text_of(const std::array<std::int64_t, 3>& values) {
  return to_string(Shape(values.begin(), values.end()));
}

template <class Value>
std::string text_of(const Value& value) {
  if constexpr (std::is_arithmetic_v<Value>) {
    std::ostringstream text;
    text.precision(17);
    text << value;
    return text.str();
  } else {
    return to_string(value);
  }
}

}  // namespace

AnyOp::AnyOp() noexcept = default;
AnyOp::AnyOp(const AnyOp& other) = default;
AnyOp::AnyOp(AnyOp&& other) noexcept = default;
AnyOp& AnyOp::operator=(const AnyOp& other) = default;
AnyOp& AnyOp::operator=(AnyOp&& other) noexcept = default;
AnyOp::~AnyOp() = default;

bool operator==(const AnyOp& a, const AnyOp& b) {
  return static_cast<const OneOfAllOps&>(a) == static_cast<const OneOfAllOps&>(b);
}

std::string_view name_of(const AnyOp& op) {
  return std::visit([](const auto& o) { return std::decay_t<decltype(o)>::name; }, op);
}

Locality locality_of(const AnyOp& op) {
  return std::visit([](const auto& o) { return std::decay_t<decltype(o)>::locality; }, op);
}

Role role_of(const AnyOp& op, Roles operands) {
  return std::visit([&](const auto& o) { return o.role(o, operands); }, op);
}

bool is_weight_operand(const AnyOp& op, std::size_t i, Role role) {
  return std::visit([&](const auto& o) { return o.is_weight(i, role); }, op);
}

Overwrite overwrite_of(const AnyOp& op) {
  return std::visit([](const auto& o) { return std::decay_t<decltype(o)>::overwrite; }, op);
}

Exact exact_of(const AnyOp& op) {
  return std::visit([](const auto& o) { return std::decay_t<decltype(o)>::exact; }, op);
}

Reduction reduction_of(const AnyOp& op) {
  return std::visit([](const auto& o) { return std::decay_t<decltype(o)>::reduction; }, op);
}

Division division_of(const AnyOp& op) {
  return std::visit([](const auto& o) { return o.division(o); }, op);
}

ImageUse image_use_of(const AnyOp& op, Types operands) {
  return std::visit([&](const auto& o) { return o.images(o, operands); }, op);
}

std::string describe_fields(const AnyOp& op) {
  std::string text;
  std::visit(
      [&](const auto& o) {
        o.visit_fields([&](std::string_view field, const auto& value) {
          text += (text.empty() ? "" : " ") + std::string(field) + "=" + text_of(value);
        });
      },
      op);
  return text;
}

}  // namespace cosmic::graph
