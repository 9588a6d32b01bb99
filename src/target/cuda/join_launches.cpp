#include "target/cuda/join_launches.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/error.hpp"
#include "target/cuda/joined_works.hpp"

namespace cosmic::target::cuda {
namespace {

/// Larger maps keep the device busy by themselves.
constexpr std::int64_t kMostElements = std::int64_t{1} << 20;
/// Rounds of a block's threads that a task of tiny works takes at most: so many take about as long
/// as the launches that it saves.
constexpr std::int64_t kMostRounds = 12;

/// Blocks of a work that is launched alone although others are ready.
constexpr std::int64_t kMostPartsAlone = 4;

/// Addresses of which element i is touched by body(i), or by output i, and by no other.
using Elements = std::vector<const void*>;

template <class Body>
Elements elements_of(const Body&) {
  return {};
}
Elements elements_of(const MomentBody& body) {
  return {body.moment, body.gradient, body.updated};
}
Elements elements_of(const AdamStepBody& body) {
  return {body.parameter, body.first, body.second, body.updated};
}
Elements elements_of(const RmspropStepBody& body) {
  return {body.parameter, body.gradient, body.mean_square, body.updated};
}
Elements elements_of(const SgdStepBody& body) {
  return {body.parameter, body.direction, body.updated};
}
Elements elements_of(const UnscaleBody& body) {
  return {body.x, body.y};
}
Elements elements_of(const RoundBody& body) {
  return {body.values};
}
Elements elements_of(const AddBody& body) {
  return {body.a, body.b, body.y};
}
Elements elements_of(const ScaleBody& body) {
  return {body.x, body.y};
}
Elements elements_of(const LeakyReluBody& body) {
  return {body.x, body.y};
}
Elements elements_of(const LeakyReluGradientBody& body) {
  return {body.x, body.dy, body.dx};
}
Elements elements_of(const ChannelBiasBody& body) {
  return {body.x, body.y};
}
Elements elements_of(const MatMulBody& body) {
  return {body.y};
}
Elements elements_of(const MatMulSumBody& body) {
  return {body.product.y};
}
Elements elements_of(const ChannelSumBody& body) {
  return {body.sums_out};
}
Elements elements_of(const NormParameterGradientBody& body) {
  return {body.gradient};
}
Elements elements_of(const RunningUpdateBody& body) {
  return {body.running, body.updated};
}
template <class Element>
Elements elements_of(const CopyBody<Element>& body) {
  return {body.x, body.y};
}
template <class Element>
Elements elements_of(const FillBody<Element>& body) {
  return {body.y};
}

template <class Body>
bool is_small(const Map<Body>& work) {
  // Parameters are updated together, however many they are.
  constexpr bool updates = std::is_same_v<Body, MomentBody> || std::is_same_v<Body, AdamStepBody> ||
                           std::is_same_v<Body, RmspropStepBody> ||
                           std::is_same_v<Body, SgdStepBody> || std::is_same_v<Body, UnscaleBody> ||
                           std::is_same_v<Body, PackWeightsBody>;
  return updates || work.elements <= kMostElements;
}
template <class Body>
bool is_small(const Reduction<Body>& work) {
  return std::is_same_v<Body, AllFiniteBody> || work.outputs * work.terms <= 4 * kMostElements;
}
bool is_small(const JoinKernelGradient&) {
  return true;
}

/// Rounds that a block of threads takes for all of it; nothing where it is not for one block.
template <class Kind>
std::optional<std::int64_t> rounds_of(const Kind&) {
  return std::nullopt;
}
template <class Body>
std::optional<std::int64_t> rounds_of(const Map<Body>& work) {
  std::int64_t each = 1;
  if constexpr (std::is_same_v<Body, MatMulBody>) {
    each += work.body.inner / 16;
  }
  return blocks_for(work.elements) * each;
}
template <class Body>
std::optional<std::int64_t> rounds_of(const Reduction<Body>& work) {
  if (stages_of(work) > 1) {
    return std::nullopt;
  }
  return work.outputs * (1 + blocks_for(work.terms));
}

/// Calls visit(work) with a work that can be in a table; returns what it returns, or `otherwise`.
template <class Result, class Visit>
Result with_joined(const Work& work, Result otherwise, const Visit& visit) {
  return std::visit(
      [&]<class Kind>(const Kind& one) -> Result {
        if constexpr (kJoinedKind<Kind> >= 0) {
          return visit(one);
        } else {
          return otherwise;
        }
      },
      work);
}

/// The same of what need not be a kernel.
template <class Result, class Visit>
Result with_joined(const Deed& deed, Result otherwise, const Visit& visit) {
  const auto* const work = std::get_if<Work>(&deed);
  return work == nullptr ? otherwise : with_joined(*work, otherwise, visit);
}

/// A work, or a stage of one.
struct Unit {
  const TouchingWork* of = nullptr;
  int stage = 0;
  bool joinable = false;
  bool whole = true;  ///< no other stages
  Elements elements = {};
  Parts parts = {};
  std::optional<std::int64_t> rounds = {};
  std::vector<std::size_t> needs = {};  ///< earlier units that must be done
  bool done = false;
};

/// Units that one set of blocks does in their order.
struct Task {
  std::vector<std::size_t> units;
  std::int64_t per_part = 1;  ///< of all of them
  bool in_one_block = false;
};

using Launch = std::vector<Task>;

bool overlap(const Touch& a, const Touch& b) {
  return (a.writes || b.writes) && a.begin < b.end && b.begin < a.end;
}

class Joining {
 public:
  explicit Joining(std::span<const TouchingWork> works) {
    for (const TouchingWork& work : works) {
      add(work);
    }
    find_needs();
  }

