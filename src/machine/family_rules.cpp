// What each family's formulas read. A description must give all of it and nothing else.
#include <array>

#include "machine/description.hpp"

namespace cosmic::machine {
namespace {

using enum Dimension;

constexpr std::array kIpuFigures = std::to_array<FigureRule>({
    {"tiles", count, "processors with memory of their own"},
    {"worker_contexts", count, "threads of a tile"},
    {"tile_memory", bytes, "memory of one tile, code included"},
    {"clock", hertz, "cycles a second"},
    {"half_units", count, "convolution units with half partial sums"},
    {"half_float_units", count, "convolution units with half operands and float partial sums"},
    {"float_units", count, "convolution units in float"},
    {"half_depth", count, "weights of a convolution unit in half"},
    {"float_depth", count, "weights of a convolution unit in float"},
    {"half_least_group", count, "fewest input channels of a block in half"},
    {"float_least_group", count, "fewest input channels of a block in float"},
    {"half_block_cycles", cycles, "for one pixel of a block in half"},
    {"float_block_cycles", cycles, "for one pixel of a block in float"},
    {"half_worker_cycles", cycles, "fixed part of a worker's call in half"},
    {"float_worker_cycles", cycles, "fixed part of a worker's call in float"},
    {"supervisor_cycles", cycles, "fixed part of a convolution on a tile"},
    {"group_cycles", cycles, "per group of channels"},
    {"weight_load_rate", bytes_per_cycle, "loading weights into convolution units"},
    {"vector_bytes", bytes_per_cycle, "elementwise work of a tile"},
    {"exchange_rate", bytes_per_cycle, "into one tile"},
    {"exchange_cycles", cycles, "fixed part of an exchange"},
    {"sync_cycles", cycles, "of a superstep"},
    {"temporary_share", ratio, "of tile memory that a convolution's temporaries may take"},
    {"link_bandwidth", bytes_per_second, "to other chips"},
    {"host_bandwidth", bytes_per_second, "from the host, as reached"},
    {"host_call", seconds, "one call from the host"},
    {"streaming_memory", bytes, "memory beside the chip"},
    {"model_error", ratio, "how far predictions have been from published figures"},
});

constexpr std::array kIpuUnknowns = std::to_array<FigureRule>({
    {"compute_efficiency", ratio, "of computing, against the planner's cycles"},
    {"code_share", ratio, "of tile memory taken by code"},
    {"exchange_code", bytes, "of a tile, for programs of exchanges"},
    {"sync_delay", cycles, "between chips"},
    {"tile_imbalance", ratio, "fullest tile against the mean"},
    {"vertex_cycles", cycles, "fixed part of elementwise work"},
    {"streaming_bandwidth", bytes_per_second, "to the memory beside the chip"},
});

constexpr std::array kHpuFigures = std::to_array<FigureRule>({
    {"clock", hertz, "of the matrix engine"},
    {"matrix_outputs_half", count, "outputs worked on at a time in 16 bits"},
    {"matrix_outputs_float", count, "the same in float"},
    {"matrix_shortest_side", count, "of the rectangle of outputs"},
    {"least_common_half", count, "shortest common dimension in 16 bits"},
    {"least_common_float", count, "the same in float"},
    {"vector_cores", count, "cores for elementwise work"},
    {"vector_bytes", bytes_per_cycle, "of one such core"},
    {"sram", bytes, "on the chip"},
    {"memory", bytes, "of the pool that tensors live in"},
    {"memory_bandwidth", bytes_per_second, "as usable"},
    {"slice_cycles", cycles, "for each slice that passes through the memory on the chip"},
    {"slice_buffers", count, "slices under way at a time"},
    {"link_bandwidth", bytes_per_second, "to other chips"},
    {"host_bandwidth", bytes_per_second, "from the host"},
    {"model_error", ratio, "how far predictions have been from published figures"},
});

constexpr std::array kHpuUnknowns = std::to_array<FigureRule>({
    {"matrix_efficiency", ratio, "of the matrix engine, against its geometry"},
    {"overlap", ratio, "of the shorter of matrix and vector work that is hidden"},
    {"launch_time", seconds, "of a recipe"},
    {"eager_op_time", seconds, "of one op outside a recipe"},
    {"compile_time_per_node", seconds, "of a recipe, on a new shape"},
    {"unaligned_factor", ratio, "on matrix work whose rows miss 128 bytes"},
});

constexpr std::array kRduFigures = std::to_array<FigureRule>({
    {"compute_units", count, "that stages of a section are laid out on"},
    {"tiles", count, "parts of the chip that a program may ask for"},
    {"peak_half", flops_per_second, "in bfloat16, all units"},
    {"sram", bytes, "on the chip"},
    {"sram_bandwidth", bytes_per_second, "on the chip"},
    {"memory", bytes, "beside the chip"},
    {"model_error", ratio, "how far predictions have been from published figures"},
});

constexpr std::array kRduUnknowns = std::to_array<FigureRule>({
    {"memory_bandwidth", bytes_per_second, "to the memory beside the chip"},
    {"section_switch", seconds, "to load the next section"},
    {"compute_efficiency", ratio, "of the units of a section"},
    {"float_rate", ratio, "float32 against bfloat16"},
    {"host_bandwidth", bytes_per_second, "from the host"},
});

constexpr std::array kRooflineFigures = std::to_array<FigureRule>({
    {"peak_float", flops_per_second, "in float32 or what convolutions in float32 use"},
    {"peak_half", flops_per_second, "in 16 bits"},
    {"memory", bytes, "for tensors"},
    {"memory_bandwidth", bytes_per_second, "of that memory"},
    {"bandwidth_share", ratio, "of the bandwidth that is reached"},
    {"processors", count, "that a kernel is spread over"},
    {"host_bandwidth", bytes_per_second, "from the host"},
    {"link_bandwidth", bytes_per_second, "to other machines of the kind"},
    {"model_error", ratio, "how far predictions have been from measurements"},
});

constexpr std::array kRooflineUnknowns = std::to_array<FigureRule>({
    {"compute_efficiency", ratio, "of convolutions, against the peak"},
    {"launch_time", seconds, "of a kernel"},
});

}  // namespace

std::span<const FigureRule> figures_of(Family family) {
  switch (family) {
    case Family::ipu:
      return kIpuFigures;
    case Family::hpu:
      return kHpuFigures;
    case Family::rdu:
      return kRduFigures;
    case Family::roofline:
      break;
  }
  return kRooflineFigures;
}

std::span<const FigureRule> unknowns_of(Family family) {
  switch (family) {
    case Family::ipu:
      return kIpuUnknowns;
    case Family::hpu:
      return kHpuUnknowns;
    case Family::rdu:
      return kRduUnknowns;
    case Family::roofline:
      break;
  }
  return kRooflineUnknowns;
}

}  // namespace cosmic::machine
