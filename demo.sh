#!/usr/bin/env bash
# Trains a small network on generated events for a minute. Arguments go to `cosmictagger demo`.
set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/scripts/setup.sh"

cosmic_install_packages
cosmic_build release cosmictagger
exec "$cosmic_root/build/release/bin/cosmictagger" demo "$@"
