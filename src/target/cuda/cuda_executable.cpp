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

/// The same of the half that a run has.
int mark_of(std::size_t half, Mark mark) {
  return static_cast<int>(half) * kMarks + mark;
}

/// Of the queue of staged inputs: the latest is there.
constexpr int kArrived = 0;

Touch touch_numbers(const float* numbers, std::int64_t count, bool writes) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(numbers);
  return {bytes, bytes + count * static_cast<std::int64_t>(sizeof *numbers), writes};
}

Touch touch_number(const float* number, bool writes) {
  return touch_numbers(number, 1, writes);
}

/// Of an input that is kept on the host, to see whether it is the same again.
constexpr std::size_t kFewBytes = 64;

/// What an upload of a number takes it from, which is there for as long as the program.
constexpr float kZero = 0;

}  // namespace

CudaExecutable::CudaExecutable(const compile::Plan& plan, std::shared_ptr<Device> device,
                               std::shared_ptr<DeviceBank> bank, std::shared_ptr<ProcessSums> sums,
                               const CompileOptions& options)
    : graph_(plan.graph),
      device_(std::move(device)),
      bank_(std::move(bank)),
      sums_(std::move(sums)),
      arena_(device_, plan.arena_bytes, "the values of the program"),
      addresses_(place(plan)),
      uploads_(device_->make_queue(kArrived + 1)),
      queue_(device_->make_queue(kMostInFlight * kMarks)) {
  const std::vector<Deed> launches = lower_steps(plan, options);
  if (!preparations_.empty()) {
    preparation_ = queue_->record(std::vector<Deed>(preparations_.begin(), preparations_.end()));
  }
  program_ = queue_->record(launches, sums_.get());
  require_done(queue_->wait(), "compiling a program");
  COSMIC_ASSERT(program_ != nullptr);
  if (options.progress) {
    options.progress(1.0);
  }
}

