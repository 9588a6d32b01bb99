#include "checkpoint/reference_checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "checkpoint/unpickler.hpp"
#include "checkpoint/zip_archive.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::checkpoint {
namespace {

constexpr std::string_view kPickleName = "data.pkl";
// Whole numbers up to here are exact in a float32 or float64, as the framework counts steps.
constexpr double kMostSteps = 0x1p53;
constexpr std::size_t kMostMoments = 16;
constexpr const char* kAdvice = "was the file written by the reference's trainer?";

/// Storages are entries "<root>/data/<key>".
class ArchiveStorages : public StorageSource {
 public:
  ArchiveStorages(const ZipArchive& archive, const std::string& root)
      : archive_(archive), prefix_(root + "/data/") {}

  std::vector<std::byte> read(std::string_view key) const override {
    return archive_.read(prefix_ + std::string(key));
  }
  std::uint64_t bytes(std::string_view key) const override {
    return archive_.bytes(prefix_ + std::string(key));
  }
  std::uint64_t total_bytes() const override { return archive_.file_bytes(); }

 private:
  const ZipArchive& archive_;
  std::string prefix_;
};

/// The archive's one folder: the file's stem, or "archive".
std::string root_of(const ZipArchive& archive) {
  const std::string end = "/" + std::string(kPickleName);
  std::vector<std::string> roots;
  for (const std::string& name : archive.names()) {
    if (name.ends_with(end) && name.find('/') == name.size() - end.size()) {
      roots.push_back(name.substr(0, name.size() - end.size()));
    }
  }
  COSMIC_REQUIRE(DataError, roots.size() == 1,
                 "the archive has " << roots.size() << " entries FOLDER/" << kPickleName
                                    << " (there must be one); " << kAdvice);
  return roots.front();
}

/// Buffers of a network, as opposed to what an optimizer updates. The pickle does not tell.
bool is_buffer(std::string_view name) {
  return name.ends_with(".running_mean") || name.ends_with(".running_var") ||
         name.ends_with(".num_batches_tracked");
}

/// A name that can be printed and written again.
bool is_plain(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
}

/// Takes the pickle's tree apart. Every message names the way to the value.
class Extraction {
 public:
  Extraction(PickleTree tree, const StorageSource& storages)
      : tree_(std::move(tree)), tensors_(storages) {}

  ReferenceCheckpoint run() {
    const PickleDict& root = get<PickleDict>(tree_.root, "the pickle", "a dictionary");
    result_.global_step = whole_number(item(root, "global_step", "the pickle"), "global_step");
    read_weights(get<PickleDict>(item(root, "state_dict", "the pickle"), "state_dict",
                                 "a dictionary of tensors"));
    if (const PickleId* optimizer = find(root, "optimizer")) {
      read_optimizer(get<PickleDict>(*optimizer, "optimizer", "a dictionary"));
    }
    if (const PickleId* scheduler = find(root, "scheduler")) {
      read_scheduler(get<PickleDict>(*scheduler, "scheduler", "a dictionary"));
    }
    return std::move(result_);
  }

 private:
  template <class Kind>
  const Kind& get(PickleId id, const std::string& where, const char* wanted) const {
    const Kind* value = tree_.get_if<Kind>(id);
    COSMIC_REQUIRE(
        DataError, value != nullptr,
        where << " is " << describe(tree_.at(id)) << " (it must be " << wanted << "); " << kAdvice);
    return *value;
  }

  static const PickleId* find(const PickleDict& dict, const PickleKey& key) {
    const auto found = dict.places.find(key);
    return found == dict.places.end() ? nullptr : &dict.items[found->second].second;
  }

  static PickleId item(const PickleDict& dict, std::string_view key, const std::string& where) {
    const PickleId* found = find(dict, key);
    COSMIC_REQUIRE(DataError, found != nullptr,
                   where << " has no '" << key << "' (the reference writes one); " << kAdvice);
    return *found;
  }

  static std::string_view text_key(const PickleKey& key, const std::string& where) {
    const auto* text = std::get_if<std::string_view>(&key);
    COSMIC_REQUIRE(DataError, text != nullptr,
                   where << " has the key " << std::get<std::int64_t>(key)
                         << " (its keys are names); " << kAdvice);
    return *text;
  }

