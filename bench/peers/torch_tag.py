#!/usr/bin/python3
"""The PyTorch peer of bench/compare_tag: tags images with weights that `cosmictagger checkpoint convert` wrote.

  torch_tag.py WEIGHTS.ckpt SETTINGS.json IMAGES HEIGHT WIDTH TAGS [--threads N] [--channels-last]

SETTINGS are those of the network; IMAGES holds float32 [events, 3, height, width], TAGS gets a byte for each pixel.
Prints one JSON line. Only the network with its softmax is timed, after one event that warms up.
"""
import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))  # read when torch is loaded
import numpy
import torch

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "golden"))
from uresnet_torch import DEFAULTS, UResNet, options


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("weights", "settings", "images", "height", "width", "tags"):
        parser.add_argument(name)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--channels-last", action="store_true")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    settings = json.loads(Path(a.settings).read_text())
    network = UResNet(options(**{key: settings[key] for key in DEFAULTS if key in settings}))
    network.load_state_dict(torch.load(a.weights)["state_dict"])
    network.eval()
    if a.channels_last:
        network = network.to(memory_format=torch.channels_last)
    shape = (3, int(a.height), int(a.width))
    events = Path(a.images).stat().st_size // (4 * shape[0] * shape[1] * shape[2])
    images = numpy.memmap(a.images, numpy.float32, "r", shape=(events, *shape))
    seconds = []
    with torch.no_grad(), open(a.tags, "wb") as tags:
        for event in [0, *range(events)]:
            image = torch.from_numpy(numpy.array(images[event : event + 1]))
            start = time.perf_counter()
            planes = [torch.softmax(logits, 1) for logits in network(image)]
            seconds.append(time.perf_counter() - start)
            if len(seconds) > 1:
                for plane in planes:
                    tags.write(plane.argmax(1).to(torch.uint8).numpy().tobytes())
    print(json.dumps(dict(peer="PyTorch " + torch.__version__, events=events,
                          seconds_median=statistics.median(seconds[1:]))))


if __name__ == "__main__":
    main()
