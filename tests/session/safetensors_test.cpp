#include "session/safetensors.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "core/error.hpp"
#include "core/random.hpp"
#include "graph/builder.hpp"
#include "target/registry.hpp"

namespace cosmic::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Safetensors : public testing::Test {
 protected:
  Safetensors()
      : folder_(std::filesystem::temp_directory_path() /
                ("cosmic_safetensors_" + std::to_string(getpid()))),
        path_(folder_ / "weights.safetensors") {
    std::filesystem::create_directories(folder_);
  }
  ~Safetensors() override { std::filesystem::remove_all(folder_); }

  static NamedTensors some_tensors() {
    NamedTensors tensors;
    Tensor& weight = tensors["conv.weight"] = Tensor({graph::DType::f32, {2, 3}});
    for (std::size_t i = 0; i < 6; ++i) {
      weight.as<float>()[i] = static_cast<float>(i) - 2.5F;
    }
    tensors["count"] = Tensor({graph::DType::i64, {}});
    tensors["count"].as<std::int64_t>()[0] = -7;
    tensors["mask"] = Tensor({graph::DType::u8, {3}});
    tensors["mask"].as<std::uint8_t>()[1] = 255;
    tensors["nothing"] = Tensor({graph::DType::f32, {0, 4}});
    return tensors;
  }

  std::string read_bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void write_bytes(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  void write_file(const std::string& header, const std::string& data) const {
    const std::uint64_t length = header.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    write_bytes(bytes + header + data);
  }

  /// Anything but a DataError fails the test or ends the process.
  bool loads() const {
    try {
      load_tensors(path_);
      return true;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("weights.safetensors"));
      return false;
    }
  }

  void expect_error(const std::string& header, const std::string& data,
                    const testing::Matcher<std::string>& text) const {
    write_file(header, data);
    EXPECT_THAT([&] { load_tensors(path_); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("weights.safetensors"), text)))
        << header;
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST_F(Safetensors, what_is_saved_is_loaded) {
  const NamedTensors saved = some_tensors();
  save_tensors(path_, saved, {{"version", "1 \"quoted\""}});
  const TensorFile loaded = load_tensors(path_);
  ASSERT_EQ(loaded.tensors.size(), saved.size());
  for (const auto& [name, tensor] : saved) {
    EXPECT_EQ(loaded.tensors.at(name).type, tensor.type) << name;
    EXPECT_EQ(loaded.tensors.at(name).bytes, tensor.bytes) << name;
  }
  EXPECT_EQ(loaded.metadata, (Metadata{{"version", "1 \"quoted\""}}));
}

TEST_F(Safetensors, no_tensors_make_a_file_too) {
  save_tensors(path_, {});
  EXPECT_TRUE(load_tensors(path_).tensors.empty());
}

TEST_F(Safetensors, saving_replaces_the_file_and_leaves_nothing_else) {
  write_bytes("old");
  save_tensors(path_, some_tensors());
  EXPECT_TRUE(loads());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Safetensors, saving_keeps_the_old_file_when_asked_to) {
  write_bytes("old");
  EXPECT_THAT([&] { save_tensors(path_, some_tensors(), {}, {.existing = Existing::refuse}); },
              ThrowsMessage<UserError>(HasSubstr("already exists")));
  EXPECT_EQ(read_bytes(), "old");
}

TEST_F(Safetensors, failed_save_leaves_the_old_file_and_no_temporary) {
  std::filesystem::create_directory(path_);  // a folder cannot be replaced by a file
  EXPECT_THAT(
      [&] { save_tensors(path_, some_tensors()); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("weights.safetensors"), HasSubstr("is a folder"))));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Safetensors, saving_into_a_missing_folder_says_so) {
  EXPECT_THAT([&] { save_tensors(folder_ / "none" / "a.safetensors", {}); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("a.safetensors"), HasSubstr("does its folder exist"))));
}

TEST_F(Safetensors, data_starts_aligned) {
  save_tensors(path_, some_tensors());
  std::uint64_t length = 0;
  std::memcpy(&length, read_bytes().data(), sizeof(length));
  EXPECT_EQ(length % 8, 0U);
}

TEST_F(Safetensors, missing_file_is_named) {
  EXPECT_THAT(
      [&] { load_tensors(path_); },
      ThrowsMessage<DataError>(AllOf(HasSubstr("weights.safetensors"), HasSubstr("No such file"))));
}

