#include "target/cpu/cpu_executable.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error.hpp"
#include "core/rounding_noise.hpp"
#include "core/stopwatch.hpp"
#include "target/cpu/round_in_memory.hpp"

namespace cosmic::target::cpu {

using graph::Node;
using graph::ValueId;

CpuExecutable::CpuExecutable(const compile::Plan& plan, std::shared_ptr<HostBank> bank,
                             const CompileOptions& options)
    : graph_(plan.graph),
      step_list_(plan.steps),
      bank_(std::move(bank)),
      team_(options.threads, options.work_worth_sharing),
      arena_(plan.arena_bytes / static_cast<std::int64_t>(sizeof(float))),
      rounding_{plan.graph.numerics.rounding, noise_of_run(plan.graph.numerics.seed, 0)},
      memory_(place(plan)),
      steps_(place_steps(memory_, step_list_, team_, options.progress)),
      copied_by_group_(graph_.inputs.size(), false),
      submitted_(graph_.inputs.size()),
      dense_(graph_.inputs.size()),
      communicator_(options.communicator) {
  for (const PlacedStep& placed : steps_) {
    for (const std::size_t input : placed.inputs) {
      copied_by_group_[input] = true;
    }
    scratch_bytes_ = std::max(scratch_bytes_, placed.step->scratch_bytes());
    if (!placed.fixed()) {
      timings_.push_back({placed.of_plan->leader.value, 0});
    }
  }
  scratch_bytes_ = round_up(scratch_bytes_, kAlignment);
  scratch_ =
      AlignedBuffer(scratch_bytes_ * options.threads / static_cast<std::int64_t>(sizeof(float)));
  std::vector<bool> is_there(graph_.size(), false);
  for (const PlacedStep& placed : steps_) {
    std::vector<ValueId> computed{placed.of_plan->leader.value};
    for (const compile::Rider& rider : placed.of_plan->riders) {
      computed.push_back(rider.computed.value);
    }
    guards_.push_back(guard_of_writes(plan, computed));
    // Steps that run side by side would write before the guard is whole.
    COSMIC_ASSERT(!guards_.back() || (is_there[guards_.back()->index()] && placed.bundles == 0));
    for (const ValueId value : computed) {
      is_there[value.index()] = true;
    }
  }
  for (const graph::StateUpdate& update : graph_.updates) {
    if (!plan.overwrites[update.value.index()]) {
      copies_.push_back(update);
    }
  }
  find_exchanges(options);
  find_chains();
}

// A sum is awaited by the first step that reads it, so that what stands in between hides the wait.
void CpuExecutable::find_exchanges(const CompileOptions& options) {
  if (options.communicator == nullptr) {
    return;
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const ValueId value = steps_[i].of_plan->leader.value;
    const auto* const exchange = graph::op_if<graph::AllReduce>(graph_.node(value));
    if (exchange != nullptr) {
      const auto count = static_cast<std::size_t>(graph_.type(value).elements());
      exchanges_.push_back({i, reader_of(i), {memory_.at<float>(value), count}, exchange->format});
    }
  }
}

/// Of what a step computes: the first step that does, as many as there are for none. Parts that lie
/// in it are not read before somebody reads them, except that the guard of updates is read whenever
/// it is there.
std::size_t CpuExecutable::reader_of(std::size_t step) const {
  const ValueId whole = steps_[step].of_plan->leader.value;
  const std::byte* const begin = memory_.at<const std::byte>(whole);
  std::vector<bool> lies_in_it(graph_.size(), false);
  lies_in_it[whole.index()] = true;
  const auto reads_it = [&](const compile::Computed& computed) {
    return std::any_of(computed.expression.terms.begin(), computed.expression.terms.end(),
                       [&](const auto& term) { return lies_in_it[term.value.index()]; });
  };
  for (std::size_t i = step + 1; i < steps_.size(); ++i) {
    const compile::Step& other = *steps_[i].of_plan;
    if (!reads_it(other.leader) &&
        std::none_of(other.riders.begin(), other.riders.end(),
                     [&](const compile::Rider& rider) { return reads_it(rider.computed); })) {
      continue;
    }
    const ValueId value = other.leader.value;
    const Node& node = graph_.node(value);
    const std::byte* const place = memory_.at<const std::byte>(value);
    const bool is_part = (graph::op_if<graph::Slice>(node) != nullptr ||
                          graph::op_if<graph::Reshape>(node) != nullptr) &&
                         place >= begin &&
                         place + node.type.bytes() <= begin + graph_.type(whole).bytes();
    if (!is_part || graph_.guard == value || !steps_[i].rounded_when_complete.empty()) {
      return i;
    }
    lies_in_it[value.index()] = true;
  }
  return steps_.size();
}

// The update of a parameter is several steps over the same elements. One after the other, each
// would fetch from memory what the one before it has just written.
void CpuExecutable::find_chains() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::size_t end = i + 1;
    while (end < steps_.size() && joins_chain(i, end)) {
      ++end;
    }
    chain_ends_.push_back(end);
  }
}

