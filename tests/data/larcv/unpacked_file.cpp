#include "data/larcv/unpacked_file.hpp"

#include <gtest/gtest.h>
#include <libdeflate.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace cosmic::data::larcv {

UnpackedFile::UnpackedFile(const std::string& name) {
  static std::atomic<int> count{0};
  folder_ = std::filesystem::path(testing::TempDir()) /
            ("unpacked_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  std::filesystem::create_directories(folder_);
  path_ = folder_ / name;
  std::ifstream packed_file(kBrokenFolder / (name + ".gz"), std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(packed_file), {}};
  constexpr std::size_t kMaxBytes = 1 << 20;
  std::string bytes(kMaxBytes, '\0');
  std::size_t size = 0;
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (libdeflate_gzip_decompress(inflater.get(), packed.data(), packed.size(), bytes.data(),
                                 bytes.size(), &size) != LIBDEFLATE_SUCCESS) {
    throw std::runtime_error("cannot unpack " + name);
  }
  std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(size));
}

UnpackedFile::~UnpackedFile() {
  std::filesystem::remove_all(folder_);
}

}  // namespace cosmic::data::larcv
