// A plan of sections, written by a person: which layers are laid out on the chip together.
//
//   sections:
//     - [initial_convolution, net_core.down_blocks.blocks.0]
//     - [net_core.down_blocks.blocks.1]
//
// A layer stands for all layers inside it. What no section names joins the op before it. The
// backward pass of a section's layers is a section of its own, and so is their update.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cosmic::machine {

using SectionPlan = std::vector<std::vector<std::string>>;

/// Throws UserError that begins with "NAME:LINE: " where it can: not YAML, not of this form, a
/// layer in two sections.
SectionPlan parse_section_plan(std::string_view text, const std::string& name);

/// Throws UserError, too, if there is no such file.
SectionPlan read_section_plan(const std::string& path);

}  // namespace cosmic::machine
