#include "report/evaluation/write_report.hpp"

#include "core/error.hpp"
#include "core/whole_file.hpp"
#include "report/evaluation/json.hpp"
#include "report/evaluation/page.hpp"
#include "run/output_folder.hpp"

namespace cosmic::report::evaluation {

ReportFiles report_files(const config::Configuration& configuration) {
  const std::filesystem::path page = configuration.mode.output_file.empty()
                                         ? run::output_folder(configuration) / "evaluation.html"
                                         : std::filesystem::path(configuration.mode.output_file);
  std::filesystem::path json = page;
  json.replace_extension(".json");
  COSMIC_REQUIRE(UserError, json != page,
                 "mode.output_file is '" << page.string()
                                         << "' (the JSON next to the page would have the same "
                                            "name); use a name that ends with .html");
  return {page, json};
}

void write_report(const Evaluation& evaluation, const ReportFiles& files) {
  write_whole_file(files.json, to_json(evaluation), Existing::replace);
  write_whole_file(files.page, page(evaluation), Existing::replace);
}

}  // namespace cosmic::report::evaluation