TEST_F(Safetensors, folder_instead_of_a_file_is_an_error) {
  EXPECT_THROW(load_tensors(folder_), DataError);
}

TEST_F(Safetensors, file_cut_anywhere_is_an_error) {
  save_tensors(path_, some_tensors());
  const std::string whole = read_bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_bytes(whole.substr(0, size));
    EXPECT_FALSE(loads()) << "cut to " << size << " of " << whole.size() << " bytes";
  }
}

TEST_F(Safetensors, bytes_after_the_last_tensor_are_an_error) {
  save_tensors(path_, some_tensors());
  write_bytes(read_bytes() + "x");
  EXPECT_FALSE(loads());
}

TEST_F(Safetensors, changed_byte_loads_or_is_an_error) {
  save_tensors(path_, some_tensors(), {{"a", "b"}});
  const std::string whole = read_bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 2, 16, 128, 255}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      write_bytes(bytes);
      loads();
    }
  }
}

TEST_F(Safetensors, random_header_loads_or_is_an_error) {
  const std::vector<std::string> pieces{
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      "\"a\"",
      "\"b\"",
      "\"dtype\"",
      "\"F32\"",
      "\"shape\"",
      "\"data_offsets\"",
      "0",
      "4",
      "-1",
      "1e300",
      "18446744073709551615",
      "null",
      "true",
      "\"__metadata__\"",
      "\"\\ud800\"",
      "\xff",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}"};
  RandomStream random(1, "headers");
  for (int trial = 0; trial < 3000; ++trial) {
    std::string header;
    const std::uint64_t length = random.next() % 16;
    for (std::uint64_t i = 0; i < length; ++i) {
      header += pieces[random.next() % pieces.size()];
    }
    write_file(header, std::string(random.next() % 9, 'x'));
    loads();
  }
}

TEST_F(Safetensors, deeply_nested_header_is_an_error) {
  expect_error(std::string(1'000'000, '['), "", HasSubstr("nested"));
}

TEST_F(Safetensors, header_longer_than_the_file_is_an_error) {
  write_bytes(std::string(8, '\xff') + "{}");
  EXPECT_THAT([&] { load_tensors(path_); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("18446744073709551615 bytes"), HasSubstr("10 bytes"))));
}

TEST_F(Safetensors, errors_name_the_tensor_and_the_values) {
  const std::string data(8, '\0');
  const auto tensor = [](const std::string& name, const std::string& dtype,
                         const std::string& shape, const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":" + dtype + ",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}";
  };
  const auto one = [&](const std::string& dtype, const std::string& shape,
                       const std::string& offsets) {
    return "{" + tensor("w", dtype, shape, offsets) + "}";
  };
  expect_error(one("\"F16\"", "[4]", "[0,8]"), data,
               AllOf(HasSubstr("'w'"), HasSubstr("F16"), HasSubstr("F32, BF16, I64 and U8")));
  expect_error(one("3", "[2]", "[0,8]"), data, HasSubstr("dtype 3"));
  expect_error(one("\"F32\"", "[3]", "[0,8]"), data,
               AllOf(HasSubstr("'w' has 8 bytes"), HasSubstr("f32[3] needs 12")));
  expect_error(one("\"F32\"", "[-2]", "[0,8]"), data, HasSubstr("shape [-2]"));
  expect_error(one("\"F32\"", "[2.5]", "[0,8]"), data, HasSubstr("shape [2.5]"));
  expect_error(one("\"F32\"", "[4294967296,4294967296]", "[0,0]"), "", HasSubstr("more than 2^63"));
  expect_error(one("\"F32\"", "[2]", "[0,16]"), data,
               AllOf(HasSubstr("from byte 0 to 16"), HasSubstr("8 bytes of data")));
  expect_error(one("\"F32\"", "[2]", "[8,0]"), data, HasSubstr("from byte 8 to 0"));
  expect_error(one("\"F32\"", "[2]", "[0]"), data, HasSubstr("1 data_offsets"));
  expect_error(one("\"F32\"", "[1]", "[0,4]"), data,
               AllOf(HasSubstr("8 bytes of data"), HasSubstr("'w', the last, ends at byte 4")));
  expect_error(one("\"F32\"", "[1]", "[4,8]"), data, HasSubstr("gap"));
  expect_error("{\"w\":{\"dtype\":\"F32\"}}", data, HasSubstr("'w' has no 'shape'"));
  expect_error("{\"w\":7}", data, HasSubstr("'w' has no 'dtype'"));
  expect_error("{" + tensor("v", "\"F32\"", "[2]", "[0,8]") + "," +
                   tensor("w", "\"F32\"", "[1]", "[4,8]") + "}",
               data,
               AllOf(HasSubstr("'w' begins at byte 4"), HasSubstr("'v' ends at byte 8"),
                     HasSubstr("overlap")));
  expect_error("{" + tensor("w", "\"F32\"", "[1]", "[0,4]") + "," +
                   tensor("w", "\"F32\"", "[1]", "[4,8]") + "}",
               data, HasSubstr("names 'w' twice"));
  expect_error("[]", "", HasSubstr("JSON array"));
  expect_error("{\"a\"", "", HasSubstr("not JSON"));
  expect_error("{\"__metadata__\":{\"a\":1}}", "", HasSubstr("'a' that is a JSON number"));
  expect_error("{\"__metadata__\":[]}", "", HasSubstr("JSON array"));
}

