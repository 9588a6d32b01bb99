// The display over HTTP, for browsers of this machine: it listens on loopback alone, answers GET
// and HEAD alone, and only to requests that name this machine (a page of somebody else's whose name
// was made to point here, DNS rebinding, names itself).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "view/view_service.hpp"

namespace cosmic::view {

class PageServer {
 public:
  /// `answer` is called by several threads at once. Listens on this port of 127.0.0.1; 0 takes any
  /// that is free; nothing the first free one of a few that are always the same, so that addresses
  /// can be kept. Throws UserError if the port is taken.
  PageServer(std::function<Answer(const Request&)> answer, std::optional<int> port);
  /// Ends connections and waits for answers that are being made.
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  int port() const;
  /// "http://127.0.0.1:8420/"
  std::string address() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cosmic::view