  std::optional<double> number(PickleId id) const {
    if (const auto* whole = tree_.get_if<std::int64_t>(id)) {
      return static_cast<double>(*whole);
    }
    if (const auto* real = tree_.get_if<double>(id)) {
      return *real;
    }
    return std::nullopt;
  }

  std::int64_t whole_number(PickleId id, const std::string& where) const {
    const auto value = get<std::int64_t>(id, where, "a whole number");
    COSMIC_REQUIRE(DataError, value >= 0 && static_cast<double>(value) <= kMostSteps,
                   where << " is " << value << " (it counts steps); " << kAdvice);
    return value;
  }

  session::Tensor tensor(PickleId id, const std::string& where) {
    const PickleTensor& view = get<PickleTensor>(id, where, "a tensor");
    try {
      return tensors_.read(view);
    } catch (const DataError& error) {
      throw DataError(where + ": " + error.what());
    }
  }

  void read_weights(const PickleDict& states) {
    for (const auto& [key, id] : states.items) {
      const std::string_view name = without_distributed_prefix(text_key(key, "state_dict"));
      const std::string where = "state_dict[" + printable(name) + "]";
      COSMIC_REQUIRE(DataError, is_plain(name),
                     where << " is not a tensor name (letters, digits, dots); " << kAdvice);
      COSMIC_REQUIRE(DataError,
                     result_.weights.emplace(std::string(name), tensor(id, where)).second,
                     where << " is there with and without '" << kDistributedPrefix
                           << "' (which of the two is meant?); " << kAdvice);
      if (!is_buffer(name)) {
        result_.parameters.emplace_back(name);
      }
    }
  }

  void read_optimizer(const PickleDict& optimizer) {
    const PickleDict& states = get<PickleDict>(item(optimizer, "state", "optimizer"),
                                               "optimizer['state']", "a dictionary");
    const PickleList& groups = get<PickleList>(item(optimizer, "param_groups", "optimizer"),
                                               "optimizer['param_groups']", "a list");
    const std::vector<std::int64_t> numbers = parameter_numbers(groups);
    if (states.items.empty()) {
      return;
    }
    COSMIC_REQUIRE(DataError, numbers.size() == result_.parameters.size(),
                   "the optimizer has "
                       << numbers.size() << " parameters, state_dict " << result_.parameters.size()
                       << " (they must be the same, in the same order); " << kAdvice);
    for (std::size_t place = 0; place < numbers.size(); ++place) {
      const PickleId* state = find(states, numbers[place]);
      const std::string where = "optimizer['state'][" + std::to_string(numbers[place]) + "]";
      COSMIC_REQUIRE(DataError, state != nullptr,
                     where << " is missing (it belongs to '" << result_.parameters[place]
                           << "', and the others have one); " << kAdvice);
      const PickleDict& entries = get<PickleDict>(*state, where, "a dictionary");
      result_.moments[result_.parameters[place]] =
          moments(entries, where, result_.parameters[place]);
    }
    COSMIC_REQUIRE(DataError, states.items.size() == numbers.size(),
                   "optimizer['state'] has " << states.items.size() << " entries for "
                                             << numbers.size() << " parameters; " << kAdvice);
  }

  /// The optimizer's number of each parameter, in the order of registration; and the settings of
  /// the first group.
  std::vector<std::int64_t> parameter_numbers(const PickleList& groups) {
    std::vector<std::int64_t> numbers;
    std::set<std::int64_t> known;
    for (std::size_t i = 0; i < groups.items.size(); ++i) {
      const std::string where = "optimizer['param_groups'][" + std::to_string(i) + "]";
      const PickleDict& group = get<PickleDict>(groups.items[i], where, "a dictionary");
      const PickleList& members =
          get<PickleList>(item(group, "params", where), where + "['params']", "a list");
      for (const PickleId id : members.items) {
        numbers.push_back(whole_number(id, where + "['params']"));
        // At once: a list of many groups can be one group many times.
        COSMIC_REQUIRE(DataError, known.insert(numbers.back()).second,
                       "optimizer['param_groups'] names a parameter twice; " << kAdvice);
      }
      if (i == 0) {
        read_settings(group, where);
      }
    }
    return numbers;
  }

