#!/usr/bin/python3
"""The PyTorch peer of bench/compare_fashion: the training step of the Fashion-MNIST example on the CPU.

Batches of 16 pictures, SGD with momentum. Prints one JSON line; the first window warms up and is not counted.
"""
import argparse
import json
import os
import resource
import time

os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))  # read when torch is loaded
import torch
from torch import nn

BATCH = 16


def network():
    return nn.Sequential(
        nn.Conv2d(1, 5, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(5, 12, 5), nn.ReLU(), nn.GroupNorm(3, 12), nn.Flatten(),
        nn.Linear(972, 100), nn.ReLU(), nn.Linear(100, 10), nn.LogSoftmax(dim=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=10)
    parser.add_argument("--steps", type=int, default=200, help="steps of a window")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--channels-last", action="store_true")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    net = network()
    image = torch.rand(BATCH, 1, 28, 28) * 2 - 1
    if a.channels_last:
        net = net.to(memory_format=torch.channels_last)
        image = image.to(memory_format=torch.channels_last)
    label = torch.randint(0, 10, (BATCH,))
    loss = nn.NLLLoss()
    update = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)

    def step():
        update.zero_grad(set_to_none=True)
        value = loss(net(image), label)
        value.backward()
        update.step()
        return value.item()

    seconds = []
    for _ in range(a.windows + 1):
        start = time.perf_counter()
        for _ in range(a.steps):
            step()
        seconds.append((time.perf_counter() - start) / a.steps)
    seconds = sorted(seconds[1:])
    median = seconds[len(seconds) // 2]
    print(json.dumps(dict(peer="pytorch " + torch.__version__, net="fashion_mnist", mode="train", threads=a.threads,
                          channels_last=a.channels_last, seconds_median=median, seconds_min=seconds[0],
                          iterations_per_second=1 / median,
                          peak_rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)))


if __name__ == "__main__":
    main()