Addresses CudaExecutable::place(const compile::Plan& plan) {
  std::vector<std::byte*> addresses(graph_.size(), nullptr);
  const SmallValues small = place_small_values(plan);
  small_values_ = DeviceMemory(device_, small.bytes, "the small values of the program");
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    if (plan.placements[i]) {
      addresses[i] = small.offsets[i] >= 0 ? small_values_.data() + small.offsets[i]
                                           : arena_.data() + plan.placements[i]->offset;
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
  // Two halves: one run takes its inputs from one while those of the next arrive in the other.
  half_bytes_ = staging;
  device_staging_ = DeviceMemory(device_, 2 * staging, "inputs on their way to the program");
  host_staging_ = std::make_unique<PinnedMemory>(device_, 2 * staging, "the inputs of the program");
  staged_.resize(input_places_.size());
  few_.resize(input_places_.size());
  for (std::size_t i = 0; i < input_places_.size(); ++i) {
    addresses[graph_.inputs[i].value.index()] = inputs_.data() + input_places_[i].offset;
  }
  std::int64_t outputs = 0;
  for (const graph::NamedValue& output : graph_.outputs) {
    output_places_.push_back(outputs);
    outputs += round_up(graph_.type(output.value).bytes());
    if (graph_.guard == output.value) {
      loss_ = output_places_.size() - 1;
    }
  }
  output_bytes_ = outputs;
  host_outputs_ = std::make_unique<PinnedMemory>(device_, kMostInFlight * outputs,
                                                 "the outputs of the program");
  return {graph_, std::move(addresses)};
}

void CudaExecutable::guard_update(const graph::StateUpdate& update, std::vector<Work>& works,
                                  std::vector<TouchingWork>& all) {
  const std::optional<ValueId> number = guard_of(graph_, update);
  if (!number) {
    return;
  }
  if (!loss_) {  // one run at a time
    guard(works, addresses_.at(*number));
    return;
  }
  const bool is_loss = number == graph_.guard;
  carry_guard(is_loss, all);
  guard(works, is_loss ? carried_.guard : carried_.gradient_guard);
}

void CudaExecutable::carry_guard(bool is_loss, std::vector<TouchingWork>& all) {
  const ValueId number = is_loss ? *graph_.guard : *graph_.gradient_guard;
  float* const guarded = is_loss ? carried_.guard : carried_.gradient_guard;
  bool& is_there = is_loss ? guarded_ : guarded_gradients_;
  if (!is_there) {
    const float* const now = addresses_.at(number);
    all.push_back({Map<AddBody>{{now, carried_.lost, guarded}, 1, nullptr},
                   {touch_number(now, false), touch_number(carried_.lost, false),
                    touch_number(guarded, true)}});
    is_there = true;
  }
}

std::vector<Deed> CudaExecutable::lower_steps(const compile::Plan& plan,
                                              const CompileOptions& options) {
  const WorkMemory needs = work_memory(plan);
  const Rooms& sizes = needs.rooms;
  const std::int64_t scratch = scratch_bytes(sizes.scratch.most());
  scratch_ = DeviceMemory(device_, scratch, "partial sums");
  prepared_ = DeviceMemory(device_, sizes.prepared.most(), "packed weights");
  counters_ = DeviceMemory(device_, sizes.counters.most(), "counters");
  table_ = DeviceMemory(device_, needs.table, "the table of joined launches");
  gradient_ = DeviceMemory(device_, sizes.gradients.bytes(), "an evaluated gradient");
  Rooms rooms{Room(scratch_.data(), scratch, sizes.scratch.most()),
              Room(prepared_.data(), prepared_.bytes(), 0),
              Room(counters_.data(), counters_.bytes(), 0), sizes.gradients};
  rooms.gradients.put_at(gradient_.data());
  float* const carried = rooms.counters.take<float>(kCarriedNumbers);
  carried_ = {carried, carried + 1, carried + 2};
  return join(lower_all(plan, rooms, options.progress));
}

// The works of the step have put its numbers together; what stands between here and the first that
// reads them runs beside the sum.
void CudaExecutable::begin_sum(ValueId value, std::vector<TouchingWork>& all) {
  auto* const numbers = addresses_.at(value);
  const std::int64_t count = graph_.type(value).elements();
  const NumberFormat format = graph::op_if<graph::AllReduce>(graph_.node(value))->format;
  all.push_back(
      {BeginSum{numbers, count, sum_count_, format}, {touch_numbers(numbers, count, true)}});
  begun_sums_.push_back({value, sum_count_++});
}

void CudaExecutable::await_sums(const compile::Plan& plan, const compile::Step* step,
                                std::vector<TouchingWork>& all) {
  const auto is_read = [&](ValueId value) {
    if (step == nullptr) {
      return true;
    }
    const auto in = [&](const compile::Computed& computed) {
      return std::any_of(
          computed.expression.terms.begin(), computed.expression.terms.end(),
          [&](const compile::Expression::Term& term) { return term.value == value; });
    };
    const graph::StateUpdate* const update = update_in_place(plan, step->leader.value);
    return in(step->leader) || (update != nullptr && guard_of(graph_, *update) == value) ||
           std::any_of(step->riders.begin(), step->riders.end(),
                       [&](const compile::Rider& rider) { return in(rider.computed); });
  };
  std::erase_if(begun_sums_, [&](const BegunSum& sum) {
    if (!is_read(sum.value)) {
      return false;
    }
    // Whoever reads the numbers comes after it, as if it wrote them.
    all.push_back(
        {AwaitSum{sum.number},
         {touch_numbers(addresses_.at(sum.value), graph_.type(sum.value).elements(), true)}});
    return true;
  });
}

std::vector<TouchingWork> CudaExecutable::lower_all(
    const compile::Plan& plan, Rooms& rooms, const std::function<void(double done)>& progress) {
  const Touches touches(plan, addresses_);
  std::vector<TouchingWork> all;
  for (const graph::NamedValue& input : graph_.inputs) {
    if (graph_.node(input.value).format != NumberFormat::f32) {
      all.push_back(touches.of_work(round_in_place(addresses_, input.value), {}, input.value));
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
    await_sums(plan, &step, all);
    const std::byte* const prepared = rooms.prepared.end();
    std::vector<Work> works = lower(addresses_, step, rooms, preparations_);
    // The plan lets nothing write a state before its guard is there.
    if (const graph::StateUpdate* const update = update_in_place(plan, step.leader.value)) {
      guard_update(*update, works, all);
    }
    if (step.fixed) {
      preparations_.insert(preparations_.end(), works.begin(), works.end());
      works.clear();
    }
    const std::vector<TouchingWork> touching =
        touches.of_step(step, works, rooms.scratch.of_step(),
                        {prepared, static_cast<std::size_t>(rooms.prepared.end() - prepared)});
    all.insert(all.end(), touching.begin(), touching.end());
    if (sums_ != nullptr &&
        graph::op_if<graph::AllReduce>(graph_.node(step.leader.value)) != nullptr) {
      begin_sum(step.leader.value, all);
    }
    lowered.works = std::move(works);
    steps_.push_back(std::move(lowered));
    if (progress) {
      progress(static_cast<double>(steps_.size()) /
               static_cast<double>(plan.steps.steps.size() + 1));
    }
  }
  await_sums(plan, nullptr, all);
  // Updates that could not be made in place: copied when everything else is done.
  for (const graph::StateUpdate& update : graph_.updates) {
    if (!plan.overwrites[update.value.index()]) {
      std::vector<Work> copying{copy(graph_.type(update.state),
                                     addresses_.at<std::byte>(update.value),
                                     addresses_.at<std::byte>(update.state))};
      guard_update(update, copying, all);
      all.push_back(touches.of_work(copying.front(), std::span(&update.value, 1), update.state));
    }
  }
  if (guarded_ || guarded_gradients_) {
    carry_guard(true, all);
    // Zero times what is no number is none.
    all.push_back({Map<ScaleBody>{{carried_.guard, carried_.lost, 0.0F}, 1, nullptr},
                   {touch_number(carried_.guard, false), touch_number(carried_.lost, true)}});
  }
  return all;
}

std::vector<Deed> CudaExecutable::join(std::span<const TouchingWork> works) {
  JoinedLaunches joined = join_launches(works, table_.data());
  const auto bytes = static_cast<std::int64_t>(joined.table.size());
  COSMIC_ASSERT(bytes <= table_.bytes());
  queue_->upload(table_.data(), joined.table.data(), bytes);
  require_done(queue_->wait(), "bringing the table of joined launches to the device");
  return std::move(joined.deeds);
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

bool CudaExecutable::is_staged(std::size_t input, const RunInput& given) const {
  return staged_[input].has_value() && same_views(staged_[input]->given, given);
}

void CudaExecutable::stage(std::size_t input, const RunInput& given) {
  COSMIC_ASSERT(input < staged_.size());
  if (runs_in_flight() == kMostInFlight) {
    return;  // there is no half for it yet
  }
  const graph::NamedValue& named = graph_.inputs[input];
  require_input(named.name, graph_.type(named.value), given);
  if (staged_[input].has_value()) {  // its way there still uses the pinned memory
    require_done(uploads_->wait(), "bringing an input to the device");
    staged_[input].reset();
  }
  if (!given.is_kept()) {
    staged_[input] = Staged{given, bring(input, given, *uploads_)};
    uploads_->mark(kArrived);
  }
}

void CudaExecutable::begin(std::span<const RunInput> inputs) {
  COSMIC_ASSERT(inputs.size() == graph_.inputs.size());
  bool any_staged = false;
  bool any_dropped = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_staged(i, inputs[i])) {  // and was looked at then
      any_staged = true;
    } else {
      const graph::NamedValue& named = graph_.inputs[i];
      require_input(named.name, graph_.type(named.value), inputs[i]);
      any_dropped = any_dropped || staged_[i].has_value();
    }
  }
  if (any_dropped) {  // what takes its place uses the same pinned memory
    require_done(uploads_->wait(), "bringing an input to the device");
  }
  times_[half_] = {};
  queue_->mark(mark_of(half_, kBegun));
  if (any_staged) {
    queue_->after(*uploads_, kArrived);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_staged(i, inputs[i])) {
      put_in_place(i, staged_[i]->arrival);
    } else if (!inputs[i].is_kept()) {
      upload(i, inputs[i]);
    }
    staged_[i].reset();
  }
  queue_->mark(mark_of(half_, kUploaded));
  prepare();
  queue_->replay(*program_);
  queue_->mark(mark_of(half_, kComputed));
  for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
    const ValueId value = graph_.outputs[i].value;
    queue_->download(host_outputs_->data() + output_of(half_, i), addresses_.at<std::byte>(value),
                     graph_.type(value).bytes());
  }
  queue_->mark(mark_of(half_, kDownloaded));
  half_ = 1 - half_;  // those of the next run may arrive from now on
}

