#include "data/larcv/merge_files.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/product_join.hpp"
#include "data/larcv/read_place.hpp"
#include "data/larcv/table.hpp"

namespace cosmic::data::larcv {
namespace {

/// Products are copied without a look at what is odd in them; `data check` looks.
std::int64_t copy_events(const std::filesystem::path& path, std::size_t number, ProductJoin& join,
                         EventFileWriter& writer) {
  ReadWarnings warnings;
  const EventFile file(path, warnings);
  ChunkWorkspace workspace;
  TableReader<EventIdRow> ids(file.event_ids(), workspace);
  ReadPlace place{.file = file.name()};
  for (std::int64_t entry = 0; entry < file.size(); ++entry) {
    place.event = entry;
    at_place(place, [&] {
      const EventIdRow& id = ids.row(static_cast<std::uint64_t>(entry));
      writer.begin_event({id.run, id.subrun, id.event});
    });
    join.copy(number, entry, writer);
  }
  return file.size();
}

/// What the files say about their products: once where they agree, otherwise all of it, a line
/// each.
void keep_descriptions(const std::vector<std::filesystem::path>& files, EventFileWriter& writer) {
  std::map<std::string, std::pair<ProductName, std::map<std::string, std::set<std::string>>>> said;
  ReadWarnings warnings;
  for (const std::filesystem::path& path : files) {
    const EventFile file(path, warnings);
    for (const ProductName& product : file.products()) {
      for (const auto& [name, text] : file.texts_of(product)) {
        auto& [of_product, texts] = said[group_name(product)];
        of_product = product;
        texts[name].insert(text);
      }
    }
  }
  for (const auto& [group, of_product] : said) {
    std::map<std::string, std::string> texts;
    for (const auto& [name, all] : of_product.second) {
      for (const std::string& one : all) {
        texts[name] += (texts[name].empty() ? "" : "\n") + one;
      }
    }
    writer.describe(of_product.first, std::move(texts));
  }
}

}  // namespace

Merged merge_files(const std::vector<std::filesystem::path>& files,
                   const std::filesystem::path& output, Existing existing) {
  ProductJoin join(files, {});
  EventFileWriter writer(output, {.existing = existing});
  Merged merged{.left_out = join.left_out()};
  for (std::size_t i = 0; i < files.size(); ++i) {
    merged.events += copy_events(files[i], i, join, writer);
  }
  keep_descriptions(files, writer);
  writer.commit();
  return merged;
}

}  // namespace cosmic::data::larcv
