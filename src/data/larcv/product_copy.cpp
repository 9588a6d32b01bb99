#include "data/larcv/product_copy.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "data/larcv/hdf5/advice.hpp"
#include "data/larcv/hdf5/attribute.hpp"
#include "data/larcv/hdf5/dataset.hpp"
#include "data/larcv/hdf5/group.hpp"
#include "data/larcv/hdf5/unsupported.hpp"
#include "data/larcv/hdf5_stored_type.hpp"
#include "data/larcv/table.hpp"

namespace cosmic::data::larcv {
namespace {

using hdf5::MessageType;
using hdf5::ObjectHeader;
using hdf5::Unsupported;

constexpr unsigned kHighestLevel = 9;

std::string quoted(const std::string& path) {
  return "'" + path + "'";
}

/// A table of the input, understood in full before anything of it is written.
struct TablePlan {
  std::string name;
  hdf5::Dataset dataset;
  Hdf5Type type;
  std::vector<hdf5::Attribute> attributes;
};

struct ProductPlan {
  std::vector<TablePlan> tables;
  std::vector<hdf5::Attribute> attributes;
};

/// The library takes a '/' for a path through groups.
void require_plain_name(const std::string& name, const std::string& where) {
  COSMIC_REQUIRE(DataError, !name.empty() && name != "." && name.find('/') == std::string::npos,
                 where << " names something " << quoted(name) << " (HDF5 allows no such name); "
                       << hdf5::kDamaged);
}

void set_filters(const hdf5::Filters& filters, const Hdf5Properties& properties,
                 const std::string& doing) {
  for (const hdf5::Filter& filter : filters) {
    herr_t status = -1;
    switch (filter.kind) {
      case hdf5::FilterKind::deflate:
        status = H5Pset_deflate(properties.get(), std::min(filter.level, kHighestLevel));
        break;
      case hdf5::FilterKind::shuffle:
        status = H5Pset_shuffle(properties.get());
        break;
      case hdf5::FilterKind::fletcher32:
        status = H5Pset_fletcher32(properties.get());
        break;
    }
    require_hdf5(status >= 0, doing);
  }
}

Hdf5Dataset create_table_like(const TablePlan& plan, const Hdf5Group& group) {
  const std::string doing = "create table '" + plan.name + "'";
  const hdf5::Dataset& dataset = plan.dataset;
  const Hdf5Properties properties(H5Pcreate(H5P_DATASET_CREATE), doing);
  require_hdf5(H5Pset_obj_track_times(properties.get(), false) >= 0, doing);
  const hsize_t rows = dataset.rows;
  const hsize_t most_rows = dataset.in_chunks() ? std::max(dataset.most_rows, dataset.rows) : rows;
  if (dataset.in_chunks()) {
    const hsize_t chunk_rows = dataset.chunk_rows;
    require_hdf5(H5Pset_chunk(properties.get(), 1, &chunk_rows) >= 0, doing);
    set_filters(dataset.filters, properties, doing);
  }
  const Hdf5Space space(H5Screate_simple(1, &rows, &most_rows), doing);
  return {H5Dcreate2(group.get(), plan.name.c_str(), plan.type.get(), space.get(), H5P_DEFAULT,
                     properties.get(), H5P_DEFAULT),
          doing};
}

/// The rows of a table that is not stored in chunks.
void write_rows(const Hdf5Dataset& table, const Hdf5Type& type, std::uint64_t first,
                std::uint64_t count, std::span<const std::byte> rows, const std::string& doing) {
  const hsize_t start = first;
  const hsize_t extent = count;
  const Hdf5Space place(H5Dget_space(table.get()), doing);
  const Hdf5Space memory(H5Screate_simple(1, &extent, nullptr), doing);
  require_hdf5(
      H5Sselect_hyperslab(place.get(), H5S_SELECT_SET, &start, nullptr, &extent, nullptr) >= 0 &&
          H5Dwrite(table.get(), type.get(), memory.get(), place.get(), H5P_DEFAULT, rows.data()) >=
              0,
      doing);
}

void write_attributes(const std::vector<hdf5::Attribute>& attributes, hid_t object,
                      const std::string& of) {
  for (const hdf5::Attribute& attribute : attributes) {
    const std::string doing = "write attribute '" + attribute.name + "' of " + of;
    const Hdf5Type type = hdf5_stored_type(attribute.type, doing);
    const std::vector<hsize_t> extents(attribute.extents.begin(), attribute.extents.end());
    const Hdf5Space space(extents.empty() ? H5Screate(H5S_SCALAR)
                                          : H5Screate_simple(static_cast<int>(extents.size()),
                                                             extents.data(), nullptr),
                          doing);
    const Hdf5Attribute written(H5Acreate2(object, attribute.name.c_str(), type.get(), space.get(),
                                           H5P_DEFAULT, H5P_DEFAULT),
                                doing);
    if (!attribute.values.empty()) {
      require_hdf5(H5Awrite(written.get(), type.get(), attribute.values.data()) >= 0, doing);
    }
  }
}

class Copy {
 public:
  Copy(const hdf5::File& input, const Hdf5Output& output) : input_(input), output_(output) {}