std::int64_t CudaExecutable::staging_of(std::size_t input) const {
  return static_cast<std::int64_t>(half_) * half_bytes_ + input_places_[input].staging;
}

std::int64_t CudaExecutable::output_of(std::size_t half, std::size_t output) const {
  return static_cast<std::int64_t>(half) * output_bytes_ + output_places_[output];
}

void CudaExecutable::upload(std::size_t input, const RunInput& given) {
  const ValueId value = graph_.inputs[input].value;
  const SparsePixels* const pixels = given.pixels();
  if (pixels != nullptr && given.transferred_bytes() <= graph_.type(value).bytes()) {
    put_in_place(input, bring_pixels(input, *pixels, given.memory(), *queue_));
    return;
  }
  // Where there are so many pixels, they take less when they travel as an image.
  const bool dense = pixels == nullptr;
  const std::span<const std::byte> bytes = dense ? given.bytes() : scattered(input, *pixels);
  // A few numbers that are there already, such as the learning rate, need not go again.
  if (bytes.size() <= kFewBytes) {
    if (std::equal(bytes.begin(), bytes.end(), few_[input].begin(), few_[input].end())) {
      return;
    }
    few_[input].assign(bytes.begin(), bytes.end());
  }
  send(addresses_.at<std::byte>(value), staging_of(input), bytes,
       dense ? given.memory() : HostMemory::pinned, *queue_);
  times_[half_].bytes_to_target += static_cast<std::int64_t>(bytes.size());
}

