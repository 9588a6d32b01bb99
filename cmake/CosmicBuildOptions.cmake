# Warnings and sanitizers, carried by one interface library instead of directory-wide flags.

option(COSMIC_WARNINGS_AS_ERRORS "A compiler warning stops the build" OFF)
set(COSMIC_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=: address,undefined or thread")

add_library(cosmic_build_options INTERFACE)
# These are for C++; a target in another language has flags of its own (cosmic_target_flags).
target_compile_options(cosmic_build_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wconversion>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 takes concatenated strings for overlapping copies (its bug 105651).
  target_compile_options(cosmic_build_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
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