  const Unit& unit(std::size_t i) const { return units_[i]; }

  std::vector<Launch> run() {
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (!units_[i].joinable) {
        std::vector<bool> needed(units_.size(), false);
        launch_all(needed_by(units_[i], needed), needed);
        emit({Task{{i}}});
      }
    }
    std::vector<bool> rest(units_.size(), false);
    std::size_t count = 0;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      rest[i] = !units_[i].done;
      count += rest[i] ? 1 : 0;
    }
    launch_all(count, rest);
    return std::move(launches_);
  }

 private:
  void add(const TouchingWork& work) {
    Unit unit;
    unit.of = &work;
    const auto* const kernel = std::get_if<Work>(&work.work);
    unit.joinable = kernel != nullptr && is_joinable(*kernel);
    const int stages =
        unit.joinable ? with_joined(work.work, 1, [](const auto& one) { return stages_of(one); })
                      : 1;
    unit.whole = stages == 1;
    for (int stage = 0; stage < stages; ++stage) {
      unit.stage = stage;
      with_joined(work.work, 0, [&]<class Kind>(const Kind& one) {
        unit.parts = parts_of(one, stage);
        unit.rounds = rounds_of(one);
        if constexpr (requires { one.body; }) {
          // The chunks of a sum are no elements.
          unit.elements = unit.whole ? elements_of(one.body) : Elements();
        }
        return 0;
      });
      units_.push_back(unit);
    }
  }

