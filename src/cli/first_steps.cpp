#include "cli/first_steps.hpp"

namespace cosmic::cli {

std::string_view first_steps() {
  return R"(CosmicTagger separates cosmic-ray from neutrino pixels in the wire-plane images of a liquid-argon detector.

To begin with:
  cosmictagger generate --events 10 --seed 1 --output events.h5    events of a simulated detector, if you have none
  cosmictagger tag  events.h5                                      tags with the network that comes with the program
  cosmictagger view events.tagged.h5                               shows them in a browser

`cosmictagger --help` lists all commands, `cosmictagger help COMMAND` the options of one.
)";
}

}  // namespace cosmic::cli
