# Warnings and sanitizers, carried by one interface library instead of directory-wide flags; and what
# makes a build short (docs/numbers.md, "Build time", says how much each saves).

option(COSMIC_WARNINGS_AS_ERRORS "A compiler warning stops the build" OFF)
option(COSMIC_UNITY "Compile the files of a library eight at a time" OFF)
option(COSMIC_PRECOMPILE "Compile GoogleTest's headers once for all tests" ON)
set(COSMIC_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=: address,undefined or thread")

add_library(cosmic_build_options INTERFACE)
# These are for C++; a target in another language has flags of its own (cosmic_target_flags).
target_compile_options(cosmic_build_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wconversion>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Nobody puts a function of their own in the place of one of ours, so calls within a shared library
  # are as fast as within the program.
  target_compile_options(cosmic_build_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 takes concatenated strings for overlapping copies (its bug 105651).
  target_compile_options(cosmic_build_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(COSMIC_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A source file that another one includes is a header to GCC, where a member whose type is in an
  # anonymous namespace would be a mistake.
  target_compile_options(cosmic_build_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(COSMIC_WARNINGS_AS_ERRORS)
  target_compile_options(cosmic_build_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(COSMIC_SANITIZE)
  target_compile_options(cosmic_build_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${COSMIC_SANITIZE};-fno-sanitize-recover=all>"
    $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  target_link_options(cosmic_build_options INTERFACE -fsanitize=${COSMIC_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code confuses GCC's flow analysis, which then warns of what cannot happen.
    target_compile_options(cosmic_build_options INTERFACE
      "$<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized;-Wno-stringop-overflow;-Wno-array-bounds>")
  endif()
endif()

# Code that runs once for a program or a page and never for a pixel. To optimize it, as to optimize
# tests, takes the compiler longer than it ever saves.
set(COSMIC_COLD_LAYERS checkpoint/onnx cli config core/yaml model monitor port report/machines report/page
  report/prediction report/profile target/hpu target/ipu target/rdu target/registry target/roofline
  validation)
foreach(layer IN LISTS COSMIC_COLD_LAYERS)
  if(NOT layer IN_LIST COSMIC_LAYERS)
    message(FATAL_ERROR "COSMIC_COLD_LAYERS names src/${layer}, which is not a layer")
  endif()
endforeach()
function(cosmic_optimize_little target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()
