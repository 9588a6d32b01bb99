#include "checkpoint/unpickler.hpp"

#include <bit>
#include <unordered_map>

#include "checkpoint/pickle_globals.hpp"
#include "checkpoint/pickle_nesting.hpp"
#include "checkpoint/pickle_opcodes.hpp"
#include "core/byte_reader.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::checkpoint {
namespace {

// A network of seventy parameters with its optimizer makes 38 kB and about ten thousand values, six
// deep. These are far above any network, and small enough that a hostile file cannot hurt.
constexpr std::size_t kMaxBytes = 8 << 20;
constexpr std::size_t kMaxPushes = 1 << 20;
constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxKeyBytes = 512;
constexpr std::uint8_t kFirstProtocol = 2;
constexpr std::uint8_t kLastProtocol = 5;

constexpr std::string_view kAdvice = "the file is damaged or was not written by PyTorch";

[[noreturn]] void fail(const std::string& problem, std::string_view advice) {
  throw DataError(problem + "; " + std::string(advice));
}

void require(bool ok, const std::string& problem, std::string_view advice = kAdvice) {
  if (!ok) {
    fail(problem, advice);
  }
}

/// The stack machine. One function per group of opcodes.
class Machine {
 public:
  explicit Machine(std::span<const std::byte> bytes) : reader_(bytes, "the pickle", kAdvice) {}

  std::size_t position() const { return reader_.position(); }
  std::size_t left() const { return reader_.left(); }

  /// Takes one opcode. False after the last.
  bool step(Opcode code) {
    switch (code) {
      case Opcode::stop:
        return false;
      case Opcode::proto:
        protocol();
        break;
      case Opcode::frame:
        frame();
        break;
      case Opcode::mark:
        require(marks_.size() < kMaxDepth, "more than " + std::to_string(kMaxDepth) +
                                               " containers are open (a checkpoint has six)");
        marks_.push_back(stack_.size());
        break;
      case Opcode::none:
      case Opcode::new_true:
      case Opcode::new_false:
      case Opcode::binint:
      case Opcode::binint1:
      case Opcode::binint2:
      case Opcode::long1:
      case Opcode::binfloat:
        push(number(code));
        break;
      case Opcode::binunicode:
        push(std::string(reader_.text(reader_.u32())));
        break;
      case Opcode::short_binunicode:
        push(std::string(reader_.text(reader_.u8())));
        break;
      case Opcode::binunicode8:
        push(std::string(reader_.text(reader_.u64())));
        break;
      case Opcode::binbytes:
        push(PickleBytes{std::string(reader_.text(reader_.u32()))});
        break;
      case Opcode::short_binbytes:
        push(PickleBytes{std::string(reader_.text(reader_.u8()))});
        break;
      case Opcode::binbytes8:
        push(PickleBytes{std::string(reader_.text(reader_.u64()))});
        break;
      case Opcode::empty_tuple:
        push(PickleTuple{});
        break;
      case Opcode::tuple:
        push(PickleTuple{pop_to_mark()});
        break;
      case Opcode::tuple1:
        push(PickleTuple{pop_many(1)});
        break;
      case Opcode::tuple2:
        push(PickleTuple{pop_many(2)});
        break;
      case Opcode::tuple3:
        push(PickleTuple{pop_many(3)});
        break;
      case Opcode::empty_list:
        push(PickleList{});
        break;
      case Opcode::append:
        append(pop_many(1));
        break;
      case Opcode::appends:
        append(pop_to_mark());
        break;
      case Opcode::empty_dict:
        push(PickleDict{});
        break;
      case Opcode::setitem:
        set_items(pop_many(2));
        break;
      case Opcode::setitems:
        set_items(pop_to_mark());
        break;
      case Opcode::global:
        global();
        break;
      case Opcode::stack_global:
        stack_global();
        break;
      case Opcode::reduce:
        reduce();
        break;
      case Opcode::build:
        build();
        break;
      case Opcode::binpersid:
        push(storage_of(tree_, tree_.at(pop())));
        break;
      case Opcode::binput:
        remember(reader_.u8());
        break;
      case Opcode::long_binput:
        remember(reader_.u32());
        break;
      case Opcode::memoize:
        remember(memo_.size());
        break;
      case Opcode::binget:
        push_id(recall(reader_.u8()));
        break;
      case Opcode::long_binget:
        push_id(recall(reader_.u32()));
        break;
      default:
        fail(
            "this opcode is not needed for numbers, texts, containers or tensors (it could create "
            "or run something else)",
            "do not use this file; ask its maker for plain safetensors weights");
    }
    return true;
  }

