#include "report/page/style.hpp"

namespace cosmic::report::page {

namespace {

// Tones of plots are blue and orange, which everybody tells apart; `heat` is blue as three numbers,
// for shades of it. `edge` is the border of what can be pressed, which must be seen.
constexpr std::string_view kLight = R"css(
  --page: #ffffff; --raised: #f6f7f9; --ink: #1b1f27; --soft: #59616f; --line: #dde1e8; --edge: #8b94a3;
  --first: #1f5fa8; --second: #c25705; --grid: #eceff4; --column: #dfe4ec; --heat: 31 95 168;
  --good: #11693c; --good-back: #e3f3ea; --bad: #9a3412; --bad-back: #fdece2;
)css";

constexpr std::string_view kDark = R"css(
  --page: #12151b; --raised: #1a1e26; --ink: #e8ebf0; --soft: #9ca5b4; --line: #303743; --edge: #6b7484;
  --first: #7db4f5; --second: #f2a25c; --grid: #232934; --column: #2b323e; --heat: 100 160 235;
  --good: #7fd6a5; --good-back: #16301f; --bad: #f4b183; --bad-back: #3a2217;
)css";

constexpr std::string_view kLetters = R"css(
:root {
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "URW Palladio L", "P052", Georgia,
    "DejaVu Serif", serif;
  --sans: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans",
    "DejaVu Sans", sans-serif;
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 var(--sans); font-variant-numeric: tabular-nums lining-nums;
}
a { color: var(--first); text-decoration: none; }
a:hover { text-decoration: underline; }
)css";

