#include "session/compiled_model.hpp"

#include "compile/artifact/artifact_file.hpp"
#include "session/model_core.hpp"

namespace cosmic::session {

CompiledModel::CompiledModel(Options options, Purpose purpose, std::shared_ptr<ModelState> state)
    : core_(std::make_unique<ModelCore>(std::move(options), purpose, std::move(state))) {}
CompiledModel::~CompiledModel() = default;
CompiledModel::CompiledModel(CompiledModel&&) noexcept = default;
CompiledModel& CompiledModel::operator=(CompiledModel&&) noexcept = default;

const std::shared_ptr<ModelState>& CompiledModel::state() const {
  return core_->state();
}

const CompileReport& CompiledModel::report() const {
  return core_->report();
}

std::vector<OpTiming> CompiledModel::timings() const {
  return core_->timings();
}

MemoryUse CompiledModel::memory() const {
  return core_->memory();
}

const CallStatistics& CompiledModel::last_call() const {
  return core_->last_call();
}

std::span<const float> CompiledModel::anchored(const std::string& layer) const {
  return core_->anchored(layer);
}

const std::vector<std::string>& CompiledModel::layers() const {
  return core_->layers();
}

bool CompiledModel::prefers_pixels() const {
  return core_->target().prefers_pixels();
}

target::HostBuffer CompiledModel::host_buffer(std::int64_t bytes) const {
  return core_->target().host_buffer(bytes);
}

void CompiledModel::detach() {
  core_->detach();
}

void CompiledModel::attach() {
  core_->attach();
}

bool CompiledModel::attached() const {
  return core_->attached();
}

std::vector<const compile::Plan*> CompiledModel::plans() const {
  return core_->plans();
}

void CompiledModel::export_executable(const std::filesystem::path& path, Existing existing) const {
  compile::artifact::save_artifact(path, plans(), existing);
}

}  // namespace cosmic::session