  Opcode next_opcode() { return static_cast<Opcode>(reader_.u8()); }

  PickleTree finish() {
    require(reader_.left() == 0, std::to_string(reader_.left()) + " bytes follow the end");
    require(stack_.size() == 1 && marks_.empty(),
            std::to_string(stack_.size()) + " values and " + std::to_string(marks_.size()) +
                " open containers are left at the end (there must be one value)");
    tree_.root = stack_.back();
    return std::move(tree_);
  }

 private:
  void push_id(PickleId id) {
    require(++pushes_ <= kMaxPushes, "there are more than " + std::to_string(kMaxPushes) +
                                         " values (a checkpoint has about ten thousand)");
    stack_.push_back(id);
  }

  void push(PickleValue value) {
    tree_.values.push_back(std::move(value));
    push_id(PickleId(tree_.values.size() - 1));
  }

  std::size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }

  PickleId pop() {
    require(stack_.size() > bottom(), "there is no value on the stack for it");
    const PickleId id = stack_.back();
    stack_.pop_back();
    return id;
  }

  std::vector<PickleId> pop_many(std::size_t count) {
    require(stack_.size() - bottom() >= count,
            "there are " + std::to_string(stack_.size() - bottom()) +
                " values on the stack for it (it needs " + std::to_string(count) + ")");
    return pop_from(stack_.size() - count);
  }

  std::vector<PickleId> pop_to_mark() {
    require(!marks_.empty(), "there is no MARK for it");
    const std::size_t begin = marks_.back();
    marks_.pop_back();
    return pop_from(begin);
  }

  std::vector<PickleId> pop_from(std::size_t begin) {
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(begin);
    std::vector<PickleId> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    return items;
  }

  /// The value that an opcode changes: it stays on the stack.
  PickleValue& top() {
    require(stack_.size() > bottom(), "there is no value on the stack for it to change");
    return tree_.values.at(stack_.back().index());
  }

  void protocol() {
    const auto version = reader_.u8();
    require(reader_.position() == 2, "the protocol is given twice");
    require(version >= kFirstProtocol && version <= kLastProtocol,
            "the protocol is " + std::to_string(version) + " (supported are " +
                std::to_string(kFirstProtocol) + " to " + std::to_string(kLastProtocol) + ")");
  }

  void frame() {
    const auto length = reader_.u64();
    require(length <= reader_.left(), "a frame of " + std::to_string(length) +
                                          " bytes is announced, " + std::to_string(reader_.left()) +
                                          " are left");
  }

  PickleValue number(Opcode code) {
    switch (code) {
      case Opcode::new_true:
        return true;
      case Opcode::new_false:
        return false;
      case Opcode::binint:
        return std::int64_t{reader_.i32()};
      case Opcode::binint1:
        return std::int64_t{reader_.u8()};
      case Opcode::binint2:
        return std::int64_t{reader_.u16()};
      case Opcode::long1:
        return long_number();
      case Opcode::binfloat:
        return std::bit_cast<double>(__builtin_bswap64(reader_.u64()));
      default:
        return PickleNone{};
    }
  }

  /// Two's complement of as many bytes as it takes.
  std::int64_t long_number() {
    const auto length = reader_.u8();
    require(length <= sizeof(std::int64_t),
            "a whole number has " + std::to_string(length) + " bytes (at most 8 are read)");
    std::uint64_t number = 0;
    unsigned shift = 0;
    for (const std::byte byte : reader_.take(length)) {
      number |= std::to_integer<std::uint64_t>(byte) << shift;
      shift += 8;
    }
    const bool negative = length > 0 && (number >> (shift - 1) & 1) != 0;
    if (negative && length < sizeof(number)) {
      number |= ~std::uint64_t{0} << shift;
    }
    return static_cast<std::int64_t>(number);
  }

  void append(const std::vector<PickleId>& items) {
    auto* list = std::get_if<PickleList>(&top());
    require(list != nullptr, "it adds to " + describe(top()) + " (it must be a list)");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }

  void set_items(const std::vector<PickleId>& items) {
    auto* dict = std::get_if<PickleDict>(&top());
    require(dict != nullptr,
            "it sets an item of " + describe(top()) + " (it must be a dictionary)");
    require(items.size() % 2 == 0,
            std::to_string(items.size()) + " values are set (keys and values come in pairs)");
    for (std::size_t i = 0; i < items.size(); i += 2) {
      const PickleKey key = key_of(items[i]);
      require(
          dict->places.emplace(key, dict->items.size()).second,
          "the key " + describe(tree_.at(items[i])) + " is set twice (which of the two is meant?)");
      dict->items.emplace_back(key, items[i + 1]);
    }
  }

