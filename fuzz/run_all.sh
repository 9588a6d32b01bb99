#!/usr/bin/env bash
# Runs every fuzzer for a while, one after the other, and prints a row for the table in docs/fuzzing.md for
# each. Build them first: cmake --preset fuzz && cmake --build --preset fuzz
#
#   fuzz/run_all.sh [SECONDS [NAME...]]     300 unless given; all of them unless named
#
# What reaches new code is kept in build/fuzz/corpus-NAME, and the next run starts from it. Ends with status 1
# if there was a finding; the fuzzer's report and its input are then in build/fuzz.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
seconds=${1:-300}
wanted=" ${*:2} "
build=$PWD/build/fuzz

# run NAME LARGEST_INPUT SEEDS...
run() {
  local name=$1 largest=$2
  shift 2
  [[ $wanted == "  " || $wanted == *" $name "* ]] || return 0
  local corpus=$build/corpus-$name log=$build/$name.log status=0
  mkdir -p "$corpus"
  # -timeout is generous: a machine that has other work to do is no finding.
  (cd "$build" && nice "fuzz/${name}_fuzz" -max_total_time="$seconds" -max_len="$largest" -timeout=30 \
    -rss_limit_mb=1024 -print_final_stats=1 "$corpus" "$@") >"$log" 2>&1 || status=$?
  local inputs took from to
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  took=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$log")
  from=$(sed -n 's/^INFO: seed corpus: files: \([0-9]*\).*/\1/p' "$log")
  to=$(find "$corpus" -type f | wc -l)
  printf '| %s | %s | %s | %s | %s, %s | %s |\n' "$(date --utc +%F)" "$name" "${took:-?}" "${inputs:-?}" "${from:-0}" "$to" \
    "$([[ $status == 0 ]] && echo none || echo "status $status, see $log")"
  return "$status"
}

failed=0
run larcv_reader 16384 "$build/fuzz/seeds/larcv_reader" || failed=1
run infer 65536 "$build/fuzz/seeds/infer" "$build/fuzz/seeds/larcv_reader" || failed=1
run checkpoint 16384 "$build/fuzz/seeds/safetensors" "$build/fuzz/seeds/unpickler" || failed=1
run safetensors 16384 "$build/fuzz/seeds/safetensors" || failed=1
run unpickler 16384 "$build/fuzz/seeds/unpickler" || failed=1
run artifact 16384 "$build/fuzz/seeds/artifact" || failed=1
run config 8192 "$PWD/recipes" "$PWD/fuzz/config_seeds" || failed=1
run serve 8192 "$PWD/fuzz/serve_seeds" || failed=1
run serve_tensors 8192 "$PWD/fuzz/serve_tensors_seeds" || failed=1
run serve_http 8192 "$PWD/fuzz/serve_http_seeds" || failed=1
if [[ -x $build/fuzz/serve_grpc_fuzz ]]; then  # a build may be without gRPC
  run serve_grpc 8192 "$PWD/fuzz/serve_grpc_seeds" || failed=1
fi
run machine 8192 "$PWD/machines" || failed=1
exit "$failed"
