#!/bin/sh
# Installs the Python module with pip, without network, and imports it from there.
#
#   pip_install.sh PYTHON SOURCES BUILD SCRATCH
#
# BUILD is a build that is there, or a folder that does not exist: then pip builds all of it.
set -eu
python=$1
sources=$2
build=$3
scratch=$4
rm -rf "$scratch"
mkdir -p "$scratch"
# In a network namespace of its own nothing can be fetched, whoever would try.
alone=
if unshare --net --map-root-user true 2> /dev/null; then
  alone="unshare --net --map-root-user"
fi
$alone "$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
  --target "$scratch/site" --config-settings "build-dir=$build" "$sources"
cd "$scratch"
PYTHONPATH=$scratch/site "$python" -c '
import cosmictagger, importlib.metadata
assert cosmictagger.__file__.startswith("'"$scratch"'"), cosmictagger.__file__
assert importlib.metadata.version("cosmictagger") == cosmictagger.__version__
events = cosmictagger.detector(1)
assert events[0].image.shape == (3, 1280, 2048)
tagger = cosmictagger.Tagger("fast", shape=events.shape)
assert tagger.weights.startswith("'"$scratch"'"), tagger.weights
assert (tagger.tag(events[0]).tag == 1).any()
'
