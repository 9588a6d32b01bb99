// A larcv3 file of events, open for reading: which products it has, how many events, and the index
// of each table that somebody asked for. Threads share one EventFile and read through readers of
// their own (sparse2d_reader.hpp and its neighbours).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "data/larcv/product_name.hpp"
#include "data/larcv/read_warnings.hpp"
#include "data/larcv/table.hpp"

namespace cosmic::data::larcv {

class EventFile {
 public:
  /// Throws DataError, with the file's name, if it is not a larcv3 file.
  EventFile(const std::filesystem::path& path, ReadWarnings& warnings);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  const std::string& name() const { return name_; }
  /// The number of events.
  std::int64_t size() const;
  /// In the order of the file. Their tables have not been looked at yet.
  const std::vector<ProductName>& products() const { return products_; }
  bool has(const ProductName& product) const;
  /// What EventFileWriter::describe kept with a product, and other such texts; empty if nothing.
  std::map<std::string, std::string> texts_of(const ProductName& product) const;

  /// A table of a product. Its index is read when it is first asked for; a table of a missing
  /// product is a DataError that names the products there are.
  template <class Row>
  const Table& table(const ProductName& product, std::string_view name) const {
    return table(product, name, record_type<Row>());
  }
  /// One EventIdRow per event.
  const Table& event_ids() const { return *event_ids_; }

 private:
  struct Contents;

  const Table& table(const ProductName& product, std::string_view name,
                     const RecordType& record) const;

  std::string name_;
  std::unique_ptr<Contents> contents_;
  std::vector<ProductName> products_;
  std::unique_ptr<Table> event_ids_;

  mutable std::mutex mutex_;  // guards tables_
  mutable std::map<std::string, std::unique_ptr<Table>> tables_;
};

}  // namespace cosmic::data::larcv
