// docs/models.md: how far the predictions are from what was published or measured.
#pragma once

#include <string>

namespace cosmic::validation {

/// Markdown.
std::string models_page();

}  // namespace cosmic::validation
