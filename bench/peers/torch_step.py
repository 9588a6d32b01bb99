#!/usr/bin/python3
"""The PyTorch peer of bench/compare: one event of 640x1024 at a time on the CPU.

  torch_step.py bench NET MODE [--channels-last] [--repeat N] [--threads N]   NET a21|uresnet|..., MODE infer|train
  torch_step.py onnx NET OUT.onnx                                            export for the ONNX Runtime peer

`bench` prints one JSON line. The first step warms up and is not counted.
"""
import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))  # read when torch is loaded
import torch

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "golden"))
from uresnet_torch import PRESETS, UResNet, loss_of, optimizer_of, options

HEIGHT, WIDTH = 640, 1024


def bench(a):
    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    net = UResNet(options(a.net))
    if a.channels_last:
        net = net.to(memory_format=torch.channels_last)
    net.train(a.mode == "train")
    image = torch.rand(1, 3, HEIGHT, WIDTH)
    labels = [torch.randint(0, 3, (1, HEIGHT, WIDTH)) for _ in range(3)]
    update = optimizer_of("adam", net, 3e-4)

    def step():
        if a.mode == "infer":
            with torch.no_grad():
                net(image)
            return
        update.zero_grad()
        loss_of(net(image), labels, "focal").backward()
        update.step()

    seconds = []
    for _ in range(a.repeat + 1):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    seconds = sorted(seconds[1:])
    print(json.dumps(dict(peer="pytorch " + torch.__version__, net=a.net, mode=a.mode, threads=a.threads,
                          channels_last=a.channels_last, seconds_median=seconds[len(seconds) // 2],
                          seconds_min=seconds[0],
                          peak_rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)))


def export(net, out):
    torch.manual_seed(0)
    torch.onnx.export(UResNet(options(net)).eval(), torch.zeros(1, 3, HEIGHT, WIDTH), out, opset_version=13,
                      input_names=["image"], output_names=["plane0", "plane1", "plane2"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    b = verbs.add_parser("bench")
    b.add_argument("net", choices=PRESETS)
    b.add_argument("mode", choices=["infer", "train"])
    b.add_argument("--channels-last", action="store_true")
    b.add_argument("--repeat", type=int, default=3)
    b.add_argument("--threads", type=int, default=os.cpu_count())
    e = verbs.add_parser("onnx")
    e.add_argument("net", choices=PRESETS)
    e.add_argument("out")
    a = parser.parse_args()
    if a.verb == "bench":
        bench(a)
    else:
        export(a.net, a.out)


if __name__ == "__main__":
    main()
