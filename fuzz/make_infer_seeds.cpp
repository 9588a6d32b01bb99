// Writes what the fuzzer of the whole inference starts from, beside the files of the reader's
// fuzzer: events with every type of product, packed and not.
//
//   make_infer_seeds FOLDER
#include <filesystem>
#include <iostream>

#include "data/larcv/written_content.hpp"

namespace cosmic::data::larcv {
namespace {

void write_seed(const std::filesystem::path& file, std::int64_t events, int level) {
  EventFileWriter writer(file, {.existing = Existing::replace, .deflate_level = level});
  for (std::int64_t number = 0; number < events; ++number) {
    write(writer, some_event(number, grid_of(8, 8)));
  }
  writer.commit();
}

}  // namespace
}  // namespace cosmic::data::larcv

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_infer_seeds FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  cosmic::data::larcv::write_seed(folder / "packed", 2, 1);
  cosmic::data::larcv::write_seed(folder / "plain", 2, 0);
  cosmic::data::larcv::write_seed(folder / "without_events", 0, 1);
  return 0;
}
