#include "machine/prediction.hpp"

#include <fmt/core.h>

#include <array>
#include <ostream>
#include <string_view>

namespace cosmic::machine {
namespace {

struct Scale {
  double factor;
  std::string_view unit;
};

Scale time_scale(double seconds) {
  if (seconds >= 1) {
    return {1, "s"};
  }
  return seconds >= 1e-3 ? Scale{1e3, "ms"} : Scale{1e6, "us"};
}

Scale byte_scale(double bytes) {
  if (bytes >= 1e9) {
    return {1e-9, "GB"};
  }
  return bytes >= 1e6 ? Scale{1e-6, "MB"} : Scale{1e-3, "kB"};
}

}  // namespace

std::string to_string(ModelledTime time) {
  const Scale scale = time_scale(time.modelled_seconds());
  return fmt::format("{:.3g} {} (modelled)", time.modelled_seconds() * scale.factor, scale.unit);
}

std::string to_string(ModelledBytes bytes) {
  const Scale scale = byte_scale(bytes.modelled_bytes());
  return fmt::format("{:.3g} {} (modelled)", bytes.modelled_bytes() * scale.factor, scale.unit);
}

std::ostream& operator<<(std::ostream& out, ModelledTime time) {
  return out << to_string(time);
}

std::ostream& operator<<(std::ostream& out, ModelledBytes bytes) {
  return out << to_string(bytes);
}

std::string to_string(const ModelledRange& range) {
  const Scale scale = time_scale(range.best.modelled_seconds());
  return fmt::format("{:.3g} {} (modelled, {:.3g} to {:.3g} {})",
                     range.best.modelled_seconds() * scale.factor, scale.unit,
                     range.low.modelled_seconds() * scale.factor,
                     range.high.modelled_seconds() * scale.factor, scale.unit);
}

ModelledBytes MemoryPlace::needed() const {
  return ModelledBytes(always_live.modelled_bytes() + transient.modelled_bytes() +
                       temporary.modelled_bytes() + overhead.modelled_bytes() +
                       reserve.modelled_bytes());
}

std::string to_string(Fit fit) {
  constexpr std::array<std::string_view, 4> names{"fits", "probably fits", "probably does not fit",
                                                  "does not fit"};
  return std::string(names.at(static_cast<std::size_t>(fit)));
}

bool likely(Fit fit) {
  return fit == Fit::yes || fit == Fit::probably;
}

bool certain(Fit fit) {
  return fit == Fit::yes || fit == Fit::no;
}

std::string to_string(Bound bound) {
  constexpr std::array<std::string_view, kBounds> names{"compute", "memory", "exchange",
                                                        "launch",  "host",   "link"};
  return std::string(names.at(static_cast<std::size_t>(bound)));
}

}  // namespace cosmic::machine