constexpr std::string_view kPage = R"css(
main, header, footer { max-width: 1120px; margin: 0 auto; padding: 0 28px; }
header { padding-top: 52px; }
h1, h2, h3 { font-family: var(--serif); font-weight: 600; line-height: 1.2; text-wrap: balance; }
h1 { font-size: 40px; letter-spacing: -0.01em; margin: 6px 0 14px; }
h2 { font-size: 26px; margin: 0 0 10px; }
h3 { font-size: 19px; margin: 34px 0 10px; }
p { margin: 0 0 14px; max-width: 72ch; }
.lead { font-size: 19px; line-height: 1.5; max-width: 66ch; }
.overline {
  font-size: 13px; letter-spacing: 0.09em; text-transform: uppercase; color: var(--soft); margin: 0;
}
.byline { color: var(--soft); font-size: 14px; max-width: none; overflow-wrap: anywhere; }
nav {
  display: flex; flex-wrap: wrap; gap: 6px 22px; margin: 26px 0 0; padding: 12px 0;
  border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); font-size: 14px;
}
section { padding: 44px 0 8px; border-bottom: 1px solid var(--line); }
section:last-of-type { border-bottom: 0; }
.notice {
  margin: 22px 0 0; padding: 12px 16px; border-left: 4px solid var(--second);
  background: var(--bad-back); max-width: none;
}
.cards { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 16px; }
.card {
  background: var(--raised); border: 1px solid var(--line); border-radius: 10px;
  padding: 18px 20px 16px;
}
.card h3 { font-family: var(--sans); font-size: 14px; font-weight: 600; margin: 0; color: var(--soft); }
.card .figure { font: 600 40px/1.15 var(--serif); margin: 4px 0 6px; }
.card .figure .error { display: block; font: 400 13px/1.3 var(--sans); }
.card p { font-size: 14px; line-height: 1.45; margin: 0; }
.bar-mark {
  display: inline-block; margin-top: 10px; padding: 2px 9px; border-radius: 20px; font-size: 13px;
}
.bar-mark.reached { color: var(--good); background: var(--good-back); }
.bar-mark.missed { color: var(--bad); background: var(--bad-back); }
.error { color: var(--soft); font-size: 0.82em; white-space: nowrap; }
.scroll {
  overflow-x: auto; margin: 8px 0 18px;
  /* A shade at the side where there is more to see; covers of the page's colour move with the table. */
  background:
    linear-gradient(to right, var(--page) 30%, transparent) left / 44px 100% no-repeat local,
    linear-gradient(to left, var(--page) 30%, transparent) right / 44px 100% no-repeat local,
    linear-gradient(to right, rgb(127 127 127 / 0.4), transparent) left / 14px 100% no-repeat scroll,
    linear-gradient(to left, rgb(127 127 127 / 0.4), transparent) right / 14px 100% no-repeat scroll;
}
.scroll:focus-visible { outline: 2px solid var(--first); outline-offset: 2px; }
table { border-collapse: collapse; font-size: 15px; }
caption { caption-side: top; text-align: left; font-weight: 600; padding: 6px 0; }
th, td { padding: 7px 14px; text-align: right; white-space: nowrap; }
th { font-weight: 600; color: var(--soft); font-size: 13.5px; vertical-align: bottom; }
tbody th { color: var(--ink); font-size: 15px; font-weight: 500; vertical-align: middle; }
th:first-child { text-align: left; padding-left: 2px; }
thead tr { border-bottom: 1.5px solid var(--soft); }
tbody tr { border-bottom: 1px solid var(--line); }
tbody tr.total { border-top: 1.5px solid var(--soft); font-weight: 600; }
tbody tr.total th { font-weight: 600; }
.tables { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 40px; }
.tables table { width: 100%; }
.tables th, .tables td { padding: 7px 6px; }
.tables th:first-child { padding-left: 2px; }
.plots { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 20px 36px; margin: 16px 0 6px; }
figure { margin: 0; }
figcaption, .note { font-size: 14px; line-height: 1.5; color: var(--soft); margin-top: 8px; }
.note { margin: 14px 0 24px; max-width: none; }
figcaption b { color: var(--ink); font-weight: 600; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--ink); font-family: var(--sans); font-size: 12.5px; }
svg .tick { font-size: 12px; fill: var(--soft); }
svg .middle { text-anchor: middle; }
svg .end { text-anchor: end; }
svg .axis-title { font-size: 13px; }
svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .grid { stroke: var(--grid); stroke-width: 1; }
svg .column { fill: var(--column); }
svg .first { --tone: var(--first); }
svg .second { --tone: var(--second); }
svg .third { --tone: #2e8b57; }
svg .fourth { --tone: #8a5fc0; }
svg .fifth { --tone: #c03a5b; }
svg .sixth { --tone: #0f8b8d; }
svg .plain { --tone: var(--soft); }
svg .marker { fill: var(--tone); stroke: var(--page); stroke-width: 1; }
svg .dot { fill: var(--tone); opacity: 0.55; }
svg .bar { stroke: var(--tone); stroke-width: 1.5; }
svg .extent { stroke: var(--tone); stroke-width: 1; opacity: 0.45; }
svg .curve { fill: none; stroke: var(--tone); stroke-width: 2; stroke-linejoin: round; }
svg .faint { fill: none; stroke: var(--tone); stroke-width: 1.2; opacity: 0.5; }
svg .dashed { fill: none; stroke: var(--tone); stroke-width: 1.5; stroke-dasharray: 5 4; }
svg .band { fill: var(--tone); opacity: 0.16; }
.legend { display: flex; flex-wrap: wrap; gap: 6px 22px; font-size: 14px; margin: 8px 0 4px; }
.legend span { display: inline-flex; align-items: center; gap: 8px; }
.swatch { width: 15px; height: 15px; border-radius: 3px; border: 1px solid rgb(127 127 127 / 0.5); }
.swatch.wide { width: 110px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 26px; margin: 0 0 20px; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { font-size: 0.9em; }
pre {
  font-size: 12px; line-height: 1.5; background: var(--raised); border: 1px solid var(--line);
  border-radius: 8px; padding: 16px 20px; columns: 2; column-gap: 40px; white-space: pre-wrap;
  overflow-wrap: anywhere;
}
footer { color: var(--soft); font-size: 13px; padding-top: 20px; padding-bottom: 48px; }
@media (max-width: 820px) {
  main, header, footer { padding-left: 16px; padding-right: 16px; }
  header { padding-top: 30px; }
  .cards, .plots, .tables { grid-template-columns: minmax(0, 1fr); }
  h1 { font-size: 31px; }
  th, td { padding: 7px 9px; }
  caption { position: sticky; left: 0; max-width: calc(100vw - 32px); }
  /* The name of a row stays while its numbers pass. */
  tbody th:first-child { position: sticky; left: 0; background: var(--page); white-space: normal; overflow-wrap: anywhere; min-width: 6.5em; max-width: 46vw; }
  /* Drawn for a desk: smaller, its letters could not be read. */
  svg.wide { min-width: 760px; }
  pre { columns: 1; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 8px; }
}
@media print {
  :root {
    --page: #ffffff; --raised: #ffffff; --ink: #000000; --soft: #444444; --line: #bbbbbb;
    --first: #1f5fa8; --second: #c25705; --grid: #e4e4e4; --column: #dddddd; --heat: 31 95 168;
    --good: #000000; --good-back: #ffffff; --bad: #000000; --bad-back: #ffffff;
  }
  @page { margin: 14mm; }
  body { font-size: 10.5pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main, header, footer { max-width: none; padding-left: 0; padding-right: 0; }
  nav { display: none; }
  section { padding: 18px 0 4px; }
  .cards { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  .plots, .tables { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .scroll { overflow: visible; }
  svg.wide { min-width: 0; }
  table, tbody th { font-size: 8.5pt; }
  th { font-size: 8pt; }
  .tables table, .tables tbody th, .tables th { font-size: 7.5pt; }
  th, td, .tables th, .tables td { padding: 4px 5px; }
  .card { padding: 12px 14px; }
  .card .figure { font-size: 26px; }
  .bar-mark { padding: 0; }
  figure, .card, table, .notice { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
}
)css";

}  // namespace

std::string base_style() {
  const std::string light(kLight);
  const std::string dark(kDark);
  return ":root { color-scheme: light dark;" + light +
         "}\n@media (prefers-color-scheme: dark) {\n:root {" + dark +
         "}\n}\n:root[data-theme=\"light\"] { color-scheme: light;" + light +
         "}\n:root[data-theme=\"dark\"] { color-scheme: dark;" + dark + "}\n" +
         std::string(kLetters);
}

std::string common_style() {
  return base_style() + std::string(kPage);
}

std::string_view share_style() {
  return R"css(
.hue0 { --hue: #1f5fa8; } .hue1 { --hue: #c25705; } .hue2 { --hue: #2c8a57; }
.hue3 { --hue: #8e4ea8; } .hue4 { --hue: #b8860b; } .hue5 { --hue: #c0406a; }
.hue6 { --hue: #2a8c98; } .hue7 { --hue: #7a6a4f; } .hue8 { --hue: #5b6ee1; }
.hue9 { --hue: #6b9a1f; } .hue10 { --hue: #a3554a; } .hue11 { --hue: #8a93a3; }
.parts { display: flex; height: 34px; border-radius: 6px; overflow: hidden; margin: 14px 0 10px; }
.parts span { background: var(--hue); min-width: 1px; }
.dot { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 9px;
  background: var(--hue); }
td.bar { position: relative; min-width: 108px; }
td.bar i { position: absolute; left: 8px; right: auto; bottom: 4px; height: 3px; border-radius: 2px;
  background: var(--first); max-width: calc(100% - 16px); }
.figures table { font-size: 13.5px; width: 100%; }
.figures th, .figures td { padding: 6px 7px; }
.figures tbody th { font-size: 13.5px; }
.figures td.words, .figures th.words { text-align: left; }
.figures td.words { color: var(--soft); }
svg .peak { stroke: var(--second); stroke-width: 1.2; stroke-dasharray: 4 3; }
svg .halo { paint-order: stroke; stroke: var(--page); stroke-width: 4px; font-weight: 600; }
details { margin: 6px 0 22px; }
summary { cursor: pointer; color: var(--first); font-size: 14.5px; margin-bottom: 8px; }
)css";
}

}  // namespace cosmic::report::page
