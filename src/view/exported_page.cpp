#include "view/exported_page.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "report/page/markup.hpp"
#include "report/page/style.hpp"
#include "view/event_message.hpp"
#include "view/page_library.hpp"
#include "view/view_service.hpp"

namespace cosmic::view {
namespace {

using nlohmann::json;
using report::page::base64;

// Where index.html leaves room for style and scripts.
constexpr std::string_view kHead = "<!-- head -->";
constexpr std::string_view kFoot = "<!-- foot -->";
constexpr std::size_t kMostExported = 1000;

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string page_with(const std::string& head, const std::string& foot) {
  return replaced(replaced(std::string(page_text("index.html")), kHead, head), kFoot, foot);
}

/// Scripts import each other as "./name.js". In one file they have no addresses; a map of names
/// that the browser keeps gives each one, with the script itself as the address.
std::string import_map() {
  json imports = json::object();
  for (const PageFile& file : page_files()) {
    if (file.name.ends_with(".js")) {
      imports["view/" + std::string(file.name)] =
          "data:text/javascript;base64," +
          base64(replaced(std::string(file.text), "from \"./", "from \"view/"));
    }
  }
  return json{{"imports", imports}}.dump();
}

/// Inside a script element no tag may end or begin.
std::string in_script(const json& value) {
  return replaced(value.dump(-1, ' ', false, json::error_handler_t::replace), "<", "\\u003c");
}

}  // namespace

std::string served_page() {
  return page_with(
      "<link rel=\"stylesheet\" href=\"common.css\"><link rel=\"stylesheet\" href=\"style.css\">",
      "<script type=\"module\" src=\"main.js\"></script>");
}

std::string exported_page(const EventStore& events, const std::vector<std::int64_t>& entries) {
  json messages = json::object();
  EventStore::Reader reader(events);
  ViewedEvent event;
  json rows = json::array();
  for (const std::int64_t entry : entries) {
    reader.read(entry, event);
    messages[std::to_string(entry)] = base64(to_message(event));
    rows.push_back(json::parse(index_row(entry, summary_of(event))));
  }
  const json exported{{"session", json::parse(session_json(&events))},
                      {"index",
                       {{"total", rows.size()},
                        {"ready", rows.size()},
                        {"from", 0},
                        {"columns", json::parse(index_columns(events))},
                        {"rows", rows}}},
                      {"events", messages}};
  return page_with(
      "<style>" + report::page::base_style() + std::string(page_text("style.css")) + "</style>",
      "<script type=\"application/json\" id=\"exported\">" + in_script(exported) +
          "</script>\n<script type=\"importmap\">" + import_map() +
          "</script>\n<script type=\"module\">import \"view/main.js\";</script>");
}

std::vector<std::int64_t> parse_entries(std::string_view text) {
  std::vector<std::int64_t> entries;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::int64_t entry = 0;
    const auto [next, error] = std::from_chars(at, end, entry);
    const bool whole = error == std::errc() && (next == end || (*next == ',' && next + 1 != end));
    COSMIC_REQUIRE(UserError, whole && entry >= 0,
                   "events '" << std::string(text.substr(0, 100))
                              << "' (numbers of events, counted from 0, with commas between them); "
                                 "write for example 3,7,12");
    entries.push_back(entry);
    COSMIC_REQUIRE(UserError, entries.size() <= kMostExported,
                   "more than " << kMostExported
                                << " events (a page of them would be too large for browsers); "
                                   "choose some");
    at = next == end ? end : next + 1;
  }
  COSMIC_REQUIRE(UserError, !entries.empty(),
                 "no events are chosen (a page without any shows nothing); write for example "
                 "--events 3,7,12");
  return entries;
}

}  // namespace cosmic::view
