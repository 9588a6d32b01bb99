#include "machine/units.hpp"

#include <array>

#include "core/error.hpp"

namespace cosmic::machine {
namespace {

struct Unit {
  std::string_view name;
  Dimension dimension;
  double scale;
};

constexpr std::array kUnits = std::to_array<Unit>({
    {"count", Dimension::count, 1},
    {"ratio", Dimension::ratio, 1},
    {"cycles", Dimension::cycles, 1},
    {"B", Dimension::bytes, 1},
    {"KiB", Dimension::bytes, 1024},
    {"MiB", Dimension::bytes, 1024.0 * 1024},
    {"GiB", Dimension::bytes, 1024.0 * 1024 * 1024},
    {"MB", Dimension::bytes, 1e6},
    {"GB", Dimension::bytes, 1e9},
    {"TB", Dimension::bytes, 1e12},
    {"s", Dimension::seconds, 1},
    {"ms", Dimension::seconds, 1e-3},
    {"us", Dimension::seconds, 1e-6},
    {"ns", Dimension::seconds, 1e-9},
    {"MHz", Dimension::hertz, 1e6},
    {"GHz", Dimension::hertz, 1e9},
    {"GB/s", Dimension::bytes_per_second, 1e9},
    {"TB/s", Dimension::bytes_per_second, 1e12},
    {"B/cycle", Dimension::bytes_per_cycle, 1},
    {"GFLOP/s", Dimension::flops_per_second, 1e9},
    {"TFLOP/s", Dimension::flops_per_second, 1e12},
});

}  // namespace

double scale_of(std::string_view unit, Dimension dimension) {
  for (const Unit& known : kUnits) {
    if (known.name == unit && known.dimension == dimension) {
      return known.scale;
    }
  }
  throw UserError("the unit '" + std::string(unit) +
                  "' does not measure this quantity; use one of: " + units_of(dimension));
}

std::string units_of(Dimension dimension) {
  std::string text;
  for (const Unit& unit : kUnits) {
    if (unit.dimension == dimension) {
      text += (text.empty() ? "" : ", ") + std::string(unit.name);
    }
  }
  return text;
}

}  // namespace cosmic::machine
