#include "report/prediction/write_prediction_page.hpp"

#include "core/error.hpp"
#include "core/utc_time.hpp"
#include "core/whole_file.hpp"
#include "report/prediction/prediction_json.hpp"
#include "report/prediction/prediction_page.hpp"

namespace cosmic::report::prediction {

std::filesystem::path json_beside(const std::filesystem::path& page) {
  COSMIC_REQUIRE(UserError, page.extension() == ".html",
                 page.string() << ": does not end in .html, which a page must (a JSON file of the "
                                  "same name is written beside it); give it that ending");
  return std::filesystem::path(page).replace_extension(".json");
}

void write_prediction_page(const std::filesystem::path& page, PredictionReport report,
                           Existing existing) {
  report.date = utc_now();
  write_whole_file(json_beside(page), to_json(report), existing);
  write_whole_file(page, to_page(report), existing);
}

}  // namespace cosmic::report::prediction
