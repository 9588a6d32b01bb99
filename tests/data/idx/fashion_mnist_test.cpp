#include "data/idx/fashion_mnist.hpp"

#include <gmock/gmock.h>
#include <libdeflate.h>

#include <array>
#include <fstream>
#include <memory>
#include <numeric>

#include "core/error.hpp"
#include "data/idx/idx_file.hpp"
#include "scratch_folder.hpp"

namespace cosmic::data {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::size_t kImageBytes = 28UL * 28;
constexpr const char* kImages = "train-images-idx3-ubyte";
constexpr const char* kLabels = "train-labels-idx1-ubyte";

std::string idx_header(const std::vector<std::uint32_t>& shape, char type = '\x08') {
  std::string bytes{'\0', '\0', type, static_cast<char>(shape.size())};
  for (const std::uint32_t extent : shape) {
    for (const int shift : {24, 16, 8, 0}) {
      bytes += static_cast<char>(extent >> shift & 0xff);
    }
  }
  return bytes;
}

std::string gzipped(const std::string& bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(6), &libdeflate_free_compressor);
  std::string result(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  result.resize(libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(),
                                         result.data(), result.size()));
  return result;
}

class IdxFiles : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }

  /// Two images, the first counting up, the second all 7; labels 3 and 9.
  static std::string some_images() {
    std::string bytes = idx_header({2, 28, 28});
    for (std::size_t i = 0; i < kImageBytes; ++i) {
      bytes += static_cast<char>(i);
    }
    return bytes + std::string(kImageBytes, '\7');
  }
  static std::string some_labels() { return idx_header({2}) + "\3\x9"; }

  void expect_idx_error(const std::string& bytes, const testing::Matcher<std::string>& text) const {
    const std::filesystem::path path = write("damaged", bytes);
    EXPECT_THAT([&] { read_idx(path); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("damaged"), text)));
  }

  void expect_set_error(const testing::Matcher<std::string>& text) const {
    EXPECT_THAT([&] { load_fashion_mnist(folder_.path(), FashionMnistPart::train); },
                ThrowsMessage<DataError>(text));
  }

  ScratchFolder folder_;
};

using IdxFile = IdxFiles;
using FashionMnistSet = IdxFiles;

TEST_F(IdxFile, arrays_of_every_rank_up_to_four_are_read) {
  std::vector<std::uint32_t> shape;
  for (const std::uint32_t extent : {2U, 3U, 1U, 2U}) {
    shape.push_back(extent);
    const std::size_t count =
        std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
    const IdxArray array = read_idx(write("array", idx_header(shape) + std::string(count, '\5')));
    EXPECT_THAT(array.shape, testing::ElementsAreArray(shape));
    EXPECT_EQ(array.values.size(), count);
    EXPECT_THAT(array.values, Each(5));
  }
}

TEST_F(IdxFile, an_array_without_elements_is_read) {
  EXPECT_THAT(read_idx(write("array", idx_header({0, 28, 28}))).values, testing::IsEmpty());
}

TEST_F(IdxFile, gzipped_files_are_known_by_their_bytes_not_their_name) {
  const std::string bytes = idx_header({3}) + "abc";
  EXPECT_THAT(read_idx(write("no_suffix", gzipped(bytes))).values, ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(read_idx(write("suffix.gz", bytes)).values, ElementsAre('a', 'b', 'c'));
}

TEST_F(IdxFile, every_truncation_is_refused) {
  for (const std::string& bytes : {some_images(), gzipped(some_images())}) {
    for (std::size_t size = 0; size < bytes.size(); size += size < 32 ? 1 : 53) {
      expect_idx_error(bytes.substr(0, size), testing::_);
    }
  }
}

TEST_F(IdxFile, bytes_after_the_end_are_refused) {
  expect_idx_error(idx_header({2}) + "abc", HasSubstr("[2] but holds 3 values"));
  expect_idx_error(gzipped(idx_header({2}) + "ab") + std::string(20, '\1'), HasSubstr("gzip"));
}

TEST_F(IdxFile, a_damaged_gzip_stream_is_refused) {
  std::string bytes = gzipped(some_images());
  bytes[bytes.size() / 2] ^= 0x55;
  expect_idx_error(bytes, AllOf(HasSubstr("gzip stream"), HasSubstr("fetch it again")));
}

TEST_F(IdxFile, a_wrong_magic_number_is_refused) {
  expect_idx_error("PNG, not IDX", HasSubstr("starts with the bytes 80, 78"));
  expect_idx_error(idx_header({1}, '\x0d') + "abcd", HasSubstr("IDX type 13"));
  expect_idx_error(idx_header({}), HasSubstr("0 axes"));
  expect_idx_error(idx_header({1, 1, 1, 1, 1}) + "a", HasSubstr("5 axes"));
}

TEST_F(IdxFile, absurd_extents_are_refused_without_allocating_them) {
  constexpr std::uint32_t kHuge = 0xffffffff;
  expect_idx_error(idx_header({kHuge, kHuge, kHuge, kHuge}), HasSubstr("holds 0 values"));
  // 2^32 * 2^32 is 0 in 64 bits.
  expect_idx_error(idx_header({0x80000000, 2, 0x80000000, 2}), HasSubstr("holds 0 values"));
}

TEST_F(IdxFile, an_absurd_gzip_size_is_refused_without_allocating_it) {
  std::string bytes = gzipped(idx_header({3}) + "abc");
  bytes.replace(bytes.size() - 4, 4, "\xff\xff\xff\xff");
  expect_idx_error(bytes, HasSubstr("4294967295 bytes for a gzip stream"));
}

TEST_F(IdxFile, a_missing_file_is_named) {
  EXPECT_THAT([&] { read_idx(folder_ / "nothing_here"); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("nothing_here"), HasSubstr("No such file or directory"))));
}

