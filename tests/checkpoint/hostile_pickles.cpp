#include "checkpoint/hostile_pickles.hpp"

#include "checkpoint/pickle_writer.hpp"

namespace cosmic::checkpoint {
namespace {

using Pickles = std::vector<HostilePickle>;

/// `module`.`name`("touch ran"), with the opcodes of protocol 2.
std::string call_of(const std::string& module, const std::string& name) {
  return PickleWriter().global(module, name).mark().text("touch ran").tuple().reduce().finish();
}

void add_calls(Pickles& all) {
  const std::vector<std::pair<std::string, std::string>> functions{
      {"os", "system"},
      {"posix", "system"},
      {"nt", "system"},
      {"subprocess", "Popen"},
      {"builtins", "eval"},
      {"builtins", "exec"},
      {"builtins", "getattr"},
      {"builtins", "__import__"},
      {"__builtin__", "apply"},
      {"importlib", "import_module"},
      {"runpy", "_run_code"},
      {"pickle", "loads"},
      {"torch", "load"},
      {"torch.storage", "_load_from_bytes"},
      {"torch._utils", "_rebuild_tensor"},
      {"torch.jit", "load"},
      {"numpy.core.multiarray", "_reconstruct"},
      {"numpy.testing._private.utils", "runstring"},
      {"collections", "deque"},
      {"_codecs", "decode"},
      {"OrderedDict", "collections"},
      {"torch._utils", "_rebuild_tensor_v2.__globals__"}};
  for (const auto& [module, name] : functions) {
    all.push_back({"calls " + module + "." + name, call_of(module, name),
                   "names '" + module + "." + name + "'"});
  }
  all.push_back({"calls os.system by STACK_GLOBAL",
                 PickleWriter(4)
                     .raw("\x8c\x02os\x8c\x06system\x93")
                     .mark()
                     .text("touch ran")
                     .tuple()
                     .reduce()
                     .finish(),
                 "STACK_GLOBAL: it names 'os.system'"});
  all.push_back({"names a global that is no text",
                 PickleWriter(4).number(1).text("system").raw("\x93").finish(),
                 "names the number 1 and the text 'system'"});
  all.push_back({"hides a name in control characters",
                 PickleWriter().global("o\x1b[2Js", "system").finish(), "'o\\x1b[2Js.system'"});
  all.push_back({"calls a text", PickleWriter().text("os.system").empty_tuple().reduce().finish(),
                 "calls the text 'os.system'"});
  all.push_back({"calls with a list",
                 PickleWriter().global("collections", "OrderedDict").empty_list().reduce().finish(),
                 "with a list of 0"});
  all.push_back({"calls a storage type",
                 PickleWriter().global("torch", "FloatStorage").empty_tuple().reduce().finish(),
                 "a storage type is called"});
  all.push_back({"calls OrderedDict with arguments",
                 PickleWriter()
                     .global("collections", "OrderedDict")
                     .mark()
                     .empty_list()
                     .tuple()
                     .reduce()
                     .finish(),
                 "OrderedDict is called with 1 arguments"});
}

void add_opcodes(Pickles& all) {
  const std::vector<std::pair<std::string, std::string>> opcodes{
      {"INST", "(ios\nsystem\n"},
      {"OBJ", "(o"},
      {"NEWOBJ", "ccollections\nOrderedDict\n)\x81"},
      {"NEWOBJ_EX", "ccollections\nOrderedDict\n)}\x92"},
      {"EXT1", std::string("\x82\x01")},
      {"EXT2", std::string("\x83\x01\x00", 3)},
      {"EXT4", std::string("\x84\x01\x00\x00\x00", 5)},
      {"PERSID", "P0\n"},
      {"POP", "N0"},
      {"POP_MARK", "(1"},
      {"DUP", "N2"},
      {"LONG4", std::string("\x8b\xff\xff\xff\x7f")},
      {"LONG", "L99999999999999999999L\n"},
      {"INT", "I1\n"},
      {"FLOAT", "F1e999\n"},
      {"STRING", "S'os'\n"},
      {"UNICODE", "Vos\n"},
      {"BINSTRING", std::string("T\xff\xff\xff\x7f")},
      {"LIST", "(l"},
      {"DICT", "(d"},
      {"PUT", "Np0\n"},
      {"GET", "g0\n"},
      {"EMPTY_SET", "\x8f"},
      {"FROZENSET", "(\x91"},
      {"BYTEARRAY8", std::string("\x96\xff\xff\xff\xff\xff\xff\xff\x7f")},
      {"NEXT_BUFFER", "\x97"},
      {"READONLY_BUFFER", "N\x98"},
      {"0xff", "\xff"}};
  for (const auto& [name, bytes] : opcodes) {
    all.push_back({"has the opcode " + name, PickleWriter(5).raw(bytes).finish(),
                   name + ": this opcode is not needed"});
  }
}

void add_states(Pickles& all) {
  all.push_back({"gives a tensor a state", PickleWriter().tensor().empty_dict().build().finish(),
                 "as a state to a tensor"});
  all.push_back({"gives a dictionary a state",
                 PickleWriter().empty_dict().empty_dict().build().finish(),
                 "as a state to a dictionary"});
  all.push_back({"gives a function a state",
                 PickleWriter()
                     .global("torch._utils", "_rebuild_tensor_v2")
                     .empty_dict()
                     .text("__globals__")
                     .none()
                     .set_item()
                     .build()
                     .finish(),
                 "as a state to a function"});
  all.push_back({"gives an OrderedDict the state of a class with slots",
                 PickleWriter().ordered_dict().mark().none().empty_dict().tuple().build().finish(),
                 "a tuple of 2 as a state"});
}

void add_structure(Pickles& all) {
  const auto add = [&](const std::string& name, const std::string& bytes,
                       const std::string& refusal) {
    all.push_back({name, bytes, refusal});
  };
  add("is empty", "", "1 byte is needed, 0 are left");
  add("has no protocol", "N.", "does not start with a protocol");
  add("has protocol 1", PickleWriter(1).none().finish(), "the protocol is 1");
  add("has protocol 6", PickleWriter(6).none().finish(), "the protocol is 6");
  add("has its protocol twice", PickleWriter().raw("\x80\x02").none().finish(),
      "the protocol is given twice");
  add("has no end", PickleWriter().none().unfinished(), "1 byte is needed, 0 are left");
  add("has bytes after its end", PickleWriter().none().finish() + "cos\nsystem\n",
      "bytes follow the end");
  add("has nothing", PickleWriter().finish(), "0 values");
  add("leaves two values", PickleWriter().none().none().finish(), "2 values");
  add("leaves a MARK", PickleWriter().none().mark().finish(), "1 open containers");
  add("calls without a function", PickleWriter().empty_tuple().reduce().finish(),
      "there are 1 values on the stack");
  add("takes from below a MARK", PickleWriter().none().mark().empty_tuple().reduce().finish(),
      "there are 1 values on the stack");
  add("makes a tuple without a MARK", PickleWriter().none().tuple().finish(), "there is no MARK");
  add("appends to a tuple", PickleWriter().empty_tuple().none().append().finish(),
      "adds to a tuple");
  add("appends to nothing", PickleWriter().none().append().finish(), "no value on the stack");
  add("sets an item of a list", PickleWriter().empty_list().none().none().set_item().finish(),
      "sets an item of a list");
  add("sets a key without a value",
      PickleWriter().empty_dict().mark().text("a").set_items().finish(), "1 values are set");
  add("sets a key twice",
      PickleWriter().empty_dict().mark().text("a").none().text("a").none().set_items().finish(),
      "the text 'a' is set twice");
  add("has a list as a key", PickleWriter().empty_dict().empty_list().none().set_item().finish(),
      "a key is a list");
  add("has a key of a megabyte",
      PickleWriter().empty_dict().text(std::string(1 << 20, 'k')).none().set_item().finish(),
      "a key has 1048576 bytes");
}

void add_sizes(Pickles& all) {
  const auto add = [&](const std::string& name, const PickleWriter& pickle,
                       const std::string& refusal) {
    all.push_back({name, pickle.finish(), refusal});
  };
  const std::string most(8, '\xff');
  add("announces a text of 4 GiB", PickleWriter().raw("X\xff\xff\xff\xff").raw("short"),
      "4294967295 bytes are needed");
  add("announces a text of 16 EiB", PickleWriter(4).raw("\x8d").raw(most),
      "18446744073709551615 bytes are needed");
  add("announces bytes of 16 EiB", PickleWriter(4).raw("\x8e").raw(most),
      "18446744073709551615 bytes are needed");
  add("announces a frame of 16 EiB", PickleWriter(4).raw("\x95").raw(most).none(),
      "a frame of 18446744073709551615 bytes");
  add("has a number of 255 bytes", PickleWriter().raw("\x8a\xff").raw(std::string(255, '\x7f')),
      "a whole number has 255 bytes");
  add("has a name without an end", PickleWriter().raw("ccollections\nOrderedDict"),
      "has a text that does not end");
  add("reads a memo that was never written", PickleWriter().get(7), "memo 7 is read");
  add("reads the last memo there could be", PickleWriter().get(0xffffffff),
      "memo 4294967295 is read");
  add("writes the last memo there could be", PickleWriter().none().put(0xffffffff),
      "memo 4294967295 is written");
  add("writes a memo twice", PickleWriter().none().put(1).put(1), "memo 1 is written twice");
  add("remembers nothing", PickleWriter().put(0), "no value on the stack to remember");
  add("has two million values",
      PickleWriter().empty_list().mark().raw(std::string(2'000'000, 'N')).appends(),
      "more than 1048576 values");
  add("has nine million bytes",
      PickleWriter()
          .raw("B")
          .raw(little(std::uint32_t{9'000'000}))
          .raw(std::string(9'000'000, 'x')),
      "has 9000008 bytes");
}

void add_nesting(Pickles& all) {
  PickleWriter tuples;
  tuples.none();
  PickleWriter lists;
  PickleWriter marks;
  for (int depth = 0; depth < 300'000; ++depth) {
    tuples.opcode(0x85);
    lists.empty_list();
    marks.mark();
  }
  for (int depth = 0; depth < 299'999; ++depth) {
    lists.append();
  }
  all.push_back({"nests 300000 tuples", tuples.finish(), "nested more than 32 deep"});
  all.push_back({"nests 300000 lists", lists.finish(), "nested more than 32 deep"});
  all.push_back({"opens 300000 containers", marks.finish(), "more than 32 containers are open"});
  all.push_back({"contains itself", PickleWriter().empty_list().put(0).get(0).append().finish(),
                 "a list of 1 contains itself"});
  all.push_back({"contains itself by way of a dictionary",
                 PickleWriter()
                     .empty_dict()
                     .put(0)
                     .text("a")
                     .empty_list()
                     .get(0)
                     .append()
                     .set_item()
                     .finish(),
                 "contains itself"});
  // Each level holds the one before twice: a billion laughs, if anybody wrote it out.
  PickleWriter laughs;
  laughs.none().put(0);
  for (std::uint32_t level = 1; level <= 40; ++level) {
    laughs.get(level - 1).opcode(0x86).put(level);
  }
  all.push_back({"doubles forty times", laughs.finish(), "nested more than 32 deep"});
}

void add_tensors(Pickles& all) {
  constexpr std::int64_t kLargest = INT64_MAX;
  const auto add = [&](const std::string& name, const PickleWriter::View& view,
                       const std::string& refusal) {
    all.push_back({name, PickleWriter().tensor(view).finish(), refusal});
  };
  add("reads behind its storage", {.shape = {5}}, "reaches element 4");
  add("starts behind its storage", {.offset = 4, .shape = {1}}, "reaches element 4");
  add("starts behind its storage without elements", {.offset = 5, .shape = {0}},
      "the storage '0' has 4 elements");
  add("starts before its storage", {.offset = -1}, "starts at element -1");
  add("steps out of its storage", {.shape = {2}, .strides = {4}}, "reaches element 4");
  add("steps backwards", {.strides = {-1}}, "the number -1 among");
  add("has a negative extent", {.shape = {-4}}, "the number -4 among");
  add("steps beyond 64 bits", {.shape = {4}, .strides = {kLargest}}, "beyond 64 bits");
  add("starts and steps beyond 64 bits",
      {.offset = kLargest, .shape = {2, 2}, .strides = {kLargest, kLargest}}, "beyond 64 bits");
  add("has more elements than 64 bits count", {.shape = {kLargest, kLargest}, .strides = {0, 0}},
      "beyond 64 bits");
  add("makes a large tensor of a small storage", {.shape = {1 << 30}, .strides = {0}},
      "larger than what it shows");
  add("has more extents than strides", {.shape = {2, 2}}, "a shape of 2 and strides of 1");
  add("has nine extents",
      {.shape = std::vector<std::int64_t>(9, 1), .strides = std::vector<std::int64_t>(9, 1)},
      "9 extents");
  add("has a storage of more bytes than 63 bits count", {.elements = kLargest},
      "is said to have 9223372036854775807 elements");
  add("has a storage of fewer elements than none", {.elements = -1}, "is said to have -1 elements");

  const auto persistent = [&](const std::string& name, PickleWriter id,
                              const std::string& refusal) {
    all.push_back({name, id.persistent().finish(), refusal});
  };
  persistent("has a persistent id that is a text", PickleWriter().text("storage"),
             "a persistent id is the text 'storage'");
  persistent("has a persistent id of another kind",
             PickleWriter()
                 .mark()
                 .text("module")
                 .global("torch", "FloatStorage")
                 .text("0")
                 .text("cpu")
                 .number(1)
                 .tuple(),
             "of the kind 'module'");
  persistent("has a persistent id of a function",
             PickleWriter()
                 .mark()
                 .text("storage")
                 .global("_codecs", "encode")
                 .text("0")
                 .text("cpu")
                 .number(1)
                 .tuple(),
             "names a function");
  persistent("has a persistent id that is too short", PickleWriter().mark().text("storage").tuple(),
             "called with 1 arguments");
  all.push_back({"has a tensor with hooks",
                 PickleWriter()
                     .global("torch._utils", "_rebuild_tensor_v2")
                     .mark()
                     .storage("FloatStorage", "0", 4)
                     .number(0)
                     .numbers({4})
                     .numbers({1})
                     .boolean(true)
                     .empty_dict()
                     .number(0)
                     .none()
                     .set_item()
                     .tuple()
                     .reduce()
                     .finish(),
                 "comes with 1 hooks"});
  all.push_back({"has a tensor of no storage",
                 PickleWriter()
                     .global("torch._utils", "_rebuild_tensor_v2")
                     .mark()
                     .none()
                     .number(0)
                     .numbers({4})
                     .numbers({1})
                     .boolean(true)
                     .empty_dict()
                     .tuple()
                     .reduce()
                     .finish(),
                 "None as its argument 1"});
}

void add_numpy(Pickles& all) {
  const auto encode = [](const std::string& text, const std::string& encoding) {
    return PickleWriter()
        .global("_codecs", "encode")
        .mark()
        .text(text)
        .text(encoding)
        .tuple()
        .reduce();
  };
  const auto dtype = [](const std::string& name) {
    return PickleWriter()
        .global("numpy", "dtype")
        .mark()
        .text(name)
        .boolean(false)
        .boolean(true)
        .tuple()
        .reduce();
  };
  all.push_back(
      {"encodes with another codec", encode("uryyb", "rot13").finish(), "the encoding 'rot13'"});
  all.push_back({"encodes what is not Latin-1", encode("\xe2\x82\xac", "latin1").finish(),
                 "a character that is not in Latin-1"});
  all.push_back({"encodes half a character", encode("\xc3", "latin1").finish(),
                 "a character that is not in Latin-1"});
  all.push_back({"encodes a long text", encode(std::string(1000, 'x'), "latin1").finish(),
                 "1000 bytes of text"});
  all.push_back({"has a numpy type of objects", dtype("O8").finish(), "called with 'O8'"});
  all.push_back({"has a big-endian numpy type",
                 dtype("f8").mark().number(3).text(">").tuple().build().finish(),
                 "as a state to the numpy type 'f8'"});
  all.push_back({"has a numpy number of too few bytes",
                 PickleWriter()
                     .global("numpy.core.multiarray", "scalar")
                     .mark()
                     .raw(dtype("f8").unfinished().substr(2))
                     .raw(encode("short", "latin1").unfinished().substr(2))
                     .tuple()
                     .reduce()
                     .finish(),
                 "a numpy f8 has 5 bytes"});
}

}  // namespace

std::vector<HostilePickle> hostile_pickles() {
  Pickles all;
  add_calls(all);
  add_opcodes(all);
  add_states(all);
  add_structure(all);
  add_sizes(all);
  add_nesting(all);
  add_tensors(all);
  add_numpy(all);
  return all;
}

}  // namespace cosmic::checkpoint
