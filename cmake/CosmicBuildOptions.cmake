# Warnings and sanitizers, carried by one interface library instead of directory-wide flags.

option(COSMIC_WARNINGS_AS_ERRORS "A compiler warning stops the build" OFF)
set(COSMIC_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=: address,undefined or thread")

add_library(cosmic_build_options INTERFACE)
target_compile_options(cosmic_build_options INTERFACE
  -Wall -Wextra -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 takes concatenated strings for overlapping copies (its bug 105651).
  target_compile_options(cosmic_build_options INTERFACE -Wno-restrict)
endif()
if(COSMIC_WARNINGS_AS_ERRORS)
  target_compile_options(cosmic_build_options INTERFACE -Werror)
endif()
if(COSMIC_SANITIZE)
  target_compile_options(cosmic_build_options INTERFACE
    -fsanitize=${COSMIC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(cosmic_build_options INTERFACE -fsanitize=${COSMIC_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code confuses GCC's flow analysis, which then warns of what cannot happen.
    target_compile_options(cosmic_build_options INTERFACE
      -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endif()
