// Gives any bytes to the readers of machine descriptions and of section plans. The only thing that
// may happen is a UserError, or a machine whose predictions are numbers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error.hpp"
#include "graph/builder.hpp"
#include "machine/prediction.hpp"
#include "machine/section_plan.hpp"
#include "target/registry.hpp"

namespace cosmic::machine {
namespace {

graph::Graph small_program() {
  graph::Builder g;
  const graph::ValueId image = g.input("image", {graph::DType::f32, {1, 4, 16, 16}});
  const graph::ValueId kernel =
      g.parameter("kernel", {4, 4, 3, 3}, graph::Initializer::constant(0));
  g.output("y", g.add(graph::LeakyRelu{}, {g.add(graph::Conv{}, {image, kernel})}));
  return g.take();
}

void read_as_description(std::string_view text) {
  static const graph::Graph program = small_program();
  try {
    const Description machine = parse_description(text, "fuzz", target::machine_families());
    const Prediction prediction = predict(machine, program);
    if (std::isnan(prediction.step.best.modelled_seconds())) {
      std::abort();
    }
  } catch (const UserError&) {
  }
}

void read_as_plan(std::string_view text) {
  try {
    parse_section_plan(text, "fuzz");
  } catch (const UserError&) {
  }
}

}  // namespace
}  // namespace cosmic::machine

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  cosmic::machine::read_as_description(text);
  cosmic::machine::read_as_plan(text);
  return 0;
}
