// Each row of docs/models.md shows the command that reproduces it. They are taken from the page,
// run by the program itself, and what it says is compared with the row.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
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

/// A line of the page that ends with a command.
struct Row {
  std::vector<std::string> cells;            ///< none if it is not a row of a table
  std::string command;                       ///< without `cosmictagger`
  std::vector<std::string> next_cells = {};  ///< of the first row of figures below it
};

std::vector<Row> lines_with_commands() {
  std::ifstream page("docs/models.md");
  std::vector<Row> rows;
  const std::string begin = "`cosmictagger ";
  for (std::string line; std::getline(page, line);) {
    const std::size_t at = line.find(begin);
    if (at != std::string::npos) {
      const std::size_t from = at + begin.size();
      rows.push_back({cells(line), line.substr(from, line.rfind('`') - from)});
    } else if (line.starts_with("| the step |")) {
      rows.back().next_cells = cells(line);
    }
  }
  return rows;
}

/// Those of tables with so many columns; 0 for lines outside of tables.
std::vector<Row> rows_of_page(std::size_t columns) {
  std::vector<Row> rows;
  for (const Row& row : lines_with_commands()) {
    if (row.cells.size() == columns) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::string output_of(const Row& row) {
  const CommandResult result =
      run_command("'" COSMICTAGGER_PROGRAM "' " + row.command + " </dev/null");
  EXPECT_EQ(result.status, 0) << row.command << "\n" << result.output;
  return result.output;
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
  const std::vector<Row> rows = rows_of_page(9);
  ASSERT_GT(rows.size(), 150U);
  for (const Row& row : rows) {
    const std::string& predicted = row.cells[3];  // "2470 (2000 to 2900) /s"
    const std::string unit = predicted.substr(predicted.rfind(' ') + 1);
    EXPECT_NEAR(said(output_of(row), unit) / number_after(predicted, ""), 1, 0.01)
        << row.cells[0] << ": the page says " << predicted << "\ncosmictagger " << row.command;
  }
}

TEST(RowCommands, say_what_fits_as_the_page_says) {
  const std::vector<Row> rows = rows_of_page(7);
  ASSERT_GE(rows.size(), 10U);
  for (const Row& row : rows) {
    const std::string& needs = row.cells[1];  // "460 kB (404 kB to 522 kB)"
    const std::size_t range = needs.find('(') + 1;
    EXPECT_THAT(
        output_of(row),
        testing::AllOf(testing::HasSubstr("Memory: it " + row.cells[3] + ":"),
                       testing::HasSubstr(" needs " + needs.substr(0, range) + "modelled, " +
                                          needs.substr(range) + " of " + row.cells[2])))
        << "cosmictagger " << row.command;
  }
}

TEST(RowCommands, make_as_many_sections_as_the_page_says) {
  const std::vector<Row> rows = rows_of_page(4);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_THAT(output_of(rows[0]), testing::HasSubstr(" " + rows[0].cells[2] + " sections "));
}

TEST(RowCommands, compare_profiles_as_the_page_does) {
  const std::vector<Row> rows = rows_of_page(0);
  ASSERT_GE(rows.size(), 4U);
  for (const Row& row : rows) {
    ASSERT_EQ(row.next_cells.size(), 4U) << row.command;
    const std::string output = output_of(row);
    std::smatch match;
    ASSERT_TRUE(std::regex_search(output, match, std::regex(R"(the step +([0-9.]+) +([0-9.]+) )")))
        << output;
    for (const std::size_t column : {1, 2}) {  // measured and predicted, ms
      EXPECT_NEAR(std::strtod(match[column].str().c_str(), nullptr) /
                      number_after(row.next_cells[column], ""),
                  1, 0.01)
          << "cosmictagger " << row.command;
    }
  }
}

/// Lines of the fenced blocks of a page, a block as one string.
std::vector<std::string> blocks_of(const std::string& page) {
  std::ifstream file(page);
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) {
        blocks.emplace_back();
      }
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

/// Each line that has `words` is a line of the output; what it prints now is shown if not.
void expect_lines(const std::string& shown, const std::string& words, const std::string& output) {
  std::istringstream lines(shown);
  std::size_t compared = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(words) != std::string::npos) {
      EXPECT_NE(output.find(line + "\n"), std::string::npos) << line << "\n" << output;
      ++compared;
    }
  }
  EXPECT_GT(compared, 0U) << shown;
}

TEST(DocumentedOutput, ways_to_make_it_fit_are_what_the_refusal_prints) {
  const std::string begin = "$ cosmictagger ";
  for (const std::string& block : blocks_of("docs/modelled-machines.md")) {
    if (block.starts_with(begin)) {
      const std::string command = block.substr(begin.size(), block.find('\n') - begin.size());
      const CommandResult result =
          run_command("'" COSMICTAGGER_PROGRAM "' " + command + " </dev/null");
      expect_lines(block, "(modelled, ", result.output);
      return;
    }
  }
  FAIL() << "the page has no such example any more";
}

}  // namespace
}  // namespace cosmic
