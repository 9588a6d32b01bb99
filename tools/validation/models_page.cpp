#include "validation/models_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include "machine/explanation.hpp"
#include "run/explain.hpp"
#include "run/layer_comparison.hpp"
#include "validation/comparisons.hpp"
#include "validation/fitting.hpp"

namespace cosmic::validation {
namespace {

struct Part {
  Topic topic;
  const char* title;
  const char* words;
};

constexpr Part kParts[] = {
    {Topic::ipu, "IPU",
     "One efficiency of all computing on tiles for each stack. SDK 3.1 runs the small CNN twice as "
     "fast as SDK 2.1 and 2.2, so those are stacks of their own."},
    {Topic::hpu, "Gaudi",
     "Nothing is fitted: the matrix engine's geometry, bandwidths and the overlap of a published "
     "trace."},
    {Topic::rdu, "RDU",
     "The one measurement that was published fitted the rate of the host, so there is no figure to "
     "check the chip against, and error bars are those of assumed ranges alone."},
    {Topic::gpu, "One GPU, training",
     "Layout and fusion of the software stack are inputs: the same A100 makes 1,582 to 3,410 "
     "images/s. Figures of few channels come from single operations measured on an H200."},
    {Topic::gpu_many, "Several GPUs, training",
     "Replicas agree on gradients in a ring after the step; submissions overlap the two."},
    {Topic::gpu_infer, "GPU, inference",
     "Small batches are bound by launches, by calls of the host, which differ between programs "
     "more "
     "than between machines, and by how long a kernel of products takes at least. What depends on "
     "weights alone is computed once, when they are loaded."},
    {Topic::pvc, "Ponte Vecchio, one tile", "Aurora and Sunspot."},
    {Topic::ours, "This program",
     "The descriptions are for the machines used in [numbers](numbers.md). The CUDA kernels are "
     "being rewritten; the rows are for the revision they name."},
    {Topic::memory, "Memory",
     "What a pool holds at its fullest, in GB. Batches of nvidia-smi rows were chosen by others to "
     "fill the card, so they say how much a batch takes, contexts and workspaces included."},
};

std::string number(double value) {
  return std::abs(value) >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

double shown(const RowSpec& spec, double value) {
  constexpr double kGigabyte = 1e9;
  return spec.quantity == Quantity::bytes ? value / kGigabyte : value;
}

std::string unit_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::rate:
      return "/s";
    case Quantity::milliseconds:
      return "ms";
    case Quantity::bytes:
      break;
  }
  return "GB";
}

std::string role_text(const FigureRow& row) {
  if (!row.spec.not_judged.empty()) {
    return "no: " + row.spec.not_judged;
  }
  if (row.fitted.empty()) {
    return "yes";
  }
  std::string names;
  for (const std::string& name : row.fitted) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return row.left_out ? fmt::format("left out, {} refitted: {}", names,
                                    number(shown(row.spec, *row.left_out)))
                      : "no: " + names + " fitted to it alone";
}

std::string row_text(const FigureRow& row) {
  const RowSpec& spec = row.spec;
  return fmt::format("| {} | {} | {} | {} ({} to {}) {} | {} | {:+.0f} % | {} | {} | `{}` |\n",
                     spec.id, spec.workload, row.machine, number(shown(spec, row.predicted)),
                     number(shown(spec, row.low)), number(shown(spec, row.high)),
                     unit_of(spec.quantity), number(shown(spec, spec.figure)), 100 * row.error(),
                     row.judges() ? (row.inside() ? "yes" : "no") : "–", role_text(row),
                     run::command_of(spec.settings, spec.options));
}

/// Each once, with the rows that it is for, and what there is to say about single rows.
std::string notes_text(const std::vector<FigureRow>& rows, Topic topic) {
  std::vector<std::pair<std::string, std::string>> sources;
  std::string notes;
  for (const FigureRow& row : rows) {
    if (row.spec.topic != topic) {
      continue;
    }
    const auto known = std::find_if(sources.begin(), sources.end(), [&](const auto& source) {
      return source.first == row.spec.source;
    });
    if (known == sources.end()) {
      sources.emplace_back(row.spec.source, row.spec.id);
    } else {
      known->second += ", " + row.spec.id;
    }
    notes += row.spec.words.empty() ? "" : fmt::format("- {}: {}.\n", row.spec.id, row.spec.words);
  }
  std::string text = notes.empty() ? "" : notes + "\n";
  text += "Sources:\n\n";
  for (const auto& [source, ids] : sources) {
    text += fmt::format("- {}: {}\n", ids, source);
  }
  return text;
}

std::string part_text(const Part& part, const std::vector<FigureRow>& rows) {
  std::string text = fmt::format(
      "## {}\n\n{}\n\n| row | workload | machine | predicted (90 % bar) | figure | error | inside "
      "the bar | judges | command |\n|---|---|---|---|---|---|---|---|---|\n",
      part.title, part.words);
  for (const FigureRow& row : rows) {
    text += row.spec.topic == part.topic ? row_text(row) : "";
  }
  return text + "\n" + notes_text(rows, part.topic) + "\n";
}

/// Goals: ResNet-50 and U-Nets within 25 %, CosmicTagger within 35 %.
double goal_of(const FigureRow& row) {
  constexpr double kPublished = 0.25;
  constexpr double kTagger = 0.35;
  return row.spec.options.published.empty() ? kTagger : kPublished;
}

/// The goals, and how many rows reach each.
std::string goals_text(const std::vector<FigureRow>& rows) {
  struct Goal {
    const char* words;
    double share;  ///< of the rows that must reach it
    std::size_t rows = 0;
    std::size_t reached = 0;
    std::string missing = {};  ///< ids
  };
  constexpr double kWidest = 3;
  constexpr double kAll = 1;
  Goal published{"ResNet-50, U-Nets and other published networks within 25 %", kAll};
  Goal tagger{"CosmicTagger within 35 %", kAll};
  Goal inside{"inside the 90 % bar, 9 of 10 rows", 0.9};
  Goal narrow{"bars no wider than a factor of 3 from end to end", kAll};
  const auto count = [](Goal& goal, const FigureRow& row, bool reached) {
    ++goal.rows;
    goal.reached += reached ? 1 : 0;
    if (!reached) {
      goal.missing += (goal.missing.empty() ? "" : ", ") + row.spec.id;
    }
  };
  for (const FigureRow& row : rows) {
    if (row.judges()) {
      count(row.spec.options.published.empty() ? tagger : published, row,
            std::abs(row.error()) <= goal_of(row));
      count(inside, row, row.inside());
      count(narrow, row, row.high / row.low <= kWidest);
    }
  }
  std::string text = "| goal | rows that reach it | | rows that do not |\n|---|---|---|---|\n";
  for (const Goal& goal : {published, tagger, inside, narrow}) {
    const double share = static_cast<double>(goal.reached) / static_cast<double>(goal.rows);
    text +=
        fmt::format("| {} | {} of {} ({:.0f} %) | {} | {} |\n", goal.words, goal.reached, goal.rows,
                    100 * share, share >= goal.share ? "reached" : "**not reached**", goal.missing);
  }
  return text + "\n";
}

std::string summary_text(const std::vector<FigureRow>& rows) {
  struct Tally {
    std::size_t rows = 0;
    std::size_t within_goal = 0;
    std::size_t inside = 0;
    double widest = 1;
    std::vector<machine::Deviation> deviations;
  };
  std::map<std::pair<std::string, machine::Judged>, Tally> tallies;
  Tally all;
  for (const FigureRow& row : rows) {
    if (!row.judges()) {
      continue;
    }
    Tally& tally = tallies[{row.judged_with, row.judged}];
    for (Tally* t : {&tally, &all}) {
      ++t->rows;
      t->within_goal += std::abs(row.error()) <= goal_of(row) ? 1 : 0;
      t->inside += row.inside() ? 1 : 0;
      t->widest = std::max(t->widest, row.high / row.low);
    }
    tally.deviations.push_back(deviations({row}).front());
  }
  std::string text =
      "## How far to trust it\n\nRows that judge: nothing was fitted to them, or they were left "
      "out of the fit one at a time. A past error is the factor that 9 of 10 figures\nare expected "
      "within: the root mean square of the logarithms of predicted over published, times Student's "
      "t for as many rows; it widens every error bar\nof `explain` "
      "(`machines/track_record.yaml`).\n\n| machines | of | rows | past error | mean deviation of "
      "time or memory | within the "
      "goal | "
      "inside the bar | widest bar |\n|---|---|---|---|---|---|---|---|\n";
  for (const auto& [key, tally] : tallies) {
    const machine::PastError error = *machine::past_error(tally.deviations);
    text +=
        fmt::format("| {} | {} | {} | {:.2f} | {:+.0f} % | {} of {} | {} of {} | {:.1f} |\n",
                    key.first, to_string(key.second), error.rows, error.factor, 100 * error.bias,
                    tally.within_goal, tally.rows, tally.inside, tally.rows, tally.widest);
  }
  text += fmt::format(
      "| all | | {} | | | {} of {} | {} of {} | {:.1f} |\n\nTraining and inference on an RDU, "
      "memory of an IPU and of an RDU: no figure to check against.\n\n",
      all.rows, all.within_goal, all.rows, all.inside, all.rows, all.widest);
  return text;
}

/// Rows of one machine and software that all err to the same side: whoever reads a prediction for
/// those should know.
std::string biases_text(const std::vector<FigureRow>& rows) {
  constexpr std::size_t kFew = 4;  // fewer agree by chance too often
  struct Group {
    std::vector<machine::Deviation> deviations;
    std::size_t too_much = 0;
  };
  std::map<std::array<std::string, 3>, Group> groups;  // machine, stack, time or memory
  for (const FigureRow& row : rows) {
    if (row.judges()) {
      const machine::Deviation deviation = deviations({row}).front();
      const std::string what = row.judged == machine::Judged::memory ? "memory" : "time";
      Group& group = groups[{row.machine, row.stack, what}];
      group.deviations.push_back(deviation);
      group.too_much += deviation.predicted_to_published > 1 ? 1 : 0;
    }
  }
  std::string text = fmt::format(
      "Where all rows of a machine with one software err to the same side (at least {} rows), the "
      "next prediction probably does, too; a minus means that too little time or memory is "
      "predicted:\n\n| machine | software | of | rows | mean deviation |\n|---|---|---|---|---|\n",
      kFew);
  for (const auto& [key, group] : groups) {
    const std::size_t count = group.deviations.size();
    if (count >= kFew && (group.too_much == 0 || group.too_much == count)) {
      text += fmt::format("| {} | {} | {} | {} | {:+.0f} % |\n", key[0], key[1], key[2], count,
                          100 * machine::past_error(group.deviations)->bias);
    }
  }
  return text + "\n";
}

std::string constants_text(const std::vector<PreparedRow>& rows) {
  std::string text =
      "## What was fitted\n\nEach constant with the rows that it was fitted to (`fitted_to` in "
      "`machines/*.yaml`), by least squares of logarithms; a test fits them again.\n\n"
      "| constant | value | rows |\n|---|---|---|\n";
  for (const auto& [constant, value] : shipped_constants(rows)) {
    std::string ids;
    for (const std::string& id : constant.rows) {
      ids += (ids.empty() ? "" : ", ") + id;
    }
    text += fmt::format("| {} | {:.3g} | {} |\n", constant.name, value, ids);
  }
  return text +
         "\n`hop_time` of Polaris is fitted to a row of [scaling](scaling.md).\n\nWhat was chosen "
         "knowing the rows, without being fitted: how each stack stores results and launches work "
         "(`stacks` in `machines/*.yaml`), which stack\na row belongs to where its source does not "
         "say (rows n24 and n25 in float32 are taken as NCHW, CosmicTagger's TensorFlow as run "
         "without XLA), stacks of their own for float32 in\nMXNet, Paddle, PyTorch and TensorFlow "
         "1, for inference with PopXL and for inference that reads and decodes images, converted "
         "layouts as traffic, that libraries do\nthe backward pass of a normalization in one "
         "kernel, that a kernel of products has a latency (its value on GPUs is a measurement), "
         "that Winograd's algorithm saves less where\nchannels do not fill a tile, and that sums "
         "which ride on our own GPU kernels take as long as others (`riding_sums`). In that sense "
         "no row on this page is blind, and errors\non rows that nobody here has seen may be "
         "larger.\n\n";
}

std::string kilobytes(machine::ModelledBytes bytes) {
  return machine::short_text(bytes);
}

std::string fits_text() {
  std::string text =
      "## What fits\n\nA verdict is right if the best estimate is on the published side of the "
      "limit; \"within the error bar\" means that the error bar extends beyond the limit.\nThe "
      "U-Net ran with SGD (momentum 0.99), its state off chip, and shares of 0.7, 0.3, 0.45 and "
      "0.7 of a tile for temporaries on its four chips; here one share\nholds for all, the "
      "smallest.\n\n| workload | needs (range) | of | predicted | published | "
      "verdict | command |\n|---|---|---|---|---|---|---|\n";
  for (const FitRow& row : fit_rows()) {
    const machine::MemoryVerdict& memory = row.verdict;
    text += fmt::format("| {} | {} ({} to {}) | {} | {} | {} | {}{} | `{}` |\n", row.spec.workload,
                        kilobytes(memory.needed), kilobytes(memory.needed_low),
                        kilobytes(memory.needed_high), kilobytes(memory.available),
                        to_string(memory.fits), row.spec.published_fits ? "fits" : "does not fit",
                        row.right() ? "right" : "**wrong**",
                        certain(memory.fits) ? "" : ", within the error bar",
                        run::command_of(row.spec.settings, row.spec.options));
  }
  return text + "\n";
}

/// Profiles of this program on machines that are described, kept in the repository.
std::string layers_text() {
  constexpr const char* kFolder = "machines/measured";
  constexpr std::size_t kLayers = 12;
  constexpr double kPerSecond = 1e3;  // milliseconds
  std::string text =
      "## Layer by layer\n\nSteps of this program that were profiled on the machine itself "
      "(`run.profile=true`), beside the prediction; the longest layers of each. Profiles are kept\n"
      "in `machines/measured`, shortened by `tools/records/layer_profile.py`; `explain --measured` "
      "prints the same for any profile.\n\n";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    const run::MeasuredProfile profile = run::read_profile(file.string());
    const run::RunChoice choice = choice_of(profile.settings, {});
    run::require_same_run(profile, choice);
    const machine::Description machine = run::machine_of(choice.configuration.run);
    const run::LayerComparison comparison =
        run::compared(run::predicted_run("", machine, choice).prediction, profile);
    std::string command = fmt::format("cosmictagger explain --measured {}", file.string());
    for (const std::string& setting : profile.settings) {
      command += " " + setting;
    }
    text += fmt::format(
        "{} ({}, revision {}): `{}`\n\n| | measured, ms | predicted, ms | ratio |\n"
        "|---|---|---|---|\n",
        file.stem().string(), profile.target, profile.revision, command);
    std::vector<run::ComparedTime> times{comparison.step};
    times.insert(times.end(), comparison.kinds.begin(), comparison.kinds.end());
    for (const run::ComparedTime& layer : run::longest(comparison.layers, kLayers)) {
      times.push_back(layer);
      times.back().what = "`" + layer.what + "`";
    }
    for (const run::ComparedTime& time : times) {
      text += fmt::format("| {} | {} | {} | {} |\n", time.what,
                          number(kPerSecond * time.measured_seconds),
                          number(kPerSecond * time.predicted.modelled_seconds()),
                          time.measured_seconds > 0 ? number(time.predicted_to_measured()) : "–");
    }
    text += "\n";
  }
  return text;
}

