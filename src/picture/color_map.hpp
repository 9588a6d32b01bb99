// Colours for quantities. Equal steps of the quantity look equally large, and the order of the
// colours survives a grey print-out and every kind of colour blindness, because lightness alone
// carries it.
#pragma once

#include "picture/picture.hpp"

namespace cosmic::picture {

/// Dark violet through red and orange to pale yellow. `share` is 0 to 1; what is outside is taken
/// for the nearer end.
Color heat_color(double share);

}  // namespace cosmic::picture
