# Sourced by demo.sh, test.sh, cosmictagger and .ci/run: installs what is missing, configures and
# builds. Everything here says what it does on stderr, so that a caller's stdout stays its own.
# shellcheck shell=bash

cosmic_root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

cosmic_packages=(
  g++ cmake ninja-build pkg-config
  libhwy-dev libhdf5-dev libdeflate-dev libyaml-cpp-dev libfmt-dev nlohmann-json3-dev libcli11-dev
  libcpp-httplib-dev libssl-dev libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc
  libopenmpi-dev openmpi-bin
  libgtest-dev libgmock-dev libbenchmark-dev
  dataset-fashion-mnist
)

cosmic_say() {
  printf '%s\n' "$*" >&2
}

# The packages of the list that are not installed, one per line.
cosmic_missing_packages() {
  local installed package
  # It fails if it does not know one of them, and lists the others all the same.
  # shellcheck disable=SC2016  # dpkg-query's own placeholders
  installed=$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "${cosmic_packages[@]}" 2>/dev/null || true)
  for package in "${cosmic_packages[@]}"; do
    if ! grep -qxF "$package installed" <<<"$installed"; then
      printf '%s\n' "$package"
    fi
  done
}

cosmic_install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    cosmic_say "This is not Debian (there is no dpkg-query), so nothing is installed. Needed: ${cosmic_packages[*]}"
    return
  fi
  local missing
  mapfile -t missing < <(cosmic_missing_packages)
  if ((${#missing[@]} == 0)); then
    return
  fi
  cosmic_say "Missing packages: ${missing[*]}"
  local become_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      cosmic_say "Cannot install them (this is not root, and there is no sudo); as root, run:"
      cosmic_say "  apt-get update && apt-get install --yes --no-install-recommends ${missing[*]}"
      exit 1
    fi
    become_root=(sudo)
  fi
  cosmic_say "Installing them with apt-get ..."
  if ! { "${become_root[@]}" apt-get update &&
    "${become_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install --yes --no-install-recommends "${missing[@]}"; } </dev/null >&2; then
    cosmic_say "apt-get could not install the packages (see above); as root, run:"
    cosmic_say "  apt-get update && apt-get install --yes --no-install-recommends ${missing[*]}"
    exit 1
  fi
}

# cosmic_build PRESET TARGET...: configures if that has not been done, then builds what is out of
# date. One build at a time per clone: others wait for it.
cosmic_build() {
  local preset=$1
  shift
  local folder=$cosmic_root/build/$preset
  mkdir -p "$folder"
  (
    cd "$cosmic_root" || exit
    if command -v flock >/dev/null; then
      flock 9
    fi
    if [[ ! -f $folder/build.ninja ]]; then
      cosmic_say "Configuring build/$preset ..."
      cmake --preset "$preset" >&2 9>&-
    fi
    cmake --build "$folder" --target "$@" >&2 9>&-
  ) 9>"$folder/.lock"
}
