// A drawing of bytes that add up: bands on top of each other, over tiles, sections or the nodes of
// a program, with a line for what there is.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cosmic::report::prediction {

struct Band {
  std::string name;
  std::string hue;  ///< a class of the style sheet
  std::vector<double> bytes;
};

struct StackedChart {
  std::string description;  ///< for readers who do not see it
  std::string x_title;
  std::vector<Band> bands;           ///< from the bottom; all of one length
  std::optional<double> limit = {};  ///< bytes
  std::string limit_name = {};
  std::optional<std::size_t> mark = {};  ///< a place on the x axis
  std::string mark_name = {};
};

/// An <svg> element and a legend. Bands without bytes are left out.
std::string draw(const StackedChart& chart);

}  // namespace cosmic::report::prediction
