// The few names that a pickle may use, and what calling them gives. None of it is Python: each name
// is a function here that turns values into a value. A name that is not in the table is refused, so
// there is nothing that a pickle could run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/pickle_value.hpp"

namespace cosmic::checkpoint {

std::optional<PickleGlobal> find_global(std::string_view module, std::string_view name);

/// What calling `global` gives. Throws DataError if the arguments are not what it takes.
PickleValue call(const PickleTree& tree, const PickleGlobal& global, const PickleTuple& arguments);

/// The storage that a persistent id stands for: ('storage', type, key, device, elements). Throws
/// DataError if it is not valid.
PickleStorage storage_of(const PickleTree& tree, const PickleValue& persistent_id);

/// Whether a state may be given to a value after it was made, and means nothing to us: that of an
/// OrderedDict (the framework keeps module versions there) and of a little-endian numpy type.
bool may_ignore_state(const PickleTree& tree, const PickleValue& value, const PickleValue& state);

}  // namespace cosmic::checkpoint