/// A model of one parameter, "w" [2], and one optimizer state.
class Weights : public Safetensors {
 protected:
  ModelState make_state() const {
    graph::Builder g;
    const graph::Initializer zero = graph::Initializer::constant(0);
    const graph::TensorType type{graph::DType::f32, {2}};
    g.output("w", g.state("w", type, graph::StateKind::parameter, zero));
    g.output("m", g.state("m", type, graph::StateKind::optimizer, zero));
    const graph::Graph program = g.take();
    return {*target::make_target("reference"), {&program}, 0};
  }

  static Tensor floats(const std::vector<float>& values) {
    Tensor tensor({graph::DType::f32, {static_cast<std::int64_t>(values.size())}});
    std::copy(values.begin(), values.end(), tensor.as<float>().begin());
    return tensor;
  }
};

TEST_F(Weights, make_the_round_trip_without_optimizer_state) {
  ModelState state = make_state();
  state.write("w", floats({1, -2}));
  save_weights(path_, state);
  EXPECT_FALSE(load_tensors(path_).tensors.contains("m"));
  ModelState other = make_state();
  load_weights(path_, other);
  EXPECT_EQ(other.read("w").bytes, floats({1, -2}).bytes);
}

TEST_F(Weights, missing_extra_and_misshaped_tensors_are_named_and_change_nothing) {
  ModelState state = make_state();
  const auto expect_problem = [&](const NamedTensors& tensors, const std::string& problem) {
    save_tensors(path_, tensors);
    EXPECT_THAT(
        [&] { load_weights(path_, state); },
        ThrowsMessage<DataError>(AllOf(HasSubstr("weights.safetensors: "), HasSubstr(problem))));
    EXPECT_EQ(state.read("w").bytes, floats({0, 0}).bytes);
  };
  expect_problem({}, "there is no 'w' f32[2]");
  expect_problem({{"w", floats({1, 2})}, {"x", floats({1})}}, "this model knows no 'x' f32[1]");
  expect_problem({{"w", floats({1, 2, 3})}}, "'w' is f32[3] where this model needs f32[2]");
  expect_problem({{"w", floats({1, 2})}, {"m", floats({1, 2})}}, "this model knows no 'm' f32[2]");
}

TEST_F(Weights, all_states_make_the_round_trip_with_those_of_the_optimizer) {
  ModelState state = make_state();
  state.write("w", floats({1, -2}));
  state.write("m", floats({3, -4}));
  ModelState other = make_state();
  other.write_all(state.read_all());
  EXPECT_EQ(other.read("w").bytes, floats({1, -2}).bytes);
  EXPECT_EQ(other.read("m").bytes, floats({3, -4}).bytes);
  EXPECT_THAT([&] { other.write_all(state.read_weights()); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("there is no 'm' f32[2]"), HasSubstr("the optimizer"))));
}

// With 2.6 MB of such tensors a header took 13.5 seconds to read, and ten times as many would have
// taken the square of that: this test would not end before the next working day.
TEST_F(Safetensors,
       with_two_hundred_thousand_empty_tensors_are_read_in_a_time_that_is_not_noticed) {
  constexpr std::size_t kTensors = 200'000;
  std::string header = "{";
  for (std::size_t i = 0; i < kTensors; ++i) {
    header += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  }
  write_file(header + "}", "");
  EXPECT_EQ(load_tensors(path_).tensors.size(), kTensors);
}

}  // namespace
}  // namespace cosmic::session
