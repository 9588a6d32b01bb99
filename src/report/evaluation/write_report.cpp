#include "report/evaluation/write_report.hpp"

#include "core/error.hpp"
#include "report/evaluation/json.hpp"
#include "report/evaluation/page.hpp"
#include "run/output_folder.hpp"

namespace cosmic::report::evaluation {
namespace {

/// The same path, with a folder to be in.
const std::filesystem::path& in_a_folder(const std::filesystem::path& path) {
  std::error_code ignored;  // a folder that cannot be made is a file that cannot be written
  std::filesystem::create_directories(path.parent_path(), ignored);
  return path;
}

}  // namespace

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

ReportWriter::ReportWriter(const ReportFiles& files, Existing existing)
    : json_(in_a_folder(files.json), existing), page_(files.page, existing) {}

void ReportWriter::write(const Evaluation& evaluation) {
  const std::string json = to_json(evaluation);
  const std::string html = page(evaluation);
  json_.append(std::as_bytes(std::span(json)));
  page_.append(std::as_bytes(std::span(html)));
  json_.commit();
  page_.commit();
}

}  // namespace cosmic::report::evaluation
