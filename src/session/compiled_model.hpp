// What one can ask of a model whatever it was compiled for: training, evaluation and inference
// differ in how they are compiled and called, and in nothing else.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/plan.hpp"
#include "core/pending_file.hpp"
#include "session/call_statistics.hpp"
#include "session/compile_report.hpp"
#include "session/memory_use.hpp"
#include "session/model_state.hpp"
#include "session/options.hpp"
#include "target/run_input.hpp"

namespace cosmic::session {

class ModelCore;

/// Before compile() there is nothing to tell, and asking is an error that says so.
class CompiledModel {
 public:
  /// Shared with the models that were made from it. A model that was compiled offline has none.
  const std::shared_ptr<ModelState>& state() const;
  const CompileReport& report() const;
  /// Of the program that runs once per micro-batch.
  std::vector<OpTiming> timings() const;
  MemoryUse memory() const;
  const CallStatistics& last_call() const;

  /// The result of a layer in the last micro-batch. Only of Options::anchors.
  std::span<const float> anchored(const std::string& layer) const;
  /// Blocks and layers by name, from the outermost in: what can be anchored or made a stage.
  const std::vector<std::string>& layers() const;

  /// Would the target rather have SparseBatch, in memory of host_buffer(), than images and labels?
  bool prefers_pixels() const;
  /// Memory of the host that the target fetches well (target::Target::host_buffer). It may outlive
  /// the model; any thread may ask for some.
  target::HostBuffer host_buffer(std::int64_t bytes) const;

  /// Gives the memory on the target back, with the state copied to the host: unless another model
  /// that shares the state is attached. Until attach() a call is an error.
  void detach();
  void attach();
  bool attached() const;

  /// Every program that compile() made, with what it was made from. Valid until the next one.
  std::vector<const compile::Plan*> plans() const;
  /// Writes them to a file that Options::executable takes. Weights are not in it.
  void export_executable(const std::filesystem::path& path,
                         Existing existing = Existing::refuse) const;

 protected:
  CompiledModel(Options options, Purpose purpose, std::shared_ptr<ModelState> state);
  ~CompiledModel();
  CompiledModel(CompiledModel&&) noexcept;
  CompiledModel& operator=(CompiledModel&&) noexcept;

  /// Stays where it is when the model is moved.
  ModelCore& core() { return *core_; }
  const ModelCore& core() const { return *core_; }

 private:
  std::unique_ptr<ModelCore> core_;
};

}  // namespace cosmic::session