bool CpuExecutable::joins_chain(std::size_t first, std::size_t step) const {
  const auto elements_of = [&](std::size_t i) {
    const PlacedStep& placed = steps_[i];
    const auto* const elements = dynamic_cast<const ElementStep*>(placed.step.get());
    const bool alone = placed.fixed() || placed.bundles != 0 || !placed.of_plan->riders.empty() ||
                       !placed.rounded_when_complete.empty();
    return elements == nullptr || alone ? 0 : elements->elements();
  };
  const std::int64_t elements = elements_of(first);
  if (elements == 0 || elements_of(step) != elements || guards_[step] != guards_[first] ||
      std::any_of(exchanges_.begin(), exchanges_.end(),
                  [&](const Exchange& exchange) { return exchange.needed_by == step; })) {
    return false;
  }
  // What one of them writes lies where another has the same elements, or elsewhere.
  using Place = std::span<const std::byte>;
  const auto places_of = [&](std::size_t i) {
    const ValueId value = steps_[i].of_plan->leader.value;
    std::vector<ValueId> values = graph_.node(value).operands;
    values.insert(values.begin(), value);
    std::vector<Place> places;
    for (const ValueId id : values) {
      places.emplace_back(memory_.at<const std::byte>(id),
                          static_cast<std::size_t>(graph_.type(id).bytes()));
    }
    return places;
  };
  const auto all_agree = [](const Place& written, const std::vector<Place>& places) {
    return std::all_of(places.begin(), places.end(), [&](const Place& other) {
      const bool same = written.data() == other.data() && written.size() == other.size();
      return same || written.data() + written.size() <= other.data() ||
             other.data() + other.size() <= written.data();
    });
  };
  const std::vector<Place> own = places_of(step);
  bool shares = false;  // otherwise nothing is won
  for (std::size_t i = first; i < step; ++i) {
    const std::vector<Place> others = places_of(i);
    if (!all_agree(others.front(), own) || !all_agree(own.front(), others)) {
      return false;
    }
    for (const Place& one : own) {
      shares = shares || std::any_of(others.begin(), others.end(), [&](const Place& other) {
                 return one.data() == other.data() && one.size() == own.front().size();
               });
    }
  }
  return shares;
}

// States that one step writes belong to one parameter, so that they have the same guard.
std::optional<ValueId> CpuExecutable::guard_of_writes(const compile::Plan& plan,
                                                      const std::vector<ValueId>& computed) {
  std::optional<ValueId> guard;
  for (const ValueId value : computed) {
    if (const graph::StateUpdate* const update = update_in_place(plan, value)) {
      const std::optional<ValueId> its_guard = guard_of(plan.graph, *update);
      COSMIC_ASSERT(!guard || guard == its_guard);
      guard = its_guard;
    }
  }
  return guard;
}

