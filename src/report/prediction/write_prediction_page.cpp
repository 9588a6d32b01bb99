#include "report/prediction/write_prediction_page.hpp"

#include "core/error.hpp"
#include "core/utc_time.hpp"
#include "core/whole_file.hpp"
#include "report/prediction/prediction_json.hpp"
#include "report/prediction/prediction_page.hpp"

namespace cosmic::report::prediction {

std::filesystem::path write_prediction_page(const std::filesystem::path& page,
                                            PredictionReport report) {
  COSMIC_REQUIRE(UserError, page.extension() == ".html",
                 page.string() << ": does not end in .html, which a page must (a JSON file of the "
                                  "same name is written beside it); give it that ending");
  report.date = utc_now();
  std::filesystem::path json = std::filesystem::path(page).replace_extension(".json");
  write_whole_file(json, to_json(report), Existing::replace);
  write_whole_file(page, to_page(report), Existing::replace);
  return json;
}

}  // namespace cosmic::report::prediction
