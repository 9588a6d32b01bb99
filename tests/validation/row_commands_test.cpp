// Each row of docs/models.md shows the command that reproduces it. They are taken from the page,
// run by the program itself, and what it says is compared with the row.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "run_command.hpp"

namespace cosmic {
namespace {

/// Cells of a row of a Markdown table.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result;
  std::size_t from = line.find("| ");
  while (from != std::string::npos && from + 2 < line.size()) {
    const std::size_t to = line.find(" |", from + 2);
    if (to == std::string::npos) {
      break;
    }
    result.push_back(line.substr(from + 2, to - from - 2));
    from = line.find("| ", to + 1);
  }
  return result;
}

struct Row {
  std::string id;
  std::string predicted;  ///< "2470 (2000 to 2900) /s"
  std::string command;    ///< without `cosmictagger`
};

std::vector<Row> rows_of_page() {
  std::ifstream page("docs/models.md");
  std::vector<Row> rows;
  const std::string begin = "`cosmictagger ";
  for (std::string line; std::getline(page, line);) {
    const std::size_t at = line.find(begin);
    const std::vector<std::string> row = cells(line);
    if (row.size() == 9 && at != std::string::npos) {
      const std::size_t from = at + begin.size();
      rows.push_back({row[0], row[3], line.substr(from, line.rfind('`') - from)});
    }
  }
  return rows;
}

/// The first number after some words.
double number_after(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  return at == std::string::npos ? std::nan("")
                                 : std::strtod(text.c_str() + at + words.size(), nullptr);
}

/// What the program said, in the unit of the row: events per second, ms per step, or GB.
double said(const std::string& output, const std::string& unit) {
  std::smatch match;
  if (unit == "/s" &&
      std::regex_search(output, match, std::regex(R"(\), ([0-9.e+]+) events/s \(modelled\))"))) {
    return std::strtod(match[1].str().c_str(), nullptr);
  }
  if (unit == "ms" &&
      std::regex_search(output, match, std::regex(R"(a step takes ([0-9.]+) (us|ms|s) )"))) {
    const double scale = match[2] == "us" ? 1e-3 : match[2] == "ms" ? 1 : 1e3;
    return scale * std::strtod(match[1].str().c_str(), nullptr);
  }
  if (unit == "GB" &&
      std::regex_search(output, match, std::regex(R"(needs ([0-9.]+) (MB|GB|TB) \(modelled)"))) {
    const double scale = match[2] == "MB" ? 1e-3 : match[2] == "GB" ? 1 : 1e3;
    return scale * std::strtod(match[1].str().c_str(), nullptr);
  }
  return std::nan("");
}

TEST(RowCommands, say_what_the_page_says) {
  const std::vector<Row> rows = rows_of_page();
  ASSERT_GT(rows.size(), 150U);
  for (const Row& row : rows) {
    const CommandResult result =
        run_command("'" COSMICTAGGER_PROGRAM "' " + row.command + " </dev/null");
    ASSERT_EQ(result.status, 0) << row.command << "\n" << result.output;
    const std::string unit = row.predicted.substr(row.predicted.rfind(' ') + 1);
    const double expected = number_after(row.predicted, "");
    EXPECT_NEAR(said(result.output, unit) / expected, 1, 0.01)
        << row.id << ": the page says " << row.predicted << "\ncosmictagger " << row.command;
  }
}

}  // namespace
}  // namespace cosmic
