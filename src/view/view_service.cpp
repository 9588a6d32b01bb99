#include "view/view_service.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/config.hpp"
#include "core/error.hpp"
#include "picture/color_map.hpp"
#include "report/page/style.hpp"
#include "view/event_message.hpp"
#include "view/exported_page.hpp"
#include "view/page_library.hpp"

namespace cosmic::view {
namespace {

using nlohmann::json;

constexpr const char* kJson = "application/json";
constexpr const char* kText = "text/plain; charset=utf-8";
constexpr const char* kHtml = "text/html; charset=utf-8";
constexpr const char* kBytes = "application/octet-stream";
// Rows of the list in one answer; the page asks again.
constexpr std::int64_t kMostListed = 2000;

/// The reason goes to the page as text.
Answer refusal(int status, std::string reason) {
  return {status, kText, std::move(reason)};
}

/// A whole number of the query. Throws UserError for anything else.
std::int64_t number_of(const Request& request, const std::string& name, std::int64_t otherwise) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) {
    return otherwise;
  }
  const std::string& text = found->second;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  COSMIC_REQUIRE(UserError, error == std::errc() && end == text.data() + text.size() && value >= 0,
                 name << " is '" << text.substr(0, 40) << "' (a whole number was expected)");
  return value;
}

/// The colours of pictures, so that a display and `data show` look alike: 256 times rrggbb.
std::string heat_colors() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr int kColors = 256;
  std::string text;
  for (int i = 0; i < kColors; ++i) {
    const picture::Color color = picture::heat_color(i / (kColors - 1.0));
    for (const std::uint8_t byte : {color.red, color.green, color.blue}) {
      text += kDigits[byte >> 4U];
      text += kDigits[byte & 15U];
    }
  }
  return text;
}

const char* type_of(std::string_view name) {
  return name.ends_with(".css")  ? "text/css; charset=utf-8"
         : name.ends_with(".js") ? "text/javascript; charset=utf-8"
                                 : kHtml;
}

}  // namespace

std::string session_json(const EventStore* events, const std::vector<RunFollower*>& runs) {
  json session{{"version", version},    {"heat", heat_colors()}, {"title", ""},
               {"events", 0},           {"labelled", false},     {"networks", json::array()},
               {"networks_version", 0}, {"runs", json::array()}};
  for (const RunFollower* const run : runs) {
    session["runs"].push_back(run->name());
  }
  if (events != nullptr) {
    session["title"] = events->description();
    session["events"] = events->size();
    session["labelled"] = events->labelled();
    session["networks"] = events->networks();
    session["networks_version"] = events->version();
  }
  return session.dump(-1, ' ', false, json::error_handler_t::replace);
}

ViewService::ViewService(const EventStore* events, std::vector<RunFollower*> runs)
    : events_(events), runs_(std::move(runs)) {
  if (events_ != nullptr) {
    index_.emplace(*events_);
    reader_.emplace(*events_);
  }
}

Answer ViewService::answer(const Request& request) {
  try {
    if (request.path == "/") {
      return {200, kHtml, served_page()};
    }
    if (request.path == "/common.css") {
      return {200, type_of(request.path), report::page::base_style()};
    }
    if (request.path == "/api/session") {
      return {200, kJson, session_json(events_, runs_)};
    }
    if (events_ != nullptr && request.path == "/api/events") {
      return event_page(request);
    }
    if (events_ != nullptr && request.path == "/api/event") {
      return event(request);
    }
    if (events_ != nullptr && request.path == "/export.html") {
      return exported(request);
    }
    if (!runs_.empty() && request.path == "/api/run") {
      return run(request);
    }
    for (const PageFile& file : page_files()) {
      if (request.path == "/" + std::string(file.name) && file.name != "index.html") {
        return {200, type_of(file.name), std::string(file.text)};
      }
    }
    return refusal(404, "there is nothing at this address");
  } catch (const UserError& error) {
    return refusal(400, error.what());
  } catch (const Error& error) {
    return refusal(500, error.what());
  }
}

Answer ViewService::event_page(const Request& request) {
  const std::int64_t from = number_of(request, "from", 0);
  const std::int64_t count = std::min(number_of(request, "count", kMostListed), kMostListed);
  const std::lock_guard lock(mutex_);
  if (index_->version() != events_->version()) {
    index_.emplace(*events_);
  }
  return {200, kJson, index_->page(from, count)};
}

Answer ViewService::run(const Request& request) {
  const auto which = static_cast<std::size_t>(number_of(request, "run", 0));
  COSMIC_REQUIRE(UserError, which < runs_.size(),
                 "run " << which << " (there are " << runs_.size() << ", counted from 0)");
  SeenRows seen;
  if (request.query.contains("generation")) {
    seen.generation = number_of(request, "generation", 0);
    seen.train = number_of(request, "train", 0);
    seen.test = number_of(request, "test", 0);
  }
  return {200, kJson, runs_[which]->changes(seen)};
}

Answer ViewService::event(const Request& request) {
  return {200, kBytes, message(number_of(request, "entry", 0))};
}

Answer ViewService::exported(const Request& request) {
  const auto found = request.query.find("events");
  return {
      200, kHtml,
      exported_page(*events_, parse_entries(found == request.query.end() ? "" : found->second))};
}

std::string ViewService::message(std::int64_t entry) {
  const std::lock_guard lock(mutex_);
  reader_->read(entry, event_);
  return to_message(event_);
}

}  // namespace cosmic::view