CudaExecutable::Arrival CudaExecutable::bring(std::size_t input, const RunInput& given,
                                              Queue& queue) {
  const SparsePixels* const pixels = given.pixels();
  if (pixels != nullptr &&
      given.transferred_bytes() <= graph_.type(graph_.inputs[input].value).bytes()) {
    return bring_pixels(input, *pixels, given.memory(), queue);
  }
  const bool dense = pixels == nullptr;
  const std::span<const std::byte> bytes = dense ? given.bytes() : scattered(input, *pixels);
  const std::int64_t staging = staging_of(input);
  send(device_staging_.data() + staging, staging, bytes,
       dense ? given.memory() : HostMemory::pinned, queue);
  return {.bytes = static_cast<std::int64_t>(bytes.size())};
}

CudaExecutable::Arrival CudaExecutable::bring_pixels(std::size_t input, const SparsePixels& pixels,
                                                     HostMemory memory, Queue& queue) {
  std::int64_t staging = staging_of(input);
  Arrival arrival{.fill = pixels.fill};
  const auto send_part = [&](std::span<const std::byte> part) {
    std::byte* const there = device_staging_.data() + staging;
    send(there, staging, part, memory, queue);
    staging += round_up(static_cast<std::int64_t>(part.size()));
    arrival.bytes += static_cast<std::int64_t>(part.size());
    return there;
  };
  UploadedPixels uploaded;
  uploaded.count = static_cast<std::int64_t>(pixels.indices.size());
  uploaded.begins = reinterpret_cast<const std::int64_t*>(send_part(std::as_bytes(pixels.first)));
  uploaded.indices =
      reinterpret_cast<const std::int32_t*>(send_part(std::as_bytes(pixels.indices)));
  uploaded.values = send_part(pixels.values);
  arrival.pixels = uploaded;
  return arrival;
}

