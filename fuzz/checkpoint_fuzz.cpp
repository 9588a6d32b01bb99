// Gives any bytes to whatever `infer` and a resumed training read of checkpoints: as a file of ours
// or of the reference, found as --weights finds it, and put into a model; and as the index of a
// folder. The only things that may happen are a DataError, or a model whose state can be saved
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/checkpoint_index.hpp"
#include "core/error.hpp"
#include "graph/builder.hpp"
#include "memory_file.hpp"
#include "target/registry.hpp"

namespace cosmic::checkpoint {
namespace {

/// The weights of the seeds: two parameters, and in the reference's a running mean.
graph::Graph program(std::int64_t first, std::int64_t second) {
  graph::Builder g;
  const graph::ValueId a = g.parameter("a.weight", {first}, graph::Initializer::constant(0));
  const graph::ValueId b = g.parameter("b.weight", {second}, graph::Initializer::constant(0));
  g.output("a", a);
  g.output("b", b);
  return g.take();
}

void restore_into(const graph::Graph& graph, const Checkpoint& loaded) {
  static const std::unique_ptr<target::Target> host = target::make_target("reference");
  session::ModelState state(*host, {&graph}, 1);
  for (const auto how : {&restore_weights, &restore}) {
    try {
      how(loaded, state);
      if (capture(state, loaded.step, loaded.run).tensors.empty()) {
        std::abort();
      }
    } catch (const DataError&) {
    }
  }
}

void read_as_checkpoint(const std::filesystem::path& path) {
  static const graph::Graph ours = program(8, 8);
  static const graph::Graph theirs = program(2, 4);
  try {
    const LoadedCheckpoint loaded = load_newest(path);
    restore_into(ours, loaded.checkpoint);
    restore_into(theirs, loaded.checkpoint);
  } catch (const DataError&) {
  }
}

void read_as_index(const std::string& text, const std::filesystem::path& path) {
  std::vector<Warning> warnings;
  to_text(parse_index(text, path, warnings));
}

}  // namespace
}  // namespace cosmic::checkpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const cosmic::MemoryFile file;
  file.replace(data, size);
  cosmic::checkpoint::read_as_checkpoint(file.path());
  cosmic::checkpoint::read_as_index(std::string(reinterpret_cast<const char*>(data), size),
                                    file.path());
  return 0;
}
