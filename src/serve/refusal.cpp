#include "serve/refusal.hpp"

#include "core/error.hpp"

namespace cosmic::serve {

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::invalid:
      return "invalid";
    case Reason::not_found:
      return "not_found";
    case Reason::too_large:
      return "too_large";
    case Reason::unauthenticated:
      return "unauthenticated";
    case Reason::overloaded:
      return "overloaded";
    case Reason::unavailable:
      return "unavailable";
    case Reason::deadline:
      return "deadline";
    case Reason::cancelled:
      return "cancelled";
    case Reason::internal:
      return "internal";
  }
  COSMIC_ASSERT(false);
}

}  // namespace cosmic::serve
