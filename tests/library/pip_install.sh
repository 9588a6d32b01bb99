#!/bin/sh
# Installs the Python module of a build with pip, without network, and imports it from there.
#
#   pip_install.sh PYTHON SOURCES BUILD SCRATCH
set -eu
python=$1
sources=$2
build=$3
scratch=$4
rm -rf "$scratch"
mkdir -p "$scratch"
"$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
  --target "$scratch/site" --config-settings "build-dir=$build" "$sources"
cd "$scratch"
PYTHONPATH=$scratch/site "$python" -c '
import cosmictagger, importlib.metadata
assert cosmictagger.__file__.startswith("'"$scratch"'"), cosmictagger.__file__
assert importlib.metadata.version("cosmictagger") == cosmictagger.__version__
assert cosmictagger.detector(1)[0].image.shape == (3, 1280, 2048)
'