Memory CpuExecutable::place(const compile::Plan& plan) {
  std::vector<std::byte*> addresses(graph_.size(), nullptr);
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    if (plan.placements[i]) {
      addresses[i] = arena_.raw() + plan.placements[i]->offset;
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
  std::int64_t bytes = 0;
  for (const graph::NamedValue& input : graph_.inputs) {
    bytes += round_up(graph_.type(input.value).bytes(), kAlignment);
  }
  inputs_ = AlignedBuffer(bytes / static_cast<std::int64_t>(sizeof(float)));
  std::byte* next = inputs_.raw();
  for (const graph::NamedValue& input : graph_.inputs) {
    addresses[input.value.index()] = next;
    next += round_up(graph_.type(input.value).bytes(), kAlignment);
  }
  return {graph_, std::move(addresses), rounding_};
}

// What depends on state alone is computed once per change of the state. In program order each such
// value is still in its place when the weights made from it are packed.
void CpuExecutable::prepare_fixed(const Scratch& scratch) {
  for (const PlacedStep& placed : steps_) {
    if (placed.fixed_weights()) {
      placed.step->prepare(team_);
    }
    if (placed.fixed()) {
      run_step(placed, scratch);
    }
  }
  prepared_version_ = bank_->version();
}

void CpuExecutable::run_step(const PlacedStep& placed, const Scratch& scratch) {
  placed.step->run(team_, scratch);
  for (const ValueId value : placed.rounded_when_complete) {
    round_in_memory(memory_, value, team_);
  }
}

// Whoever copies a batch has it in its cache. Were that one thread, the others would have to fetch
// their images from there, and it would have to take the memory back for the next batch.
void CpuExecutable::copy_bundles(std::span<const std::size_t> indices,
                                 std::span<const std::span<const std::byte>> inputs, int thread) {
  for (const std::size_t i : indices) {
    const Range mine = slice_of(static_cast<std::int64_t>(inputs[i].size()), thread, team_.size());
    if (!mine.empty()) {
      std::memcpy(memory_.at<std::byte>(graph_.inputs[i].value) + mine.begin,
                  inputs[i].data() + mine.begin, static_cast<std::size_t>(mine.size()));
    }
  }
}

void CpuExecutable::run_group(std::span<const PlacedStep> group,
                              std::span<const std::span<const std::byte>> inputs,
                              NodeTiming* timings) {
  for (const PlacedStep& placed : group) {
    if (!placed.fixed_weights()) {
      placed.step->prepare(team_);
    }
  }
  team_.run([&](int thread) {
    const Range bundles = slice_of(group.front().bundles, thread, team_.size());
    const Stopwatch copying;
    copy_bundles(group.front().inputs, inputs, thread);
    if (thread == 0) {
      run_times_.host_to_target_seconds += copying.seconds();
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Stopwatch watch;
      group[i].bundled->run_bundles(bundles);
      if (thread == 0) {  // the others take as long
        timings[i].seconds = watch.seconds();
      }
    }
  });
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Stopwatch watch;
    group[i].bundled->join_bundles();
    timings[i].seconds += watch.seconds();
  }
}

void CpuExecutable::run_chain(std::span<const PlacedStep> chain, NodeTiming* timings) {
  constexpr std::int64_t kTogether = 16384;  // of four tensors: a quarter of a megabyte
  const auto& first = static_cast<const ElementStep&>(*chain.front().step);
  const Team team = first.team_of(team_);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    timings[i].seconds = 0;
  }
  team.run([&](int thread) {
    const Range own = slice_of(first.elements(), thread, team.size());
    for (std::int64_t begin = own.begin; begin < own.end; begin += kTogether) {
      const Range some{begin, std::min(begin + kTogether, own.end)};
      for (std::size_t i = 0; i < chain.size(); ++i) {
        const Stopwatch watch;
        static_cast<ElementStep&>(*chain[i].step).compute(some);
        if (thread == 0) {  // the others take as long
          timings[i].seconds += watch.seconds();
        }
      }
    }
  });
}

void CpuExecutable::begin(std::span<const RunInput> inputs) {
  require_inputs(graph_, inputs);
  std::copy(inputs.begin(), inputs.end(), submitted_.begin());
}

void CpuExecutable::finish(std::span<const std::span<std::byte>> outputs) {
  COSMIC_ASSERT(outputs.size() == graph_.outputs.size());
  const Scratch scratch(scratch_.raw(), scratch_bytes_);
  run_times_ = {};
  if (graph_.numerics.runs) {
    rounding_.noise =
        noise_of_run(graph_.numerics.seed, *memory_.at<const std::uint64_t>(*graph_.numerics.runs));
  }
  Stopwatch watch;
  copy_in();
  const double copy_seconds = watch.seconds();
  if (prepared_version_ != bank_->version()) {
    prepare_fixed(scratch);
  }
  run_steps(dense_, scratch);  // groups copy what they read first
  run_times_.host_to_target_seconds += copy_seconds;
  run_times_.compute_seconds = watch.seconds() - run_times_.host_to_target_seconds;
  watch.restart();
  copy_out(outputs);
  run_times_.target_to_host_seconds = watch.seconds();
  if (!graph_.updates.empty()) {
    bank_->changed();
    prepared_version_ = bank_->version();
  }
}

