// A network compiled to turn images into logits.
//
//   session::InferenceModel inference(network, {}, training.state());  // the same weights
//   inference.compile(image_type);
//   const std::span<const float> logits = inference(image);
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/plan.hpp"
#include "core/pending_file.hpp"
#include "graph/tensor_type.hpp"
#include "model/network.hpp"
#include "session/call_statistics.hpp"
#include "session/compile_report.hpp"
#include "session/memory_use.hpp"
#include "session/model_state.hpp"
#include "session/options.hpp"
#include "session/tensor.hpp"

namespace cosmic::session {

class InferenceModel {
 public:
  /// Without a state the model makes its own, untrained.
  InferenceModel(const model::Network& network, Options options,
                 std::shared_ptr<ModelState> state = nullptr);
  ~InferenceModel();
  InferenceModel(InferenceModel&&) noexcept;
  InferenceModel& operator=(InferenceModel&&) noexcept;

  /// The type is that of a micro-batch.
  const CompileReport& compile(const graph::TensorType& image);
  /// The same for what one call will take.
  const CompileReport& compile(const Tensor& sample_image);

  /// The logits, in memory the model owns: valid until the next call. The image holds all
  /// micro-batches of the call, the first iteration's first, in it the first replica's. All logits
  /// come back unless Options::output_mode says otherwise.
  std::span<const float> operator()(std::span<const float> image);

  /// The result of a layer in the last micro-batch. Only of Options::anchors.
  std::span<const float> anchored(const std::string& layer) const;
  const std::vector<std::string>& layers() const;

  const std::shared_ptr<ModelState>& state() const;
  const CompileReport& report() const;
  std::vector<OpTiming> timings() const;
  MemoryUse memory() const;
  const CallStatistics& last_call() const;

  /// As of a TrainingModel.
  void detach();
  void attach();
  bool attached() const;

  /// Every program that compile() made, with what it was made from. Valid until the next one.
  std::vector<const compile::Plan*> plans() const;
  /// Writes them to a file that Options::executable takes. Weights are not in it.
  void export_executable(const std::filesystem::path& path,
                         Existing existing = Existing::refuse) const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cosmic::session
