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
  /// Rows of docs/models.md, or records of a user, that a calibrated figure was fitted to.
  std::vector<std::string> fitted_to = {};
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

/// How gradients are added up over a link. ring: all of them in one go, each member's part passed
/// on from one to the next, as libraries of vendors do. direct: bucket by bucket, as processes of
/// this program do over MPI: each sends every other one its part, adds up what it gets and sends
/// the sum to all.
enum class Exchange { ring, direct };

std::string to_string(Exchange exchange);

/// What joins machines, up to a given number. Several kinds are listed from the nearest to the
/// farthest.
struct Link {
  std::string name;               ///< "node"
  std::optional<int> joins = {};  ///< machines; any number if there is none
  Figure bandwidth;      ///< of one machine, each way; an unknown has its name where it has a range
  std::string hop_time;  ///< name of the unknown: what each message costs beside that
  Exchange exchange = Exchange::ring;
  /// A longer message waits until its receiver has answered; none is so long if there is none.
  std::optional<Figure> announced_above = {};
};

/// Which results a software stack keeps in memory. every_op: all, and nothing is folded: an op is
/// an op, as in an eager framework. in_place: activations take the place of their operand, as
/// PyTorch's in-place ReLU does. fused: what is computed pixel by pixel has no memory of its own,
/// because a compiler fuses it with what reads it.
enum class Stored { every_op, in_place, fused };

/// whole_program: one launch, one recipe, or operators fused into sections. per_op: each op by
/// itself, as in an eager mode or with one section for each operator.
enum class Launching { whole_program, per_op };

/// prefetched: the next batch comes while the present one is worked on. waited: it comes in
/// between, as in a program that copies, computes and copies back.
enum class StackInput { prefetched, waited };

/// as_set: as run.master_weights says. narrow: weights, their gradients and the optimizer's state
/// are kept in run.precision, as in many examples of vendors.
enum class StackWeights { as_set, narrow };

std::string to_string(Stored stored);
std::string to_string(Launching launching);
std::string to_string(StackWeights weights);
std::string to_string(StackInput input);

/// The form in which a software stack runs programs on a machine.
struct Stack {
  std::string name = "compiled";
  std::string about = "a compiler that fuses what is computed pixel by pixel";
  Stored stored = Stored::fused;
  Launching launching = Launching::whole_program;
  StackWeights weights = StackWeights::as_set;
  StackInput input = StackInput::prefetched;
  Status status = Status::assumed;
  std::string source = "nothing is said about software in the description";
  std::vector<Unknown> figures = {};  ///< that hold with this stack, instead of the machine's
};

struct Description {
  std::string name;
  const Family* family = nullptr;  ///< set by the parser
  std::string about;
  /// Whose past errors count for it: those of machines that say the same. The family, by default.
  std::string judged_with;
  std::vector<Figure> figures;
  /// The family's, figures with a range, and what is not known about links; those of the stack
  /// where it has its own.
  std::vector<Unknown> unknowns;
  std::vector<Link> links;                  ///< may be none
  std::vector<Stack> stacks;                ///< at least one; the present one first
  std::vector<Unknown> without_stack = {};  ///< unknowns as they are before a stack has its say

  const Stack& stack() const { return stacks.front(); }

  /// A figure or the present value of an unknown, in base units. The parser has seen to it that all
  /// of a family's are there.
  double operator[](std::string_view figure) const;
};

/// The same machine, were that unknown so.
Description with_unknown(Description description, std::string_view unknown, double value);

/// The same machine with the stack of that name; the present one if it is empty. Throws UserError
/// that lists the stacks if there is none.
Description with_stack(Description description, std::string_view stack);

/// Throws UserError that begins with "NAME:LINE: " where it can: not YAML, a key nobody knows (with
/// the nearest that there is), a missing figure, a wrong unit.
Description parse_description(std::string_view text, const std::string& name, Families families);

/// Names of the machines that come with the program.
std::vector<std::string> built_in_machines();

/// One of those by name, in any case of letters, or a file, which has a '/' or ends in .yaml.
Description find_machine(const std::string& name_or_file, Families families);

}  // namespace cosmic::machine
