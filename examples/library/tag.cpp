// Tags one event with the library for C++: a straight track on each plane.
//
//   tag_cpp WEIGHTS [ROWS COLUMNS]
#include <cosmictagger/tagger.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

namespace {

cosmictagger::Event track(const cosmictagger::Tagger& tagger) {
  constexpr std::uint32_t length = 100;
  cosmictagger::PlanePixels plane;
  for (std::uint32_t i = 0; i < length; ++i) {
    plane.rows.push_back(i * tagger.rows() / length);
    plane.columns.push_back(i * tagger.columns() / length);
    plane.charges.push_back(40);
  }
  return {plane, plane, plane};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    std::cerr << "usage: " << argv[0] << " WEIGHTS [ROWS COLUMNS]\n";
    return 2;
  }
  cosmictagger::TaggerOptions options{.weights = argv[1]};
  if (argc == 4) {
    options.rows = static_cast<std::uint32_t>(std::atoi(argv[2]));
    options.columns = static_cast<std::uint32_t>(std::atoi(argv[3]));
  }
  try {
    cosmictagger::Tagger tagger(options);
    std::cout << "CosmicTagger " << cosmictagger::version() << ", " << tagger.weights() << ", step "
              << tagger.step() << ", " << tagger.memory_bytes() << " bytes\n";
    for (const cosmictagger::PlaneTags& plane : tagger.tag(track(tagger))) {
      std::cout << std::count(plane.tag.begin(), plane.tag.end(), cosmictagger::cosmic)
                << " pixels are cosmic, "
                << std::count(plane.tag.begin(), plane.tag.end(), cosmictagger::neutrino)
                << " neutrino\n";
    }
    for (const std::string& oddity : tagger.oddities()) {
      std::cout << "unlike the events of the training: " << oddity << "\n";
    }
  } catch (const cosmictagger::Error& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(error.fault());
  }
}
