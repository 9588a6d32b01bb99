#include "picture/color_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace cosmic::picture {
namespace {

/// OKLab (Ottosson 2020): lightness, green to red, blue to yellow; distances are what eyes see.
struct Lab {
  double lightness;
  double a;
  double b;
};

// Lightness rises in equal steps; the hue turns from violet to yellow on the way.
constexpr std::array<Lab, 6> kHeat{{
    {0.30, 0.055, -0.110},
    {0.43, 0.140, -0.090},
    {0.56, 0.185, 0.020},
    {0.69, 0.130, 0.120},
    {0.82, 0.045, 0.150},
    {0.95, -0.020, 0.110},
}};

std::uint8_t srgb_byte(double linear) {
  const double value = std::clamp(linear, 0.0, 1.0);
  const double encoded =
      value <= 0.0031308 ? 12.92 * value : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * encoded));
}

/// The inverse of OKLab's definition, matrices as published.
Color to_color(const Lab& lab) {
  const auto cube = [](double value) { return value * value * value; };
  const double l = cube(lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b);
  const double m = cube(lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b);
  const double s = cube(lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b);
  return {srgb_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          srgb_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          srgb_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

}  // namespace

Color heat_color(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(kHeat.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), kHeat.size() - 2);
  const double part = at - static_cast<double>(below);
  const Lab& from = kHeat[below];
  const Lab& to = kHeat[below + 1];
  return to_color({std::lerp(from.lightness, to.lightness, part), std::lerp(from.a, to.a, part),
                   std::lerp(from.b, to.b, part)});
}

}  // namespace cosmic::picture