  void read_settings(const PickleDict& group, const std::string& where) {
    for (const auto& [key, id] : group.items) {
      const std::string name(text_key(key, where));
      if (!is_plain(name)) {
        continue;
      }
      if (const std::optional<double> value = number(id)) {
        result_.optimizer_settings[name] = *value;
      } else if (const auto* pair = tree_.get_if<PickleTuple>(id);
                 name == "betas" && pair != nullptr && pair->items.size() == 2) {
        result_.optimizer_settings["beta1"] = number(pair->items[0]).value_or(NAN);
        result_.optimizer_settings["beta2"] = number(pair->items[1]).value_or(NAN);
      }
    }
  }

  ParameterMoments moments(const PickleDict& entries, const std::string& where,
                           const std::string& parameter) {
    const session::Tensor& weight = result_.weights.at(parameter);
    ParameterMoments result;
    // All parameters may have the same dictionary, so it must not be as large as a file allows.
    COSMIC_REQUIRE(
        DataError, entries.items.size() <= kMostMoments,
        where << " has " << entries.items.size() << " entries (an optimizer keeps two or "
              << "three of a parameter, at most " << kMostMoments << " are read); " << kAdvice);
    for (const auto& [key, id] : entries.items) {
      const std::string name(text_key(key, where));
      const std::string place = where + "[" + printable(name) + "]";
      if (name == "step") {
        result.step = steps(id, place);
        continue;
      }
      if (std::holds_alternative<PickleNone>(tree_.at(id))) {
        continue;  // a momentum that has not begun
      }
      COSMIC_REQUIRE(DataError, is_plain(name),
                     place << " is not the name of a moment; " << kAdvice);
      session::Tensor value = tensor(id, place);
      COSMIC_REQUIRE(DataError, value.type == weight.type,
                     place << " is " << value.type << ", but its parameter '" << parameter
                           << "' is " << weight.type << " (they must agree); " << kAdvice);
      result.tensors.emplace(name, std::move(value));
    }
    return result;
  }

  /// A tensor of one number, or, in old versions, a number.
  std::int64_t steps(PickleId id, const std::string& where) {
    if (tree_.get_if<std::int64_t>(id) != nullptr) {
      return whole_number(id, where);
    }
    const session::Tensor value = tensor(id, where);
    COSMIC_REQUIRE(DataError, value.type.dtype != graph::DType::u8 && value.type.elements() == 1,
                   where << " is " << value.type << " (it must be one number); " << kAdvice);
    const double count = value.type.dtype == graph::DType::f32
                             ? static_cast<double>(value.as<float>()[0])
                             : static_cast<double>(value.as<std::int64_t>()[0]);
    COSMIC_REQUIRE(DataError, count >= 0 && count <= kMostSteps && count == std::floor(count),
                   where << " is " << count << " (it counts steps); " << kAdvice);
    return static_cast<std::int64_t>(count);
  }

  void read_scheduler(const PickleDict& scheduler) {
    if (const PickleId* last = find(scheduler, "last_epoch")) {
      result_.schedule_step = whole_number(*last, "scheduler['last_epoch']");
    }
  }

  PickleTree tree_;
  TensorReader tensors_;
  ReferenceCheckpoint result_;
};

}  // namespace

std::string_view without_distributed_prefix(std::string_view name) {
  return name.starts_with(kDistributedPrefix) ? name.substr(kDistributedPrefix.size()) : name;
}

ReferenceCheckpoint read_reference_checkpoint(std::span<const std::byte> pickle,
                                              const StorageSource& storages) {
  return Extraction(unpickle(pickle, std::string(kPickleName)), storages).run();
}

ReferenceCheckpoint load_reference_checkpoint(const std::filesystem::path& path) {
  try {
    const ZipArchive archive(path);
    const std::string root = root_of(archive);
    const std::vector<std::byte> pickle = archive.read(root + "/" + std::string(kPickleName));
    return read_reference_checkpoint(pickle, ArchiveStorages(archive, root));
  } catch (const DataError& error) {
    throw DataError(path.string() + ": " + error.what());
  }
}

}  // namespace cosmic::checkpoint
