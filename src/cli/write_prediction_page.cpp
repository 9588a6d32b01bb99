#include "cli/write_prediction_page.hpp"

#include <fmt/core.h>

#include "core/error.hpp"
#include "core/utc_time.hpp"
#include "core/whole_file.hpp"
#include "report/prediction/prediction_json.hpp"
#include "report/prediction/prediction_page.hpp"

namespace cosmic::cli {

void write_prediction_page(const std::filesystem::path& page,
                           report::prediction::PredictionReport report) {
  COSMIC_REQUIRE(UserError, page.extension() == ".html",
                 "--profile " << page.string()
                              << " does not end in .html (a JSON file of the same name is written "
                                 "beside it); give it that ending");
  report.date = utc_now();
  const std::filesystem::path json = std::filesystem::path(page).replace_extension(".json");
  write_whole_file(json, report::prediction::to_json(report), Existing::replace);
  write_whole_file(page, report::prediction::to_page(report), Existing::replace);
  fmt::print("\nwrote {} and {}\n", page.string(), json.string());
}

}  // namespace cosmic::cli
