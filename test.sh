#!/usr/bin/env bash
# Builds everything and runs the tests. Arguments go to ctest: ./test.sh -R golden, ./test.sh -L unit.
# Tests that need something this machine has not are skipped; the last line says how many and what for.
# COSMIC_GOLDEN_DIR=FOLDER runs the golden tests over the *.h5 of that folder.
set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/scripts/setup.sh"

# Tests run in another folder than the caller's.
if [[ -n ${COSMIC_GOLDEN_DIR:-} ]]; then
  COSMIC_GOLDEN_DIR=$(realpath --canonicalize-missing -- "$COSMIC_GOLDEN_DIR")
  export COSMIC_GOLDEN_DIR
fi

cosmic_install_packages
cosmic_build release all
rm -f "$cosmic_root/build/release/Testing/Temporary/LastTest.log"
status=0
ctest --test-dir "$cosmic_root/build/release" --output-on-failure -j "$(nproc)" "$@" || status=$?
"$cosmic_root/scripts/skipped_tests" summary release
exit "$status"
