// Whose fault is it? The type of an exception says so, and the program's exit status follows from
// it. Messages read: problem with its values (why it is a problem); what to do.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace cosmic {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// clang-format off
struct UserError     : Error { using Error::Error; };  // bad flag or option            -> exit 2
struct DataError     : Error { using Error::Error; };  // the file is not what we need  -> exit 3
struct ShapeError    : Error { using Error::Error; };  // the graph cannot be built     -> exit 4
struct TargetError   : Error { using Error::Error; };  // machine or vendor library     -> exit 5
struct InternalError : Error { using Error::Error; };  // our bug, never the user's     -> exit 70
// clang-format on

/// The exit status of a program that ends with this error.
int exit_status(const Error& error);

}  // namespace cosmic

/// Always on. `message` is streamed: COSMIC_REQUIRE(UserError, n > 0, "n is " << n << " (...);
/// ...").
#define COSMIC_REQUIRE(Kind, condition, message)   \
  do {                                             \
    if (!(condition)) {                            \
      std::ostringstream cosmic_message_;          \
      cosmic_message_ << message;                  \
      throw ::cosmic::Kind(cosmic_message_.str()); \
    }                                              \
  } while (false)

/// A broken promise inside the program. Never reachable from anything a user can type.
#define COSMIC_ASSERT(condition)                                 \
  COSMIC_REQUIRE(InternalError, condition,                       \
                 __FILE__ << ":" << __LINE__ << ": '" #condition \
                          << "' does not hold (a bug in this program); please report it")
