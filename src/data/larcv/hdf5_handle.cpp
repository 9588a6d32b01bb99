#include "data/larcv/hdf5_handle.hpp"

namespace cosmic::data::larcv {
namespace {

std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Hdf5Session::Hdf5Session() : lock_(hdf5_mutex()) {
  // Our handles close everything; the library's own clean-up at exit crashes on a file that a full
  // disk left half written.
  static const herr_t no_clean_up_at_exit = H5dont_atexit();
  static_cast<void>(no_clean_up_at_exit);
  H5open();
  H5PLset_loading_state(0);  // a file may name a filter, never bring code for it
  H5Eget_auto2(H5E_DEFAULT, &print_errors_, &print_errors_to_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Session::~Hdf5Session() {
  H5Eset_auto2(H5E_DEFAULT, print_errors_, print_errors_to_);
}

std::string hdf5_reason() {
  std::string reason;
  const auto take_first = [](unsigned, const H5E_error2_t* entry, void* to) -> herr_t {
    *static_cast<std::string*>(to) = entry->desc != nullptr ? entry->desc : "";
    return 1;  // the innermost comes first; no more
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
  return reason.empty() ? "no reason given" : reason;
}

}  // namespace cosmic::data::larcv
