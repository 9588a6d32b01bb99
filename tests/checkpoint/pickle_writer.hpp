// Writes pickles opcode by opcode, good ones and bad ones. Each function adds one opcode, or the
// few that the framework writes for one thing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic::checkpoint {

class PickleWriter {
 public:
  explicit PickleWriter(int protocol = 2);

  /// Any bytes.
  PickleWriter& raw(std::string_view bytes);
  PickleWriter& opcode(int code) { return raw(std::string(1, static_cast<char>(code))); }

  PickleWriter& mark() { return opcode('('); }
  PickleWriter& none() { return opcode('N'); }
  PickleWriter& boolean(bool value) { return opcode(value ? 0x88 : 0x89); }
  PickleWriter& text(std::string_view text);
  PickleWriter& number(std::int64_t number);
  PickleWriter& real(double number);
  PickleWriter& empty_tuple() { return opcode(')'); }
  PickleWriter& tuple() { return opcode('t'); }
  PickleWriter& empty_list() { return opcode(']'); }
  PickleWriter& append() { return opcode('a'); }
  PickleWriter& appends() { return opcode('e'); }
  PickleWriter& empty_dict() { return opcode('}'); }
  PickleWriter& set_item() { return opcode('s'); }
  PickleWriter& set_items() { return opcode('u'); }
  PickleWriter& global(std::string_view module, std::string_view name);
  PickleWriter& reduce() { return opcode('R'); }
  PickleWriter& build() { return opcode('b'); }
  PickleWriter& persistent() { return opcode('Q'); }
  PickleWriter& put(std::uint32_t index);
  PickleWriter& get(std::uint32_t index);

  PickleWriter& numbers(const std::vector<std::int64_t>& numbers);  ///< a tuple
  PickleWriter& ordered_dict();
  PickleWriter& storage(std::string_view type, std::string_view key, std::int64_t elements);

  struct View {
    std::string type = "FloatStorage";
    std::string key = "0";
    std::int64_t elements = 4;  ///< of the storage
    std::int64_t offset = 0;
    std::vector<std::int64_t> shape = {4};
    std::vector<std::int64_t> strides = {1};
  };
  PickleWriter& tensor(const View& view);
  PickleWriter& tensor() { return tensor(View{}); }

  /// The pickle, ended.
  std::string finish() const { return bytes_ + "."; }
  /// The pickle as it is, without an end.
  const std::string& unfinished() const { return bytes_; }

 private:
  std::string bytes_;
};

/// A number as it lies in memory.
template <class Number>
std::string little(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

}  // namespace cosmic::checkpoint