  void find_needs() {
    struct Earlier {
      Touch touch;
      std::size_t unit;
    };
    std::vector<Earlier> earlier;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      for (const Touch& touch : units_[i].of->touches) {
        for (const Earlier& before : earlier) {
          if (before.unit != i && overlap(before.touch, touch) &&
              (units_[i].needs.empty() || units_[i].needs.back() != before.unit)) {
            units_[i].needs.push_back(before.unit);
          }
        }
      }
      for (const Touch& touch : units_[i].of->touches) {
        earlier.push_back({touch, i});
      }
      std::sort(units_[i].needs.begin(), units_[i].needs.end());
      units_[i].needs.erase(std::unique(units_[i].needs.begin(), units_[i].needs.end()),
                            units_[i].needs.end());
      // The second stage of a work is like the first one: it touches the same.
      if (units_[i].stage > 0) {
        COSMIC_ASSERT(!units_[i].needs.empty() && units_[i].needs.back() == i - 1);
      }
    }
  }

  /// How many there are; marks them. All are small: large ones before it are done.
  std::size_t needed_by(const Unit& unit, std::vector<bool>& needed) const {
    std::size_t count = 0;
    for (const std::size_t i : unit.needs) {
      if (!units_[i].done && !needed[i]) {
        needed[i] = true;
        count += 1 + needed_by(units_[i], needed);
      }
    }
    return count;
  }

  /// Launches until none of the needed is left.
  void launch_all(std::size_t count, const std::vector<bool>& needed) {
    while (count > 0) {
      Launch launch = gather(needed, Others::stay);
      // A tiny one in a chain is launched as it is, which takes the least time until it is done.
      const Unit& first = units_[launch.front().units.front()];
      if (launch.size() > 1 || launch.front().units.size() > 1 || first.needs.empty() ||
          first.parts.parts() > kMostPartsAlone) {
        launch = gather(needed, Others::join);
      }
      for (const Task& task : launch) {
        for (const std::size_t i : task.units) {
          count -= needed[i] ? 1 : 0;
        }
      }
      emit(std::move(launch));
    }
  }

  void emit(Launch launch) {
    for (const Task& task : launch) {
      for (const std::size_t i : task.units) {
        units_[i].done = true;
      }
    }
    launches_.push_back(std::move(launch));
    while (first_left_ < units_.size() && units_[first_left_].done) {
      ++first_left_;
    }
  }

  enum class Others { stay, join };

  /// The needed units that can be in one launch, now, and others as well if they shall join them.
  Launch gather(const std::vector<bool>& needed, Others others) const {
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    Launch tasks;
    std::vector<std::size_t> task_of(units_.size(), kNone);
    for (std::size_t i = first_left_; i < units_.size(); ++i) {
      if (units_[i].done || !units_[i].joinable || (!needed[i] && others == Others::stay)) {
        continue;
      }
      std::vector<std::size_t> behind;  // tasks that it needs
      bool ready = true;
      for (const std::size_t need : units_[i].needs) {
        if (!units_[need].done) {
          ready = ready && task_of[need] != kNone;
          behind.push_back(task_of[need]);
        }
      }
      if (!ready) {
        continue;
      }
      std::sort(behind.begin(), behind.end());
      behind.erase(std::unique(behind.begin(), behind.end()), behind.end());
      std::optional<Task> task = join(tasks, behind, i, needed);
      if (!task) {
        continue;
      }
      for (const std::size_t other : behind) {
        tasks[other].units.clear();
      }
      for (const std::size_t unit : task->units) {
        task_of[unit] = tasks.size();
      }
      tasks.push_back(std::move(*task));
    }
    std::erase_if(tasks, [](const Task& task) { return task.units.empty(); });
    return tasks;
  }

  /// Those tasks and the unit as one, if that can be.
  std::optional<Task> join(const Launch& tasks, const std::vector<std::size_t>& behind,
                           std::size_t unit, const std::vector<bool>& needed) const {
    Task task{{unit}, units_[unit].parts.per_part, false};
    bool in_one_block = false;
    for (const std::size_t other : behind) {
      task.units.insert(task.units.end(), tasks[other].units.begin(), tasks[other].units.end());
      task.per_part = std::min(task.per_part, tasks[other].per_part);
      in_one_block = in_one_block || tasks[other].in_one_block;
    }
    std::sort(task.units.begin(), task.units.end());
    if (behind.empty() || (!in_one_block && element_by_element(task.units, unit))) {
      return task;
    }
    // One that nobody waits for does not make others wait.
    std::int64_t rounds = needed[unit] ? 0 : kMostRounds + 1;
    for (const std::size_t i : task.units) {
      rounds += units_[i].rounds.value_or(kMostRounds + 1);
    }
    task.in_one_block = true;
    return rounds <= kMostRounds ? std::optional(task) : std::nullopt;
  }

  /// May a block of threads do all of it for its elements? The others already do so among
  /// themselves.
  bool element_by_element(const std::vector<std::size_t>& all, std::size_t last) const {
    const Unit& unit = units_[last];
    return std::all_of(all.begin(), all.end(), [&](std::size_t i) {
      const Unit& other = units_[i];
      if (i == last) {
        return true;
      }
      if (other.parts.count != unit.parts.count) {
        return false;
      }
      const auto is_by_element = [](const Unit& of, const Touch& touch) {
        return std::find(of.elements.begin(), of.elements.end(), touch.begin) != of.elements.end();
      };
      for (const Touch& a : other.of->touches) {
        for (const Touch& b : unit.of->touches) {
          if (overlap(a, b) &&
              !(a.begin == b.begin && is_by_element(other, a) && is_by_element(unit, b))) {
            return false;
          }
        }
      }
      return true;
    });
  }

  std::vector<Unit> units_;
  std::vector<Launch> launches_;
  std::size_t first_left_ = 0;
};

