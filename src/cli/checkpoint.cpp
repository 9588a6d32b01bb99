// `cosmictagger checkpoint`: looks at checkpoints, compares them, takes the weights out.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/checkpoint_difference.hpp"
#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/reference_file.hpp"
#include "cli/checkpoint_json.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/tensor_statistics.hpp"
#include "compile/passes/passes.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "picture/axis.hpp"
#include "run/input_files.hpp"
#include "run/run_lock.hpp"

namespace cosmic::cli {
namespace {

using checkpoint::Checkpoint;
using checkpoint::CheckpointDifference;
using checkpoint::LoadedCheckpoint;
using checkpoint::Numbers;
using checkpoint::TensorDifference;
using checkpoint::TextDifference;
using picture::grouped;

// As diff(1): neither the same nor an error.
constexpr int kDifferent = 1;

// Texts of a checkpoint may be a stranger's.
constexpr auto kReplaceWhatIsNotUtf8 = nlohmann::ordered_json::error_handler_t::replace;

/// Tells of files that had to be passed over.
LoadedCheckpoint load(const std::filesystem::path& location, Numbers numbers) {
  LoadedCheckpoint loaded = checkpoint::load_newest(location, numbers);
  for (const checkpoint::Warning& warning : loaded.warnings) {
    fmt::print("WARNING {}: {}\n", warning.file.string(), escaped(warning.reason));
  }
  return loaded;
}

struct Totals {
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  std::int64_t not_finite = 0;

