// The products of several larcv3 files, event by event, for one file that has the events of all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/product_name.hpp"

namespace cosmic::data::larcv {

/// Belongs to one thread. A file with chunks that can be taken as they are is
/// EventFileWriter::copy_products' business; here rows of several files have to be numbered anew.
class ProductJoin {
 public:
  /// All products of the files but `except`. Throws DataError that names the file whose products
  /// are not those of the others: an event without a product cannot be told from an empty one.
  ProductJoin(std::vector<std::filesystem::path> files, std::span<const ProductName> except);
  ~ProductJoin();
  ProductJoin(const ProductJoin&) = delete;
  ProductJoin& operator=(const ProductJoin&) = delete;

  /// Writes the products of an entry of a file into the event that was begun last. Cheap if files
  /// come one after the other.
  void copy(std::size_t file, std::int64_t entry, EventFileWriter& writer);

  /// Products of types that this program does not read, which the joined file cannot have.
  const std::vector<ProductName>& left_out() const { return left_out_; }

 private:
  class Readers;

  std::vector<std::filesystem::path> files_;
  std::vector<ProductName> products_;
  std::vector<ProductName> left_out_;
  std::size_t open_file_ = 0;
  std::unique_ptr<Readers> readers_;  ///< of that file
};

}  // namespace cosmic::data::larcv
