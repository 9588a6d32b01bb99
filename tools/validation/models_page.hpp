// docs/models.md: how far the predictions are from what was published or measured.
#pragma once

#include <string>
#include <vector>

#include "validation/comparisons.hpp"

namespace cosmic::validation {

/// Markdown. `rows` are the figure_rows of `prepared`.
std::string models_page(const std::vector<PreparedRow>& prepared,
                        const std::vector<FigureRow>& rows);

}  // namespace cosmic::validation