  void add(const session::Tensor& tensor) {
    ++tensors;
    elements += tensor.type.elements();
    bytes += tensor.type.bytes();
    not_finite += statistics_of(tensor).not_finite;
  }
};

void print_totals(const char* what, const Totals& totals) {
  constexpr double kBytesPerMegabyte = 1e6;
  fmt::print("  {:<12}{} tensors, {} numbers, {:.3g} MB\n", what, grouped(totals.tensors),
             grouped(totals.elements), static_cast<double>(totals.bytes) / kBytesPerMegabyte);
  if (totals.not_finite > 0) {
    fmt::print("  {:<12}{} NUMBERS ARE INFINITE OR NOT A NUMBER\n", "", grouped(totals.not_finite));
  }
}

/// A text that a stranger may have written; one line beside its name, more lines below.
void print_text(const std::string& name, const std::string& text) {
  if (text.empty()) {
    return;
  }
  if (text.find('\n') == std::string::npos) {
    fmt::print("  {:<12}{}\n", name, escaped(text));
    return;
  }
  fmt::print("  {}\n", name);
  for (const std::string& line : checkpoint::compare_lines(name, text, "").left) {
    fmt::print("    {}\n", escaped(line));
  }
}

void print_tensors(const Checkpoint& shown) {
  std::size_t width = 0;
  for (const auto& [name, tensor] : shown.tensors) {
    width = std::max(width, name.size());
  }
  fmt::print("  {:<{}}  {:<20}{:>12}{:>12}{:>12}{:>12}\n", "tensor", width, "type", "mean",
             "deviation", "least", "greatest");
  for (const auto& [name, tensor] : shown.tensors) {
    const TensorStatistics statistics = statistics_of(tensor);
    fmt::print("  {:<{}}  {:<20}{:>12.4g}{:>12.4g}{:>12.4g}{:>12.4g}{}\n", escaped(name), width,
               to_string(tensor.type), statistics.mean, statistics.deviation, statistics.least,
               statistics.greatest,
               statistics.not_finite > 0 ? fmt::format("  {} NOT FINITE", statistics.not_finite)
                                         : std::string());
  }
}

void print_checkpoint(const LoadedCheckpoint& loaded) {
  const Checkpoint& shown = loaded.checkpoint;
  fmt::print("{}: {}\n", loaded.file.string(), to_string(shown.origin));
  if (shown.origin != checkpoint::Origin::weights || shown.step > 0) {
    fmt::print("  {:<12}{}\n", "step", grouped(shown.step));
  }
  Totals weights;
  Totals averages;
  Totals optimizer;
  for (const auto& [name, tensor] : shown.tensors) {
    const bool average = !compile::averaged_weight(name).empty();
    (average ? averages : compile::is_optimizer_state(name) ? optimizer : weights).add(tensor);
  }
  print_totals("weights", weights);
  if (averages.tensors > 0) {
    print_totals("average", averages);
  }
  if (optimizer.tensors > 0) {
    print_totals("optimizer", optimizer);
  }
  print_text("program", shown.run.program);
  print_text("schedule", shown.run.schedule);
  print_text("random", shown.run.random);
  print_text("loader", shown.run.loader);
  print_text("data", shown.run.data_fingerprint);
  for (const auto& [name, text] : shown.run.notes) {
    print_text(escaped(name), text);
  }
  print_text("configuration", shown.run.configuration);
}

/// Every checkpoint of a folder, whether it is good or why not.
void print_folder(const std::filesystem::path& folder) {
  std::vector<checkpoint::Warning> warnings;
  fmt::print("{}:\n", folder.string());
  for (const std::filesystem::path& file : checkpoint::find_checkpoints(folder, warnings)) {
    try {
      fmt::print("  {:<28}step {}\n", file.filename().string(),
                 grouped(checkpoint::load_checkpoint(file).step));
    } catch (const checkpoint::NonFiniteCheckpoint& error) {
      fmt::print("  {:<28}NOT FINITE {}\n", file.filename().string(), escaped(error.found.text()));
    } catch (const DataError& error) {
      fmt::print("  {:<28}DAMAGED {}\n", file.filename().string(), escaped(error.what()));
    }
  }
}

struct ShowOptions {
  std::filesystem::path location;
  bool tensors = false;
  bool json = false;
};

void show(const ShowOptions& options) {
  if (options.json) {
    const LoadedCheckpoint loaded = checkpoint::load_newest(
        options.location,
        std::filesystem::is_directory(options.location) ? Numbers::finite : Numbers::any);
    const TensorList tensors = options.tensors ? TensorList::with_statistics : TensorList::left_out;
    fmt::print("{}\n", checkpoint_json(loaded, tensors).dump(2, ' ', false, kReplaceWhatIsNotUtf8));
    return;
  }
  if (std::filesystem::is_directory(options.location)) {
    print_folder(options.location);
  }
  // Of a folder, what a run would take up; of a file, what is in it.
  const LoadedCheckpoint loaded =
      load(options.location,
           std::filesystem::is_directory(options.location) ? Numbers::finite : Numbers::any);
  print_checkpoint(loaded);
  if (options.tensors) {
    print_tensors(loaded.checkpoint);
  }
}

void print_lines(const TextDifference& text) {
  fmt::print("{}\n", escaped(text.what));
  if (text.left.empty() && text.right.empty()) {
    fmt::print("  the same lines in another order\n");
  }
  for (const std::string& line : text.left) {
    fmt::print("  A {}\n", escaped(line));
  }
  for (const std::string& line : text.right) {
    fmt::print("  B {}\n", escaped(line));
  }
}

std::string extent_of(const TensorDifference& tensor) {
  if (!tensor.left) {
    return "only in B, " + to_string(*tensor.right);
  }
  if (!tensor.right) {
    return "only in A, " + to_string(*tensor.left);
  }
  if (*tensor.left != *tensor.right) {
    return to_string(*tensor.left) + " in A, " + to_string(*tensor.right) + " in B";
  }
  return fmt::format(
      "{} of {} differ, by at most {:.3g} (relative: {:.3g}){}", grouped(tensor.different),
      grouped(tensor.left->elements()), tensor.largest, tensor.largest_relative,
      tensor.incomparable > 0 ? fmt::format("; {} infinite or NaN", grouped(tensor.incomparable))
                              : std::string());
}

void print_difference(const CheckpointDifference& difference) {
  if (difference.step) {
    fmt::print("step\n  A {}\n  B {}\n", grouped(difference.step->first),
               grouped(difference.step->second));
  }
  for (const TextDifference& text : difference.texts) {
    print_lines(text);
  }
  if (difference.tensors.empty()) {
    fmt::print("tensors\n  all {} are identical\n", difference.tensors_in_both);
    return;
  }
  fmt::print("tensors ({} are in both, {} differ)\n", difference.tensors_in_both,
             difference.tensors.size());
  for (const TensorDifference& tensor : difference.tensors) {
    fmt::print("  {}: {}\n", escaped(tensor.name), extent_of(tensor));
  }
}

struct DiffOptions {
  std::filesystem::path left;
  std::filesystem::path right;
  bool weights = false;
  bool json = false;
};

/// As if its weights were all there is.
void keep_weights(Checkpoint& checkpoint) {
  Checkpoint weights;
  weights.tensors = weights_of(checkpoint);
  checkpoint = std::move(weights);
}

void diff(const DiffOptions& options) {
  const auto read = options.json ? checkpoint::load_newest : load;
  LoadedCheckpoint left = read(options.left, Numbers::any);
  LoadedCheckpoint right = read(options.right, Numbers::any);
  if (options.weights) {
    keep_weights(left.checkpoint);
    keep_weights(right.checkpoint);
  }
  const CheckpointDifference difference = compare(left.checkpoint, right.checkpoint);
  if (options.json) {
    nlohmann::ordered_json json = difference_json(difference);
    json["a_file"] = left.file.string();
    json["b_file"] = right.file.string();
    fmt::print("{}\n", json.dump(2, ' ', false, kReplaceWhatIsNotUtf8));
    if (!difference.nothing()) {
      throw ExitStatus(kDifferent);
    }
    return;
  }
  if (difference.nothing()) {
    fmt::print("identical: {} tensors{}\n", difference.tensors_in_both,
               options.weights ? "" : ", step " + grouped(left.checkpoint.step));
    return;
  }
  fmt::print("A {}\nB {}\n", left.file.string(), right.file.string());
  print_difference(difference);
  throw ExitStatus(kDifferent);  // the status alone: what there is to say was said
}

struct ConvertOptions {
  std::filesystem::path from;
  std::filesystem::path to;
};

void convert(const ConvertOptions& options, Existing existing) {
  require_output(options.to, {.existing = existing, .inputs = run::weights_files(options.from)});
  const LoadedCheckpoint loaded = load(options.from, Numbers::finite);
  if (options.to.extension() == ".ckpt") {
    checkpoint::save_for_reference(options.to, loaded.checkpoint, existing);
  } else {
    checkpoint::save_weights(options.to, loaded.checkpoint, {.existing = existing});
  }
  fmt::print("{}: {} tensors from {}, {}{}\n", options.to.string(),
             weights_of(loaded.checkpoint).size(), loaded.file.string(),
             to_string(loaded.checkpoint.origin),
             has_averages(loaded.checkpoint) ? "; the moving average of its weights" : "");
}

struct RewindOptions {
  std::filesystem::path folder;
  std::int64_t step = 0;
};

void rewind_folder(const RewindOptions& options) {
  // A training in between would write its own idea of the newest checkpoint.
  const run::RunLock lock(
      std::filesystem::absolute(options.folder / "").parent_path().parent_path());
  const std::filesystem::path file = checkpoint::rewind(options.folder, options.step);
  fmt::print(
      "{}: the run goes on from here when it is started again; later checkpoints stay until new "
      "ones take their place\n",
      file.string());
}

constexpr const char* kLocation =
    "A file (.safetensors or the reference's .ckpt), an index, or a folder of checkpoints";

void add_show(Command& command) {
  auto options = std::make_shared<ShowOptions>();  // the callback holds it too
  Command* show_command = command.add_subcommand(
      "show", "Show the contents of a checkpoint; for a folder, of its newest one");
  show_command->add_option("PATH", options->location, kLocation)->required();
  show_command->add_flag("--tensors", options->tensors, "List every tensor with its statistics");
  show_command->add_flag("--json", options->json, "Print one JSON object");
  show_command->callback([options] { show(*options); });
}

void add_diff(Command& command) {
  auto options = std::make_shared<DiffOptions>();
  Command* diff_command = command.add_subcommand(
      "diff", "Compare two checkpoints bit for bit; exit status 0 if they are identical, 1 if not");
  diff_command->add_option("A", options->left, kLocation)->required();
  diff_command->add_option("B", options->right, kLocation)->required();
  diff_command->add_flag("--weights", options->weights, "Compare only parameters and buffers");
  diff_command->add_flag("--json", options->json, "Print one JSON object");
  diff_command->callback([options] { diff(*options); });
}

void add_convert(Command& command) {
  auto options = std::make_shared<ConvertOptions>();
  Command* convert_command =
      command.add_subcommand("convert",
                             "Write only the weights, under the reference's names: as safetensors, "
                             "with their settings, or "
                             "as .ckpt for PyTorch and the reference");
  convert_command->add_option("IN", options->from, kLocation)->required();
  convert_command->add_option("OUT", options->to, "The file to write: .safetensors or .ckpt")
      ->required();
  const OverwriteFlag overwrite(*convert_command);
  convert_command->callback([options, overwrite] { convert(*options, overwrite.existing()); });
}

void add_rewind(Command& command) {
  auto options = std::make_shared<RewindOptions>();
  Command* rewind_command = command.add_subcommand(
      "rewind", "Make a run go on from an older checkpoint; not while the run is running");
  rewind_command->add_option("FOLDER", options->folder, "The folder of checkpoints of the run")
      ->required();
  rewind_command->add_option("STEP", options->step, "The step of the checkpoint to go back to")
      ->required();
  rewind_command->callback([options] { rewind_folder(*options); });
}

}  // namespace

void add_checkpoint(Command& app) {
  Command* command =
      app.add_subcommand("checkpoint", "Show, compare and convert checkpoints, or go back to one");
  command->require_subcommand();
  add_show(*command);
  add_diff(*command);
  add_convert(*command);
  add_checkpoint_publish(*command);
  add_rewind(*command);
}

}  // namespace cosmic::cli
