// Which entries of a source are used, and in what order. Samples are numbered from the start of a
// run: 0, 1, 2, ... for as long as it lasts; an order says which entry each of them is. Sample
// numbers are all there is to remember, so a run that stopped goes on where it was, in the middle
// of an epoch as well, and nothing depends on threads or on how far was read ahead.
//
// The reference draws from numpy's global generator, whose numbers cannot be had here; the orders
// are the same in kind, not in their random numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic::data {

enum class OrderKind {
  /// Each batch is a run of consecutive entries from a random place. The reference trains so:
  /// events
  /// are drawn with replacement, there is no epoch. Unlike there, every entry can be drawn: of n
  /// entries, the first of a batch of B is one of n - B + 1 (the reference leaves out the last
  /// two).
  random_blocks,
  /// The file's order, from `start_index`; after the last entry comes the first, and no entry comes
  /// twice before all others were there.
  serial_access,
  /// Every epoch is a new random permutation of all entries.
  shuffled,
};

/// Throws UserError unless the name is random_blocks, serial_access or shuffled.
OrderKind order_kind(std::string_view name);
std::string_view to_string(OrderKind kind);

/// What happens after the last entry.
enum class Passes {
  /// Goes on with the next epoch. A batch may hold the end of one and the start of the next, and so
  /// an entry twice.
  endless,
  /// For inference: the last batch may be short, and each entry is used exactly once.
  one,
  /// Epoch by epoch, each with an end of its own. Entries that do not fill a batch are left out;
  /// another epoch has them elsewhere, if it is shuffled.
  epochs,
  /// The same, but the last batch of an epoch may be short.
  padded_epochs,
};

/// What a checkpoint keeps, to go on with the same samples.
struct OrderState {
  std::string order;  ///< to_string(OrderKind)
  std::int64_t entries = 0;
  std::uint64_t seed = 0;
  std::int64_t start_index = 0;
  std::int64_t next_sample = 0;

  friend bool operator==(const OrderState&, const OrderState&) = default;
};

/// One line, "order=shuffled entries=5 seed=1 start_index=0 next_sample=12".
std::string to_text(const OrderState& state);
/// Throws DataError for a text that to_text does not write.
OrderState order_state_from_text(const std::string& text);

struct OrderOptions {
  OrderKind kind = OrderKind::random_blocks;
  Passes passes = Passes::endless;
  std::uint64_t seed = 0;
  std::int64_t start_index = 0;  ///< the first entry that serial_access uses
  /// Entries from here on are not there: not read ahead either, so what is odd in them is not
  /// reported.
  std::int64_t end_index = std::numeric_limits<std::int64_t>::max();
};

/// Stands in a batch where a pass has no more entries.
inline constexpr std::int64_t kNoEntry = -1;

class EntryOrder {
 public:
  /// For a source with `entries` entries and batches of `batch`. Throws DataError without entries,
  /// and UserError for invalid options.
  EntryOrder(const OrderOptions& options, std::int64_t entries, std::int64_t batch);

  std::int64_t entries() const { return entries_; }
  /// Samples until the end; none without an end.
  std::optional<std::int64_t> samples() const;

  /// Batches of one pass; of endless ones, those that lie in an epoch altogether.
  std::int64_t batches_per_epoch() const;

  /// The entries of a batch that starts with this sample; those after the end are kNoEntry. Returns
  /// how many are not. Allocates nothing after the first call.
  std::int64_t select(std::int64_t first_sample, std::span<std::int64_t> batch);
  /// The first sample of the batch after the one that starts with this sample.
  std::int64_t sample_after(std::int64_t first_sample) const;
  /// Is the batch that starts with this sample the last of its epoch, and does another begin?
  bool ends_epoch(std::int64_t first_sample) const;

  OrderState state(std::int64_t next_sample) const;
  /// The sample to go on with. Throws UserError when the state is that of another order.
  std::int64_t resume(const OrderState& state) const;

  /// What a user should know about these options, to be shown once; often empty.
  std::string remark() const;

 private:
  bool epoch_by_epoch() const {
    return options_.passes == Passes::epochs || options_.passes == Passes::padded_epochs;
  }
  std::int64_t entry(std::int64_t sample);
  void shuffle(std::int64_t epoch);

  OrderOptions options_;
  std::int64_t entries_;
  std::int64_t batch_;
  std::vector<std::int64_t> permutation_;  ///< of the shuffled epoch
  std::int64_t shuffled_epoch_ = -1;
};

}  // namespace cosmic::data
