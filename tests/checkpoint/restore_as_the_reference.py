#!/usr/bin/python3
"""Restores a folder of checkpoints the way the reference does for inference, and computes one image with it.

    restore_as_the_reference.py FOLDER/ IMAGE ROWS COLUMNS LOGITS key=value...

The reference reads the index `<weights_location>checkpoint`, takes the file that `latest:` names, loads its
dictionary with PyTorch, and gives `state_dict` to the network, every name of which must be there. IMAGE and LOGITS
are raw float32: [3, ROWS, COLUMNS], and three planes of [3, ROWS, COLUMNS]. Settings are those of the network.
Prints the global step.
"""
import sys
from pathlib import Path

import numpy
import torch

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))
from uresnet_torch import DEFAULTS, UResNet, options


def value_of(key, text):
    if isinstance(DEFAULTS[key], bool):
        return text == "true"
    return int(text) if isinstance(DEFAULTS[key], int) else text


def main():
    weights_location, image_file, rows, columns, logits_file, *settings = sys.argv[1:]
    with open(weights_location + "checkpoint") as index:
        latest = next(line.split(":")[1].strip() for line in index if line.startswith("latest:"))
    state = torch.load(Path(weights_location) / latest, map_location="cpu")
    changed = dict(setting.split("=") for setting in settings)
    network = UResNet(options(**{key: value_of(key, text) for key, text in changed.items()}))
    network.load_state_dict(state["state_dict"])  # strict: no name may be missing or left over
    network.eval()
    image = torch.from_numpy(numpy.fromfile(image_file, numpy.float32).reshape(1, 3, int(rows), int(columns)))
    with torch.no_grad():
        planes = network(image)
    torch.stack(planes, 1).numpy().tofile(logits_file)
    print(state["global_step"])


if __name__ == "__main__":
    main()
