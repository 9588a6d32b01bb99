// Writes what the fuzzer of the whole inference starts from, beside the files of the reader's
// fuzzer, which are smaller: events with every type of product.
//
//   make_infer_seeds FOLDER
#include <filesystem>
#include <iostream>

#include "data/larcv/written_content.hpp"

namespace cosmic::data::larcv {
namespace {

void write_seed(const std::filesystem::path& file, std::int64_t events) {
  EventFileWriter writer(file, {.existing = Existing::replace});
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
  cosmic::data::larcv::write_seed(folder / "two_events", 2);
  cosmic::data::larcv::write_seed(folder / "without_events", 0);
  return 0;
}
