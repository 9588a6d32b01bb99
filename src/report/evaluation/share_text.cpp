#include "report/evaluation/share_text.hpp"

#include <fmt/core.h>

#include <cmath>
#include <string_view>

namespace cosmic::report::evaluation {
namespace {

constexpr std::string_view kThinSpace = "\xe2\x80\xaf";  // U+202F, where no line may break
constexpr std::string_view kMinus = "\xe2\x88\x92";

}  // namespace

std::string percent_text(const Share& share, int decimals) {
  if (std::isnan(share.value)) {
    return percent_text(share.value);
  }
  return fmt::format("{:.{}f}<span class=\"error\"> +{:.{}f} {}{:.{}f}</span>{}%",
                     100 * share.value, decimals, 100 * (share.high - share.value), decimals,
                     kMinus, 100 * (share.value - share.low), decimals, kThinSpace);
}

}  // namespace cosmic::report::evaluation