  void attributes(std::uint64_t header, const std::string& what, hid_t to) {
    write_attributes(read_attributes(ObjectHeader(input_, header, what)), to, what);
  }

  void product(const hdf5::Group& data, const hdf5::Link& link, const Hdf5Group& to) {
    const std::string path = data.path_of(link.name);
    ProductPlan plan;
    try {
      plan = plan_product(data, link);
    } catch (const Unsupported& error) {
      left_out_.push_back({"product " + quoted(path), error.what()});
      return;
    }
    require_plain_name(link.name, "group '" + data.path() + "/'");
    const std::string doing = "create group '" + link.name + "'";
    const Hdf5Group group(
        H5Gcreate2(to.get(), link.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), doing);
    write_attributes(plan.attributes, group.get(), quoted(path));
    for (const TablePlan& table : plan.tables) {
      copy_table(table, group);
    }
  }

  void event_ids(const hdf5::Group& events, const Hdf5Group& to) {
    const std::string name(kEventIdTable);
    const TablePlan plan = plan_table(name, events.member(name), events.path_of(name));
    copy_table(plan, to);
  }

  void leave_out(std::string what, std::string why) {
    left_out_.push_back({std::move(what), std::move(why)});
  }
  std::vector<LeftOut> take_left_out() { return std::move(left_out_); }

 private:
  std::vector<hdf5::Attribute> read_attributes(const ObjectHeader& header) {
    std::vector<hdf5::Skipped> skipped;
    std::vector<hdf5::Attribute> attributes = hdf5::read_attributes(header, skipped);
    for (hdf5::Skipped& one : skipped) {
      left_out_.push_back({std::move(one.what), std::move(one.why)});
    }
    return attributes;
  }

  ProductPlan plan_product(const hdf5::Group& data, const hdf5::Link& link) {
    const std::string path = data.path_of(link.name);
    require_followed(link, path);
    const hdf5::Group group = data.group(link);
    require_first_time(link.header, path);
    ProductPlan plan;
    for (const hdf5::Link& member : group.links()) {
      const std::string where = group.path_of(member.name);
      require_followed(member, where);
      require_plain_name(member.name, "group '" + path + "/'");
      plan.tables.push_back(plan_table(member.name, member.header, where));
    }
    plan.attributes = read_attributes(ObjectHeader(input_, link.header, "group '" + path + "'"));
    return plan;
  }

  TablePlan plan_table(const std::string& name, std::uint64_t address, const std::string& path) {
    const ObjectHeader header(input_, address, "table '" + path + "'");
    COSMIC_REQUIRE_SUPPORTED(
        !header.has(MessageType::symbol_table) && !header.has(MessageType::link_info) &&
            !header.has(MessageType::link),
        quoted(path) << " is a group (the groups of a larcv3 product hold tables only)");
    COSMIC_REQUIRE_SUPPORTED(
        header.has(MessageType::dataspace) || !header.has(MessageType::datatype),
        quoted(path) << " is a named type (larcv3 has tables only)");
    require_first_time(address, path);
    TablePlan plan;
    plan.name = name;
    plan.dataset = hdf5::read_dataset(input_, address, path);
    require_different(plan.dataset.filters, path);
    plan.type = hdf5_stored_type(plan.dataset.type, "copy the type of " + quoted(path));
    plan.attributes = read_attributes(header);
    return plan;
  }

  static void require_followed(const hdf5::Link& link, const std::string& path) {
    COSMIC_REQUIRE_SUPPORTED(link.kind == hdf5::LinkKind::hard,
                             quoted(path) << " is " << hdf5::why_refused(link.kind));
  }

  /// The copy would have it twice, and a file of a thousand names for one table a thousand times.
  void require_first_time(std::uint64_t header, const std::string& path) {
    COSMIC_REQUIRE_SUPPORTED(seen_.insert(header).second,
                             quoted(path)
                                 << " is another name for something else (larcv3 gives everything "
                                    "one name)");
  }

  static void require_different(const hdf5::Filters& filters, const std::string& path) {
    std::set<hdf5::FilterKind> kinds;
    for (const hdf5::Filter& filter : filters) {
      COSMIC_REQUIRE_SUPPORTED(kinds.insert(filter.kind).second,
                               quoted(path) << " is packed with the same filter twice");
    }
  }

