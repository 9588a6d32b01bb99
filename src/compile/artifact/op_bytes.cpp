#include "compile/artifact/op_bytes.hpp"

#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::compile::artifact {
namespace {

using graph::AnyOp;

// Far more than any program has, and few enough bits that the shape rules, which multiply two of
// them, cannot overflow.
constexpr std::int64_t kLargestExtent = std::int64_t{1} << 31;
constexpr std::int64_t kMostElements = std::int64_t{1} << 44;
// No enumeration of the program has as many members.
constexpr int kMostEnumerators = 64;

/// Writes one field; one overload per kind of field.
struct FieldWriter {
  ByteWriter& out;

  void write(std::int64_t value) const { out.i64(value); }
  void write(double value) const { out.real(value); }
  void write(const std::array<std::int64_t, 3>& values) const {
    for (const std::int64_t value : values) {
      write(value);
    }
  }
  void write(const graph::Shape& shape) const {
    out.count(shape.size());
    for (const std::int64_t extent : shape) {
      write(extent);
    }
  }
  void write(const graph::TensorType& type) const {
    write(type.dtype);
    write(type.shape);
  }
  /// As a word, so that its meaning does not depend on the order of the enumerators.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void write(Enum value) const { out.text(to_string(value)); }
};

/// The counterpart. A value is read into its place, so that the place's type says what it is.
struct FieldReader {
  ByteReader& in;

  void read(std::int64_t& value) const {
    value = in.i64();
    in.require(value >= 0 && value <= kLargestExtent, "has an invalid op number");
  }
  void read(double& value) const { value = in.real(); }
  void read(std::array<std::int64_t, 3>& values) const {
    for (std::int64_t& value : values) {
      read(value);
    }
  }
  void read(graph::Shape& shape) const {
    shape.resize(in.count(sizeof(std::int64_t)));
    std::int64_t elements = 1;
    for (std::int64_t& extent : shape) {
      read(extent);
      in.require(extent >= 1, "has a tensor without elements");
      in.require(extent <= kMostElements / elements, "has a tensor larger than any memory");
      elements *= extent;
    }
  }
  void read(graph::TensorType& type) const {
    read(type.dtype);
    read(type.shape);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(Enum& value) const {
    const std::string_view word = in.text();
    const std::optional<Enum> known = enumerator_of<Enum>(word);
    in.require(known.has_value(), "has the unknown word " + printable(word));
    value = *known;
  }

  template <class Enum>
  static std::optional<Enum> enumerator_of(std::string_view word) {
    try {
      for (int i = 0; i < kMostEnumerators; ++i) {
        if (to_string(static_cast<Enum>(i)) == word) {
          return static_cast<Enum>(i);
        }
      }
    } catch (const InternalError&) {
      // Past the last enumerator, which is how to_string says so.
    }
    return std::nullopt;
  }
};

template <class Op>
AnyOp read_fields(ByteReader& in) {
  Op op{};
  op.visit_fields([&](std::string_view, const auto& field) {
    // Ops show their fields as const, and one list of them is enough; `op` itself is not const.
    FieldReader{in}.read(const_cast<std::decay_t<decltype(field)>&>(field));
  });
  return op;
}

template <std::size_t... Index>
std::optional<AnyOp> read_op_named(std::string_view name, ByteReader& in,
                                   std::index_sequence<Index...>) {
  std::optional<AnyOp> op;
  const auto try_op = [&]<class Op>(std::type_identity<Op>) {
    if (!op && name == Op::name) {
      op = read_fields<Op>(in);
    }
  };
  (try_op(std::type_identity<std::variant_alternative_t<Index, graph::OneOfAllOps>>{}), ...);
  return op;
}

}  // namespace

void write_op(ByteWriter& out, const AnyOp& op) {
  out.text(graph::name_of(op));
  std::visit(
      [&](const auto& o) {
        o.visit_fields([&](std::string_view, const auto& field) { FieldWriter{out}.write(field); });
      },
      op);
}

AnyOp read_op(ByteReader& in) {
  const std::string_view name = in.text();
  const std::optional<AnyOp> op =
      read_op_named(name, in, std::make_index_sequence<std::variant_size_v<graph::OneOfAllOps>>{});
  in.require(op.has_value(), "has the unknown op " + printable(name));
  return *op;
}

void write_type(ByteWriter& out, const graph::TensorType& type) {
  FieldWriter{out}.write(type);
}

graph::TensorType read_type(ByteReader& in) {
  graph::TensorType type;
  FieldReader{in}.read(type);
  return type;
}

void write_layout(ByteWriter& out, graph::Layout layout) {
  FieldWriter{out}.write(layout);
}

graph::Layout read_layout(ByteReader& in) {
  graph::Layout layout{};
  FieldReader{in}.read(layout);
  return layout;
}

}  // namespace cosmic::compile::artifact
