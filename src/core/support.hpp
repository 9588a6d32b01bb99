// The answer to "can you?", with the reason when the answer is no. Whoever asks shows the reason;
// nobody has to guess why something was not done.
#pragma once

#include <string>
#include <utility>

namespace cosmic {

struct Support {
  bool ok = true;
  std::string why_not;  ///< empty only when ok

  static Support yes() { return {}; }
  static Support no(std::string reason) { return {false, std::move(reason)}; }
};

}  // namespace cosmic
