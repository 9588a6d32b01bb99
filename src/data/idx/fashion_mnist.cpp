#include "data/idx/fashion_mnist.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "data/idx/idx_file.hpp"

namespace cosmic::data {
namespace {

std::filesystem::path find_file(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path plain = folder / name;
  const std::filesystem::path gzipped = folder / (name + ".gz");
  const bool is_plain = std::filesystem::is_regular_file(plain);
  COSMIC_REQUIRE(
      DataError, is_plain || std::filesystem::is_regular_file(gzipped),
      folder.string()
          << ": has neither " << name << " nor " << name
          << ".gz (each part of Fashion-MNIST consists of two such files); name the folder that "
             "has them, or install Debian's package dataset-fashion-mnist, which puts them into "
          << FashionMnist::kDebianFolder);
  return is_plain ? plain : gzipped;
}

}  // namespace

FashionMnist load_fashion_mnist(const std::filesystem::path& folder, FashionMnistPart part) {
  const std::string prefix = part == FashionMnistPart::train ? "train" : "t10k";
  const std::filesystem::path image_file = find_file(folder, prefix + "-images-idx3-ubyte");
  const std::filesystem::path label_file = find_file(folder, prefix + "-labels-idx1-ubyte");
  IdxArray images = read_idx(image_file);
  IdxArray labels = read_idx(label_file);
  COSMIC_REQUIRE(DataError,
                 images.shape.size() == 3 && images.shape[1] == FashionMnist::kRows &&
                     images.shape[2] == FashionMnist::kColumns,
                 image_file.string() << ": holds an array " << images.shape_text()
                                     << " (Fashion-MNIST is [n, 28, 28]); is it the right file?");
  COSMIC_REQUIRE(DataError, labels.shape.size() == 1,
                 label_file.string() << ": holds an array " << labels.shape_text()
                                     << " (labels are [n]); is it the right file?");
  COSMIC_REQUIRE(DataError, images.shape[0] == labels.shape[0],
                 image_file.string() << ": holds " << images.shape[0] << " images, but "
                                     << label_file.string() << " " << labels.shape[0]
                                     << " labels (each image needs its own); take both from the "
                                        "same set");
  const auto wrong =
      std::find_if(labels.values.begin(), labels.values.end(),
                   [](std::uint8_t label) { return label >= FashionMnist::kClasses; });
  COSMIC_REQUIRE(DataError, wrong == labels.values.end(),
                 label_file.string()
                     << ": label " << wrong - labels.values.begin() << " is " << int{*wrong}
                     << " (the classes are 0 to 9); is it the right file?");
  return {std::move(images.values), std::move(labels.values)};
}

}  // namespace cosmic::data
