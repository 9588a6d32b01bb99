// Why a request gets no scores. Front ends turn the kind into a status of their protocol; the text
// goes to whoever asked, so it speaks of the request and never of paths, memory or code.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace cosmic::serve {

enum class Reason {
  invalid,          ///< the request itself is wrong
  not_found,        ///< no such model, version or address
  too_large,        ///< beyond a limit
  unauthenticated,  ///< no token, or a wrong one
  overloaded,       ///< the queue is full: later, or elsewhere
  unavailable,      ///< the server ends, or the model is not ready
  deadline,         ///< its time was over before its scores were there
  cancelled,        ///< whoever asked has gone
  internal,         ///< not the fault of the request
};

/// "invalid", as logs and metrics call it.
std::string_view to_string(Reason reason);

class Refusal : public std::runtime_error {
 public:
  Refusal(Reason reason, const std::string& text) : std::runtime_error(text), reason_(reason) {}

  Reason reason() const { return reason_; }

 private:
  Reason reason_;
};

/// Throws a Refusal of this reason; the text is put together only then.
template <class Text>
void require(bool condition, Reason reason, const Text& text) {
  if (!condition) {
    if constexpr (std::is_invocable_v<const Text&>) {
      throw Refusal(reason, text());
    } else {
      throw Refusal(reason, text);
    }
  }
}

}  // namespace cosmic::serve
