#include "golden/golden_file.hpp"

#include <hdf5.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "core/error.hpp"

namespace cosmic::golden {
namespace {

using graph::DType;
using session::NamedTensors;
using session::Tensor;

/// An HDF5 identifier that closes itself.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string& what) : id_(id), close_(close) {
    COSMIC_REQUIRE(DataError, id >= 0,
                   "cannot open " << what << " (HDF5 finds no such object, or it is damaged); see "
                                  << "tests/golden/README.md for what a golden file holds");
  }
  ~Handle() { close_(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void require(herr_t status, const std::string& what) {
  COSMIC_REQUIRE(DataError, status >= 0, "cannot read " << what);
}

DType dtype_of(hid_t type, const std::string& what) {
  const H5T_class_t kind = H5Tget_class(type);
  const std::size_t size = H5Tget_size(type);
  COSMIC_REQUIRE(DataError, kind == H5T_FLOAT || (kind == H5T_INTEGER && (size == 1 || size == 8)),
                 what << " is neither floating point nor an integer of 1 or 8 bytes");
  return kind == H5T_FLOAT ? DType::f32 : size == 1 ? DType::u8 : DType::i64;
}

hid_t memory_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return H5T_NATIVE_FLOAT;
    case DType::i64:
      return H5T_NATIVE_INT64;
    case DType::u8:
      return H5T_NATIVE_UINT8;
  }
  throw InternalError("no HDF5 type for " + to_string(dtype));
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path)
      : name_(path.string()),
        file_(H5Fopen(name_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, name_) {}

  Tensor tensor(const std::string& path) const {
    const std::string what = name_ + ":" + path;
    const Handle data(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, what);
    const Handle type(H5Dget_type(data), H5Tclose, what);
    Tensor tensor({dtype_of(type, what), shape(data, what)});
    require(H5Dread(data, memory_type(tensor.type.dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                    tensor.bytes.data()),
            what);
    return tensor;
  }

  std::vector<double> doubles(const std::string& path) const {
    const std::string what = name_ + ":" + path;
    const Handle data(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, what);
    const graph::TensorType type{DType::f32, shape(data, what)};
    std::vector<double> values(static_cast<std::size_t>(type.elements()));
    require(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), what);
    return values;
  }

  NamedTensors tensors(const std::string& path) const {
    const std::string what = name_ + ":" + path;
    const Handle group(H5Gopen2(file_, path.c_str(), H5P_DEFAULT), H5Gclose, what);
    H5G_info_t info{};
    require(H5Gget_info(group, &info), what);
    NamedTensors tensors;
    for (hsize_t i = 0; i < info.nlinks; ++i) {
      const std::string name = link_name(group, i, what);
      tensors.emplace(name, tensor(path + "/" + name));
    }
    return tensors;
  }

  /// plane0, plane1, plane2 of a group, one after the other.
  std::vector<float> planes(const std::string& path) const {
    std::vector<float> logits;
    for (const char* plane : {"plane0", "plane1", "plane2"}) {
      const Tensor part = tensor(path + "/" + plane);
      COSMIC_REQUIRE(DataError, part.type.dtype == DType::f32,
                     name_ << ":" << path << "/" << plane << " is " << part.type << ", not f32");
      const std::span<const float> values = part.as<float>();
      logits.insert(logits.end(), values.begin(), values.end());
    }
    return logits;
  }

  double number_attribute(const std::string& attribute) const {
    const std::string what = name_ + ": attribute " + attribute;
    const Handle id(H5Aopen(file_, attribute.c_str(), H5P_DEFAULT), H5Aclose, what);
    double value = 0;
    require(H5Aread(id, H5T_NATIVE_DOUBLE, &value), what);
    return value;
  }

  std::string text_attribute(const std::string& attribute) const {
    const std::string what = name_ + ": attribute " + attribute;
    const Handle id(H5Aopen(file_, attribute.c_str(), H5P_DEFAULT), H5Aclose, what);
    const Handle type(H5Aget_type(id), H5Tclose, what);
    COSMIC_REQUIRE(DataError, H5Tget_class(type) == H5T_STRING, what << " is not text");
    if (H5Tis_variable_str(type) > 0) {
      char* text = nullptr;
      require(H5Aread(id, type, &text), what);
      std::string copy = text;
      H5free_memory(text);
      return copy;
    }
    std::string text(H5Tget_size(type), '\0');
    require(H5Aread(id, type, text.data()), what);
    return text.c_str();  // up to the padding
  }

  nlohmann::json json_attribute(const std::string& attribute) const {
    // Python writes NaN, which JSON does not have: a plane without foreground has no accuracy.
    const std::string text =
        std::regex_replace(text_attribute(attribute), std::regex("\\bNaN\\b"), "null");
    try {
      return nlohmann::json::parse(text);
    } catch (const nlohmann::json::exception& error) {
      throw DataError(name_ + ": attribute " + attribute + " is not JSON: " + error.what());
    }
  }

  const std::string& name() const { return name_; }

 private:
  static graph::Shape shape(hid_t data, const std::string& what) {
    const Handle space(H5Dget_space(data), H5Sclose, what);
    const int rank = H5Sget_simple_extent_ndims(space);
    require(rank, what);
    std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
    require(H5Sget_simple_extent_dims(space, extents.data(), nullptr), what);
    return {extents.begin(), extents.end()};
  }

  static std::string link_name(hid_t group, hsize_t index, const std::string& what) {
    std::array<char, 512> name{};
    const auto length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index,
                                           name.data(), name.size(), H5P_DEFAULT);
    COSMIC_REQUIRE(DataError, length > 0 && static_cast<std::size_t>(length) < name.size(),
                   what << " has a name that cannot be read");
    return name.data();
  }

