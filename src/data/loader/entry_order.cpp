#include "data/loader/entry_order.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "data/loader/numbered_stream.hpp"

namespace cosmic::data {
namespace {

constexpr std::array<std::pair<OrderKind, std::string_view>, 3> kNames{{
    {OrderKind::random_blocks, "random_blocks"},
    {OrderKind::serial_access, "serial_access"},
    {OrderKind::shuffled, "shuffled"},
}};

/// Uniform in [0, count). The bias of the remainder is below count / 2^64.
std::int64_t draw_below(RandomStream& random, std::int64_t count) {
  return static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(count));
}

}  // namespace

OrderKind order_kind(std::string_view name) {
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [&](const auto& known) { return known.second == name; });
  COSMIC_REQUIRE(
      UserError, found != kNames.end(),
      "there is no order '" << name << "'; choose random_blocks, serial_access or shuffled");
  return found->first;
}

std::string_view to_string(OrderKind kind) {
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [&](const auto& known) { return known.first == kind; });
  COSMIC_ASSERT(found != kNames.end());
  return found->second;
}

std::string to_text(const OrderState& state) {
  std::ostringstream text;
  text << "order=" << state.order << " entries=" << state.entries << " seed=" << state.seed
       << " start_index=" << state.start_index << " next_sample=" << state.next_sample;
  return text.str();
}

OrderState order_state_from_text(const std::string& text) {
  OrderState state;
  std::istringstream words(text);
  const auto read = [&](std::string_view key, auto& value) {
    std::string word;
    words >> word;
    const bool named = word.starts_with(key) && word.size() > key.size();
    std::istringstream number(named ? word.substr(key.size()) : std::string());
    COSMIC_REQUIRE(DataError,
                   number >> value && number.peek() == std::istringstream::traits_type::eof(),
                   "'" << text << "' is not the state of a loader (no value after '" << key
                       << "'); was the checkpoint written by another program?");
  };
  read("order=", state.order);
  read("entries=", state.entries);
  read("seed=", state.seed);
  read("start_index=", state.start_index);
  read("next_sample=", state.next_sample);
  return state;
}

EntryOrder::EntryOrder(const OrderOptions& options, std::int64_t all_entries, std::int64_t batch)
    : options_(options), entries_(std::min(all_entries, options.end_index)), batch_(batch) {
  const std::int64_t entries = entries_;
  COSMIC_REQUIRE(DataError, entries > 0,
                 "the source has " << entries
                                   << " events (there is nothing to read); check the "
                                      "file with `cosmictagger data list`");
  COSMIC_REQUIRE(UserError, batch > 0,
                 "a batch of " << batch << " events is empty; choose 1 or more");
  if (options.kind == OrderKind::random_blocks) {
    COSMIC_REQUIRE(
        UserError, batch <= entries,
        "random_blocks with batches of "
            << batch << " events from a source of " << entries
            << " (a block of consecutive events would not fit); choose a batch of at most "
            << entries << ", or the order shuffled");
    COSMIC_REQUIRE(
        UserError, options.passes == Passes::endless,
        "random_blocks draws with replacement (one pass over all events has no meaning); "
        "choose serial_access or shuffled");
  }
  COSMIC_REQUIRE(UserError, options.passes != Passes::epochs || batch <= entries,
                 "batches of " << batch << " samples from a source of " << entries
                               << " (none would be full, and what does not fill a batch is left "
                                  "out of an epoch); choose a batch of at most "
                               << entries << ", or padded_epochs");
  COSMIC_REQUIRE(UserError, options.start_index == 0 || options.kind == OrderKind::serial_access,
                 "start_index is " << options.start_index << " with the order "
                                   << to_string(options.kind)
                                   << " (a random order has no start); choose serial_access");
  COSMIC_REQUIRE(UserError, options.start_index >= 0 && options.start_index < entries,
                 "start_index is " << options.start_index << " in a source of " << entries
                                   << " events; choose 0 to " << entries - 1);
  if (options.kind == OrderKind::shuffled) {
    permutation_.resize(static_cast<std::size_t>(entries));
  }
}

