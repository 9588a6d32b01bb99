// Text in pictures. The letters are strokes of a pen, so they stay sharp at any size and need no
// font of the system: a picture looks the same wherever it is made.
#pragma once

#include <string_view>

#include "picture/picture.hpp"

namespace cosmic::picture {

enum class Align { left, centre, right };
enum class Direction { rightwards, upwards };
enum class Weight { regular, bold };

struct TextStyle {
  double size = 20;  ///< height of a capital letter, in pixels
  Color color{};
  Align align = Align::left;
  Direction direction = Direction::rightwards;
  Weight weight = Weight::regular;
};

/// Pixels from the left of the first letter to the right of the last. What is not ASCII is drawn as
/// an empty box.
double text_width(std::string_view text, const TextStyle& style);

/// Draws with the start, middle or end of the base line at (row, column). What is outside of the
/// picture is cut off.
void draw_text(Picture& picture, double row, double column, std::string_view text,
               const TextStyle& style);

}  // namespace cosmic::picture
