#include "session/replica_buffers.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace cosmic::session {

ReplicaBuffers::ReplicaBuffers(const graph::Graph& program, std::int64_t replicas,
                               ReplicaStatistics kind)
    : replicas_(replicas), kind_(kind) {
  if (replicas == 1) {
    return;
  }
  std::set<graph::ValueId> updated;
  for (const graph::StateUpdate& update : program.updates) {
    updated.insert(update.state);
  }
  for (const graph::StateVariable& state : program.states) {
    if (state.kind == graph::StateKind::buffer && updated.contains(state.value)) {
      const graph::TensorType& type = program.type(state.value);
      const auto bytes = static_cast<std::size_t>(type.bytes());
      const bool averaged = type.dtype == graph::DType::f32;
      buffers_.push_back({state.name, type.dtype, std::vector<std::byte>(bytes),
                          std::vector<std::byte>(bytes),
                          std::vector<double>(averaged ? bytes / sizeof(float) : 0)});
    }
  }
}

void ReplicaBuffers::begin_replica(std::int64_t replica, target::StateBank& bank) {
  for (Buffer& buffer : buffers_) {
    if (replica == 0) {
      bank.read(buffer.name, buffer.start);
    } else {
      bank.write(buffer.name, buffer.start);
    }
  }
}

void ReplicaBuffers::end_replica(std::int64_t replica, target::StateBank& bank) {
  const bool is_last = replica + 1 == replicas_;
  for (Buffer& buffer : buffers_) {
    // Counters of batches are the same in every replica.
    if (kind_ == ReplicaStatistics::mean && buffer.dtype == graph::DType::f32) {
      average(buffer, replica, bank);
    } else if (replica == 0) {
      bank.read(buffer.name, buffer.observed);
    } else if (is_last) {
      bank.write(buffer.name, buffer.observed);
    }
  }
}

void ReplicaBuffers::average(Buffer& buffer, std::int64_t replica, target::StateBank& bank) {
  bank.read(buffer.name, buffer.observed);
  for (std::size_t i = 0; i < buffer.sum.size(); ++i) {
    float value = 0;
    std::memcpy(&value, &buffer.observed[i * sizeof(float)], sizeof(float));
    buffer.sum[i] = (replica == 0 ? 0 : buffer.sum[i]) + value;
    if (replica + 1 == replicas_) {
      value = static_cast<float>(buffer.sum[i] / static_cast<double>(replicas_));
      std::memcpy(&buffer.observed[i * sizeof(float)], &value, sizeof(float));
    }
  }
  if (replica + 1 == replicas_) {
    bank.write(buffer.name, buffer.observed);
  }
}

}  // namespace cosmic::session
