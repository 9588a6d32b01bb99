// Writes docs/models.md; with --record, machines/track_record.yaml; with --fit, what each
// calibrated figure would be if it were fitted again.
#include <cstdio>
#include <string_view>

#include "validation/fitting.hpp"
#include "validation/models_page.hpp"

namespace {

void print_fit() {
  using namespace cosmic::validation;
  const std::vector<PreparedRow> rows = prepared_rows();
  const Constants shipped = shipped_constants(rows);
  std::vector<Constant> all;
  for (const auto& [constant, value] : shipped) {
    all.push_back(constant);
  }
  const Constants fitted = fit(rows, shipped, all, "");
  for (const auto& [constant, value] : shipped) {
    std::printf("%s, fitted to", constant.name.c_str());
    for (const std::string& row : constant.rows) {
      std::printf(" %s", row.c_str());
    }
    std::printf(": %.4g now, %.4g fitted\n", value, fitted.at(constant));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "--fit") {
    print_fit();
  } else if (what == "--record") {
    std::fputs(cosmic::validation::record_text(cosmic::validation::figure_rows()).c_str(), stdout);
  } else {
    std::fputs(cosmic::validation::models_page().c_str(), stdout);
  }
}
