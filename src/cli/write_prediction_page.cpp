#include "cli/write_prediction_page.hpp"

#include <fmt/core.h>

#include "core/error.hpp"
#include "core/utc_time.hpp"
#include "core/whole_file.hpp"
#include "prediction_page/prediction_json.hpp"
#include "prediction_page/prediction_page.hpp"

namespace cosmic::cli {

void write_prediction_page(const std::filesystem::path& page,
                           prediction_page::PredictionReport report) {
  COSMIC_REQUIRE(UserError, page.extension() == ".html",
                 "--profile " << page.string()
                              << " does not end in .html (a JSON file of the same name is written "
                                 "next to it); add that ending");
  report.date = utc_now();
  const std::filesystem::path json = std::filesystem::path(page).replace_extension(".json");
  write_whole_file(json, prediction_page::to_json(report), Existing::replace);
  write_whole_file(page, prediction_page::to_page(report), Existing::replace);
  fmt::print("\nwrote {} and {}\n", page.string(), json.string());
}

}  // namespace cosmic::cli