/// Writes the table: all entries, then all blocks.
class TableWriter {
 public:
  explicit TableWriter(const Joining& joining) : joining_(joining) {}

  void add(const Launch& launch) {
    const std::size_t first_block = blocks_.size();
    for (const Task& task : launch) {
      const auto first = static_cast<std::int32_t>(entries_.size());
      for (const std::size_t i : task.units) {
        const Unit& unit = joining_.unit(i);
        with_joined(unit.of->work, 0, [&](const auto& one) {
          entries_.push_back(
              joined_entry(one, unit.stage, task.in_one_block ? unit.parts.count : task.per_part));
          return 0;
        });
      }
      const std::int64_t parts =
          task.in_one_block
              ? 1
              : Parts{joining_.unit(task.units.front()).parts.count, task.per_part}.parts();
      for (std::int64_t part = 0; part < parts; ++part) {
        blocks_.push_back({first, static_cast<std::int32_t>(task.units.size()),
                           static_cast<std::int32_t>(part), 0});
      }
    }
    counts_.push_back({first_block, blocks_.size() - first_block});
  }

  /// Launch number i of those added, once all are.
  Joined launch(std::size_t i, const std::byte* table) const {
    const std::size_t entry_bytes = entries_.size() * sizeof(JoinedEntry);
    return {reinterpret_cast<const JoinedEntry*>(table),
            reinterpret_cast<const JoinedBlock*>(table + entry_bytes) + counts_[i].first,
            static_cast<std::int32_t>(counts_[i].blocks)};
  }

  std::vector<std::byte> table() const {
    std::vector<std::byte> bytes;
    const auto append = [&](const auto& rows) {
      const auto view = std::as_bytes(std::span(rows));
      bytes.insert(bytes.end(), view.begin(), view.end());
    };
    append(entries_);
    append(blocks_);
    return bytes;
  }

 private:
  struct Count {
    std::size_t first;
    std::size_t blocks;
  };

  const Joining& joining_;
  std::vector<JoinedEntry> entries_;
  std::vector<JoinedBlock> blocks_;
  std::vector<Count> counts_;
};

}  // namespace

bool is_joinable(const Work& work) {
  return with_joined(work, false, [](const auto& one) { return is_small(one); });
}

std::int64_t table_bytes(const Work& work) {
  if (!is_joinable(work)) {
    return 0;
  }
  return with_joined(work, std::int64_t{0}, [](const auto& one) {
    std::int64_t bytes = 0;
    for (int stage = 0; stage < stages_of(one); ++stage) {
      bytes += static_cast<std::int64_t>(sizeof(JoinedEntry)) +
               parts_of(one, stage).parts() * static_cast<std::int64_t>(sizeof(JoinedBlock));
    }
    return bytes;
  });
}

JoinedLaunches join_launches(std::span<const TouchingWork> works, const std::byte* table) {
  Joining joining(works);
  const std::vector<Launch> launches = joining.run();
  JoinedLaunches result;
  TableWriter writer(joining);
  std::vector<std::size_t> joined;  // where in the result
  for (const Launch& launch : launches) {
    const Unit& first = joining.unit(launch.front().units.front());
    if (launch.size() == 1 && launch.front().units.size() == 1 && first.whole) {
      result.deeds.push_back(first.of->work);
    } else {
      writer.add(launch);
      joined.push_back(result.deeds.size());
      result.deeds.emplace_back(Joined{});
    }
  }
  for (std::size_t i = 0; i < joined.size(); ++i) {
    result.deeds[joined[i]] = writer.launch(i, table);
  }
  result.table = writer.table();
  return result;
}

}  // namespace cosmic::target::cuda
