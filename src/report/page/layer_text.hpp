// Names of layers for a table: those of deep networks are long and differ at their end.
#pragma once

#include <string>

namespace cosmic::report::page {

/// HTML. A long name loses its middle; who points at it sees all of it. A dash for none.
std::string layer_text(const std::string& layer);

}  // namespace cosmic::report::page