std::string sections_text() {
  std::string text =
      "## Sections\n\nThe plans of the port to an SN10 were written by people "
      "(`run.section_plan`); our rule fuses as long as a section fits the chip, which makes "
      "fewer.\n\n| workload | published | by our rule | command |\n|---|---|---|---|\n";
  for (const SectionRow& row : section_rows()) {
    text += fmt::format("| {} | {} | {} | `{}` |\n", row.workload, row.published, row.predicted,
                        run::command_of(row.settings, row.options));
  }
  return text + "\n";
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

std::string models_page(const std::vector<PreparedRow>& prepared,
                        const std::vector<FigureRow>& rows) {
  std::string text =
      "# Predictions against published figures\n\n"
      "Every number under \"predicted\" on this page is modelled, none was measured. How far the "
      "goals are reached, on rows that nothing was fitted to or that were left out of the fit:\n\n";
  text += goals_text(rows);
  text +=
      "Most rows beyond 25 % are of TensorFlow 1 on GPUs: batches of 1, where calls of the host "
      "take "
      "the time, and U-Nets in TF32. Of CosmicTagger, TensorFlow on Polaris is slower than its\n"
      "kernels explain, for a reason that was not recorded.\n\nEach row ends with the command that "
      "reproduces it; a test runs these "
      "commands and compares. The page and the record of past errors are written by\n\n"
      "```sh\ncmake --build build/release --target models_page\n"
      "build/release/tools/models_page --fit                             # what fitting again "
      "would "
      "give\n"
      "build/release/tools/models_page --if gpu cosmictagger riding_sums 0.9   # how far rows "
      "would "
      "be off if an assumed figure were another\n"
      "build/release/tools/models_page --record > machines/track_record.yaml && cmake --build "
      "build/release --target models_page\n"
      "build/release/tools/models_page > docs/models.md\n```\n\n"
      "and tests fail if they are not what these commands write. Each takes less than 10 s on a "
      "quiet machine. \"Error\" is that of "
      "the\nprediction that judges: if a constant was fitted to the row, it is fitted again "
      "without "
      "it (\"left out\"). Figures are per second on all machines together, milliseconds per step, "
      "or\nGB.\n\n";
  text += summary_text(rows);
  text += biases_text(rows);
  for (const Part& part : kParts) {
    text += part_text(part, rows);
  }
  return text + layers_text() + constants_text(prepared) + fits_text() + sections_text() +
         unpredicted_text();
}

}  // namespace cosmic::validation