std::optional<std::int64_t> EntryOrder::samples() const {
  if (options_.passes != Passes::one) {
    return std::nullopt;
  }
  return entries_ - options_.start_index;
}

std::int64_t EntryOrder::batches_per_epoch() const {
  const bool padded = options_.passes == Passes::one || options_.passes == Passes::padded_epochs;
  return (samples().value_or(entries_) + (padded ? batch_ - 1 : 0)) / batch_;
}

std::int64_t EntryOrder::select(std::int64_t first_sample, std::span<std::int64_t> batch) {
  const auto size = static_cast<std::int64_t>(batch.size());
  COSMIC_ASSERT(first_sample >= 0 && size == batch_);
  if (options_.kind == OrderKind::random_blocks) {
    RandomStream random = numbered_stream(options_.seed, "block of sample", first_sample);
    std::iota(batch.begin(), batch.end(), draw_below(random, entries_ - size + 1));
    return size;
  }
  const std::int64_t end = epoch_by_epoch() ? (first_sample / entries_ + 1) * entries_
                                            : samples().value_or(first_sample + size);
  const std::int64_t left = end - first_sample;
  const std::int64_t valid = std::clamp<std::int64_t>(left, 0, size);
  for (std::int64_t i = 0; i < size; ++i) {
    batch[static_cast<std::size_t>(i)] = i < valid ? entry(first_sample + i) : kNoEntry;
  }
  return valid;
}

std::int64_t EntryOrder::sample_after(std::int64_t first_sample) const {
  const std::int64_t next = first_sample + batch_;
  if (!epoch_by_epoch()) {
    return next;
  }
  const std::int64_t next_epoch = (first_sample / entries_ + 1) * entries_;
  const std::int64_t needed = options_.passes == Passes::epochs ? batch_ : 1;
  return next + needed <= next_epoch ? next : next_epoch;
}

bool EntryOrder::ends_epoch(std::int64_t first_sample) const {
  return epoch_by_epoch() && sample_after(first_sample) % entries_ == 0;
}

std::int64_t EntryOrder::entry(std::int64_t sample) {
  if (options_.kind == OrderKind::serial_access) {
    return (options_.start_index + sample) % entries_;
  }
  shuffle(sample / entries_);
  return permutation_[static_cast<std::size_t>(sample % entries_)];
}

/// Fisher and Yates, from the file's order, so that an epoch does not depend on those before it.
void EntryOrder::shuffle(std::int64_t epoch) {
  if (epoch == shuffled_epoch_) {
    return;
  }
  RandomStream random = numbered_stream(options_.seed, "order of epoch", epoch);
  std::iota(permutation_.begin(), permutation_.end(), std::int64_t{0});
  for (std::int64_t last = entries_ - 1; last > 0; --last) {
    std::swap(permutation_[static_cast<std::size_t>(last)],
              permutation_[static_cast<std::size_t>(draw_below(random, last + 1))]);
  }
  shuffled_epoch_ = epoch;
}

OrderState EntryOrder::state(std::int64_t next_sample) const {
  return {.order = std::string(to_string(options_.kind)),
          .entries = entries_,
          .seed = options_.seed,
          .start_index = options_.start_index,
          .next_sample = next_sample};
}

std::int64_t EntryOrder::resume(const OrderState& state) const {
  COSMIC_REQUIRE(UserError, state == this->state(state.next_sample) && state.next_sample >= 0,
                 "the saved state is '"
                     << to_text(state) << "', but this run is '" << to_text(this->state(0))
                     << "' (it would not continue the same samples); use the same files, order and "
                        "seed, or start again without the state");
  return state.next_sample;
}

std::string EntryOrder::remark() const {
  if (options_.passes == Passes::endless && batch_ > entries_) {
    std::ostringstream text;
    text << "a batch of " << batch_ << " events from a source of " << entries_
         << " holds events more than once";
    return text.str();
  }
  return {};
}

}  // namespace cosmic::data
