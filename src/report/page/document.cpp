#include "report/page/document.hpp"

#include <fmt/core.h>

#include "report/page/markup.hpp"
#include "report/page/style.hpp"

namespace cosmic::report::page {
namespace {

std::string header(const Document& document) {
  std::string html = "<header><p class=\"overline\">" + document.overline + "</p>";
  html += "<h1>" + document.heading + "</h1>";
  html += "<p class=\"lead\">" + document.lead + "</p>";
  html += "<p class=\"byline\">" + document.byline + "</p>";
  for (const std::string& notice : document.notices) {
    html += "<p class=\"notice\">" + notice + "</p>";
  }
  html += "<nav aria-label=\"Contents\">";
  for (const Section& section : document.sections) {
    if (!section.content.empty()) {
      html += fmt::format("<a href=\"#{}\">{}</a>", section.id, section.name);
    }
  }
  return html + "</nav></header>";
}

}  // namespace

std::string to_html(const Document& document) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
      "<meta name=\"generator\" content=\"{}\"/><title>{}</title>"
      "<style>{}{}</style></head>\n<body>",
      escaped(document.program), escaped(document.title), common_style(), document.style);
  html += header(document) + "\n<main>";
  for (const Section& section : document.sections) {
    if (!section.content.empty()) {
      html += fmt::format("\n<section id=\"{}\"><h2>{}</h2>{}</section>", section.id, section.title,
                          section.content);
    }
  }
  return html + "</main>\n<footer>" + document.footer + "</footer></body></html>\n";
}

std::string written_by(const std::string& program, const std::string& revision,
                       const std::string& date) {
  return fmt::format(
      "Written by {} (revision {}) on {}. This page is a single file and needs no network. The "
      "same numbers are in the JSON file next to it.",
      escaped(program), escaped(revision), escaped(date));
}

std::string card(const std::string& title, const std::string& figure, const std::string& meaning,
                 const std::string& mark) {
  return fmt::format(
      "<div class=\"card\"><h3>{}</h3><div class=\"figure\">{}</div><p>{}</p>{}</div>", title,
      figure, meaning, mark);
}

}  // namespace cosmic::report::page
