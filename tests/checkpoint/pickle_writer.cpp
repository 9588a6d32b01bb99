#include "checkpoint/pickle_writer.hpp"

#include <algorithm>

namespace cosmic::checkpoint {

PickleWriter::PickleWriter(int protocol) {
  opcode(0x80).opcode(protocol);
}

PickleWriter& PickleWriter::raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}

PickleWriter& PickleWriter::text(std::string_view text) {
  return opcode('X').raw(little(static_cast<std::uint32_t>(text.size()))).raw(text);
}

PickleWriter& PickleWriter::number(std::int64_t number) {
  return opcode(0x8a).opcode(sizeof(number)).raw(little(number));
}

PickleWriter& PickleWriter::real(double number) {
  std::string bytes = little(number);
  std::reverse(bytes.begin(), bytes.end());
  return opcode('G').raw(bytes);
}

PickleWriter& PickleWriter::global(std::string_view module, std::string_view name) {
  return opcode('c').raw(module).raw("\n").raw(name).raw("\n");
}

PickleWriter& PickleWriter::put(std::uint32_t index) {
  return opcode('r').raw(little(index));
}

PickleWriter& PickleWriter::get(std::uint32_t index) {
  return opcode('j').raw(little(index));
}

PickleWriter& PickleWriter::numbers(const std::vector<std::int64_t>& numbers) {
  mark();
  for (const std::int64_t each : numbers) {
    number(each);
  }
  return tuple();
}

PickleWriter& PickleWriter::ordered_dict() {
  return global("collections", "OrderedDict").empty_tuple().reduce();
}

PickleWriter& PickleWriter::storage(std::string_view type, std::string_view key,
                                    std::int64_t elements) {
  return mark()
      .text("storage")
      .global("torch", type)
      .text(key)
      .text("cpu")
      .number(elements)
      .tuple()
      .persistent();
}

PickleWriter& PickleWriter::tensor(const View& view) {
  return global("torch._utils", "_rebuild_tensor_v2")
      .mark()
      .storage(view.type, view.key, view.elements)
      .number(view.offset)
      .numbers(view.shape)
      .numbers(view.strides)
      .boolean(false)
      .ordered_dict()
      .tuple()
      .reduce();
}

}  // namespace cosmic::checkpoint
