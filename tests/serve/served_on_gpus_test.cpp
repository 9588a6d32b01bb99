// A server whose replicas compute on GPUs, which are the host here.
#include <gtest/gtest.h>

#include <thread>

#include "data/larcv/predictions.hpp"
#include "serve/served_tiny.hpp"
#include "serve/tagging_call.hpp"
#include "target/fake_gpu/fake_gpu_target.hpp"

namespace cosmic::serve {
namespace {

constexpr const char* kGpu = "cuda";

class ServedOnGpus : public testing::Test {
 protected:
  ServedOnGpus() {
    target::fake_gpu::reset_machine();
    target::fake_gpu::machine()->presence.devices = 2;
  }
  ~ServedOnGpus() override { target::fake_gpu::reset_machine(); }

  static ServingOptions a_replica_on_each_device() {
    ServingOptions options = tiny_serving();
    options.batch_sizes = {1};
    options.devices = {0, 1};
    options.replicas = 2;
    return options;
  }
};

std::vector<float> values_of(const data::SparseImage& image) {
  std::vector<float> values;
  for (const data::SparsePlane& plane : image) {
    values.insert(values.end(), plane.values.begin(), plane.values.end());
  }
  return values;
}

TEST_F(ServedOnGpus, events_that_two_devices_tag_at_the_same_time_have_the_bits_that_infer_writes) {
  const TinyWeights& weights = TinyWeights::get();
  ServedTiny served({}, a_replica_on_each_device(), {}, 0, {kGpu, Provenance::measured});
  const auto model = served.models().find("tiny");
  EXPECT_EQ(model->target(), kGpu);
  const std::vector<data::SparseEvent> events = weights.events();
  std::vector<std::shared_ptr<TaggingCall>> calls;
  std::vector<std::thread> clients;
  for (const data::SparseEvent& event : events) {
    auto call = std::make_shared<TaggingCall>();
    call->events.resize(1);
    call->events.front().image = event.image;
    call->wanted.pixels = true;
    calls.push_back(call);
    clients.emplace_back([model, call] { model->tag(call, [] { return false; }); });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventWork& tagged = calls[i]->events.front();
    ASSERT_FALSE(tagged.refusal);
    const auto entry = static_cast<std::int64_t>(i);
    EXPECT_EQ(values_of(tagged.pixels.cosmic), inferred(entry, data::larcv::kPixelCosmic, 1, kGpu));
    EXPECT_EQ(values_of(tagged.pixels.neutrino),
              inferred(entry, data::larcv::kPixelNeutrino, 1, kGpu));
  }
  EXPECT_EQ(model->statistics().inferences, events.size());
}

TEST_F(ServedOnGpus, a_device_that_is_not_there_is_refused_before_anybody_is_served) {
  ServingOptions options = a_replica_on_each_device();
  options.devices = {0, 7};
  EXPECT_THROW(ServedTiny({}, options, {}, 0, {kGpu, Provenance::measured}), UserError);
}

}  // namespace
}  // namespace cosmic::serve
