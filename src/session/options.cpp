#include "session/options.hpp"

#include "core/error.hpp"

namespace cosmic::session {

void validate(const Options& options) {
  COSMIC_REQUIRE(UserError, options.threads >= 0,
                 "threads is " << options.threads
                               << " (a number of threads cannot be negative); use 0 for all cores");
  COSMIC_REQUIRE(UserError, options.gradient_accumulation >= 1,
                 "gradient_accumulation is "
                     << options.gradient_accumulation
                     << " (an update needs the gradient of at least one batch); use 1 for none");
  compile::validate(options.precision);
}

}  // namespace cosmic::session
