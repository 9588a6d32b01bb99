#!/bin/sh
# Installs a build into a folder, builds the programs of examples/library against it, and runs them
# with weights that the installed program has just trained.
#
#   installed_examples.sh SOURCES BUILD SCRATCH
set -eu
sources=$1
build=$2
scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
prefix=$scratch/prefix

cmake --install "$build" --prefix "$prefix" > "$scratch/install.log"

# What `man` and shells look for.
grep -q '^\.SH COMMANDS' "$prefix/share/man/man1/cosmictagger.1"
bash -n "$prefix/share/bash-completion/completions/cosmictagger"
grep -q 'cosmictagger.*-a tag' "$prefix/share/fish/vendor_completions.d/cosmictagger.fish"

# A network that takes a moment, on images of 160 x 256 pixels.
"$prefix/bin/cosmictagger" train run.id=tiny data=detector data.downsample=3 run.units=iteration \
  run.seed=1 run.length=1 run.minibatch_size=1 run.threads=1 network.n_initial_filters=2 network.depth=2 \
  network.bottleneck_deepest=3 network.blocks_deepest_layer=1 network.blocks_final=1 \
  output_dir="$scratch/run" > "$scratch/train.log"
weights=$scratch/run/checkpoints

cmake -S "$sources/examples/library" -B "$scratch/examples" -G Ninja \
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release > "$scratch/configure.log"
cmake --build "$scratch/examples" -j 2 > "$scratch/build.log"
for program in tag_c tag_cpp tag_static; do
  "$scratch/examples/$program" "$weights" > "$scratch/$program.txt"
done
grep -q '^plane 2: ' "$scratch/tag_c.txt"
# All that C++ is told, from the shared library and from the archive, is the same.
cmp "$scratch/tag_cpp.txt" "$scratch/tag_static.txt"
"$scratch/examples/train_cpp"

# The network in the box of this prefix.
"$scratch/examples/tag_c" fast > "$scratch/boxed.txt"
grep -q "$prefix/share/cosmictagger/weights/fast.safetensors" "$scratch/boxed.txt"
grep -q 'unlike the events of the training: pixels with charge in an event: 300, against' "$scratch/boxed.txt"

# Weights that are not there are an error with a status and a text.
status=0
"$scratch/examples/tag_c" "$scratch/nothing" 2> "$scratch/error.txt" || status=$?
test "$status" -eq 2
grep -q 'names no weights' "$scratch/error.txt"

# Nothing is read that was never written, and nothing is lost.
if command -v valgrind > /dev/null; then
  valgrind --quiet --leak-check=full --show-leak-kinds=all --error-exitcode=9 \
    "$scratch/examples/tag_c" "$weights" 320 512 > "$scratch/valgrind.txt"
else
  echo "valgrind is not installed: memory is not checked"
fi

# The library for C shows its own functions and nothing else.
library=$(find "$prefix" -name 'libcosmictagger_c.so')
if nm --dynamic --defined-only "$library" | grep -v ' A COSMICTAGGER_1$' | grep -v ' T cosmictagger_'; then
  echo "the symbols above are visible in $library"
  exit 1
fi

# pkg-config finds it too.
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name cosmictagger-c.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Werror -pedantic "$sources/examples/library/tag.c" -o "$scratch/by_pkg_config" \
  $(pkg-config --cflags --libs cosmictagger-c) -Wl,-rpath,"$(dirname "$library")"
"$scratch/by_pkg_config" "$weights" > "$scratch/by_pkg_config.txt"
cmp "$scratch/by_pkg_config.txt" "$scratch/tag_c.txt"

# A prefix that has moved still works: nothing in it names the place.
mv "$prefix" "$scratch/moved"
cmake -S "$sources/examples/library" -B "$scratch/examples_moved" -G Ninja \
  -DCMAKE_PREFIX_PATH="$scratch/moved" > "$scratch/configure_moved.log"
