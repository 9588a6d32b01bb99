#include "report/evaluation/evaluation_style.hpp"

namespace cosmic::report::evaluation {

std::string_view evaluation_style() {
  return R"css(
.matrices { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 14px 40px; }
.matrix table { width: 100%; table-layout: fixed; font-size: 14px; }
.matrix td {
  background: rgb(var(--heat) / calc(var(--s) * 0.5)); border: 2px solid var(--page);
  line-height: 1.25; padding: 8px 10px;
}
.matrix tbody tr, .matrix thead tr { border: 0; }
.matrix th { padding: 7px 10px 7px 2px; white-space: normal; }
.matrix td small { display: block; font-size: 12px; }
.matrix td.right { font-weight: 600; }
.event { margin: 16px 0 34px; break-inside: avoid; }
.event h4 { margin: 0 0 2px; font-size: 16px; }
.event p { font-size: 14px; color: var(--soft); margin: 0 0 10px; max-width: none; }
.event .planes { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 18px; }
.event image { image-rendering: pixelated; }
.event .window { fill: none; stroke: #ffffff; stroke-width: 1.2; }
.event .edge { fill: none; stroke: var(--line); stroke-width: 1; }
.event svg text { font-size: 11.5px; }
.event svg .name { font-weight: 600; font-size: 13px; }
.event svg .tick { font-size: 10.5px; }
@media (max-width: 820px) {
  .matrices, .event .planes { grid-template-columns: minmax(0, 1fr); }
}
@media print {
  .matrices { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .event .planes { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  .matrix table { font-size: 8.5pt; }
  .matrix td { padding: 4px 5px; }
}
)css";
}

}  // namespace cosmic::report::evaluation
