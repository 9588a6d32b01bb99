// A page of ours: one HTML file that needs nothing else, no network, no scripts, no fonts. It is
// well-formed XML as well, so that programs can read it. All pages look alike, in the light, in the
// dark and on paper.
#pragma once

#include <string>
#include <vector>

namespace cosmic::report::page {

struct Section {
  std::string id;
  std::string name;  ///< in the list of contents
  std::string title;
  std::string content;  ///< HTML; left out with its heading if empty
};

/// Texts are HTML, except for the title.
struct Document {
  std::string title;  ///< of the window
  std::string program;
  std::string style;     ///< rules of this page, beside the common ones
  std::string overline;  ///< what kind of page it is
  std::string heading;
  std::string lead;
  std::string byline;
  std::vector<std::string> notices;  ///< what a reader must know before the numbers
  std::vector<Section> sections;
  std::string footer;
};

std::string to_html(const Document& document);

/// The footer of a page that has its numbers in a JSON file, too.
std::string written_by(const std::string& program, const std::string& revision,
                       const std::string& date);

/// A figure that people quote, with its title above and its meaning below.
std::string card(const std::string& title, const std::string& figure, const std::string& meaning,
                 const std::string& mark = "");

}  // namespace cosmic::report::page
