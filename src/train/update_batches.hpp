// The batches that one update is made of: several where gradients are accumulated. Those of the
// next update may be fetched while one is being made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "run/hand_over.hpp"
#include "run/run_data.hpp"

namespace cosmic::train {

/// The batches of one update, in whatever form the data has them.
class UpdateBatches {
 public:
  /// Each batch is divided among `replicas`. Images of one batch are used where they are, those of
  /// several are copied together, in the order in which a call takes them: replica after replica.
  /// Pixels are used where they are, by one replica.
  void fetch(run::RunData& data, std::int64_t batches, std::int64_t replicas = 1) {
    micro_batches_ = batches * replicas;
    state_before_ = data.state();
    entries_.clear();
    ids_.clear();
    images_copy_.clear();
    labels_copy_.clear();
    sparse_.clear();
    for (std::int64_t i = 0; i < batches; ++i) {
      const data::Batch& batch = data.next();
      entries_.insert(entries_.end(), batch.entries.begin(), batch.entries.end());
      ids_.insert(ids_.end(), batch.ids.begin(), batch.ids.end());
      if (batch.form() == data::BatchForm::pixels) {
        sparse_.push_back(run::sparse_batch(batch));
        continue;
      }
      images_ = batch.images;
      labels_ = batch.labels;
      if (batches > 1) {
        put_parts(batch.images, i, batches, replicas, images_copy_);
        put_parts(batch.labels, i, batches, replicas, labels_copy_);
      }
    }
    if (!images_copy_.empty()) {
      images_ = images_copy_;
      labels_ = labels_copy_;
    }
    state_after_ = data.state();
  }

  void submit_to(session::TrainingModel& model, double learning_rate) const {
    if (sparse_.empty()) {
      model.submit(images_, labels_, learning_rate);
    } else {
      model.submit(sparse_, learning_rate);
    }
  }
  void stage_for(session::TrainingModel& model) const {
    if (sparse_.empty()) {
      model.stage(images_, labels_);
    } else {
      model.stage(sparse_);
    }
  }

  /// The labels of the first event of the last micro-batch, whose logits a call returns: all
  /// `pixels` of them; valid until the next call.
  std::span<const std::uint8_t> first_labels(std::size_t pixels) {
    if (sparse_.empty()) {
      const std::size_t size = labels_.size() / static_cast<std::size_t>(micro_batches_);
      return labels_.last(size).first(pixels);
    }
    const target::SparsePixels& label = sparse_.back().label;
    first_labels_.assign(pixels, 0);
    for (auto i = static_cast<std::size_t>(label.first[0]);
         i < static_cast<std::size_t>(label.first[1]); ++i) {
      first_labels_[static_cast<std::size_t>(label.indices[i])] =
          std::to_integer<std::uint8_t>(label.values[i]);
    }
    return first_labels_;
  }

  const std::vector<std::int64_t>& entries() const { return entries_; }
  /// Of the same events.
  const std::vector<data::EventId>& ids() const { return ids_; }
  /// Of the data, before and after these batches were taken from it.
  const std::string& state_before() const { return state_before_; }
  const std::string& state_after() const { return state_after_; }

 private:
  /// Batch number `batch` of `batches`.
  template <class Element>
  static void put_parts(std::span<const Element> from, std::int64_t batch, std::int64_t batches,
                        std::int64_t replicas, std::vector<Element>& to) {
    const std::size_t part = from.size() / static_cast<std::size_t>(replicas);
    to.resize(from.size() * static_cast<std::size_t>(batches));
    for (std::int64_t replica = 0; replica < replicas; ++replica) {
      const auto source = from.begin() + replica * static_cast<std::ptrdiff_t>(part);
      std::copy_n(source, part,
                  to.begin() + (replica * batches + batch) * static_cast<std::ptrdiff_t>(part));
    }
  }

  std::int64_t micro_batches_ = 1;
  std::string state_before_;
  std::string state_after_;
  std::vector<session::SparseBatch> sparse_;  ///< empty where there are images
  std::span<const float> images_;
  std::span<const std::uint8_t> labels_;
  std::vector<float> images_copy_;
  std::vector<std::uint8_t> labels_copy_;
  std::vector<std::uint8_t> first_labels_;
  std::vector<std::int64_t> entries_;
  std::vector<data::EventId> ids_;
};

}  // namespace cosmic::train
