#include "picture/vector_font.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace cosmic::picture {
namespace {

// Letters lie on a grid on which a capital is 7 high and a small letter without ascender 5.
constexpr double kCapital = 7;
constexpr double kLetterGap = 1.9;
constexpr double kWordGap = 4;  // from letter to letter, with the letter gap on top
constexpr double kRegularPen = 0.85;
constexpr double kBoldPen = 1.3;
constexpr double kArcStepDegrees = 12;

struct GlyphPath {
  char letter;
  double width;
  /// "L x,y x,y ..." draws from point to point; "A x,y rx,ry from,to" part of an ellipse around
  /// (x, y), in degrees, counterclockwise; y points up.
  const char* path;
};

constexpr GlyphPath kGlyphs[] = {
    {'0', 4.2, "A 2.1,2.1 2.1,2.1 180,360 L 4.2,2.1 4.2,4.9 A 2.1,4.9 2.1,2.1 0,180 L 0,4.9 0,2.1"},
    {'1', 4.2, "L 0.7,5.5 2.4,7 2.4,0"},
    {'2', 4.2, "A 2.1,4.9 2.1,2.1 -35,165 L 3.82,3.7 0,0 4.2,0"},
    {'3', 4.2, "A 2.05,5.35 1.75,1.65 -90,150 A 2.05,1.85 2.1,1.85 -150,90 L 1.3,3.7 2.05,3.7"},
    {'4', 4.4, "L 3.3,0 3.3,7 0,2 4.4,2"},
    {'5', 4.2, "L 3.8,7 0.7,7 0.44,3.76 A 2,2.2 2.2,2.2 -150,135"},
    {'6', 4.2, "A 2.1,2.15 2.1,2.15 0,360 A 4.2,2.15 4.2,4.85 105,180"},
    {'7', 4.2, "L 0,7 4.2,7 1.4,0"},
    {'8', 4.2, "A 2.1,5.3 1.75,1.7 0,360 A 2.1,1.8 2.1,1.8 0,360"},
    {'9', 4.2, "A 2.1,4.85 2.1,2.15 0,360 A 0,4.85 4.2,4.85 285,360"},
    {'A', 5.2, "L 0,0 2.6,7 5.2,0 L 0.85,2.3 4.35,2.3"},
    {'B', 4.5,
     "L 2.4,7 0,7 0,0 2.6,0 L 0,3.7 2.6,3.7 A 2.4,5.35 1.7,1.65 -90,90 "
     "A 2.6,1.85 1.9,1.85 -90,90"},
    {'C', 4.8, "A 2.8,3.5 2.8,3.5 48,312"},
    {'D', 4.8, "L 1.6,0 0,0 0,7 1.6,7 A 1.6,3.5 3.2,3.5 -90,90"},
    {'E', 4, "L 4,7 0,7 0,0 4,0 L 0,3.7 3.4,3.7"},
    {'F', 3.8, "L 3.8,7 0,7 0,0 L 0,3.6 3.3,3.6"},
    {'G', 5.2, "A 2.9,3.5 2.9,3.5 48,320 L 5.12,1.25 5.12,3.3 3.2,3.3"},
    {'H', 4.6, "L 0,0 0,7 L 4.6,0 4.6,7 L 0,3.6 4.6,3.6"},
    {'I', 0, "L 0,0 0,7"},
    {'J', 3, "L 3,7 3,1.7 A 1.5,1.7 1.5,1.7 195,360"},
    {'K', 4.4, "L 0,0 0,7 L 4.2,7 0,2.6 L 1.5,4.15 4.4,0"},
    {'L', 3.8, "L 0,7 0,0 3.8,0"},
    {'M', 5.8, "L 0,0 0,7 2.9,1.5 5.8,7 5.8,0"},
    {'N', 4.7, "L 0,0 0,7 4.7,0 4.7,7"},
    {'O', 5.8, "A 2.9,3.5 2.9,3.5 0,360"},
    {'P', 4.3, "L 0,0 0,7 2.4,7 A 2.4,5.1 1.9,1.9 -90,90 L 2.4,3.2 0,3.2"},
    {'Q', 5.8, "A 2.9,3.5 2.9,3.5 0,360 L 3.6,1.6 5.6,-0.5"},
    {'R', 4.4, "L 0,0 0,7 2.4,7 A 2.4,5.1 1.9,1.9 -90,90 L 2.4,3.2 0,3.2 L 2.2,3.2 4.4,0"},
    {'S', 4.4, "A 2.2,5.3 1.95,1.7 30,270 A 2.2,1.8 2.15,1.8 -150,90"},
    {'T', 5, "L 0,7 5,7 L 2.5,7 2.5,0"},
    {'U', 4.6, "L 0,7 0,2.3 A 2.3,2.3 2.3,2.3 180,360 L 4.6,2.3 4.6,7"},
    {'V', 5, "L 0,7 2.5,0 5,7"},
    {'W', 7.2, "L 0,7 1.8,0 3.6,6 5.4,0 7.2,7"},
    {'X', 4.6, "L 0,0 4.6,7 L 0,7 4.6,0"},
    {'Y', 4.8, "L 0,7 2.4,3.3 4.8,7 L 2.4,3.3 2.4,0"},
    {'Z', 4.4, "L 0,7 4.4,7 0,0 4.4,0"},
    {'a', 4, "A 2,2.5 2,2.5 0,360 L 4,5 4,0"},
    {'b', 4, "L 0,0 0,7.3 A 2,2.5 2,2.5 0,360"},
    {'c', 3.5, "A 2.1,2.5 2.1,2.5 48,312"},
    {'d', 4, "A 2,2.5 2,2.5 0,360 L 4,0 4,7.3"},
    {'e', 4, "L 0.1,2.6 4,2.6 A 2,2.5 2,2.5 2,315"},
    {'f', 2.4, "L 0.9,0 0.9,5.7 A 2.4,5.7 1.5,1.6 85,180 L 0,4.8 2.3,4.8"},
    {'g', 4, "A 2,2.5 2,2.5 0,360 L 4,5 4,-0.2 A 2,-0.2 2,1.9 200,360"},
    {'h', 3.8, "L 0,0 0,7.3 A 1.9,3.1 1.9,1.9 0,180 L 3.8,3.1 3.8,0"},
    {'i', 0, "L 0,0 0,5 L 0,6.9 0,7"},
    {'j', 0.9, "L 0.9,5 0.9,-0.8 A -0.3,-0.8 1.2,1.3 -100,0 L 0.9,6.9 0.9,7"},
    {'k', 3.6, "L 0,0 0,7.3 L 3.4,5 0,1.9 L 1.2,3 3.6,0"},
    {'l', 1, "L 0,7.3 0,1 A 1,1 1,1 180,270"},
    {'m', 6.2,
     "L 0,0 0,5 A 1.55,3.4 1.55,1.6 0,180 L 3.1,3.4 3.1,0 A 4.65,3.4 1.55,1.6 0,180 "
     "L 6.2,3.4 6.2,0"},
    {'n', 3.8, "L 0,0 0,5 A 1.9,3.1 1.9,1.9 0,180 L 3.8,3.1 3.8,0"},
    {'o', 4.2, "A 2.1,2.5 2.1,2.5 0,360"},
    {'p', 4, "L 0,-2 0,5 A 2,2.5 2,2.5 0,360"},
    {'q', 4, "L 4,-2 4,5 A 2,2.5 2,2.5 0,360"},
    {'r', 2.4, "L 0,0 0,5 A 1.9,3.1 1.9,1.9 65,180"},
    {'s', 3.4, "A 1.7,3.8 1.5,1.2 30,270 A 1.7,1.3 1.65,1.3 -150,90"},
    {'t', 2.5, "L 1,6.7 1,1.4 A 2.4,1.4 1.4,1.4 180,275 L 0,5 2.4,5"},
    {'u', 3.8, "L 0,5 0,1.9 A 1.9,1.9 1.9,1.9 180,360 L 3.8,5 3.8,0"},
    {'v', 3.8, "L 0,5 1.9,0 3.8,5"},
    {'w', 5.6, "L 0,5 1.4,0 2.8,4.4 4.2,0 5.6,5"},
    {'x', 3.6, "L 0,0 3.6,5 L 0,5 3.6,0"},
    {'y', 3.8, "L 0,5 1.95,0.1 L 3.8,5 1.6,-1.2 A 0.5,-0.8 1.2,1.2 -100,-20"},
    {'z', 3.5, "L 0,5 3.5,5 0,0 3.5,0"},
    {' ', kWordGap - kLetterGap, ""},
    {'.', 0, "L 0,0 0,0.1"},
    {',', 0.2, "L 0.2,0.1 -0.2,-1.2"},
    {':', 0, "L 0,0 0,0.1 L 0,4.4 0,4.5"},
    {';', 0.2, "L 0.2,0.1 -0.2,-1.2 L 0.2,4.4 0.2,4.5"},
    {'-', 2.4, "L 0,2.7 2.4,2.7"},
    {'+', 4, "L 0,3 4,3 L 2,1 2,5"},
    {'=', 4, "L 0,2.1 4,2.1 L 0,4 4,4"},
    {'_', 4, "L 0,-1 4,-1"},
    {'/', 3, "L 0,-0.8 3,7.6"},
    {'\\', 3, "L 0,7.6 3,-0.8"},
    {'|', 0, "L 0,-1.5 0,7.6"},
    {'(', 1.4, "A 3.6,3 3.6,5 125,235"},
    {')', 1.4, "A -2.2,3 3.6,5 -55,55"},
    {'[', 1.4, "L 1.4,7.6 0,7.6 0,-1.4 1.4,-1.4"},
    {']', 1.4, "L 0,7.6 1.4,7.6 1.4,-1.4 0,-1.4"},
    {'<', 3.6, "L 3.6,5 0,3 3.6,1"},
    {'>', 3.6, "L 0,5 3.6,3 0,1"},
    {'%', 6.4, "A 1.4,5.4 1.4,1.6 0,360 A 5,1.6 1.4,1.6 0,360 L 5.2,7 1.2,0"},
    {'#', 4.8, "L 1,0 2,7 L 3,0 4,7 L 0,2.3 4.6,2.3 L 0.3,4.8 4.9,4.8"},
    {'*', 3, "L 1.5,7 1.5,4 L 0.2,6.3 2.8,4.7 L 0.2,4.7 2.8,6.3"},
    {'!', 0, "L 0,7 0,2.2 L 0,0 0,0.1"},
    {'?', 3.6, "A 1.8,5.3 1.8,1.7 -60,170 L 2.7,3.83 1.8,2.9 1.8,2 L 1.8,0 1.8,0.1"},
    {'\'', 0, "L 0,7.2 0,5.4"},
    {'"', 1.5, "L 0,7.2 0,5.4 L 1.5,7.2 1.5,5.4"},
    {'~', 4.4, "A 1.1,2.6 1.1,1 0,180 A 3.3,2.6 1.1,1 180,360"},
};

/// Stands for every letter that is not in the table.
constexpr GlyphPath kUnknown{'\0', 3.6, "L 0,0 0,7 3.6,7 3.6,0 0,0"};

struct Point {
  double x = 0;
  double y = 0;
};

struct Stroke {
  Point from;
  Point to;
};

struct Glyph {
  double width = 0;
  std::vector<Stroke> strokes;
};

/// Reads the numbers of a path one after the other.
class PathReader {
 public:
  explicit PathReader(const char* path) : at_(path) {}