// Pixels are scattered here even if a group would copy the input: there are few of them.
void CpuExecutable::copy_in() {
  for (std::size_t i = 0; i < submitted_.size(); ++i) {
    const RunInput& input = submitted_[i];
    dense_[i] = input.bytes();
    if (input.is_kept()) {
      continue;
    }
    run_times_.bytes_to_target += input.transferred_bytes();
    const ValueId value = graph_.inputs[i].value;
    std::byte* const place = memory_.at<std::byte>(value);
    if (const SparsePixels* const pixels = input.pixels()) {
      scatter(*pixels, graph_.type(value),
              {place, static_cast<std::size_t>(graph_.type(value).bytes())});
    } else if (copied_by_group_[i]) {
      continue;
    } else {
      std::memcpy(place, dense_[i].data(), dense_[i].size());
    }
    if (graph_.node(value).format != NumberFormat::f32) {
      round_in_memory(memory_, value, team_);
    }
  }
}

void CpuExecutable::run_steps(std::span<const std::span<const std::byte>> inputs,
                              const Scratch& scratch) {
  NodeTiming* timing = timings_.data();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const PlacedStep& placed = steps_[i];
    if (placed.fixed()) {
      continue;
    }
    if (placed.begins_group) {
      std::size_t end = i + 1;
      while (end < steps_.size() && steps_[end].bundles != 0 && !steps_[end].begins_group) {
        ++end;
      }
      for (std::size_t member = i; member < end; ++member) {
        await_exchanges(member);
      }
      run_group(std::span(steps_).subspan(i, end - i), inputs, timing);
      timing += end - i;
      i = end - 1;
      continue;
    }
    await_exchanges(i);  // also before a step that is left out: the sum needs its memory
    if (is_lost(guards_[i])) {
      (timing++)->seconds = 0;
      continue;
    }
    if (const std::size_t end = chain_ends_[i]; end > i + 1) {
      run_chain(std::span(steps_).subspan(i, end - i), timing);
      timing += end - i;
      i = end - 1;
      continue;
    }
    const Stopwatch watch;
    if (!placed.fixed_weights()) {
      placed.step->prepare(team_);
    }
    run_step(placed, scratch);
    timing->seconds = watch.seconds();
    begin_exchange(i, *timing++);
  }
  await_exchanges(steps_.size());
  for (const graph::StateUpdate& update : copies_) {
    if (!is_lost(guard_of(graph_, update))) {
      std::memcpy(memory_.at<std::byte>(update.state), memory_.at<std::byte>(update.value),
                  static_cast<std::size_t>(graph_.type(update.state).bytes()));
    }
  }
}

void CpuExecutable::begin_exchange(std::size_t step, NodeTiming& timing) {
  for (Exchange& exchange : exchanges_) {
    if (exchange.begun_after == step) {
      exchange.ticket = communicator_->begin_sum(exchange.numbers, exchange.format);
      exchange.timing = &timing;
    }
  }
}

void CpuExecutable::await_exchanges(std::size_t step) {
  for (const Exchange& exchange : exchanges_) {
    if (exchange.needed_by == step) {
      const Stopwatch watch;
      communicator_->wait(exchange.ticket);
      exchange.timing->seconds += watch.seconds();
    }
  }
}

bool CpuExecutable::is_lost(const std::optional<ValueId>& guard) const {
  return guard && !std::isfinite(*memory_.at<const float>(*guard));
}

void CpuExecutable::copy_out(std::span<const std::span<std::byte>> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ValueId value = graph_.outputs[i].value;
    COSMIC_ASSERT(static_cast<std::int64_t>(outputs[i].size()) == graph_.type(value).bytes());
    std::memcpy(outputs[i].data(), memory_.at<std::byte>(value), outputs[i].size());
    run_times_.bytes_to_host += static_cast<std::int64_t>(outputs[i].size());
  }
}

std::int64_t CpuExecutable::memory_bytes() const {
  std::int64_t bytes = arena_.bytes() + inputs_.bytes() + scratch_.bytes();
  for (const PlacedStep& placed : steps_) {
    bytes += placed.step->prepared_bytes();
  }
  return bytes;
}

std::vector<ValueId> CpuExecutable::computed_values() const {
  std::vector<ValueId> values;
  const auto add = [&](const compile::Computed& computed) {
    // What is not stored is computed by the steps that read it.
    for (const compile::Expression::Term& term : computed.expression.terms) {
      if (!graph_.node(term.value).stored) {
        values.push_back(term.value);
      }
    }
    values.push_back(computed.value);
  };
  for (const PlacedStep& placed : steps_) {
    add(placed.of_plan->leader);
    for (const compile::Rider& rider : placed.of_plan->riders) {
      add(rider.computed);
    }
  }
  return values;
}

}  // namespace cosmic::target::cpu
