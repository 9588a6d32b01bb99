// From charges to colours: a logarithmic scale that fits the charges of an event.
#pragma once

#include <vector>

namespace cosmic::picture {

struct ChargeScale {
  double low = 1;
  double high = 10;

  /// The position of a charge between the ends: 0 at the low end and below, 1 at the high end.
  double share(double charge) const;
};

/// Reaches from the least charge nearly to the greatest: few are so large that the others would
/// look alike. Charges that are not positive numbers have no part in it.
ChargeScale charge_scale(std::vector<float> charges);

}  // namespace cosmic::picture
