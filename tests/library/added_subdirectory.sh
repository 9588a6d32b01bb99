#!/bin/sh
# Takes the project into another one with add_subdirectory: its libraries have the names that they have once
# installed, and nobody gets its tests, examples or packages.
#
#   added_subdirectory.sh SOURCES SCRATCH [CONFIGURE_ARGUMENT...]
set -eu
sources=$1
scratch=$2
shift 2
rm -rf "$scratch"
mkdir -p "$scratch"
cat > "$scratch/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.25)
project(Theirs LANGUAGES C CXX)
add_subdirectory("$sources" cosmictagger)
add_executable(theirs "$sources/examples/library/tag.c")
target_link_libraries(theirs PRIVATE cosmictagger::c)
add_executable(theirs_cpp "$sources/examples/library/tag.cpp")
target_link_libraries(theirs_cpp PRIVATE cosmictagger::cosmictagger)
END
cmake -S "$scratch" -B "$scratch/build" -G Ninja "$@" > "$scratch/configure.log"
ninja -C "$scratch/build" -t targets all > "$scratch/targets.txt"
grep -q '^theirs_cpp: ' "$scratch/targets.txt"
if grep -E '(_tests|fashion_mnist|_bench|CPack.*): ' "$scratch/targets.txt"; then
  echo "the targets above are nobody's business who uses the library"
  exit 1
fi
