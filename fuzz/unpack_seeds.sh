#!/usr/bin/env bash
# Unpacks gzipped files into a folder.
#
#   unpack_seeds.sh FOLDER FILE.gz...
set -euo pipefail

folder=$1
shift
for packed in "$@"; do
  gzip -dc "$packed" >"$folder/$(basename "$packed" .gz)"
done
