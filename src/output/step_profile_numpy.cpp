// The profile as a NumPy file: magic, version, a Python dictionary that says what the bytes are,
// then the rows.
#include <fmt/core.h>

#include <limits>
#include <string_view>

#include "core/little_endian.hpp"
#include "core/whole_file.hpp"
#include "output/step_profile.hpp"

namespace cosmic::output {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t kNotATime = std::numeric_limits<std::int64_t>::min();

/// A time span of a row: of the whole iteration, of a phase, or of what only the reference has.
struct SpanField {
  enum class Of { iteration, phase, nothing };

  std::string_view name;
  Of of = Of::nothing;
  Phase phase = {};
};

// The reference's fields in its order, then ours.
constexpr std::array kSpanFields{
    SpanField{"iteration", SpanField::Of::iteration},
    SpanField{"train", SpanField::Of::phase, Phase::train},
    SpanField{"val", SpanField::Of::phase, Phase::val},
    SpanField{"io", SpanField::Of::phase, Phase::io},
    SpanField{"forward"},
    SpanField{"backward"},
    SpanField{"checkpoint", SpanField::Of::phase, Phase::checkpoint},
    SpanField{"loss"},
    SpanField{"summary", SpanField::Of::phase, Phase::summary},
    SpanField{"log", SpanField::Of::phase, Phase::log},
    SpanField{"optimizer"},
    SpanField{"metrics"},
    SpanField{"step", SpanField::Of::phase, Phase::step},
};

std::string header_of(std::size_t rows) {
  // Data starts at a multiple of this; the header is filled up with spaces.
  constexpr std::size_t kAlignment = 64;
  std::string types = "('i', '<i4'), ('start', '<M8[us]')";
  for (const SpanField& field : kSpanFields) {
    types += fmt::format(", ('{}', '<m8[us]')", field.name);
  }
  std::string dictionary =
      fmt::format("{{'descr': [{}], 'fortran_order': False, 'shape': ({},), }}", types, rows);
  const std::string magic("\x93NUMPY\x01\x00", 8);
  const std::size_t before = magic.size() + sizeof(std::uint16_t);
  const std::size_t end = (before + dictionary.size() + 1 + kAlignment - 1) / kAlignment;
  dictionary.resize(end * kAlignment - before - 1, ' ');
  dictionary += '\n';
  std::string header = magic;
  append_little_endian(header, static_cast<std::uint16_t>(dictionary.size()));
  return header + dictionary;
}

}  // namespace

void StepProfile::write_numpy(const std::filesystem::path& path) const {
  std::string rows;
  std::size_t ended = 0;
  for (const Iteration& iteration : iterations_) {
    if (!iteration.whole) {
      continue;
    }
    ++ended;
    const auto whole_microseconds = [](Duration duration) {
      return std::chrono::duration_cast<microseconds>(duration).count();
    };
    append_little_endian(rows, static_cast<std::int32_t>(iteration.number));
    append_little_endian(
        rows, whole_microseconds(origin_on_the_wall_.time_since_epoch() + iteration.start));
    for (const SpanField& field : kSpanFields) {
      std::int64_t value = kNotATime;
      if (field.of == SpanField::Of::iteration) {
        value = whole_microseconds(*iteration.whole);
      } else if (field.of == SpanField::Of::phase) {
        value = whole_microseconds(iteration.sums[static_cast<std::size_t>(field.phase)]);
      }
      append_little_endian(rows, value);
    }
  }
  write_whole_file(path, header_of(ended) + rows, Existing::replace);
}

}  // namespace cosmic::output
