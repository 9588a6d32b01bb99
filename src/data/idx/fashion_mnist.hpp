// Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017): 70,000 grey pictures of clothes in ten classes, a
// drop-in replacement of MNIST. Small enough to train on anything, so it shows that the program is
// not bound to one detector.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace cosmic::data {

enum class FashionMnistPart { train, test };

struct FashionMnist {
  static constexpr std::int64_t kRows = 28;
  static constexpr std::int64_t kColumns = 28;
  static constexpr std::int64_t kClasses = 10;
  /// Where Debian's package dataset-fashion-mnist puts the files.
  static constexpr std::string_view kDebianFolder = "/usr/share/datasets/fashion-mnist";

  std::vector<std::uint8_t> images;  ///< [n, 28, 28], 0 is background
  std::vector<std::uint8_t> labels;  ///< [n], 0 to 9

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Reads one part from the files of their usual names, gzipped or not. Throws DataError naming the
/// file, or the folder and the names that were looked for.
FashionMnist load_fashion_mnist(const std::filesystem::path& folder, FashionMnistPart part);

}  // namespace cosmic::data
