#!/usr/bin/env bash
# Compiles every header of a source tree alone: a header that leans on what its includer happened to
# include breaks the next one. Highway's *-inl.hpp are parts of a translation unit and are left out, and so
# are those that include a header named in $LIBRARIES_OFF: of a library that the build is without.
#
#   compile_alone.sh COMPILER SOURCES [INCLUDE_DIRECTORY...]
set -euo pipefail

compiler=$1
sources=$2
shift 2

include_flags=("-I$sources")
for directory in "$@"; do
  include_flags+=("-I$directory")
done

mapfile -t headers < <(find "$sources" -name '*.hpp' ! -name '*-inl.hpp' -printf '%P\n' | sort)
if [[ -n ${LIBRARIES_OFF:-} ]]; then
  mapfile -t headers < <(cd "$sources" && grep -L "#include <$LIBRARIES_OFF>" "${headers[@]}")
fi
if ((${#headers[@]} == 0)); then
  echo "no headers under $sources (a check of nothing proves nothing); give the folder of the sources" >&2
  exit 1
fi

if ! printf '%s\0' "${headers[@]}" |
  xargs -0 -P "$(nproc)" -I '{}' \
    "$compiler" -std=c++20 -fsyntax-only "${include_flags[@]}" -include '{}' -x c++ /dev/null; then
  echo "a header does not compile alone (see above); include in it what it uses" >&2
  exit 1
fi
echo "${#headers[@]} headers compile alone"
