#include "report/prediction/marked.hpp"

#include <fmt/core.h>

#include "report/page/markup.hpp"
#include "report/page/quantity_text.hpp"

namespace cosmic::report::prediction {
namespace {

std::string text_of(machine::ModelledTime time) {
  return page::seconds_text(time.modelled_seconds());
}

std::string text_of(machine::ModelledBytes bytes) {
  return page::quantity_text(bytes.modelled_bytes(), "B");
}

}  // namespace

std::string modelled(const std::string& text) {
  return fmt::format("<span class=\"modelled\">{}{}</span>", kModelledSign, text);
}

std::string given(const std::string& text) {
  return "<span class=\"given\">" + text + "</span>";
}

std::string modelled(machine::ModelledTime time) {
  return modelled(text_of(time));
}

std::string modelled(machine::ModelledBytes bytes) {
  return modelled(text_of(bytes));
}

std::string modelled_share(double share, int decimals) {
  return modelled(page::percent_text(share, decimals));
}

std::string modelled(const machine::ModelledRange& range) {
  return modelled(range.best) + " " + error_bar(text_of(range.low), text_of(range.high));
}

std::string error_bar(const std::string& low, const std::string& high) {
  return low == high ? ""
                     : fmt::format("<span class=\"error modelled\">{} to {}</span>", low, high);
}

std::string signed_text(machine::ModelledTime time) {
  return std::string(kModelledSign) + text_of(time);
}

std::string signed_text(machine::ModelledBytes bytes) {
  return std::string(kModelledSign) + text_of(bytes);
}

}  // namespace cosmic::report::prediction
