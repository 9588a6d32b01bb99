// A folder of its own for a test, gone afterwards.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace cosmic::checkpoint {

class ScratchFolder : public testing::Test {
 protected:
  ScratchFolder()
      : folder_(std::filesystem::temp_directory_path() /
                ("cosmic_checkpoint_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ScratchFolder() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

}  // namespace cosmic::checkpoint