  char command() {
    skip_separators();
    return *at_ == 'L' || *at_ == 'A' ? *at_++ : '\0';
  }
  bool at_number() {
    skip_separators();
    return *at_ != '\0' && *at_ != 'L' && *at_ != 'A';
  }
  Point point() {
    const double x = number();
    return {x, number()};
  }

 private:
  void skip_separators() {
    while (*at_ == ' ' || *at_ == ',') {
      ++at_;
    }
  }
  double number() {
    skip_separators();
    char* end = nullptr;
    const double value = std::strtod(at_, &end);
    at_ = end;
    return value;
  }

  const char* at_;
};

void add_arc(Glyph& glyph, Point centre, Point radius, Point degrees) {
  const double span = degrees.y - degrees.x;
  const int steps = static_cast<int>(std::ceil(span / kArcStepDegrees));
  const auto point = [&](int step) {
    const double angle = (degrees.x + span * step / steps) * std::numbers::pi / 180;
    return Point{centre.x + radius.x * std::cos(angle), centre.y + radius.y * std::sin(angle)};
  };
  for (int step = 0; step < steps; ++step) {
    glyph.strokes.push_back({point(step), point(step + 1)});
  }
}

Glyph to_strokes(const GlyphPath& path) {
  Glyph glyph{path.width, {}};
  PathReader reader(path.path);
  for (char command = reader.command(); command != '\0'; command = reader.command()) {
    if (command == 'A') {
      const Point centre = reader.point();
      const Point radius = reader.point();
      add_arc(glyph, centre, radius, reader.point());
      continue;
    }
    Point from = reader.point();
    while (reader.at_number()) {
      const Point to = reader.point();
      glyph.strokes.push_back({from, to});
      from = to;
    }
  }
  return glyph;
}

const Glyph& glyph_of(char letter) {
  static const std::map<char, Glyph> glyphs = [] {
    std::map<char, Glyph> table;
    for (const GlyphPath& path : kGlyphs) {
      table.emplace(path.letter, to_strokes(path));
    }
    return table;
  }();
  static const Glyph unknown = to_strokes(kUnknown);
  const auto found = glyphs.find(letter);
  return found == glyphs.end() ? unknown : found->second;
}

/// The bytes of UTF-8 that only continue a letter.
bool continues_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

double width_in_grid(std::string_view text) {
  double width = -kLetterGap;
  for (const char letter : text) {
    width += continues_letter(letter) ? 0 : glyph_of(letter).width + kLetterGap;
  }
  return std::max(width, 0.0);
}

double distance(Point p, const Stroke& stroke) {
  const Point along{stroke.to.x - stroke.from.x, stroke.to.y - stroke.from.y};
  const Point offset{p.x - stroke.from.x, p.y - stroke.from.y};
  const double length = along.x * along.x + along.y * along.y;
  const double share =
      length > 0 ? std::clamp((offset.x * along.x + offset.y * along.y) / length, 0.0, 1.0) : 0;
  return std::hypot(offset.x - share * along.x, offset.y - share * along.y);
}

std::uint8_t mix(std::uint8_t below, std::uint8_t above, double share) {
  return static_cast<std::uint8_t>(std::lround(below + (above - below) * share));
}

void blend(Color& below, const Color& above, double share) {
  below = {mix(below.red, above.red, share), mix(below.green, above.green, share),
           mix(below.blue, above.blue, share)};
}

/// Draws strokes given in pixels, x to the right and y down, as one shape: where they cross, the
/// edge is not blended twice.
void draw_strokes(Picture& picture, const std::vector<Stroke>& strokes, double pen, Color color) {
  if (strokes.empty()) {
    return;
  }
  Point low{1e9, 1e9};
  Point high{-1e9, -1e9};
  for (const Stroke& stroke : strokes) {
    for (const Point& p : {stroke.from, stroke.to}) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
  }
  const double reach = pen / 2 + 1;
  const auto bound = [](double value, std::int64_t size) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(value), 0, size);
  };
  const std::int64_t last_row = bound(std::ceil(high.y + reach), picture.rows);
  const std::int64_t last_column = bound(std::ceil(high.x + reach), picture.columns);
  for (std::int64_t row = bound(low.y - reach, picture.rows); row < last_row; ++row) {
    for (std::int64_t column = bound(low.x - reach, picture.columns); column < last_column;
         ++column) {
      const Point centre{static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5};
      double nearest = reach;
      for (const Stroke& stroke : strokes) {
        nearest = std::min(nearest, distance(centre, stroke));
      }
      const double cover = std::clamp(pen / 2 - nearest + 0.5, 0.0, 1.0);
      if (cover > 0) {
        blend(picture.at(row, column), color, cover);
      }
    }
  }
}

}  // namespace

double text_width(std::string_view text, const TextStyle& style) {
  return width_in_grid(text) * style.size / kCapital;
}

void draw_text(Picture& picture, double row, double column, std::string_view text,
               const TextStyle& style) {
  const double scale = style.size / kCapital;
  const double width = width_in_grid(text);
  double x = style.align == Align::left ? 0 : style.align == Align::right ? -width : -width / 2;
  const auto place = [&](Point p) {
    const Point along{(x + p.x) * scale, p.y * scale};
    return style.direction == Direction::rightwards ? Point{column + along.x, row - along.y}
                                                    : Point{column - along.y, row - along.x};
  };
  const double pen = (style.weight == Weight::bold ? kBoldPen : kRegularPen) * scale;
  for (const char letter : text) {
    if (continues_letter(letter)) {
      continue;
    }
    const Glyph& glyph = glyph_of(letter);
    std::vector<Stroke> strokes;
    for (const Stroke& stroke : glyph.strokes) {
      strokes.push_back({place(stroke.from), place(stroke.to)});
    }
    draw_strokes(picture, strokes, pen, style.color);
    x += glyph.width + kLetterGap;
  }
}

}  // namespace cosmic::picture
