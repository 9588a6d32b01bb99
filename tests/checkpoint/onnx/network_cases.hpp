// Networks of every kind that other people's software must agree about, and what to feed them.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/onnx/trained_model.hpp"
#include "scratch_folder.hpp"

namespace cosmic::checkpoint::onnx {

struct NetworkCase {
  std::string name;
  model::UResNetOptions options;

  friend std::ostream& operator<<(std::ostream& out, const NetworkCase& one) {
    return out << one.name;
  }
};

/// One of each kind, and odd ones.
inline std::vector<NetworkCase> network_cases() {
  std::vector<NetworkCase> cases;
  for (const std::string& name : model::preset_names()) {
    cases.push_back({name, reduced(name)});
  }
  const auto add = [&](const std::string& name, const std::string& preset, const auto& change) {
    cases.push_back({name, reduced(preset)});
    change(cases.back().options);
  };
  using Options = model::UResNetOptions;
  add("convolutional", "a21", [](Options& o) {
    o.downsampling = model::Downsampling::convolutional;
    o.upsampling = model::Upsampling::convolutional;
  });
  add("multiplicative", "uresnet",
      [](Options& o) { o.growth_rate = model::GrowthRate::multiplicative; });
  add("planes_apart", "a21", [](Options& o) { o.block_concat = true; });
  add("no_bias", "uresnet", [](Options& o) { o.bias = false; });
  add("no_bias_no_norm", "scc21", [](Options& o) { o.bias = false; });
  add("no_connections", "polaris", [](Options& o) { o.connections = model::Connections::none; });
  add("no_blocks", "a21", [](Options& o) {
    o.blocks_per_layer = 0;
    o.blocks_deepest_layer = 0;
  });
  add("convolutional_3d", "uresnet3d", [](Options& o) {
    o.downsampling = model::Downsampling::convolutional;
    o.upsampling = model::Upsampling::convolutional;
    o.connections = model::Connections::sum;
  });
  add("plain_3d", "uresnet3d", [](Options& o) {
    o.residual = false;
    o.normalization = model::Normalization::none;
  });
  return cases;
}

inline std::vector<float> some_image(std::int64_t batch) {
  RandomStream random(11, "image");
  std::vector<float> image(static_cast<std::size_t>(image_type(batch).elements()));
  for (float& pixel : image) {
    pixel = static_cast<float>(random.uniform(-1, 3));
  }
  return image;
}

/// Tracks of all classes on background, of which there is most.
inline std::vector<std::uint8_t> some_labels(std::int64_t batch) {
  RandomStream random(12, "labels");
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(image_type(batch).elements()));
  for (std::uint8_t& label : labels) {
    const double draw = random.uniform(0, 1);
    label = static_cast<std::uint8_t>(draw < 0.6 ? 0 : draw < 0.85 ? 1 : 2);
  }
  return labels;
}

inline void write_floats(const std::filesystem::path& path, std::span<const float> values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size_bytes()));
}

inline std::vector<float> read_floats(const std::filesystem::path& path) {
  const std::string bytes = content_of(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace cosmic::checkpoint::onnx
