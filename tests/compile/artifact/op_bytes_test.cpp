// Every op goes to bytes and comes back the same, whatever its attributes; what no op can have is
// refused.
#include "compile/artifact/op_bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "core/error.hpp"

namespace cosmic::compile::artifact {
namespace {

using graph::AnyOp;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Gives each field a value of its own, so that none can be mistaken for another or left out.
struct FieldFiller {
  std::int64_t next = 3;

  void fill(std::int64_t& value) { value = next++; }
  void fill(double& value) { value = 0.25 * static_cast<double>(next++) + 1e-9; }
  void fill(std::array<std::int64_t, 3>& values) {
    for (std::int64_t& value : values) {
      fill(value);
    }
  }
  void fill(graph::Shape& shape) {
    shape.resize(3);
    for (std::int64_t& extent : shape) {
      fill(extent);
    }
  }
  void fill(graph::TensorType& type) {
    fill(type.dtype);
    fill(type.shape);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void fill(Enum& value) { value = static_cast<Enum>(1); }
};

template <std::size_t Index>
AnyOp filled_op() {
  std::variant_alternative_t<Index, graph::OneOfAllOps> op{};
  FieldFiller filler;
  op.visit_fields([&](std::string_view, const auto& field) {
    filler.fill(const_cast<std::decay_t<decltype(field)>&>(field));
  });
  return op;
}

template <std::size_t... Index>
std::vector<AnyOp> all_ops(std::index_sequence<Index...>) {
  return {filled_op<Index>()..., std::variant_alternative_t<Index, graph::OneOfAllOps>{}...};
}

ByteReader reader_of(const ByteWriter& out) {
  return {out.bytes(), "what was written", "write it again"};
}

AnyOp through_bytes(const AnyOp& op) {
  ByteWriter out;
  write_op(out, op);
  ByteReader in = reader_of(out);
  AnyOp read = read_op(in);
  in.require_end();
  return read;
}

TEST(OpBytes, bring_every_op_back_with_all_its_fields) {
  for (const AnyOp& op :
       all_ops(std::make_index_sequence<std::variant_size_v<graph::OneOfAllOps>>{})) {
    EXPECT_EQ(through_bytes(op), op) << graph::name_of(op) << ' ' << graph::describe_fields(op);
  }
}

TEST(OpBytes, refuse_an_op_of_an_unknown_name) {
  ByteWriter out;
  out.text("teleport");
  EXPECT_THAT(
      [&] {
        ByteReader in = reader_of(out);
        read_op(in);
      },
      ThrowsMessage<DataError>(HasSubstr("unknown op 'teleport'")));
}

TEST(OpBytes, refuse_a_word_that_is_no_enumerator) {
  ByteWriter out;
  out.text("reorder");
  out.text("sideways");
  EXPECT_THAT(
      [&] {
        ByteReader in = reader_of(out);
        read_op(in);
      },
      ThrowsMessage<DataError>(HasSubstr("unknown word 'sideways'")));
}

TEST(OpBytes, refuse_numbers_that_no_op_can_have) {
  for (const std::int64_t axis : {std::int64_t{-1}, std::int64_t{1} << 40}) {
    ByteWriter out;
    write_op(out, graph::Concat{axis});
    EXPECT_THAT(
        [&] {
          ByteReader in = reader_of(out);
          read_op(in);
        },
        ThrowsMessage<DataError>(HasSubstr("an invalid op number")));
  }
}

TEST(OpBytes, refuse_a_tensor_that_overflows) {
  ByteWriter out;
  write_type(out, {graph::DType::f32, {1 << 20, 1 << 20, 1 << 20}});
  EXPECT_THAT(
      [&] {
        ByteReader in = reader_of(out);
        read_type(in);
      },
      ThrowsMessage<DataError>(HasSubstr("larger than any memory")));
}

}  // namespace
}  // namespace cosmic::compile::artifact
