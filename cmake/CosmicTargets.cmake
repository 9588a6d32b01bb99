# The targets that a build can have, in the order of preference. Each is a folder of src/target, a
# layer in CosmicLayers.cmake and a line here. `cpu` and `reference` are always built; the others
# have an option each, and a build without one names it: in the summary of the configure step, in
# `cosmictagger targets`, and where its compute mode is asked for.

include(CheckLanguage)

# cosmic_target(<name> ABOUT <text> [COMPUTE_MODE <mode>] [OPTIONAL ON|OFF] [LANGUAGES <language>...])
#
# OPTIONAL is the default of the option COSMIC_TARGET_<NAME>. LANGUAGES are those of its sources
# beside C++; CMake wants them in the top folder. Packages that it needs are looked for in the
# target's own CMakeLists.txt, which is read only if the target is on; there, flags of its own are
# given with cosmic_target_flags.
macro(cosmic_target name)
  cmake_parse_arguments(cosmic_target "" "ABOUT;COMPUTE_MODE;OPTIONAL" "LANGUAGES" ${ARGN})
  string(TOUPPER COSMIC_TARGET_${name} COSMIC_OPTION_OF_${name})
  set(COSMIC_ABOUT_${name} "${cosmic_target_ABOUT}")
  set(COSMIC_COMPUTE_MODE_OF_${name} "${cosmic_target_COMPUTE_MODE}")
  list(APPEND COSMIC_TARGETS ${name})
  if(DEFINED cosmic_target_OPTIONAL)
    list(APPEND COSMIC_OPTIONAL_TARGETS ${name})
    option(${COSMIC_OPTION_OF_${name}} "Target ${name}: ${cosmic_target_ABOUT}"
      ${cosmic_target_OPTIONAL})
  else()
    set(${COSMIC_OPTION_OF_${name}} ON)
  endif()
  if(${COSMIC_OPTION_OF_${name}})
    list(APPEND COSMIC_TARGETS_ON ${name})
    foreach(cosmic_language IN LISTS cosmic_target_LANGUAGES)
      check_language(${cosmic_language})
      if(NOT CMAKE_${cosmic_language}_COMPILER)
        message(FATAL_ERROR "target '${name}' needs a compiler of ${cosmic_language}, and there is "
          "none; install one, or configure with -D${COSMIC_OPTION_OF_${name}}=OFF")
      endif()
      enable_language(${cosmic_language})
    endforeach()
  else()
    list(APPEND COSMIC_TARGETS_OFF ${name})
  endif()
endmacro()

# cosmic_target_flags(<name> <language> <flag>...)
# Flags of a target's own, for its sources in one language.
function(cosmic_target_flags name language)
  target_compile_options(cosmic_target_${name} PRIVATE "$<$<COMPILE_LANGUAGE:${language}>:${ARGN}>")
endfunction()

# cosmic_write_target_list(<file> [ON <name>...] [OFF <name>...])
# The source that tells target/registry.cpp of the targets of a build.
function(cosmic_write_target_list file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ON;OFF")
  set(COSMIC_INCLUDES "")
  set(COSMIC_BUILT "")
  set(COSMIC_ABSENT "")
  foreach(name IN LISTS arg_ON)
    string(APPEND COSMIC_INCLUDES "#include \"target/${name}/${name}_target.hpp\"\n")
    string(APPEND COSMIC_BUILT "\n      ${name}::registration(),")
  endforeach()
  foreach(name IN LISTS arg_OFF)
    string(APPEND COSMIC_ABSENT "\n      {\"${name}\", \"${COSMIC_COMPUTE_MODE_OF_${name}}\", "
      "\"${COSMIC_OPTION_OF_${name}}\"},")
  endforeach()
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../src/target/built_targets.cpp.in ${file}
    @ONLY)
endfunction()

# cosmic_find_cuda(<out>)
# Is there a compiler of CUDA that works with the one of C++? It is looked for where CMake looks (CUDACXX,
# the PATH) and where NVIDIA's packages put it.
function(cosmic_find_cuda out)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(COSMIC_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATH_SUFFIXES bin
      PATHS /usr/local/cuda/bin /opt/cuda/bin)
    mark_as_advanced(COSMIC_NVCC)
    if(COSMIC_NVCC)
      set(ENV{CUDACXX} ${COSMIC_NVCC})
    endif()
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(${out} ON PARENT_SCOPE)
  else()
    set(${out} OFF PARENT_SCOPE)
  endif()
endfunction()

# The cards that kernels are compiled for: A100, A10 and A40, L40 and L4, H100 and H200; younger ones
# compile the text that comes along. CMake's own variable CUDAARCHS names others.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  # Cards of 8.6 and 8.9 run the code of 8.0, and kernels take long to compile.
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
endif()
# So that the same program starts where there is no CUDA.
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)

set(COSMIC_TARGETS)
set(COSMIC_OPTIONAL_TARGETS)
set(COSMIC_TARGETS_ON)
set(COSMIC_TARGETS_OFF)
cosmic_target(cpu COMPUTE_MODE CPU ABOUT "the machine it is built for")
cosmic_target(reference ABOUT "slow, obvious, exact")
set(cosmic_has_cuda OFF)
if(NOT DEFINED COSMIC_TARGET_CUDA OR COSMIC_TARGET_CUDA)
  cosmic_find_cuda(cosmic_has_cuda)
  set(COSMIC_CUDA_FOUND ${cosmic_has_cuda} CACHE INTERNAL "of the last time that it was looked for")
endif()
set(cosmic_about_cuda "NVIDIA's GPUs from compute capability 8.0")
if(DEFINED COSMIC_CUDA_FOUND AND NOT COSMIC_CUDA_FOUND)
  string(APPEND cosmic_about_cuda " (no compiler of CUDA was found)")
endif()
cosmic_target(cuda OPTIONAL ${cosmic_has_cuda} COMPUTE_MODE GPU LANGUAGES CUDA
  ABOUT "${cosmic_about_cuda}")
cosmic_target(ipu OPTIONAL ON COMPUTE_MODE IPU ABOUT "Graphcore's IPUs, modelled")
cosmic_target(hpu OPTIONAL ON COMPUTE_MODE HPU ABOUT "Habana's Gaudi, modelled")
cosmic_target(rdu OPTIONAL ON COMPUTE_MODE RDU ABOUT "SambaNova's RDUs, modelled")
