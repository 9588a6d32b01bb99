// Which compiler this is, to the last line of its sources: what one made is not what another would
// make, even if both say that they are version 1.2.
#pragma once

#include <string_view>

namespace cosmic::compile::artifact {

/// A hash of the sources of graph, compile, target and artifact when they were built.
std::string_view compiler_fingerprint();

}  // namespace cosmic::compile::artifact
