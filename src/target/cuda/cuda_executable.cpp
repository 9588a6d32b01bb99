#include "target/cuda/cuda_executable.hpp"

#include <algorithm>
#include <cstring>

#include "target/cuda/failures.hpp"
#include "target/cuda/program_memory.hpp"

namespace cosmic::target::cuda {

using graph::ValueId;

namespace {

/// Of a run, on its queue.
enum Mark : int { kBegun, kUploaded, kComputed, kDownloaded, kMarks };

}  // namespace

CudaExecutable::CudaExecutable(const compile::Plan& plan, std::shared_ptr<Device> device,
                               std::shared_ptr<DeviceBank> bank, const CompileOptions& options)
    : graph_(plan.graph),
      device_(std::move(device)),
      bank_(std::move(bank)),
      arena_(device_, plan.arena_bytes, "the values of the program"),
      addresses_(place(plan)),
      queue_(device_->make_queue(kMarks)) {
  lower_steps(plan, options);
  if (!preparations_.empty()) {
    preparation_ = queue_->record(preparations_);
  }
  std::vector<Work> all = roundings_;
  for (const StepWork& step : steps_) {
    all.insert(all.end(), step.works.begin(), step.works.end());
  }
  all.insert(all.end(), copies_.begin(), copies_.end());
  program_ = queue_->record(all);
  require_done(queue_->wait(), "compiling a program");
  COSMIC_ASSERT(program_ != nullptr);
  if (options.progress) {
    options.progress(1.0);
  }
}

Addresses CudaExecutable::place(const compile::Plan& plan) {
  std::vector<std::byte*> addresses(graph_.size(), nullptr);
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    if (plan.placements[i]) {
      addresses[i] = arena_.data() + plan.placements[i]->offset;
    }
  }
  for (const graph::StateVariable& state : graph_.states) {
    addresses[state.value.index()] = bank_->address(state.name);
  }
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    if (plan.overwrites[i]) {
      addresses[i] = addresses[plan.overwrites[i]->index()];
    }
  }
  std::int64_t inputs = 0;
  std::int64_t staging = 0;
  for (const graph::NamedValue& input : graph_.inputs) {
    input_places_.push_back({inputs, staging});
    inputs += round_up(graph_.type(input.value).bytes());
    staging += staging_bytes(graph_.type(input.value));
  }
  inputs_ = DeviceMemory(device_, inputs, "the inputs of the program");
  device_staging_ = DeviceMemory(device_, staging, "pixels on their way to the program");
  host_staging_ = std::make_unique<PinnedMemory>(device_, staging, "the inputs of the program");
  for (std::size_t i = 0; i < input_places_.size(); ++i) {
    addresses[graph_.inputs[i].value.index()] = inputs_.data() + input_places_[i].offset;
  }
  std::int64_t outputs = 0;
  for (const graph::NamedValue& output : graph_.outputs) {
    output_places_.push_back(outputs);
    outputs += round_up(graph_.type(output.value).bytes());
  }
  host_outputs_ = std::make_unique<PinnedMemory>(device_, outputs, "the outputs of the program");
  return {graph_, std::move(addresses)};
}

void CudaExecutable::guard_update(const graph::StateUpdate& update,
                                  std::vector<Work>& works) const {
  if (const std::optional<ValueId> number = guard_of(graph_, update)) {
    guard(works, addresses_.at(*number));
  }
}

void CudaExecutable::lower_steps(const compile::Plan& plan, const CompileOptions& options) {
  Rooms sizes;
  lower_all(plan, sizes, {});
  scratch_ = DeviceMemory(device_, sizes.scratch.most(), "partial sums");
  prepared_ = DeviceMemory(device_, sizes.prepared.most(), "packed weights");
  counters_ = DeviceMemory(device_, sizes.counters.most(), "counters");
  Rooms rooms{Room(scratch_.data()), Room(prepared_.data()), Room(counters_.data())};
  lower_all(plan, rooms, options.progress);
}

