#!/usr/bin/env bash
# The whole workflow in under five minutes on two cores: tags an event with the network in the box,
# then generates events, trains a reduced a21 on them, evaluates it on events it has not seen, and tags
# a file. Everything goes to demo/, which is replaced each time.
set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/scripts/setup.sh"

if (($# > 0)); then
  cosmic_say "./demo.sh takes no arguments ('$1' was given); ./cosmictagger --help lists the commands to run by hand."
  exit 2
fi

cosmic_install_packages
cosmic_build release cosmictagger
cd "$cosmic_root"
rm -rf demo
mkdir demo

chapter() {
  printf '\n\033[1m%s\033[0m\n' "$*"
}

# Shows the command as a user would type it, even if its output goes to a file, and runs it.
exec 3>&1
run() {
  printf '\033[2m$ ./cosmictagger %s\033[0m\n' "$*" >&3
  build/release/bin/cosmictagger "$@"
}

here=(--config-name reduced run.id=demo output_dir=demo)

if [[ -f weights/best.safetensors ]]; then
  chapter "0. Tag events with the network that comes with the program"
  run generate --events 3 --seed 3 --output demo/first.h5
  run tag demo/first.h5
  run data show demo/first.tagged.h5 --event 1 --probabilities --output demo/first_event.png
fi

chapter "1. Generate events: 400 for training, 60 that stay unseen"
run generate --events 400 --seed 1 --output demo/train.h5
run generate --events 60 --seed 2 --output demo/unseen.h5

chapter "2. Train a network to tell cosmic rays from neutrinos, pixel by pixel"
# Twelve epochs take about two minutes. max_time keeps the promise of five minutes on slower machines.
run train "${here[@]}" data.file=demo/train.h5 data.aux_file=demo/unseen.h5 \
  run.seed=1 run.length=12 run.max_time=3m >demo/train.log || [[ $? == 75 ]] # stopped at max_time
tail --lines=4 demo/train.log

chapter "3. Evaluate it on the unseen events"
run evaluate "${here[@]}" data.file=demo/unseen.h5 >demo/evaluate.log
tail --lines=3 demo/evaluate.log

chapter "4. Tag a file: the same events, with a probability for every pixel with charge"
run infer "${here[@]}" data.file=demo/unseen.h5 mode.output_file=demo/tagged.h5 >demo/infer.log
tail --lines=4 demo/infer.log
run data show demo/tagged.h5 --event 1 --output demo/tagged_event.png

chapter "Results"
if [[ -f demo/first_event.png ]]; then
  echo "  demo/first_event.png     an event that the network in the box tagged"
fi
echo "  demo/evaluation.html     the report; open it in any browser"
echo "  demo/tagged_event.png    an event: charge, truth and prediction"
if [[ -t 1 && -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] && command -v xdg-open >/dev/null; then
  xdg-open demo/evaluation.html >/dev/null 2>&1 || true
fi

chapter "Try next"
cat <<'NEXT'
  ./cosmictagger data show demo/tagged.h5 --event 7                            # another event
  ./cosmictagger train --config-name reduced run.id=demo output_dir=demo \
      data.file=demo/train.h5 data.aux_file=demo/unseen.h5 run.length=24       # continue training where it stopped
  ./cosmictagger tag YOUR_LARCV3_FILE.h5                                       # tag your own events with the network in the box
  ./cosmictagger view demo/tagged.h5                                           # look at events in a browser
NEXT
