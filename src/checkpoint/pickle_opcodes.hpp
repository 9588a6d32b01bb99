// The opcodes of Python's pickle format, by name.
#pragma once

#include <cstdint>
#include <string>

namespace cosmic::checkpoint {

// Those that are understood. Python's pickler writes no others for numbers, texts and containers in
// protocols 2 to 5.
enum class Opcode : std::uint8_t {
  proto = 0x80,
  frame = 0x95,
  stop = '.',
  mark = '(',
  none = 'N',
  new_true = 0x88,
  new_false = 0x89,
  binint = 'J',
  binint1 = 'K',
  binint2 = 'M',
  long1 = 0x8a,
  binfloat = 'G',
  binunicode = 'X',
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes = 'B',
  short_binbytes = 'C',
  binbytes8 = 0x8e,
  empty_tuple = ')',
  tuple = 't',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  empty_list = ']',
  append = 'a',
  appends = 'e',
  empty_dict = '}',
  setitem = 's',
  setitems = 'u',
  global = 'c',
  stack_global = 0x93,
  reduce = 'R',
  build = 'b',
  binpersid = 'Q',
  binput = 'q',
  long_binput = 'r',
  memoize = 0x94,
  binget = 'h',
  long_binget = 'j',
};

/// The name of any opcode, supported or not: "INST"; "0xff" for a byte that is not an opcode.
std::string opcode_name(std::uint8_t code);

}  // namespace cosmic::checkpoint
