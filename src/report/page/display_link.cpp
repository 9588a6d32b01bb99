#include "report/page/display_link.hpp"

#include <fmt/core.h>

#include "report/page/markup.hpp"

namespace cosmic::report::page {

std::string display_link(std::int64_t entry) {
  return fmt::format("<a href=\"http://127.0.0.1:{}/#event={}&amp;layer=errors\">look closer</a>",
                     kDisplayPort, entry);
}

std::string display_hint(const std::string& file) {
  return fmt::format(
      "<p class=\"note\">To look closer at an event, run <code>cosmictagger view {}</code> on this "
      "machine, then follow its link. Tags are shown if the file was tagged (<code>cosmictagger "
      "tag</code>).</p>",
      escaped(file));
}

}  // namespace cosmic::report::page
