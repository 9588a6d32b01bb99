// Small parts that pages repeat: a list of facts and the entries of a legend.
#pragma once

#include <string>
#include <string_view>

namespace cosmic::report::page {

/// A definition list: what was asked, and the answer.
class FactList {
 public:
  /// The answer is HTML.
  void add(std::string_view name, std::string_view answer);
  std::string html() const { return "<dl>" + rows_ + "</dl>"; }

 private:
  std::string rows_;
};

/// The settings of a run below a heading of their own; `mark` is a class of the style sheet.
std::string configuration_listing(std::string_view configuration, std::string_view mark = "");

/// A swatch in one of the hues of share_style and what it stands for, which is HTML.
std::string legend_entry(std::string_view hue, std::string_view meaning);

}  // namespace cosmic::report::page
