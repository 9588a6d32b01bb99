#include "data/larcv/event_file.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"
#include "data/larcv/hdf5/attribute.hpp"
#include "data/larcv/hdf5/file.hpp"
#include "data/larcv/hdf5/group.hpp"
#include "data/larcv/hdf5/object_header.hpp"
#include "data/larcv/read_place.hpp"

namespace cosmic::data::larcv {
namespace {

std::string list(const std::vector<ProductName>& products) {
  std::string text;
  for (const ProductName& product : products) {
    text += (text.empty() ? "" : ", ") + product.type + "_" + product.producer;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

struct EventFile::Contents {
  explicit Contents(const std::filesystem::path& path)
      : file(path), root(file), data(root.group(kDataGroup)), events(root.group(kEventsGroup)) {}

  hdf5::File file;
  hdf5::Group root;
  hdf5::Group data;
  hdf5::Group events;
};

EventFile::EventFile(const std::filesystem::path& path, ReadWarnings& warnings)
    : name_(path.string()) {
  at_place({.file = name_}, [&] {
    contents_ = std::make_unique<Contents>(path);
    const hdf5::Group& events = contents_->events;
    event_ids_ = std::make_unique<Table>(contents_->file, events.member(kEventIdTable),
                                         events.path_of(kEventIdTable), record_type<EventIdRow>());
    COSMIC_REQUIRE(
        DataError, std::in_range<std::int64_t>(event_ids_->rows()),
        "has " << event_ids_->rows() << " events (more than can be counted); " << hdf5::kDamaged);
  });
  for (const hdf5::Link& link : contents_->data.links()) {
    if (auto product = parse_group_name(link.name)) {
      products_.push_back(std::move(*product));
    } else {
      warnings.add(WarningKind::odd_group_name, 1, {.file = name_},
                   [&] { return name_ + ": '" + contents_->data.path_of(link.name) + "'"; });
    }
  }
}

EventFile::~EventFile() = default;

std::int64_t EventFile::size() const {
  return static_cast<std::int64_t>(event_ids_->rows());
}

bool EventFile::has(const ProductName& product) const {
  return std::find(products_.begin(), products_.end(), product) != products_.end();
}

std::map<std::string, std::string> EventFile::texts_of(const ProductName& product) const {
  std::map<std::string, std::string> texts;
  at_place({.file = name_}, [&] {
    for (const hdf5::Link& link : contents_->data.links()) {
      if (link.name != group_name(product)) {
        continue;
      }
      std::vector<hdf5::Skipped> skipped;  // is no text
      for (const hdf5::Attribute& attribute : hdf5::read_attributes(
               hdf5::ObjectHeader(contents_->file, link.header, "group '" + link.name + "'"),
               skipped)) {
        if (attribute.type.type == hdf5::TypeClass::text && attribute.extents.empty()) {
          std::string text(reinterpret_cast<const char*>(attribute.values.data()),
                           attribute.values.size());
          texts.emplace(attribute.name, text.substr(0, text.find('\0')));
        }
      }
    }
  });
  return texts;
}

const Table& EventFile::table(const ProductName& product, std::string_view name,
                              const RecordType& record) const {
  COSMIC_REQUIRE(DataError, has(product),
                 name_ << ": has no product '" << product.type << "_" << product.producer
                       << "' (it has: " << list(products_)
                       << "); is the name of the producer right?");
  const std::string group = group_name(product);
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Table>& table = tables_[group + "/" + std::string(name)];
  if (!table) {
    table = at_place({.file = name_, .product = product.type + "_" + product.producer}, [&] {
      const hdf5::Group members = contents_->data.group(group);
      return std::make_unique<Table>(contents_->file, members.member(name), members.path_of(name),
                                     record);
    });
  }
  return *table;
}

}  // namespace cosmic::data::larcv
