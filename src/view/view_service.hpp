// What the page may ask for, and the answers; how they travel is page_server.hpp. Nothing here can
// be changed by who asks, and no path of a request ever becomes a path of the file system.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "view/event_index.hpp"
#include "view/event_store.hpp"
#include "view/run_follower.hpp"

namespace cosmic::view {

struct Request {
  std::string path;
  std::map<std::string, std::string> query;
};

struct Answer {
  int status = 200;
  std::string type;  ///< MIME type
  std::string body;
};

/// Threads share it.
class ViewService {
 public:
  /// The store, if there is one, outlives it, and so do the runs.
  ViewService(const EventStore* events, std::vector<RunFollower*> runs);

  /// Never throws for what is asked: an unknown path is 404, a query that is none 400, an event
  /// that cannot be read 500 with the reason.
  Answer answer(const Request& request);

 private:
  Answer event(const Request& request);
  Answer event_page(const Request& request);
  Answer exported(const Request& request);
  Answer run(const Request& request);
  /// Of an event; one at a time, since one reader serves all.
  std::string message(std::int64_t entry);

  const EventStore* events_;
  std::vector<RunFollower*> runs_;
  std::mutex mutex_;  // guards what follows
  std::optional<EventIndex> index_;
  std::optional<EventStore::Reader> reader_;
  ViewedEvent event_;
};

/// What a page needs to know before it asks for events, as JSON.
std::string session_json(const EventStore* events, const std::vector<RunFollower*>& runs = {});

}  // namespace cosmic::view
