// Any op as bytes: its name and its fields, in the order in which its visit_fields shows them. A
// new op needs nothing here; a field of a new kind does not compile until op_bytes.cpp says how it
// is written.
#pragma once

#include "core/byte_reader.hpp"
#include "core/byte_writer.hpp"
#include "graph/all_ops.hpp"

namespace cosmic::compile::artifact {

void write_op(ByteWriter& out, const graph::AnyOp& op);
/// Throws DataError for an op or a word that this program does not know, or for a number that no
/// op can have.
graph::AnyOp read_op(ByteReader& in);

void write_type(ByteWriter& out, const graph::TensorType& type);
/// The extents are positive and the bytes fit 63 bits by far.
graph::TensorType read_type(ByteReader& in);

void write_layout(ByteWriter& out, graph::Layout layout);
graph::Layout read_layout(ByteReader& in);

}  // namespace cosmic::compile::artifact
