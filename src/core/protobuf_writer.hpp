// Writes messages in the wire format of Protocol Buffers, field by field, without a schema: all
// that event files and ONNX need, and no reason to depend on a library with a code generator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cosmic {

/// One message. Fields appear in the order in which they are written; a repeated field is written
/// once per element. To nest messages, write the inner one first and pass it.
class ProtobufWriter {
 public:
  /// int32, int64, bool and enums. Negative numbers take ten bytes, as the format wants it.
  void integer(std::uint32_t field, std::int64_t value);
  /// float.
  void real32(std::uint32_t field, float value);
  /// double.
  void real64(std::uint32_t field, double value);
  /// string and bytes.
  void bytes(std::uint32_t field, std::string_view value);
  void message(std::uint32_t field, const ProtobufWriter& value) { bytes(field, value.encoded_); }

  const std::string& encoded() const { return encoded_; }

 private:
  std::string encoded_;
};

}  // namespace cosmic
