// Standard output and the error stream, which may break at any time: a reader that leaves (| head),
// a full disk, a terminal that is gone. Who prints for people to watch gives up on a broken stream
// and goes on; who prints results has failed (main.cpp looks at the end).
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cosmic::cli {

/// Before anything else is opened: a stream that was closed (>&-) would lend its number to the next
/// file, and what is printed would end up there. Writing to it fails as before. Signals that report
/// a failed write are ignored, so that the write fails instead.
void prepare_standard_streams();

/// Prints for somebody who watches. Never throws. If the stream is broken, what is printed from
/// then on goes nowhere, and the reason is returned, once.
std::optional<std::string> show(std::FILE* stream, std::string_view text);

/// A note or a warning on the error stream.
template <class... Arguments>
void tell(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  show(stderr, fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Whether all that was printed on standard output got out.
struct Printed {
  bool all = true;
  bool reader_left = false;  ///< it has read what it wanted, as in `| head`
  std::string reason;
};
Printed finish_printing();

}  // namespace cosmic::cli