void CudaExecutable::lower_all(const compile::Plan& plan, Rooms& rooms,
                               const std::function<void(double done)>& progress) {
  steps_.clear();
  copies_.clear();
  preparations_.clear();
  roundings_.clear();
  for (const graph::NamedValue& input : graph_.inputs) {
    if (graph_.node(input.value).format != NumberFormat::f32) {
      roundings_.push_back(round_in_place(addresses_, input.value));
    }
  }
  for (const compile::Step& step : plan.steps.steps) {
    StepWork lowered{step.leader.value, {}, {}};
    for (const compile::Expression::Term& term : step.leader.expression.terms) {
      lowered.computed.push_back(term.value);
    }
    for (const compile::Rider& rider : step.riders) {
      for (const compile::Expression::Term& term : rider.computed.expression.terms) {
        lowered.computed.push_back(term.value);
      }
    }
    std::vector<Work> works = lower(addresses_, step, rooms, preparations_);
    // The plan lets nothing write a state before its guard is there.
    if (const graph::StateUpdate* const update = update_in_place(plan, step.leader.value)) {
      guard_update(*update, works);
    }
    if (step.fixed) {
      preparations_.insert(preparations_.end(), works.begin(), works.end());
      works.clear();
    }
    lowered.works = std::move(works);
    steps_.push_back(std::move(lowered));
    if (progress) {
      progress(static_cast<double>(steps_.size()) /
               static_cast<double>(plan.steps.steps.size() + 1));
    }
  }
  for (const graph::StateUpdate& update : graph_.updates) {
    if (!plan.overwrites[update.value.index()]) {
      std::vector<Work> copying{copy(graph_.type(update.state),
                                     addresses_.at<std::byte>(update.value),
                                     addresses_.at<std::byte>(update.state))};
      guard_update(update, copying);
      copies_.push_back(copying.front());
    }
  }
}

void CudaExecutable::prepare() {
  if (preparation_ != nullptr && prepared_version_ != bank_->version()) {
    queue_->replay(*preparation_);
  }
  prepared_version_ = bank_->version();
}

void CudaExecutable::require_done(const Answer& answer, const std::string& doing) const {
  require(answer, device_->facts(), doing);
}

void CudaExecutable::begin(std::span<const RunInput> inputs) {
  require_inputs(graph_, inputs);
  run_times_ = {};
  queue_->mark(kBegun);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_kept()) {
      upload(i, inputs[i]);
    }
  }
  queue_->mark(kUploaded);
  prepare();
  queue_->replay(*program_);
  queue_->mark(kComputed);
  for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
    const ValueId value = graph_.outputs[i].value;
    queue_->download(host_outputs_->data() + output_places_[i], addresses_.at<std::byte>(value),
                     graph_.type(value).bytes());
  }
  queue_->mark(kDownloaded);
}

void CudaExecutable::upload(std::size_t input, const RunInput& given) {
  const ValueId value = graph_.inputs[input].value;
  const graph::TensorType& type = graph_.type(value);
  const InputPlace& place = input_places_[input];
  const SparsePixels* const pixels = given.pixels();
  if (pixels == nullptr) {
    send(addresses_.at<std::byte>(value), place.staging, given.bytes(), given.memory());
  } else if (given.transferred_bytes() <= type.bytes()) {
    upload_pixels(input, *pixels, given.memory());
  } else {
    // So many pixels take less when they travel as an image.
    const std::span<std::byte> dense(host_staging_->data() + place.staging,
                                     static_cast<std::size_t>(type.bytes()));
    scatter(*pixels, type, dense);
    send(addresses_.at<std::byte>(value), place.staging, dense, HostMemory::pinned);
  }
}

