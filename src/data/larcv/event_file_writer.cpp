#include "data/larcv/event_file_writer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "data/larcv/hdf5_output.hpp"
#include "data/larcv/product_copy.hpp"
#include "data/larcv/product_writer.hpp"

namespace cosmic::data::larcv {
namespace {

// Enough chunks for many threads to share, little beside what an event takes to make. It decides
// where chunks of different tables come to lie in the file, so it must not depend on threads.
constexpr std::size_t kWaitingBytes = std::size_t{16} << 20;
constexpr int kHighestDeflateLevel = 9;

struct Product {
  ProductName name;
  std::variant<SparseWriter, ClusterWriter, ParticleWriter, BoxWriter> writer;
  std::int64_t events = 0;

  std::string text() const { return group_name(name); }
  Tables tables() {
    return std::visit([](auto& of_type) { return of_type.tables(); }, writer);
  }
};

Hdf5Group create_group(hid_t parent, const std::string& name) {
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
          "create group '" + name + "'"};
}

/// As texts of fixed length, which every reader of HDF5 knows, ours too.
void write_texts(hid_t data, const std::string& group_name,
                 const std::map<std::string, std::string>& texts) {
  const Hdf5Group group(H5Gopen2(data, group_name.c_str(), H5P_DEFAULT), "open " + group_name);
  for (const auto& [name, text] : texts) {
    const std::string doing = "write attribute '" + name + "' of " + group_name;
    const Hdf5Type type(H5Tcopy(H5T_C_S1), doing);
    require_hdf5(H5Tset_size(type.get(), text.size() + 1) >= 0 &&
                     H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0,
                 doing);
    const Hdf5Space space(H5Screate(H5S_SCALAR), doing);
    const Hdf5Attribute written(
        H5Acreate2(group.get(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
        doing);
    require_hdf5(H5Awrite(written.get(), type.get(), text.c_str()) >= 0, doing);
  }
}

std::string id_text(const EventId& id) {
  return fmt::format("{}/{}/{}", id.run, id.subrun, id.event);
}

std::string free_bytes_beside(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  return error ? "an unknown number of" : std::to_string(space.available);
}

}  // namespace

class EventFileWriter::File {
 public:
  File(const std::filesystem::path& path, const EventFileWriterOptions& options)
      : pending_(path, options.existing, options.files),
        output_(pending_),
        level_(options.deflate_level),
        press_(options.team, level_) {
    writing([&] {
      const Hdf5Session session;
      hdf5_ = output_.create();
      groups_ = {create_group(hdf5_.get(), std::string(kEventsGroup)),
                 create_group(hdf5_.get(), std::string(kDataGroup))};
    });
  }

  ~File() {
    const Hdf5Session session;
    output_.discard();
    close_tables();
    hdf5_ = {};
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::int64_t events() const { return events_; }

  std::vector<LeftOut> copy_from(const std::filesystem::path& input,
                                 std::span<const ProductName> except) {
    COSMIC_REQUIRE(InternalError, events_ == 0 && !copied_ && !event_ids_,
                   path() << ": products are copied before the first event and once");
    std::vector<LeftOut> left_out;
    try {
      const Hdf5Session session;
      CopiedProducts copied = copy_stored_products(input, hdf5_, groups_, output_, except);
      copied_ = std::move(copied.event_ids);
      left_out = std::move(copied.left_out);
    } catch (const DataError&) {
      failed_ = true;
      require_written();  // if it was the output, else the input
      throw;
    }
    require_written();
    return left_out;
  }

  void begin_event(const EventId& id) {
    finish_event();
    if (copied_) {
      check_copied(id);
    } else {
      create_event_ids();
      event_ids_->append(EventIdRow{id.run, id.subrun, id.event});
    }
    id_ = id;
    ++events_;
  }

  template <class Writer, class Content>
  void write(std::string_view type, std::string_view producer, const Content& content) {
    Product& product = find_or_create<Writer>({std::string(type), std::string(producer)});
    COSMIC_REQUIRE(InternalError, events_ > 0 && product.events == events_ - 1,
                   here(product) << ": written twice, or outside an event");
    std::get<Writer>(product.writer).append(content, here(product));
    ++product.events;
  }

  void describe(const ProductName& product, std::map<std::string, std::string> texts) {
    texts_.insert_or_assign(group_name(product), std::move(texts));
  }

  void commit() {
    COSMIC_REQUIRE(InternalError, !committed_, path() << ": committed twice");
    finish_event();
    COSMIC_REQUIRE(
        InternalError,
        !copied_ || products_.empty() || events_ == static_cast<std::int64_t>(copied_->size()),
        path() << ": products were added to " << events_ << " of the " << copied_->size()
               << " events that were copied");
    if (!copied_) {
      create_event_ids();  // a file without events still has the table of their ids
    }
    writing([&] {
      press_.write(tables(), ChunkPress::LastChunk::write);
      const Hdf5Session session;
      for (const auto& product : products_) {
        if (const auto texts = texts_.find(product->text()); texts != texts_.end()) {
          write_texts(groups_.data.get(), product->text(), texts->second);
        }
      }
      close_tables();
      hdf5_.close("close the file");  // HDF5 writes what it still holds only now
    });
    pending_.commit();
    committed_ = true;
  }

 private:
  std::string path() const { return pending_.path().string(); }

  std::string here(const Product& product) const {
    return fmt::format("{}: {}, event {} ({})", path(), product.text(), events_ - 1, id_text(id_));
  }

  Tables tables() {
    Tables all;
    if (event_ids_) {
      all.push_back(&*event_ids_);
    }
    for (const auto& product : products_) {
      const Tables more = product->tables();
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

  /// Not before it is known that no other file's ids are copied.
  void create_event_ids() {
    if (!event_ids_) {
      writing([&] {
        const Hdf5Session session;
        event_ids_.emplace(groups_.events, kEventIdTable, record_type<EventIdRow>(), kEventIdChunk,
                           level_);
      });
    }
  }

  template <class Writer>
  Product& find_or_create(const ProductName& name) {
    const auto found = std::find_if(products_.begin(), products_.end(),
                                    [&](const auto& product) { return product->name == name; });
    if (found != products_.end()) {
      return **found;
    }
    COSMIC_REQUIRE(InternalError, events_ <= 1,
                   path() << ": product " << group_name(name) << " appears in event " << events_ - 1
                          << " for the first time (the first event must have all products)");
    writing([&] {
      const Hdf5Session session;
      const Hdf5Group group = create_group(groups_.data.get(), group_name(name));
      products_.push_back(std::make_unique<Product>(Product{name, Writer(group, level_)}));
    });
    return *products_.back();
  }

  /// Checks that the event is complete and writes what has come together.
  void finish_event() {
    COSMIC_REQUIRE(InternalError, !failed_ && !committed_,
                   path() << ": written to after an error or after commit()");
    for (const auto& product : products_) {
      COSMIC_REQUIRE(InternalError, product->events == events_,
                     here(*product) << ": was not written; every event needs every product");
    }
    std::size_t waiting = 0;
    for (const TableWriter* table : tables()) {
      waiting += table->waiting_bytes();
    }
    if (waiting >= kWaitingBytes) {
      writing([&] { press_.write(tables(), ChunkPress::LastChunk::keep_waiting); });
    }
  }

  void check_copied(const EventId& id) const {
    const auto entry = static_cast<std::size_t>(events_);
    COSMIC_REQUIRE(
        InternalError, entry < copied_->size(),
        path() << ": event " << entry << " is begun, but the copied file has " << copied_->size());
    const EventIdRow& row = (*copied_)[entry];
    const EventId expected{row.run, row.subrun, row.event};
    COSMIC_REQUIRE(InternalError, id == expected,
                   path() << ": event " << entry << " is begun as " << id_text(id) << ", but is "
                          << id_text(expected) << " in the copied file");
  }

  /// Runs what writes to the disk. An error gets the facts that help, and is the last.
  template <class Work>
  void writing(const Work& work) {
    try {
      work();
    } catch (const DataError& error) {
      failed_ = true;
      require_written();
      throw DataError(path() + ": " + error.what());
    }
    require_written();
  }

  /// HDF5 is not told of a disk that takes no more (hdf5_output.hpp); it is asked for here.
  void require_written() {
    failed_ = failed_ || output_.error() != 0;
    COSMIC_REQUIRE(DataError, output_.error() == 0,
                   fmt::format("{}: cannot be written ({}) after {} bytes and {} events; {} bytes "
                               "are free there, make space or name another folder (nothing "
                               "incomplete is left)",
                               path(), std::strerror(output_.error()), pending_.bytes(), events_,
                               free_bytes_beside(pending_.path())));
  }

  /// Under an Hdf5Session: the handles call HDF5 when they go.
  void close_tables() {
    products_.clear();
    event_ids_.reset();
    groups_ = {};
  }

  PendingFile pending_;
  Hdf5Output output_;
  int level_;
  ChunkPress press_;
  Hdf5File hdf5_;
  OutputGroups groups_;
  std::optional<TableWriter> event_ids_;
  std::optional<std::vector<EventIdRow>> copied_;
  std::vector<std::unique_ptr<Product>> products_;
  EventId id_;
  std::map<std::string, std::map<std::string, std::string>> texts_;  ///< by group
  std::int64_t events_ = 0;
  bool failed_ = false;
  bool committed_ = false;
};

EventFileWriter::EventFileWriter(const std::filesystem::path& path,
                                 const EventFileWriterOptions& options) {
  COSMIC_REQUIRE(UserError,
                 options.deflate_level >= 0 && options.deflate_level <= kHighestDeflateLevel,
                 path.string() << ": compression level " << options.deflate_level
                               << " (deflate has 0 to " << kHighestDeflateLevel << "); choose 1");
  file_ = std::make_unique<File>(path, options);
}

EventFileWriter::~EventFileWriter() = default;

std::vector<LeftOut> EventFileWriter::copy_products(const std::filesystem::path& input,
                                                    std::span<const ProductName> except) {
  return file_->copy_from(input, except);
}

void EventFileWriter::begin_event(const EventId& id) {
  file_->begin_event(id);
}

void EventFileWriter::write_sparse(std::string_view producer, const SparseImage& image) {
  file_->write<SparseWriter>(kSparse2d, producer, image);
}

void EventFileWriter::write_clusters(std::string_view producer,
                                     std::span<const ClusterPlane> planes) {
  file_->write<ClusterWriter>(kCluster2d, producer, planes);
}

void EventFileWriter::write_particles(std::string_view producer,
                                      std::span<const Particle> particles) {
  file_->write<ParticleWriter>(kParticle, producer, particles);
}

void EventFileWriter::write_boxes(std::string_view producer, std::span<const BoxPlane> planes) {
  file_->write<BoxWriter>(kBox2d, producer, planes);
}

void EventFileWriter::describe(const ProductName& product,
                               std::map<std::string, std::string> texts) {
  file_->describe(product, std::move(texts));
}

std::int64_t EventFileWriter::events() const {
  return file_->events();
}

void EventFileWriter::commit() {
  file_->commit();
}

}  // namespace cosmic::data::larcv
