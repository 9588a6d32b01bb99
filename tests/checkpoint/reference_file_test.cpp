// Weights for the reference, read back by our reader and by the reference's framework.
#include "checkpoint/reference_file.hpp"

#include <gmock/gmock.h>

#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/scratch_folder.hpp"
#include "checkpoint/some_checkpoint.hpp"
#include "core/error.hpp"
#include "run_command.hpp"

namespace cosmic::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::ThrowsMessage;

class ReferenceFile : public ScratchFolder {
 protected:
  ReferenceFile() {
    session::Tensor count({graph::DType::i64, {}});
    count.as<std::int64_t>()[0] = std::int64_t{1} << 40;
    checkpoint_.tensors.emplace("norm.num_batches_tracked", count);
    session::Tensor kernel({graph::DType::f32, {2, 3, 1, 5}});
    for (std::size_t i = 0; i < kernel.as<float>().size(); ++i) {
      kernel.as<float>()[i] = 0.5F * static_cast<float>(i);
    }
    checkpoint_.tensors.emplace("conv.weight", kernel);
    save_for_reference(path_, checkpoint_, Existing::refuse);
  }

  std::filesystem::path path_ = folder_ / "model-5.ckpt";
  Checkpoint checkpoint_ = some_checkpoint(5);
};

TEST_F(ReferenceFile, has_the_weights_and_the_step_and_nothing_of_the_optimizer) {
  const Checkpoint loaded = load_checkpoint(path_);
  EXPECT_EQ(loaded.origin, Origin::reference);
  EXPECT_EQ(loaded.step, 5);
  EXPECT_THAT(loaded.tensors, ElementsAre(Key("a.weight"), Key("b.weight"), Key("conv.weight"),
                                          Key("norm.num_batches_tracked")));
  for (const auto& [name, tensor] : loaded.tensors) {
    EXPECT_EQ(tensor.type, checkpoint_.tensors.at(name).type) << name;
    EXPECT_EQ(tensor.bytes, checkpoint_.tensors.at(name).bytes) << name;
  }
  EXPECT_THAT([&] { save_for_reference(path_, checkpoint_, Existing::refuse); },
              ThrowsMessage<UserError>(HasSubstr("already exists")));
}

TEST_F(ReferenceFile, is_read_by_the_framework_without_running_anything) {
  const std::string python = "/usr/bin/python3";
  if (run_command(python + " -c 'import torch'").status != 0) {
    GTEST_SKIP() << "needs PyTorch (package python3-torch)";
  }
  const CommandResult result =
      run_command(python + " -c \"import torch; d = torch.load('" + path_.string() +
                  "', weights_only=True); s = d['state_dict']; print(d['global_step'], list(s), "
                  "s['conv.weight'].shape, s['conv.weight'][1, 2, 0, 4].item(), "
                  "s['norm.num_batches_tracked'].item())\"");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output,
              HasSubstr("5 ['a.weight', 'b.weight', 'conv.weight', 'norm.num_batches_tracked'] "
                        "torch.Size([2, 3, 1, 5]) 14.5 1099511627776"));
}

}  // namespace
}  // namespace cosmic::checkpoint