  void copy_table(const TablePlan& plan, const Hdf5Group& group) {
    const hdf5::Dataset& dataset = plan.dataset;
    const Hdf5Dataset table = create_table_like(plan, group);
    write_attributes(plan.attributes, table.get(), dataset.what);
    const std::string doing = "write to table '" + plan.name + "'";
    for (std::uint64_t number = 0; number < dataset.chunks.size(); ++number) {
      const hdf5::Chunk& chunk = dataset.chunks[static_cast<std::size_t>(number)];
      const hsize_t first = number * dataset.chunk_rows;
      const std::span<const std::byte> rows = unpack(dataset, number);
      if (dataset.in_chunks()) {
        const auto used = static_cast<std::uint32_t>((1ULL << dataset.filters.size()) - 1);
        require_hdf5(H5Dwrite_chunk(table.get(), H5P_DEFAULT, chunk.skipped_filters & used, &first,
                                    workspace_.packed.size(), workspace_.packed.data()) >= 0,
                     doing);
      } else {
        write_rows(table, plan.type, first, dataset.rows_in(number), rows, doing);
      }
      output_.require_written();
    }
  }

  /// The rows of a chunk, from which nothing is taken but that they can be unpacked. What is stored
  /// stays in the workspace.
  std::span<const std::byte> unpack(const hdf5::Dataset& dataset, std::uint64_t number) {
    const hdf5::Chunk& chunk = dataset.chunks[static_cast<std::size_t>(number)];
    // Tables of their own can still share their chunks.
    copied_ += chunk.bytes;
    COSMIC_REQUIRE(DataError, copied_ <= input_.bytes(),
                   dataset.what << " and the tables before it have more bytes than the file, "
                                << input_.bytes() << " (they lie over each other); "
                                << hdf5::kDamaged);
    workspace_.packed.resize(chunk.bytes);
    input_.read(chunk.address, workspace_.packed, dataset.what);
    workspace_.rows.resize(static_cast<std::size_t>(dataset.rows_in(number)) * dataset.type.bytes);
    try {
      workspace_.unpacker.unpack(dataset.filters, chunk.skipped_filters, dataset.type.bytes,
                                 workspace_.packed, workspace_.rows);
    } catch (const DataError& error) {
      throw DataError(dataset.what + ": chunk " + std::to_string(number) + " " + error.what());
    }
    return workspace_.rows;
  }

  const hdf5::File& input_;
  const Hdf5Output& output_;
  ChunkWorkspace workspace_;
  std::set<std::uint64_t> seen_;  ///< headers of what was copied
  std::uint64_t copied_ = 0;      ///< bytes of chunks
  std::vector<LeftOut> left_out_;
};

void leave_out_all_but(std::span<const std::string_view> known, const hdf5::Group& group,
                       Copy& copy) {
  for (const hdf5::Link& link : group.links()) {
    if (std::find(known.begin(), known.end(), link.name) == known.end()) {
      copy.leave_out(quoted(group.path_of(link.name)), "larcv3 has nothing of that name there");
    }
  }
}

std::vector<EventIdRow> read_event_ids(const hdf5::File& file, const hdf5::Group& events) {
  const Table table(file, events.member(kEventIdTable), events.path_of(kEventIdTable),
                    record_type<EventIdRow>());
  ChunkWorkspace workspace;
  TableReader<EventIdRow> reader(table, workspace);
  std::vector<EventIdRow> ids;
  reader.each_piece(0, table.rows(), [&](std::span<const EventIdRow> rows) {
    ids.insert(ids.end(), rows.begin(), rows.end());
  });
  return ids;
}

CopiedProducts copy_all(const hdf5::File& input, const Hdf5File& file, const OutputGroups& groups,
                        const Hdf5Output& output, std::span<const ProductName> except) {
  const hdf5::Group root(input);
  const hdf5::Group events = root.group(kEventsGroup);
  const hdf5::Group data = root.group(kDataGroup);
  Copy copy(input, output);
  constexpr std::string_view kInRoot[] = {kEventsGroup, kDataGroup};
  constexpr std::string_view kInEvents[] = {kEventIdTable};
  leave_out_all_but(kInRoot, root, copy);
  leave_out_all_but(kInEvents, events, copy);
  copy.attributes(input.root(), "the file", file.get());
  copy.attributes(root.member(kEventsGroup), "group '/Events'", groups.events.get());
  copy.attributes(root.member(kDataGroup), "group '/Data'", groups.data.get());
  for (const hdf5::Link& link : data.links()) {
    const std::optional<ProductName> product = parse_group_name(link.name);
    if (!product || std::find(except.begin(), except.end(), *product) == except.end()) {
      copy.product(data, link, groups.data);
    }
  }
  copy.event_ids(events, groups.events);
  return {read_event_ids(input, events), copy.take_left_out()};
}

}  // namespace

CopiedProducts copy_stored_products(const std::filesystem::path& input, const Hdf5File& file,
                                    const OutputGroups& groups, const Hdf5Output& output,
                                    std::span<const ProductName> except) {
  try {
    return copy_all(hdf5::File(input), file, groups, output, except);
  } catch (const DataError& error) {
    throw DataError(input.string() + ": " + error.what());
  }
}

}  // namespace cosmic::data::larcv
