#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>

#include <cstring>

#include "core/error.hpp"
#include "target/cuda/nccl_library.hpp"

namespace cosmic::target::cuda {
namespace {

static_assert(sizeof(ncclUniqueId) == sizeof(NcclLibrary::Id));

/// What of the library is used here. All of it has been there since 2.4.
struct Functions {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) comm_init_rank = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;

  /// Empty for none.
  std::string text_of(ncclResult_t result) const {
    return result == ncclSuccess ? std::string() : std::string(get_error_string(result));
  }
};

class Group final : public NcclGroup {
 public:
  Group(const Functions& functions, ncclComm_t group, int device)
      : functions_(functions), group_(group), device_(device) {}
  ~Group() override {
    cudaSetDevice(device_);
    functions_.comm_destroy(group_);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::string add_up(float* numbers, std::int64_t count, void* stream) override {
    return functions_.text_of(
        functions_.all_reduce(numbers, numbers, static_cast<std::size_t>(count), ncclFloat, ncclSum,
                              group_, static_cast<cudaStream_t>(stream)));
  }
  std::string error() override {
    ncclResult_t result = ncclSuccess;
    const ncclResult_t asked = functions_.comm_get_async_error(group_, &result);
    return functions_.text_of(asked == ncclSuccess ? result : asked);
  }

 private:
  const Functions& functions_;  // the library's, which outlives its groups
  ncclComm_t group_;
  int device_;
};

/// It stays loaded: it leaves threads behind.
class LoadedNccl final : public NcclLibrary {
 public:
  LoadedNccl() {
    void* const handle = dlopen(kNcclFile, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const said = dlerror();
      why_not_ = said == nullptr ? kNcclFile : said;
      return;
    }
    find(handle, "ncclGetVersion", functions_.get_version);
    find(handle, "ncclGetErrorString", functions_.get_error_string);
    find(handle, "ncclGetUniqueId", functions_.get_unique_id);
    find(handle, "ncclCommInitRank", functions_.comm_init_rank);
    find(handle, "ncclCommGetAsyncError", functions_.comm_get_async_error);
    find(handle, "ncclCommDestroy", functions_.comm_destroy);
    find(handle, "ncclAllReduce", functions_.all_reduce);
    if (why_not_.empty()) {
      int version = 0;
      functions_.get_version(&version);
      version_ = version;
    }
  }

  Support usable() const override { return nccl_usable(version_, why_not_); }

  Id make_id() override {
    ncclUniqueId made;
    require(functions_.get_unique_id(&made), "ncclGetUniqueId");
    Id id;
    std::memcpy(id.data(), &made, sizeof made);
    return id;
  }

  std::unique_ptr<NcclGroup> join(const Id& id, int rank, int size, int device) override {
    ncclUniqueId of_all;
    std::memcpy(&of_all, id.data(), sizeof of_all);
    cudaSetDevice(device);
    ncclComm_t group = nullptr;
    require(functions_.comm_init_rank(&group, size, of_all, rank), "ncclCommInitRank");
    return std::make_unique<Group>(functions_, group, device);
  }

 private:
  template <class Function>
  void find(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr) {
      why_not_ = std::string(kNcclFile) + " has no " + name;
    }
  }

  void require(ncclResult_t result, const char* call) const {
    COSMIC_REQUIRE(
        TargetError, result == ncclSuccess,
        call << " failed: " << functions_.text_of(result)
             << " (the GPUs of these processes cannot reach each other); NCCL_DEBUG=WARN "
                "in the environment makes NCCL say more; run.exchange=host exchanges "
                "through the hosts' memory");
  }

  Functions functions_;
  std::optional<int> version_;
  std::string why_not_;
};

}  // namespace

std::shared_ptr<NcclLibrary> nccl_library() {
  static const auto library = std::make_shared<LoadedNccl>();
  return library;
}

}  // namespace cosmic::target::cuda
