// `cosmictagger data check`: a pre-flight check of files; what is wrong ends in a status of 3.
#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/data_commands.hpp"
#include "cli/progress_bar.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/stopwatch.hpp"
#include "core/thread_budget.hpp"
#include "data/larcv/event_files.hpp"
#include "data/larcv/file_check.hpp"
#include "picture/axis.hpp"

namespace cosmic::cli {
namespace {

using data::larcv::FileCheck;

enum class Odd { fails, passes };

struct CheckOptions {
  std::vector<std::filesystem::path> files;
  Odd odd = Odd::fails;
  bool json = false;
  data::larcv::FileCheckOptions file;
};

void print_planes(const FileCheck& check) {
  fmt::print("  {:<8}{:>14}", "", "pixels");
  if (check.labelled) {
    fmt::print("{:>14}{:>14}{:>14}", "background", "cosmic", "neutrino");
  }
  fmt::print("\n");
  for (std::size_t number = 0; number < check.planes.size(); ++number) {
    const data::larcv::PlaneStatistics& plane = check.planes[number];
    fmt::print("  plane {:<2}{:>14}", number, picture::grouped(plane.pixels));
    if (check.labelled) {
      for (const std::int64_t count : plane.labels) {
        fmt::print("{:>14}", picture::grouped(count));
      }
    }
    fmt::print("\n");
  }
}

void print_content(const FileCheck& check) {
  fmt::print("  {} events on {} wires x {} ticks, charge {:.4g} to {:.4g}{}\n",
             picture::grouped(check.events), check.meta.columns(), check.meta.rows(),
             check.least_charge, check.greatest_charge, check.labelled ? "" : ", no labels");
  print_planes(check);
  if (check.empty_events > 0) {
    fmt::print("  {} events without any pixel\n", picture::grouped(check.empty_events));
  }
  if (check.labelled && check.events_without_neutrino > 0) {
    fmt::print("  {} events without a neutrino pixel\n",
               picture::grouped(check.events_without_neutrino));
  }
  for (const data::larcv::ProductName& product : check.unknown) {
    fmt::print("  {} of {} was not checked: this program does not read this type\n", product.type,
               product.producer);
  }
}

void print_faults(const FileCheck& check) {
  for (const std::string& problem : check.problems) {
    fmt::print("  WRONG  {}\n", problem);
  }
  const auto shown = static_cast<std::int64_t>(check.problems.size());
  if (check.problem_count > shown) {
    fmt::print("  WRONG  and {} more\n", picture::grouped(check.problem_count - shown));
  }
  for (const data::larcv::ReadWarning& warning : check.mended) {
    fmt::print("  ODD    {} {}; the first: {}\n",
               picture::grouped(static_cast<std::int64_t>(warning.count)),
               description(warning.kind), warning.first);
  }
}

const char* verdict(const FileCheck& check) {
  if (check.good()) {
    return "good";
  }
  return check.problem_count == 0 ? "odd" : "NOT good";
}

nlohmann::ordered_json check_json(const std::filesystem::path& path, const FileCheck& check) {
  using Json = nlohmann::ordered_json;
  Json planes = Json::array();
  for (const data::larcv::PlaneStatistics& plane : check.planes) {
    Json entry{{"pixels", plane.pixels}};
    if (check.labelled) {
      entry["background"] = plane.labels[0];
      entry["cosmic"] = plane.labels[1];
      entry["neutrino"] = plane.labels[2];
    }
    planes.push_back(std::move(entry));
  }
  Json odd = Json::array();
  for (const data::larcv::ReadWarning& warning : check.mended) {
    odd.push_back(
        {{"count", warning.count}, {"what", description(warning.kind)}, {"first", warning.first}});
  }
  Json unknown = Json::array();
  for (const data::larcv::ProductName& product : check.unknown) {
    unknown.push_back({{"type", product.type}, {"producer", product.producer}});
  }
  return {{"file", path.string()},
          {"verdict", check.good()               ? "good"
                      : check.problem_count == 0 ? "odd"
                                                 : "damaged"},
          {"events", check.events},
          {"wires", check.meta.columns()},
          {"ticks", check.meta.rows()},
          {"labelled", check.labelled},
          {"least_charge", check.least_charge},
          {"greatest_charge", check.greatest_charge},
          {"planes", std::move(planes)},
          {"empty_events", check.empty_events},
          {"events_without_neutrino", check.events_without_neutrino},
          {"not_checked", std::move(unknown)},
          {"problems", check.problems},
          {"problem_count", check.problem_count},
          {"odd", std::move(odd)},
          {"fingerprint", check.fingerprint},
          {"products_fingerprint", check.products_fingerprint}};
}

FileCheck check_one(const std::filesystem::path& path, data::larcv::FileCheckOptions options) {
  constexpr double kPatienceSeconds = 0.5;
  ProgressBar bar(kPatienceSeconds);
  options.progress = [&](double done) { bar.update(done, path.filename().string()); };
  FileCheck check = check_file(path, options);
  bar.finish();
  return check;
}

void print_check(const std::filesystem::path& path, const FileCheck& check, double seconds) {
  fmt::print("{}: {}, {:.1f} s\n", path.string(), verdict(check), seconds);
  if (check.meta.columns() > 0) {
    print_content(check);
  }
  print_faults(check);
  if (check.problem_count == 0) {
    fmt::print("  fingerprint {}, of all other products {}\n", check.fingerprint,
               check.products_fingerprint);
  }
}

void check_all(const CheckOptions& options) {
  std::size_t wrong = 0;
  std::size_t odd = 0;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::filesystem::path& path : options.files) {
    data::larcv::FileCheckOptions file = options.file;
    file.threads = file.threads == 0 ? thread_budget().threads : file.threads;
    const Stopwatch watch;
    const FileCheck check = check_one(path, file);
    if (options.json) {
      list.push_back(check_json(path, check));
    } else {
      print_check(path, check, watch.seconds());
    }
    wrong += check.problem_count > 0 ? 1 : 0;
    odd += check.problem_count == 0 && !check.good() ? 1 : 0;
  }
  if (options.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"files", std::move(list)}}.dump(2));
  }
  COSMIC_REQUIRE(DataError, wrong == 0,
                 wrong << " of " << options.files.size()
                       << " files are damaged (see above); repair them or leave them out");
  COSMIC_REQUIRE(DataError, odd == 0 || options.odd == Odd::passes,
                 odd << " of " << options.files.size()
                     << " files are odd (see above: the reader would repair them, but no correct "
                        "writer produces this); find out what wrote them, or use --accept-odd");
}

}  // namespace

void add_data_check(Command& data) {
  auto options = std::make_shared<CheckOptions>();  // the callback holds it too
  options->file.threads = 0;
  Command* command = data.add_subcommand(
      "check", "Read everything in files and report problems; exit status 3 if there are any");
  command->add_option("FILE", options->files, "larcv3 files, or patterns such as 'runs/*.h5'")
      ->required();
  command->add_option("--image", options->file.image_producer, "Producer of the images")
      ->capture_default_str();
  command->add_option("--labels", options->file.label_producer, "Producer of the labels")
      ->capture_default_str();
  command->add_flag_callback(
      "--accept-odd", [options] { options->odd = Odd::passes; },
      "Accept files whose only problems can be repaired while reading");
  command->add_option("--threads", options->file.threads, "Threads; 0 for all cores")
      ->between(0, kMostThreads)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options] {
    options->files = data::larcv::find_event_files(options->files, "FILE");
    check_all(*options);
  });
}

}  // namespace cosmic::cli