  PickleKey key_of(PickleId id) const {
    const PickleValue& value = tree_.at(id);
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      return *number;
    }
    const auto* text = std::get_if<std::string>(&value);
    require(text != nullptr,
            "a key is " + describe(value) + " (it must be a text or a whole number)");
    require(text->size() <= kMaxKeyBytes, "a key has " + std::to_string(text->size()) +
                                              " bytes (at most " + std::to_string(kMaxKeyBytes) +
                                              " are read)");
    return std::string_view(*text);
  }

  void push_global(std::string_view module, std::string_view name) {
    const std::optional<PickleGlobal> known = find_global(module, name);
    require(
        known.has_value(),
        "it names " + printable(std::string(module) + "." + std::string(name)) +
            " (a checkpoint may name tensors and containers only; anything else could run code)",
        "do not use this file; ask its maker for plain safetensors weights");
    push(*known);
  }

  void global() {
    const std::string_view module = reader_.text_until('\n');
    const std::string_view name = reader_.text_until('\n');
    push_global(module, name);
  }

  void stack_global() {
    const std::vector<PickleId> names = pop_many(2);
    const auto* module = tree_.get_if<std::string>(names[0]);
    const auto* name = tree_.get_if<std::string>(names[1]);
    require(module != nullptr && name != nullptr, "it names " + describe(tree_.at(names[0])) +
                                                      " and " + describe(tree_.at(names[1])) +
                                                      " (a module and a name are texts)");
    push_global(*module, *name);
  }

  void reduce() {
    const std::vector<PickleId> both = pop_many(2);
    const auto* function = tree_.get_if<PickleGlobal>(both[0]);
    const auto* arguments = tree_.get_if<PickleTuple>(both[1]);
    require(function != nullptr && arguments != nullptr,
            "it calls " + describe(tree_.at(both[0])) + " with " + describe(tree_.at(both[1])) +
                " (it takes a known function and a tuple)");
    push(call(tree_, *function, *arguments));
  }

  void build() {
    const PickleValue& state = tree_.at(pop());
    require(may_ignore_state(tree_, top(), state),
            "it gives " + describe(state) + " as a state to " + describe(top()) +
                " (only an OrderedDict and a little-endian numpy type may have one)",
            "do not use this file; ask its maker for plain safetensors weights");
  }

  void remember(std::size_t index) {
    require(index < kMaxPushes, "memo " + std::to_string(index) + " is written (at most " +
                                    std::to_string(kMaxPushes) + " are kept)");
    require(stack_.size() > bottom(), "there is no value on the stack to remember");
    require(memo_.emplace(index, stack_.back()).second,
            "memo " + std::to_string(index) + " is written twice");
  }

  PickleId recall(std::size_t index) const {
    const auto found = memo_.find(index);
    require(found != memo_.end(),
            "memo " + std::to_string(index) + " is read before it is written");
    return found->second;
  }

  ByteReader reader_;
  PickleTree tree_;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;  ///< sizes of the stack when containers were opened
  std::unordered_map<std::size_t, PickleId> memo_;
  std::size_t pushes_ = 0;
};

}  // namespace

PickleTree unpickle(std::span<const std::byte> bytes, const std::string& what) {
  COSMIC_REQUIRE(DataError, bytes.size() <= kMaxBytes,
                 what << " has " << bytes.size() << " bytes (at most " << kMaxBytes
                      << " are read; it describes tensors, it does not hold them); the file is "
                         "damaged or was not written by PyTorch");
  Machine machine(bytes);
  std::string opcode = "its first opcode";
  std::size_t at = 0;
  try {
    for (;;) {
      at = machine.position();
      const Opcode code = machine.next_opcode();
      require(at != 0 || code == Opcode::proto,
              "it does not start with a protocol (pickles of protocol 2 and later do)");
      opcode = opcode_name(static_cast<std::uint8_t>(code));
      if (!machine.step(code)) {
        break;
      }
    }
    PickleTree tree = machine.finish();
    require_bounded_nesting(tree, kMaxDepth);
    return tree;
  } catch (const DataError& error) {
    throw DataError(what + ", byte " + std::to_string(at) + ", " + opcode + ": " + error.what());
  }
}

}  // namespace cosmic::checkpoint
