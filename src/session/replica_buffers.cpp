#include "session/replica_buffers.hpp"

#include <cstring>
#include <set>

#include "comm/communicator.hpp"

namespace cosmic::session {

ReplicaBuffers::ReplicaBuffers(const graph::Graph& program, const Options& options)
    : communicator_(options.communicator),
      replicas_(options.replication_factor),
      all_replicas_(replicas_ * (communicator_ == nullptr ? 1 : communicator_->size())) {
  if (all_replicas_ == 1) {
    return;
  }
  std::set<graph::ValueId> updated;
  for (const graph::StateUpdate& update : program.updates) {
    updated.insert(update.state);
  }
  for (const graph::StateVariable& state : program.states) {
    if (state.kind == graph::StateKind::buffer && updated.contains(state.value)) {
      const graph::TensorType& type = program.type(state.value);
      // Counters of batches are the same in every replica.
      const bool averaged =
          options.replica_statistics == ReplicaStatistics::mean && type.dtype == graph::DType::f32;
      const auto bytes = static_cast<std::size_t>(type.bytes());
      buffers_.push_back({state.name, averaged, bytes_, bytes});
      bytes_ += bytes;
    }
  }
  start_.resize(bytes_);
  own_.resize(bytes_ * static_cast<std::size_t>(replicas_));
  of_all_.resize(bytes_ * static_cast<std::size_t>(all_replicas_));
}

std::span<std::byte> ReplicaBuffers::observed_by(std::int64_t replica) {
  return std::span(of_all_).subspan(static_cast<std::size_t>(replica) * bytes_, bytes_);
}

void ReplicaBuffers::begin_replica(std::int64_t replica, target::StateBank& bank) {
  for (const Buffer& buffer : buffers_) {
    if (replica == 0) {
      bank.read(buffer.name, part_of(buffer, start_));
    } else {
      bank.write(buffer.name, part_of(buffer, start_));
    }
  }
}

void ReplicaBuffers::end_replica(std::int64_t replica, const target::StateBank& bank) {
  const std::span<std::byte> observed =
      std::span(own_).subspan(static_cast<std::size_t>(replica) * bytes_, bytes_);
  for (const Buffer& buffer : buffers_) {
    bank.read(buffer.name, part_of(buffer, observed));
  }
}

void ReplicaBuffers::end_update(target::StateBank& bank) {
  if (buffers_.empty()) {
    return;
  }
  if (communicator_ == nullptr) {
    of_all_ = own_;
  } else {
    communicator_->gather(own_, of_all_);
  }
  for (const Buffer& buffer : buffers_) {
    const std::span<std::byte> result = part_of(buffer, observed_by(0));
    for (std::size_t at = 0; buffer.averaged && at < buffer.bytes; at += sizeof(float)) {
      double sum = 0;
      float value = 0;
      for (std::int64_t replica = 0; replica < all_replicas_; ++replica) {
        std::memcpy(&value, &part_of(buffer, observed_by(replica))[at], sizeof(float));
        sum += value;
      }
      value = static_cast<float>(sum / static_cast<double>(all_replicas_));
      std::memcpy(&result[at], &value, sizeof(float));
    }
    bank.write(buffer.name, result);
  }
}

}  // namespace cosmic::session