void CudaExecutable::put_in_place(std::size_t input, const Arrival& arrival) {
  const ValueId value = graph_.inputs[input].value;
  const graph::TensorType& type = graph_.type(value);
  auto* const place = addresses_.at<std::byte>(value);
  few_[input].clear();
  if (arrival.pixels) {
    queue_->run(fill(type, place, arrival.fill));
    queue_->run(scatter_pixels(type, *arrival.pixels, place));
  } else {
    queue_->copy(place, device_staging_.data() + staging_of(input), type.bytes());
  }
  times_[half_].bytes_to_target += arrival.bytes;
}

std::span<const std::byte> CudaExecutable::scattered(std::size_t input,
                                                     const SparsePixels& pixels) {
  const graph::TensorType& type = graph_.type(graph_.inputs[input].value);
  const std::span<std::byte> dense(host_staging_->data() + staging_of(input),
                                   static_cast<std::size_t>(type.bytes()));
  scatter(pixels, type, dense);
  return dense;
}

void CudaExecutable::send(std::byte* to, std::int64_t staging, std::span<const std::byte> bytes,
                          HostMemory memory, Queue& queue) {
  const std::byte* from = bytes.data();
  if (memory == HostMemory::pageable && !bytes.empty()) {
    std::memcpy(host_staging_->data() + staging, bytes.data(), bytes.size());
    from = host_staging_->data() + staging;
  }
  queue.upload(to, from, static_cast<std::int64_t>(bytes.size()));
}

void CudaExecutable::finish(std::span<const std::span<std::byte>> outputs) {
  COSMIC_ASSERT(outputs.size() == graph_.outputs.size());
  const std::size_t half = std::exchange(first_half_, 1 - first_half_);
  const Answer answer = queue_->wait_for(mark_of(half, kDownloaded));
  if (!answer.ok()) {  // what failed on the way here was told with it
    uploads_->wait();
    staged_.assign(staged_.size(), std::nullopt);
    few_.assign(few_.size(), {});
    first_half_ = half_;  // one behind it has ended too
    forget_loss();
  }
  require_done(answer, "a run");
  if (sums_ != nullptr) {
    sums_->require_done();
  }
  ++runs_;
  run_times_ = times_[half];
  if (!graph_.updates.empty()) {
    bank_->changed();
    prepared_version_ = bank_->version();  // what is prepared rests on other states
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    COSMIC_ASSERT(static_cast<std::int64_t>(outputs[i].size()) ==
                  graph_.type(graph_.outputs[i].value).bytes());
    std::memcpy(outputs[i].data(), host_outputs_->data() + output_of(half, i), outputs[i].size());
    run_times_.bytes_to_host += static_cast<std::int64_t>(outputs[i].size());
  }
  run_times_.host_to_target_seconds =
      queue_->seconds_between(mark_of(half, kBegun), mark_of(half, kUploaded));
  run_times_.compute_seconds =
      queue_->seconds_between(mark_of(half, kUploaded), mark_of(half, kComputed));
  run_times_.target_to_host_seconds =
      queue_->seconds_between(mark_of(half, kComputed), mark_of(half, kDownloaded));
  if (guarded_) {
    float loss = 0;
    std::memcpy(&loss, host_outputs_->data() + output_of(half, *loss_), sizeof loss);
    lost_ = lost_ || !is_finite(loss);
    if (lost_ && !in_flight()) {
      forget_loss();
    }
  }
}

void CudaExecutable::forget_loss() {
  if (guarded_) {
    queue_->upload(carried_.lost, &kZero, sizeof kZero);
  }
  lost_ = false;
}

std::int64_t CudaExecutable::memory_bytes() const {
  return arena_.bytes() + small_values_.bytes() + inputs_.bytes() + device_staging_.bytes() +
         scratch_.bytes() + prepared_.bytes() + counters_.bytes() + table_.bytes();
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
