# Checks the sources against the table in cmake/CosmicLayers.cmake:
#   - an #include "..." names the file's own layer or one that its line in the table lists;
#   - outside target/ nothing names a single target: neither "cpu" nor cpu:: for target/cpu. The
#     word "reference" may stand: it is also the program that this one follows. So may the words of
#     src/port, which writes for other people's software and calls it as they do;
#   - networks, losses and runs (src/model, src/run, src/train) name no compute mode and no machine
#     at all, not even in a comment: what they are is the same everywhere.
#
#   cmake -D SOURCES=src -P check_layers.cmake

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/CosmicLayers.cmake)

# The innermost layer of a path: target/cpu for target/cpu/kernels/a.hpp, target/registry for
# target/registry.hpp; empty if there is none.
function(layer_of path out)
  string(REGEX REPLACE "\\.[a-z]+$" "" path "${path}")
  while(path AND NOT path IN_LIST COSMIC_LAYERS)
    if(path MATCHES "/")
      string(REGEX REPLACE "/[^/]*$" "" path "${path}")
    else()
      set(path "")
    endif()
  endwhile()
  set(${out} "${path}" PARENT_SCOPE)
endfunction()

file(REAL_PATH "${SOURCES}" SOURCES)
file(GLOB_RECURSE files RELATIVE ${SOURCES}
  ${SOURCES}/*.hpp ${SOURCES}/*.cpp ${SOURCES}/*.cu ${SOURCES}/*.cuh ${SOURCES}/*.hpp.in)
list(SORT files)
list(LENGTH files file_count)
if(file_count EQUAL 0)
  message(FATAL_ERROR "no sources under '${SOURCES}' (a check of nothing proves nothing); "
    "pass -D SOURCES=<folder>")
endif()

set(target_names ${COSMIC_LAYERS})
list(FILTER target_names INCLUDE REGEX "^target/")
# The registry, the check of targets and what modelled ones share are no targets.
list(REMOVE_ITEM target_names target/check target/registry target/modelled)
list(TRANSFORM target_names REPLACE "^target/" "")
list(JOIN target_names "|" any_target)
list(REMOVE_ITEM target_names reference)
list(JOIN target_names "|" any_word)

# Whole words; "gpu_count" would be one, "tinyCPU" not.
set(machine_words CPU GPU XPU HPU IPU RDU DPCPP TPU CUDA cpu gpu xpu hpu ipu rdu dpcpp tpu cuda
  cudnn dnnl oneDNN poptorch habana sambaflow)
list(JOIN machine_words "|" any_machine)
set(machine_naming "(^|[^A-Za-z0-9])(${any_machine})([^A-Za-z0-9]|$)")
set(layers_without_machines model run train)

set(violations)
foreach(file IN LISTS files)
  layer_of(${file} layer)
  if(NOT layer)
    list(APPEND violations "${file} is in no layer; add its folder to cmake/CosmicLayers.cmake")
    continue()
  endif()

  file(STRINGS ${SOURCES}/${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*$" "\\1" included "${line}")
    layer_of(${included} used)
    if(used AND NOT used STREQUAL layer AND NOT used IN_LIST COSMIC_MAY_USE_${layer})
      list(APPEND violations "${file} includes ${included}: ${layer} may not use ${used}")
    elseif(NOT used AND EXISTS ${SOURCES}/${included})
      list(APPEND violations "${file} includes ${included}, which is in no layer")
    elseif(NOT used AND included MATCHES "^\\.\\.?/")
      list(APPEND violations "${file} includes ${included}: write the path from src/")
    endif()
  endforeach()

  if(NOT layer MATCHES "^(target(/|$)|port$)")
    file(STRINGS ${SOURCES}/${file} naming
      REGEX "\"(${any_word})\"|(^|[^A-Za-z0-9_])(${any_target})::")
    if(naming)
      list(APPEND violations
        "${file} names a target (one of ${any_target}); ask target/registry.hpp instead: ${naming}")
    endif()
  endif()

  if(layer IN_LIST layers_without_machines)
    file(STRINGS ${SOURCES}/${file} naming REGEX "${machine_naming}")
    if(naming)
      list(APPEND violations
        "${file} names a machine: ${layer} must be the same wherever it runs: ${naming}")
    endif()
  endif()
endforeach()

if(violations)
  list(JOIN violations "\n  " text)
  message(FATAL_ERROR "layers are broken (see cmake/CosmicLayers.cmake):\n  ${text}")
endif()
message(STATUS "${file_count} files keep to their layers")
