// A machine is a description: named figures, each with its source and with what is known about its
// truth. Formulas (see family.hpp) are those of a family; all that tells one machine of a family
// from another is here, so a new one is a new file.
//
// What nobody published is an unknown: a parameter with a default and a range. The range becomes
// the error bar of every prediction, and each unknown is listed in every report.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/units.hpp"

namespace cosmic::machine {

class Family;

using Families = std::span<const Family* const>;

/// Where a figure comes from. published: the vendor's or someone's paper, or measured. derived: by
/// arithmetic from such. calibrated: fitted so that a published time comes out. assumed: a guess.
enum class Status { published, derived, calibrated, assumed };

std::string to_string(Status status);

struct Figure {
  std::string name;
  double value = 0;       ///< in base units
  std::string unit;       ///< as it was written, for people
  double unit_scale = 1;  ///< base units of one such unit
  Status status = Status::assumed;
  std::string source;
};

/// A figure that is not known: `figure.value` is its default.
struct Unknown {
  Figure figure;
  double low = 0;
  double high = 0;
};

/// What a family needs to know, and why.
struct FigureRule {
  std::string_view name;
  Dimension dimension;
  std::string_view meaning;
};

/// What joins machines, up to a given number. Several kinds are listed from the nearest to the
/// farthest.
struct Link {
  std::string name;               ///< "node"
  std::optional<int> joins = {};  ///< machines; any number if there is none
  Figure bandwidth;               ///< of one machine, each way
  std::string hop_time;  ///< name of the unknown: what each step of a ring costs beside that
};

struct Description {
  std::string name;
  const Family* family = nullptr;  ///< set by the parser
  std::string about;
  std::vector<Figure> figures;
  std::vector<Unknown> unknowns;  ///< the family's, and the hop times of links
  std::vector<Link> links;        ///< may be none

  /// A figure or the present value of an unknown, in base units. The parser has seen to it that all
  /// of a family's are there.
  double operator[](std::string_view figure) const;
};

/// The same machine, were that unknown so.
Description with_unknown(Description description, std::string_view unknown, double value);

/// Throws UserError that begins with "NAME:LINE: " where it can: not YAML, a key nobody knows (with
/// the nearest that there is), a missing figure, a wrong unit.
Description parse_description(std::string_view text, const std::string& name, Families families);

/// Names of the machines that come with the program.
std::vector<std::string> built_in_machines();

/// One of those by name, in any case of letters, or a file, which has a '/' or ends in .yaml.
Description find_machine(const std::string& name_or_file, Families families);

}  // namespace cosmic::machine
