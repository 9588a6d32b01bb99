# The layer checks find what they are there to find: each case is a small tree in the build folder
# that breaks one rule, and the message must name it.
#
#   cmake -D SCRATCH=build/layers -P check_layers_test.cmake

cmake_minimum_required(VERSION 3.25)

set(failures "")

# Runs a script; passes if it stops with a message that has `expected` in it, or, where nothing is
# expected, if it succeeds.
function(expect_outcome name expected)
  execute_process(COMMAND ${CMAKE_COMMAND} ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(FIND "${output}" "${expected}" position)
  if((expected AND (status EQUAL 0 OR position EQUAL -1)) OR (NOT expected AND NOT status EQUAL 0))
    string(APPEND failures "\n${name}: expected '${expected}', got status ${status}: ${output}")
    set(failures "${failures}" PARENT_SCOPE)
  else()
    message(STATUS "${name}: as expected")
  endif()
endfunction()

function(expect_check name file content expected)
  set(tree ${SCRATCH}/${name})
  file(REMOVE_RECURSE ${tree})
  file(WRITE ${tree}/core/error.hpp "#pragma once\n")
  file(WRITE ${tree}/${file} "${content}\n")
  expect_outcome(${name} "${expected}"
    -D SOURCES=${tree} -P ${CMAKE_CURRENT_LIST_DIR}/check_layers.cmake)
  set(failures "${failures}" PARENT_SCOPE)
endfunction()

function(expect_library name arguments expected)
  file(WRITE ${SCRATCH}/${name}.cmake
    "cmake_minimum_required(VERSION 3.25)\n"
    "include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/CosmicLayers.cmake)\n"
    "cosmic_add_library(${arguments})\n")
  expect_outcome(${name} "${expected}" -P ${SCRATCH}/${name}.cmake)
  set(failures "${failures}" PARENT_SCOPE)
endfunction()

expect_check(good_tree session/a.cpp
  "#include \"core/error.hpp\"\n#include \"target/registry.hpp\"\n#include <vector>" "")
expect_check(kernels_of_own_target target/cpu/kernels/a.cpp
  "#include \"target/cpu/kernels/a.hpp\"\nauto x = \"cpu\"" "")
expect_check(upward core/a.hpp "#include \"graph/graph.hpp\"" "core may not use graph")
expect_check(spaced_upward core/a.hpp "  #  include \"model/a.hpp\"" "core may not use model")
expect_check(target_sees_target target/cpu/a.cpp "#include \"target/reference/b.hpp\""
  "target/cpu may not use target/reference")
expect_check(interface_sees_registry target/target.hpp "#include \"target/registry.hpp\""
  "target may not use target/registry")
expect_check(session_sees_target session/a.cpp "#include \"target/cpu/cpu_target.hpp\""
  "session may not use target/cpu")
expect_check(relative_include graph/a.cpp "#include \"../core/error.hpp\""
  "write the path from src/")
expect_check(unknown_folder helpers/a.hpp "" "is in no layer")
expect_check(quoted_target_name cli/a.cpp "auto chosen = \"cpu\"" "cli/a.cpp names a target")
expect_check(qualified_target_name session/a.cpp "  reference::run()"
  "session/a.cpp names a target")
expect_check(part_of_a_longer_name session/a.cpp "std::string gpu_cpu = by_reference::name" "")
expect_check(model_names_compute_mode model/a.cpp "if (mode == \"IPU\") {}"
  "model/a.cpp names a machine")
expect_check(loss_names_vendor model/segmentation_loss.cpp "// faster with cuda"
  "model/segmentation_loss.cpp names a machine")
expect_check(trainer_names_target train/a.hpp "bool on_gpu = false" "train/a.hpp names a machine")
expect_check(run_names_machine run/a.cpp "// as on a GPU" "run/a.cpp names a machine")
expect_check(compute_mode_elsewhere cli/a.cpp "auto mode = \"IPU\"" "")
expect_check(machine_in_a_word model/a.cpp "int cpuless = occupy(CPUs)" "")
expect_library(library_upward "core SOURCES a.cpp USES graph" "src/core may not use src/graph")
expect_library(library_unknown "helpers SOURCES a.cpp" "src/helpers is not a layer")

if(failures)
  message(FATAL_ERROR "${failures}")
endif()
