#include "validation/models_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "validation/comparisons.hpp"

namespace cosmic::validation {
namespace {

struct Part {
  Topic topic;
  const char* title;
  const char* words;
};

constexpr Part kParts[] = {
    {Topic::ipu, "IPU",
     "A single efficiency for all computation on tiles, fitted to one row, reproduces the chip "
     "itself. Where a Python input pipeline is slower than\nthe chip, the model does not know, and "
     "the rows say so."},
    {Topic::hpu, "Gaudi",
     "Nothing is fitted: the matrix engine's geometry, bandwidths and the overlap of a published "
     "trace."},
    {Topic::rdu, "RDU",
     "Memory bandwidth, section switch and on-chip rates were never published; hence the large "
     "error bar."},
    {Topic::gpu, "GPU, to check the method",
     "Single operations were measured on an H200 with PyTorch: convolutions of 8 to 256 channels, "
     "copies, a small kernel. The step as a whole is predicted from them.\nConvolutions of few "
     "channels fill an eighth or less of a tile of 64, which is why a21 is far from the 1,000 "
     "events/s that memory traffic alone would allow; a\nprofile of PyTorch found 36.9 ms of "
     "convolutions in a step of a21 and 119 ms in one of uresnet, where the model predicts 40.5 "
     "and 128. The rest of PyTorch's step\nis not arithmetic: normalization, casts, sums and "
     "activations are separate kernels that read and write memory, at a quarter of its bandwidth "
     "if there are few\nchannels. That quarter was fitted to one row. With torch.compile the model "
     "assumes that such ops are fused and run at full bandwidth; in inference this is "
     "nearly\ntrue, in training their sums over an image are not fused, and the prediction is too "
     "fast."},
    {Topic::cpu, "CPU, to check the method",
     "The description is for the machine used in [numbers](numbers.md)."},
};

std::string number(double value) {
  return std::abs(value) >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string row_text(const FigureRow& row) {
  const bool inside = row.low <= row.figure && row.figure <= row.high;
  return fmt::format("| {} | {} | {} | {} | {} ({} to {}) | {} | {:+.0f} % | {} | {} |\n",
                     row.workload, row.machine, row.how, row.unit, number(row.predicted),
                     number(row.low), number(row.high), number(row.figure), 100 * row.error(),
                     inside ? "yes" : "no", row.calibrated.empty() ? "" : row.calibrated);
}

std::string notes_text(const std::vector<FigureRow>& rows, Topic topic) {
  std::string text;
  for (const FigureRow& row : rows) {
    if (row.topic == topic && !row.words.empty()) {
      text += fmt::format("- {}, {}: {}.\n", row.workload, row.machine, row.words);
    }
  }
  return text;
}

std::string sources_text(const std::vector<FigureRow>& rows, Topic topic) {
  std::vector<std::string> sources;
  for (const FigureRow& row : rows) {
    const std::string source = fmt::format("{} ({})", row.source, row.machine);
    if (row.topic == topic && std::find(sources.begin(), sources.end(), source) == sources.end()) {
      sources.push_back(source);
    }
  }
  std::string text = "Sources: ";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    text += (i == 0 ? "" : ";\n") + sources[i];
  }
  return text + ".\n";
}

std::string part_text(const Part& part, const std::vector<FigureRow>& rows) {
  const bool measured = std::any_of(rows.begin(), rows.end(), [&](const FigureRow& row) {
    return row.topic == part.topic && row.evidence == Evidence::measured;
  });
  std::string text = fmt::format(
      "## {}\n\n{}\n\n| workload | machine | how | unit | predicted (error bar) | {} | error | "
      "inside "
      "the bar | calibrated with this row |\n|---|---|---|---|---|---|---|---|---|\n",
      part.title, part.words, measured ? "measured" : "published");
  for (const FigureRow& row : rows) {
    text += row.topic == part.topic ? row_text(row) : "";
  }
  const std::string notes = notes_text(rows, part.topic);
  return text + "\n" + (notes.empty() ? "" : notes + "\n") + sources_text(rows, part.topic) + "\n";
}

std::string kilobytes(machine::ModelledBytes bytes) {
  return fmt::format("{:.0f} kB", bytes.modelled_bytes() / 1e3);
}

std::string outcome_text(const FitRow& row) {
  return std::string(row.right() ? "right" : "wrong") +
         (certain(row.predicted) ? "" : ", within the error bar");
}

std::string fits_text() {
  std::string text =
      "## What fits\n\nThe fullest tile of the fullest chip, with everything stored there. "
      "Published are 16 bits, half partial sums and recomputation. The rest of the\nconfiguration "
      "was not published and was chosen here: half weights and Adam moments, float32 gradient "
      "accumulation, and a share of 0.14 of a tile\nfor temporaries, with which four chips "
      "certainly fit. One chip then needs too much by the best estimate; its error bar begins just "
      "below what a tile\nhas. A verdict is right if the best estimate is on the published side of "
      "the limit; \"within the error bar\" means that the error bar extends beyond\nthe limit. "
      "Whether two chips would be enough was not published, so there is no row for it.\n\n"
      "| workload | machine | how | needs (range) | of | predicted | published | verdict |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const FitRow& row : fit_rows()) {
    text += fmt::format("| {} | {} | {} | {} ({} to {}) | {} | {} | {} | {} |\n", row.workload,
                        row.machine, row.how, kilobytes(row.verdict.needed),
                        kilobytes(row.verdict.needed_low), kilobytes(row.verdict.needed_high),
                        kilobytes(row.verdict.available), to_string(row.predicted),
                        row.published_fits ? "fits" : "does not fit", outcome_text(row));
  }
  text +=
      "\nSource: Graphcore examples, unet_medical: training needs four IPUs (it does not say "
      "whether two would be enough), two images of inference fit one.\n\n";
  return text;
}

std::string unpredicted_text() {
  std::string text =
      "## What cannot be predicted\n\n| workload | machine | published | why not "
      "|\n|---|---|---|---|\n";
  for (const UnpredictedRow& row : unpredicted_rows()) {
    text +=
        fmt::format("| {} | {} | {} | {} |\n", row.workload, row.machine, row.figure, row.reason);
  }
  return text;
}

}  // namespace

std::string models_page() {
  const std::vector<FigureRow> rows = figure_rows();
  std::string text =
      "# Predictions against published figures\n\n"
      "Every number under \"predicted\" on this page is modelled, none was measured. The page is "
      "generated by\n\n"
      "```sh\ncmake --build build/release --target models_page\n"
      "build/release/tools/models_page > docs/models.md\n```\n\n"
      "and a test fails if it is not what they write. The error bar of a prediction "
      "combines the "
      "ranges of the machine's unknowns, each alone at its ends,\nwith how far the family's "
      "formulas have "
      "been off (`model_error`). \"Calibrated with this row\": a figure of the description was "
      "chosen so that "
      "the row comes\nout; for it the error says how good the fit is, not how good the prediction "
      "is.\n\n";
  for (const Part& part : kParts) {
    text += part_text(part, rows);
  }
  return text + fits_text() + unpredicted_text();
}

}  // namespace cosmic::validation
