#include "target/cuda/nccl_library.hpp"
#include "core/error.hpp"

namespace cosmic::target::cuda {
namespace {

class NoNccl final : public NcclLibrary {
 public:
  Support usable() const override {
    return Support::no(
        "this program was built without nccl.h, NCCL's header, so GPUs of several processes cannot "
        "reach each other; build it where libnccl-dev is installed, or say run.exchange=host to "
        "exchange through the hosts' memory");
  }
  Id make_id() override { COSMIC_ASSERT(false); }
  std::unique_ptr<NcclGroup> join(const Id&, int, int, int) override { COSMIC_ASSERT(false); }
};

}  // namespace

std::shared_ptr<NcclLibrary> nccl_library() {
  return std::make_shared<NoNccl>();
}

}  // namespace cosmic::target::cuda
