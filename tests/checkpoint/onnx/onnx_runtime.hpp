// ONNX Runtime in Node, where it is there. Needs node and the npm package onnxruntime-node in
// $COSMIC_ONNXRUNTIME_DIR/node_modules, or in build/onnxruntime/node_modules, where bench/compare
// and .ci/run put it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "run_command.hpp"

namespace cosmic::checkpoint::onnx {

inline std::filesystem::path node_modules() {
  const char* chosen = std::getenv("COSMIC_ONNXRUNTIME_DIR");
  return std::filesystem::path(chosen == nullptr ? "build/onnxruntime" : chosen) / "node_modules";
}

/// Runs a script of this folder with what it needs.
inline CommandResult run_node(const std::string& script, const std::string& words) {
  return run_command("NODE_PATH='" + std::filesystem::absolute(node_modules()).string() +
                     "' node tests/checkpoint/onnx/" + script + " " + words);
}

/// Skips its tests where there is no runtime.
class WithOnnxRuntime : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("node")) {
      GTEST_SKIP() << "needs node (package nodejs)";
    }
    if (!std::filesystem::is_directory(node_modules() / "onnxruntime-node")) {
      GTEST_SKIP() << "needs onnxruntime-node (npm install it into " << node_modules()
                   << ", or set COSMIC_ONNXRUNTIME_DIR)";
    }
  }
};

}  // namespace cosmic::checkpoint::onnx