  std::string name_;
  Handle file_;
};

template <class Enum>
void read_enum(const nlohmann::json& json, Enum& option) {
  option = model::parse_enum<Enum>(
      json.at(std::string(model::EnumText<Enum>::key)).template get<std::string>());
}

model::UResNetOptions network_options(const nlohmann::json& json) {
  model::UResNetOptions options;
  json.at("name").get_to(options.name);
  json.at("bias").get_to(options.bias);
  json.at("n_initial_filters").get_to(options.n_initial_filters);
  json.at("blocks_per_layer").get_to(options.blocks_per_layer);
  json.at("blocks_deepest_layer").get_to(options.blocks_deepest_layer);
  json.at("blocks_final").get_to(options.blocks_final);
  json.at("depth").get_to(options.depth);
  json.at("filter_size_deepest").get_to(options.filter_size_deepest);
  json.at("bottleneck_deepest").get_to(options.bottleneck_deepest);
  json.at("residual").get_to(options.residual);
  json.at("block_concat").get_to(options.block_concat);
  read_enum(json, options.normalization);
  read_enum(json, options.connections);
  read_enum(json, options.conv_mode);
  read_enum(json, options.growth_rate);
  read_enum(json, options.downsampling);
  read_enum(json, options.upsampling);
  return options;
}

Scores scores(const nlohmann::json& json) {
  Scores scores;
  for (const auto& [name, value] : json.items()) {
    scores[name] = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  }
  return scores;
}

compile::Optimizer optimizer(const std::string& name) {
  if (name == "adam") {
    return compile::Adam{};
  }
  if (name == "rmsprop") {
    return compile::Rmsprop{};
  }
  COSMIC_REQUIRE(DataError, name == "sgd",
                 "the optimizer is '" << name << "' (known: adam, rmsprop, sgd)");
  return compile::Sgd{.momentum = 0.9};
}

}  // namespace

GoldenFile read_golden_file(const std::filesystem::path& path) {
  const Reader reader(path);
  GoldenFile file;
  try {
    file.network = network_options(reader.json_attribute("network"));
    file.first_scores = scores(reader.json_attribute("step0_metrics"));
    file.final_scores = scores(reader.json_attribute("final_metrics"));
  } catch (const nlohmann::json::exception& error) {
    throw DataError(reader.name() + ": " + error.what());
  }
  file.scheme =
      model::parse_enum<model::BalanceScheme>(reader.text_attribute("loss_balance_scheme"));
  file.optimizer = optimizer(reader.text_attribute("optimizer"));
  file.learning_rate = reader.number_attribute("learning_rate");
  file.image = reader.tensor("image");
  file.label = reader.tensor("label");
  file.initial_state = reader.tensors("initial/state_dict");
  file.initial_eval_logits = reader.planes("initial/eval_logits");
  file.train_logits = reader.planes("step0/train_logits");
  file.gradients = reader.tensors("step0/grad");
  file.state_after_first_step = reader.tensors("step0/state_dict_after");
  file.losses = reader.doubles("losses");
  file.final_state = reader.tensors("final/state_dict");
  file.final_eval_logits = reader.planes("final/eval_logits");
  return file;
}

ReferenceRun read_reference_run(const std::filesystem::path& path) {
  const Reader reader(path);
  ReferenceRun run;
  run.image = reader.tensor("image");
  run.label = reader.tensor("label");
  run.eval_logits = reader.planes("eval_logits_at_5");
  run.resumed_losses = reader.doubles("losses_steps_5_to_9_after_resume");
  return run;
}

}  // namespace cosmic::golden
