// `cosmictagger data list`: what is in a file, from its index alone.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/data_commands.hpp"
#include "core/error.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/event_files.hpp"
#include "data/larcv/sparse2d_reader.hpp"
#include "picture/axis.hpp"

namespace cosmic::cli {
namespace {

using namespace data::larcv;

/// A table that is counted, and what its rows are.
struct Counted {
  std::string noun;
  std::uint64_t rows = 0;
};

std::vector<Counted> counts_of(const EventFile& file, const ProductName& product) {
  if (product.type == kSparse2d) {
    return {{"pixels", file.table<VoxelRow>(product, kVoxelsTable).rows()}};
  }
  if (product.type == kCluster2d) {
    return {{"clusters", file.table<IdExtentsRow>(product, kClusterExtentsTable).rows()},
            {"pixels", file.table<VoxelRow>(product, kVoxelsTable).rows()}};
  }
  if (product.type == kParticle) {
    return {{"particles", file.table<ParticleRow>(product, kParticlesTable).rows()}};
  }
  if (product.type == kBox2d) {
    return {{"boxes", file.table<BoxRow>(product, kBoxesTable).rows()}};
  }
  return {};
}

/// "6.6", "9,719"
std::string mean_text(std::uint64_t rows, std::int64_t events) {
  constexpr double kFractionMatters = 100;
  const double mean = static_cast<double>(rows) / static_cast<double>(events);
  return mean < kFractionMatters ? fmt::format("{:.3g}", mean)
                                 : picture::grouped(std::lround(mean));
}

/// "48,594 pixels, 9,719 per event"
std::string counts_text(const EventFile& file, const ProductName& product) {
  std::string text;
  for (const Counted& counted : counts_of(file, product)) {
    text += text.empty() ? "" : "; ";
    text += picture::grouped(static_cast<std::int64_t>(counted.rows)) + " " + counted.noun;
    if (file.size() > 0) {
      text += ", " + mean_text(counted.rows, file.size()) + " per event";
    }
  }
  return text.empty() ? "this program does not read this type" : text;
}

/// Of a product that has images.
std::optional<data::ImageMeta> grid_of(const EventFile& file, const ProductName& product,
                                       ReadWarnings& warnings) {
  if (product.type != kSparse2d) {
    return std::nullopt;
  }
  return Sparse2dReader(file, product.producer, PixelMeaning::charge, warnings).first_meta();
}

std::string grid_text(const EventFile& file, const ProductName& product, ReadWarnings& warnings) {
  const auto meta = grid_of(file, product, warnings);
  return meta ? fmt::format("; {} wires x {} ticks", meta->columns(), meta->rows()) : "";
}

nlohmann::ordered_json file_json(const std::filesystem::path& path) {
  ReadWarnings warnings;
  const EventFile file(path, warnings);
  nlohmann::ordered_json products = nlohmann::ordered_json::array();
  for (const ProductName& product : file.products()) {
    nlohmann::ordered_json entry{{"type", product.type}, {"producer", product.producer}};
    for (const Counted& counted : counts_of(file, product)) {
      entry[counted.noun] = counted.rows;
    }
    if (const auto meta = grid_of(file, product, warnings)) {
      entry["wires"] = meta->columns();
      entry["ticks"] = meta->rows();
    }
    products.push_back(std::move(entry));
  }
  nlohmann::ordered_json notes = nlohmann::ordered_json::array();
  for (const ReadWarning& warning : warnings.list()) {
    notes.push_back(
        {{"count", warning.count}, {"what", description(warning.kind)}, {"first", warning.first}});
  }
  return {{"file", path.string()},
          {"events", file.size()},
          {"bytes", std::filesystem::file_size(path)},
          {"products", std::move(products)},
          {"notes", std::move(notes)}};
}

void list_file(const std::filesystem::path& path) {
  ReadWarnings warnings;
  const EventFile file(path, warnings);
  fmt::print("{}: {} events, {:.1f} MB\n", path.string(), picture::grouped(file.size()),
             static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  std::size_t type_width = 0;
  std::size_t producer_width = 0;
  for (const ProductName& product : file.products()) {
    type_width = std::max(type_width, product.type.size());
    producer_width = std::max(producer_width, product.producer.size());
  }
  for (const ProductName& product : file.products()) {
    fmt::print("  {:<{}}  {:<{}}  {}{}\n", product.type, type_width, product.producer,
               producer_width, counts_text(file, product), grid_text(file, product, warnings));
  }
  for (const ReadWarning& warning : warnings.list()) {
    fmt::print("  note: {} {}: {}\n", warning.count, description(warning.kind), warning.first);
  }
}

}  // namespace

void add_data_list(Command& data) {
  auto files = std::make_shared<std::vector<std::filesystem::path>>();  // the callback holds it too
  Command* command = data.add_subcommand("list", "List products, counts and image sizes of files");
  command->add_option("FILE", *files, "larcv3 files, or patterns such as 'runs/*.h5'")->required();
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print one JSON object");
  command->callback([files, json] {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const std::filesystem::path& file : find_event_files(*files, "FILE")) {
      if (*json) {
        list.push_back(file_json(file));
      } else {
        list_file(file);
      }
    }
    if (*json) {
      fmt::print("{}\n", nlohmann::ordered_json{{"files", std::move(list)}}.dump(2));
    }
  });
}

}  // namespace cosmic::cli
