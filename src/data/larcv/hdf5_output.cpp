#include "data/larcv/hdf5_output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>

#include "core/error.hpp"

namespace cosmic::data::larcv {
namespace {

/// What the library knows of an open file: its own part, which comes first, and ours.
struct DriverFile {
  H5FD_t library{};
  Hdf5Output* output = nullptr;
  haddr_t allocated = 0;  ///< "end of allocation" in HDF5's words
  haddr_t written = 0;    ///< "end of file"
};

DriverFile& driver_file(H5FD_t* file) {
  return *reinterpret_cast<DriverFile*>(file);
}

const DriverFile& driver_file(const H5FD_t* file) {
  return *reinterpret_cast<const DriverFile*>(file);
}

constexpr herr_t kDone = 0;
constexpr herr_t kFailed = -1;

/// Exceptions must not pass through the library, which is C. There is only one: no memory.
template <class Work>
herr_t without_exceptions(const Work& work) {
  try {
    return work() ? kDone : kFailed;
  } catch (const std::bad_alloc&) {
    return kFailed;
  }
}

H5FD_t* open_file(const char*, unsigned, hid_t properties, haddr_t) {
  const void* const settings = H5Pget_driver_info(properties);
  if (settings == nullptr) {
    return nullptr;
  }
  auto* const file = new (std::nothrow) DriverFile;
  if (file == nullptr) {
    return nullptr;
  }
  std::memcpy(&file->output, settings, sizeof(file->output));
  return &file->library;
}

herr_t close_file(H5FD_t* file) {
  delete &driver_file(file);
  return kDone;
}

/// What HDF5's own driver for files answers; with it the same calls give the same bytes.
herr_t query(const H5FD_t*, unsigned long* features) {
  if (features != nullptr) {
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
                H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  }
  return kDone;
}

haddr_t allocated_end(const H5FD_t* file, H5FD_mem_t) {
  return driver_file(file).allocated;
}

herr_t set_allocated_end(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  driver_file(file).allocated = end;
  return kDone;
}

haddr_t written_end(const H5FD_t* file, H5FD_mem_t) {
  return driver_file(file).written;
}

herr_t read_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t bytes, void* to) {
  return without_exceptions([&] {
    return driver_file(file).output->read(address, {static_cast<std::byte*>(to), bytes});
  });
}

herr_t write_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t bytes,
                  const void* from) {
  return without_exceptions([&] {
    DriverFile& ours = driver_file(file);
    ours.written = std::max<haddr_t>(ours.written, address + bytes);
    return ours.output->write(address, {static_cast<const std::byte*>(from), bytes});
  });
}

herr_t cut_file(H5FD_t* file, hid_t, hbool_t) {
  return without_exceptions([&] {
    DriverFile& ours = driver_file(file);
    if (ours.written == ours.allocated) {
      return true;
    }
    ours.written = ours.allocated;
    return ours.output->resize(ours.allocated);
  });
}

/// Newer versions of the library have members that ours does not.
template <class Class>
void set_version(Class& driver) {
  if constexpr (requires { driver.value; }) {
    driver.value = static_cast<decltype(driver.value)>(300);  // from 256 on for drivers like this
  }
  if constexpr (requires { driver.version; }) {
    driver.version = 0x01;
  }
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
  set_version(driver);
  driver.name = "cosmictagger";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max());
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(Hdf5Output*);
  driver.open = &open_file;
  driver.close = &close_file;
  driver.query = &query;
  driver.get_eoa = &allocated_end;
  driver.set_eoa = &set_allocated_end;
  driver.get_eof = &written_end;
  driver.read = &read_file;
  driver.write = &write_file;
  driver.truncate = &cut_file;
  constexpr H5FD_mem_t kPools[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(kPools), std::end(kPools), std::begin(driver.fl_map));
  return driver;
}

hid_t driver_id() {
  static const H5FD_class_t driver = driver_class();
  static const hid_t id = H5FDregister(&driver);
  return id;
}

}  // namespace

Hdf5File Hdf5Output::create() {
  const std::string doing = "create the file";
  const Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS), doing);
  Hdf5Output* const to = this;
  // larcv3's files have the oldest format that holds them, which every HDF5 can read.
  require_hdf5(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST) >= 0 &&
                   H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) >= 0 &&
                   H5Pset_driver(access.get(), driver_id(), &to) >= 0,
               doing);
  return {H5Fcreate(file_.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), doing};
}

void Hdf5Output::require_written() const {
  COSMIC_REQUIRE(DataError, error_ == 0, "cannot be written (" << std::strerror(error_) << ")");
}

bool Hdf5Output::write(std::uint64_t address, std::span<const std::byte> bytes) {
  if (to_disk() && write_to_disk(address, bytes)) {
    return true;
  }
  // Also what a failed write may have written: the file is given up, but must read as it should.
  while (!bytes.empty()) {
    const std::uint64_t number = address / kPageBytes;
    const auto offset = static_cast<std::size_t>(address % kPageBytes);
    const std::size_t here = std::min(bytes.size(), kPageBytes - offset);
    Page& page = pages_[number];
    if (page.empty()) {
      page.resize(kPageBytes);
      read_from_disk(number * kPageBytes, page);
    }
    std::copy_n(bytes.begin(), here, page.begin() + static_cast<std::ptrdiff_t>(offset));
    address += here;
    bytes = bytes.subspan(here);
  }
  return true;
}

bool Hdf5Output::read(std::uint64_t address, std::span<std::byte> to) const {
  while (!to.empty()) {
    const std::uint64_t number = address / kPageBytes;
    const auto offset = static_cast<std::size_t>(address % kPageBytes);
    const std::size_t here = std::min(to.size(), kPageBytes - offset);
    const auto page = pages_.find(number);
    if (page != pages_.end()) {
      std::copy_n(page->second.begin() + static_cast<std::ptrdiff_t>(offset), here, to.begin());
    } else {
      read_from_disk(address, to.first(here));
    }
    address += here;
    to = to.subspan(here);
  }
  return true;
}

bool Hdf5Output::resize(std::uint64_t bytes) {
  if (to_disk() && file_.files().resize(file_.descriptor(), bytes) != 0) {
    error_ = errno;
  }
  return true;
}

bool Hdf5Output::write_to_disk(std::uint64_t address, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = file_.files().write_at(file_.descriptor(), bytes, address);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      error_ = done == 0 ? EIO : errno;  // no progress and no reason: do not try for ever
      return false;
    }
    address += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

/// What was never written is zero, as in a file with holes. A disk that cannot be read is one more
/// reason to give up, but not one that the library has to know.
void Hdf5Output::read_from_disk(std::uint64_t address, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t done = file_.files().read_at(file_.descriptor(), to, address);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      std::fill(to.begin(), to.end(), std::byte{0});
      error_ = done < 0 && error_ == 0 ? errno : error_;
      return;
    }
    address += static_cast<std::uint64_t>(done);
    to = to.subspan(static_cast<std::size_t>(done));
  }
}

}  // namespace cosmic::data::larcv
