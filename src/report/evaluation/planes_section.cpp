// Tables of planes and classes: the reference's metrics, efficiency and purity, confusion matrices.
#include <fmt/core.h>

#include <array>
#include <cmath>
#include <string>

#include "report/evaluation/page_sections.hpp"
#include "report/evaluation/share_text.hpp"
#include "report/page/markup.hpp"

namespace cosmic::report::evaluation {
namespace {

std::string metrics_table(const Evaluation& evaluation) {
  static constexpr std::array<std::pair<const char*, const char*>, 5> kColumns{{
      {"Non_Bkg_Accuracy", "accuracy without background"},
      {"Neutrino_IoU", "neutrino IoU"},
      {"Cosmic_IoU", "cosmic IoU"},
      {"mIoU", "mean IoU"},
      {"Total_Accuracy", "accuracy of all pixels"},
  }};
  std::string html =
      "<div tabindex=\"0\" class=\"scroll\"><table><caption>The reference\xe2\x80\x99s metrics, "
      "mean over events"
      "</caption><thead><tr><th scope=\"col\">plane</th>";
  for (const auto& [key, name] : kColumns) {
    html += fmt::format("<th scope=\"col\">{}</th>", name);
  }
  html += "</tr></thead><tbody>";
  for (const std::string row : {"plane0", "plane1", "plane2", "Average"}) {
    const bool total = row == "Average";
    html += fmt::format("<tr{}><th scope=\"row\">{}</th>", total ? " class=\"total\"" : "",
                        total ? "average" : row.substr(row.size() - 1));
    for (const auto& [key, name] : kColumns) {
      html += "<td>" + percent_text(evaluation.score(row + "/" + key), 2) + "</td>";
    }
    html += "</tr>";
  }
  return html + "</tbody></table></div>";
}

std::string class_row(const std::string& name, const infer::Confusion& confusion, std::size_t which,
                      bool total) {
  return fmt::format(
      "<tr{}><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
      total ? " class=\"total\"" : "", name, page::count_text(confusion.of_class(which)),
      page::count_text(confusion.predicted_as(which)), percent_text(confusion.efficiency(which), 2),
      percent_text(confusion.purity(which), 2), percent_text(confusion.iou(which), 2));
}

std::string class_table(const Evaluation& evaluation, std::size_t which) {
  std::string html = fmt::format(
      "<div tabindex=\"0\" class=\"scroll\"><table><caption>Pixels of class {}, all events "
      "together</caption>"
      "<thead><tr><th scope=\"col\">plane</th><th scope=\"col\">true</th><th scope=\"col\">tagged"
      "</th><th scope=\"col\">efficiency</th><th scope=\"col\">purity</th><th scope=\"col\">IoU"
      "</th></tr></thead><tbody>",
      kClassNames[which]);
  for (std::size_t plane = 0; plane < infer::kPlanes; ++plane) {
    html += class_row(std::to_string(plane), evaluation.planes[plane], which, false);
  }
  return html + class_row("all", evaluation.all(), which, true) + "</tbody></table></div>";
}

/// Metrics count every pixel, but predictions are kept for pixels with charge only.
std::string without_charge(const Evaluation& evaluation) {
  const infer::Confusion all = evaluation.all();
  const std::int64_t tagged = all.predicted_as(kNeutrinoClass);
  const std::int64_t empty = evaluation.tagged_without_charge();
  if (tagged == 0) {
    return "";
  }
  const auto found = static_cast<double>(all.counts[kNeutrinoClass][kNeutrinoClass]);
  const double purity =
      tagged == empty ? std::nan("") : found / static_cast<double>(tagged - empty);
  return fmt::format(
      "<p class=\"note\">Of the pixels tagged as neutrino, {} ({}) have no charge. Metrics count "
      "them as mistakes; prediction files do not have them, because they contain only pixels with "
      "charge. Among pixels with charge the purity is {}.</p>",
      page::count_text(empty),
      percent_text(static_cast<double>(empty) / static_cast<double>(tagged)), percent_text(purity));
}

std::string matrix(const std::string& title, const infer::Confusion& confusion) {
  std::string html = fmt::format(
      "<div tabindex=\"0\" class=\"matrix scroll\"><table><caption>{}</caption><thead><tr><th "
      "scope=\"col\">true "
      "\\ tagged</th>",
      title);
  for (const char* const name : kClassNames) {
    html += fmt::format("<th scope=\"col\">{}</th>", name);
  }
  html += "</tr></thead><tbody>";
  for (std::size_t truth = 0; truth < infer::kClasses; ++truth) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", kClassNames[truth]);
    const std::int64_t all = confusion.of_class(truth);
    for (std::size_t tagged = 0; tagged < infer::kClasses; ++tagged) {
      const std::int64_t count = confusion.counts[truth][tagged];
      const double share = all == 0 ? 0 : static_cast<double>(count) / static_cast<double>(all);
      html +=
          fmt::format("<td{} style=\"--s:{:.4f}\">{}<small>{}</small></td>",
                      truth == tagged ? " class=\"right\"" : "", share,
                      all == 0 ? "\xe2\x80\x93" : percent_text(share, 2), page::count_text(count));
    }
    html += "</tr>";
  }
  return html + "</tbody></table></div>";
}

}  // namespace

std::string planes_section(const Evaluation& evaluation) {
  std::string html =
      "<p>The metrics as the reference prints them: computed for each event, then averaged. An "
      "event "
      "without particles in a plane has no accuracy without background there and is left out of "
      "that mean; the result does not depend on the size of the batches.</p>";
  html += metrics_table(evaluation);
  html +=
      "<p>The same events counted pixel by pixel. Efficiency is the share of true pixels that were "
      "found, purity the share of tagged pixels that are true.</p><div class=\"tables\">";
  html += class_table(evaluation, kNeutrinoClass);
  html += class_table(evaluation, kCosmicClass);
  return html + "</div>" + without_charge(evaluation);
}

std::string confusion_section(const Evaluation& evaluation) {
  std::string html =
      "<p>How pixels of each true class are tagged: rows add up to 100 %, counts are below the "
      "shares. Background counts every pixel of the image, including those without charge.</p>"
      "<div class=\"matrices\">";
  html += matrix("All planes", evaluation.all());
  for (std::size_t plane = 0; plane < infer::kPlanes; ++plane) {
    html += matrix(fmt::format("Plane {}", plane), evaluation.planes[plane]);
  }
  return html + "</div>";
}

}  // namespace cosmic::report::evaluation