void CudaExecutable::upload_pixels(std::size_t input, const SparsePixels& pixels,
                                   HostMemory memory) {
  const ValueId value = graph_.inputs[input].value;
  const graph::TensorType& type = graph_.type(value);
  std::int64_t staging = input_places_[input].staging;
  const auto send_part = [&](std::span<const std::byte> part) {
    std::byte* const there = device_staging_.data() + staging;
    send(there, staging, part, memory);
    staging += round_up(static_cast<std::int64_t>(part.size()));
    return there;
  };
  UploadedPixels uploaded;
  uploaded.count = static_cast<std::int64_t>(pixels.indices.size());
  uploaded.begins = reinterpret_cast<const std::int64_t*>(send_part(std::as_bytes(pixels.first)));
  uploaded.indices =
      reinterpret_cast<const std::int32_t*>(send_part(std::as_bytes(pixels.indices)));
  uploaded.values = send_part(pixels.values);
  queue_->run(fill(type, addresses_.at<std::byte>(value), pixels.fill));
  queue_->run(scatter_pixels(type, uploaded, addresses_.at<std::byte>(value)));
}

void CudaExecutable::send(std::byte* to, std::int64_t staging, std::span<const std::byte> bytes,
                          HostMemory memory) {
  const std::byte* from = bytes.data();
  if (memory == HostMemory::pageable && !bytes.empty()) {
    std::memcpy(host_staging_->data() + staging, bytes.data(), bytes.size());
    from = host_staging_->data() + staging;
  }
  queue_->upload(to, from, static_cast<std::int64_t>(bytes.size()));
  run_times_.bytes_to_target += static_cast<std::int64_t>(bytes.size());
}

void CudaExecutable::finish(std::span<const std::span<std::byte>> outputs) {
  COSMIC_ASSERT(outputs.size() == graph_.outputs.size());
  require_done(queue_->wait(), "a run");
  ++runs_;
  if (!graph_.updates.empty()) {
    bank_->changed();
    prepared_version_ = bank_->version();  // what is prepared rests on other states
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    COSMIC_ASSERT(static_cast<std::int64_t>(outputs[i].size()) ==
                  graph_.type(graph_.outputs[i].value).bytes());
    std::memcpy(outputs[i].data(), host_outputs_->data() + output_places_[i], outputs[i].size());
    run_times_.bytes_to_host += static_cast<std::int64_t>(outputs[i].size());
  }
  run_times_.host_to_target_seconds = queue_->seconds_between(kBegun, kUploaded);
  run_times_.compute_seconds = queue_->seconds_between(kUploaded, kComputed);
  run_times_.target_to_host_seconds = queue_->seconds_between(kComputed, kDownloaded);
}

std::int64_t CudaExecutable::memory_bytes() const {
  return arena_.bytes() + inputs_.bytes() + device_staging_.bytes() + scratch_.bytes() +
         prepared_.bytes() + counters_.bytes();
}

std::span<const NodeTiming> CudaExecutable::timings() const {
  if (runs_ != timed_run_ && !in_flight()) {
    time_steps();
    timed_run_ = runs_;
  }
  return timings_;
}

void CudaExecutable::time_steps() const {
  if (timing_queue_ == nullptr) {
    timing_queue_ = device_->make_queue(static_cast<int>(steps_.size()) + 1);
    std::vector<std::string> updated;
    for (const graph::StateUpdate& update : graph_.updates) {
      updated.push_back(graph_.node(update.state).name);
    }
    before_timing_ = bank_->snapshot(updated);
    for (const StepWork& step : steps_) {
      timings_.push_back({step.value, 0});
    }
  } else {
    bank_->take_again(*before_timing_);
  }
  timing_queue_->mark(0);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    for (const Work& work : steps_[i].works) {
      timing_queue_->run(work);
    }
    timing_queue_->mark(static_cast<int>(i) + 1);
  }
  require_done(timing_queue_->wait(), "timing the steps of a program");
  bank_->restore(*before_timing_);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    timings_[i].seconds =
        timing_queue_->seconds_between(static_cast<int>(i), static_cast<int>(i) + 1);
  }
}

std::vector<ValueId> CudaExecutable::computed_values() const {
  std::vector<ValueId> values;
  for (const StepWork& step : steps_) {
    values.insert(values.end(), step.computed.begin(), step.computed.end());
  }
  return values;
}

}  // namespace cosmic::target::cuda
