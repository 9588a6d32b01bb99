// Ownership and errors for the HDF5 library, which this folder writes files with. Internal: hdf5.h
// must not reach a header that is included from elsewhere.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace cosmic::data::larcv {

/// Owns one HDF5 identifier. HDF5 hands out one integer type for files, groups and datasets but
/// wants another close call for each; tying the call to the type makes mixing them a compile error.
template <auto Close>
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  /// Takes what an HDF5 call returned; `doing` says what the call was for.
  Hdf5Handle(hid_t id, const std::string& doing);
  ~Hdf5Handle() {
    if (id_ >= 0) {
      Close(id_);  // call close() to know that closing worked
    }
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;

  hid_t get() const { return id_; }

  /// Closes now and says when that fails: HDF5 writes what it still holds only then.
  void close(const std::string& doing);

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using Hdf5File = Hdf5Handle<&H5Fclose>;
using Hdf5Group = Hdf5Handle<&H5Gclose>;
using Hdf5Dataset = Hdf5Handle<&H5Dclose>;
using Hdf5Space = Hdf5Handle<&H5Sclose>;
using Hdf5Type = Hdf5Handle<&H5Tclose>;
using Hdf5Attribute = Hdf5Handle<&H5Aclose>;
using Hdf5Properties = Hdf5Handle<&H5Pclose>;

/// HDF5 is one machine with global state, and need not be built to be shared by threads. Hold one
/// of these around every call, in whichever thread. While it lives, HDF5 keeps its own error output
/// to itself and loads no plugins.
class Hdf5Session {
 public:
  Hdf5Session();
  ~Hdf5Session();
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  H5E_auto2_t print_errors_ = nullptr;
  void* print_errors_to_ = nullptr;
};

/// The innermost entry of HDF5's error stack in this thread: the cause, in its words.
std::string hdf5_reason();

/// Throws DataError "cannot <doing> (<HDF5's reason>)" when an HDF5 call failed.
inline void require_hdf5(bool ok, const std::string& doing) {
  COSMIC_REQUIRE(DataError, ok, "cannot " << doing << " (HDF5: " << hdf5_reason() << ")");
}

template <auto Close>
Hdf5Handle<Close>::Hdf5Handle(hid_t id, const std::string& doing) : id_(id) {
  require_hdf5(id_ >= 0, doing);
}

template <auto Close>
void Hdf5Handle<Close>::close(const std::string& doing) {
  require_hdf5(Close(std::exchange(id_, H5I_INVALID_HID)) >= 0, doing);
}

}  // namespace cosmic::data::larcv