TEST_F(FashionMnistSet, is_read_from_plain_and_gzipped_files) {
  write(std::string(kImages) + ".gz", gzipped(some_images()));
  write(kLabels, some_labels());
  const FashionMnist set = load_fashion_mnist(folder_.path(), FashionMnistPart::train);
  EXPECT_EQ(set.size(), 2);
  EXPECT_THAT(set.labels, ElementsAre(3, 9));
  ASSERT_EQ(set.images.size(), 2 * kImageBytes);
  EXPECT_EQ(set.images[200], 200);
  EXPECT_EQ(set.images[kImageBytes], 7);
}

TEST_F(FashionMnistSet, a_missing_file_tells_the_names_tried_and_the_package) {
  write(kImages, some_images());
  expect_set_error(
      AllOf(HasSubstr(folder_.path().string()), HasSubstr("neither train-labels-idx1-ubyte"),
            HasSubstr("train-labels-idx1-ubyte.gz"), HasSubstr("dataset-fashion-mnist")));
}

TEST_F(FashionMnistSet, images_and_labels_must_be_equally_many) {
  write(kImages, some_images());
  write(kLabels, idx_header({3}) + "\1\2\3");
  expect_set_error(AllOf(HasSubstr("2 images"), HasSubstr("3 labels")));
}

TEST_F(FashionMnistSet, a_label_beyond_nine_is_refused) {
  write(kImages, some_images());
  write(kLabels, idx_header({2}) + "\1\xa");
  expect_set_error(HasSubstr("label 1 is 10"));
}

TEST_F(FashionMnistSet, images_of_another_size_are_refused) {
  write(kImages, idx_header({2, 2, 2}) + "abcdefgh");
  write(kLabels, some_labels());
  expect_set_error(HasSubstr("[2, 2, 2]"));
}

TEST_F(FashionMnistSet, swapped_files_are_refused) {
  write(kImages, some_images());
  write(kLabels, some_images());
  expect_set_error(AllOf(HasSubstr(kLabels), HasSubstr("[2, 28, 28]")));
}

// From the paper: 60,000 and 10,000 images, each class equally often.
TEST_F(FashionMnistSet, debians_package_holds_ten_equal_classes) {
  if (!std::filesystem::exists(FashionMnist::kDebianFolder)) {
    GTEST_SKIP() << "needs Fashion-MNIST (package dataset-fashion-mnist)";
  }
  for (const auto& [part, per_class] :
       {std::pair(FashionMnistPart::train, 6000), {FashionMnistPart::test, 1000}}) {
    const FashionMnist set = load_fashion_mnist(FashionMnist::kDebianFolder, part);
    EXPECT_EQ(set.size(), 10 * per_class);
    std::array<int, 10> counts{};
    for (const std::uint8_t label : set.labels) {
      counts.at(label) += 1;
    }
    EXPECT_THAT(counts, Each(per_class));
    const double mean = std::accumulate(set.images.begin(), set.images.end(), 0.0) /
                        static_cast<double>(set.images.size());
    EXPECT_NEAR(mean / 255, 0.286, 0.002);  // the mean that everybody normalises with
  }
}

}  // namespace
}  // namespace cosmic::data
