#!/usr/bin/env python3
"""Times and profiles a step of the peer (tests/golden/uresnet_torch.py in PyTorch), as a record for `calibrate`.

  torch_profile.py --record a21.json --trace a21_trace.json --device cuda network=a21 mode=train \\
      run.minibatch_size=8 run.precision=bfloat16

Settings are those of `cosmictagger explain`, and go into the record as they are: network and network.*, mode,
run.minibatch_size, run.precision (float32, or bfloat16 by autocast) and data.downsample are obeyed here. The step is
eager, channels last, on random events that are on the device already; a training step has focal loss and Adam.

The step time is the median of steps without the profiler, which slows eager steps down. Then some more steps are
profiled, and torch.profiler's trace is written: `calibrate` reads from it how long products and other kernels take.
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))  # read when torch is loaded
import torch

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"))
from uresnet_torch import DEFAULTS, UResNet, loss_of, optimizer_of, options

ROWS, COLUMNS = 1280, 2048  # of the detector, before data.downsample


def value_of(text, like):
    if isinstance(like, bool):
        return text.lower() == "true"
    return type(like)(text)


class Step:
    """What the settings ask for, ready to be run."""

    def __init__(self, settings, device):
        words = dict(word.split("=", 1) for word in settings)
        self.trains = words.get("mode", "train") == "train"
        self.events = int(words.get("run.minibatch_size", 2))
        self.precision = words.get("run.precision", "float32")
        if self.precision not in ("float32", "bfloat16"):
            sys.exit(f"torch_profile.py: run.precision={self.precision} is not one that this script knows; "
                     "give float32 or bfloat16")
        changes = {key[len("network."):]: value for key, value in words.items() if key.startswith("network.")}
        unknown = sorted(set(changes) - set(DEFAULTS))
        if unknown:
            sys.exit(f"torch_profile.py: the peer has no network option {unknown[0]!r}")
        torch.manual_seed(0)
        network = options(words.get("network"), **{k: value_of(v, DEFAULTS[k]) for k, v in changes.items()})
        self.device = device
        self.net = UResNet(network).to(device)
        if not network.three_d:
            self.net = self.net.to(memory_format=torch.channels_last)
        self.net.train(self.trains)
        if device == "cuda":
            torch.backends.cudnn.benchmark = True
        downsample = int(words.get("data.downsample", 1))
        shape = ROWS >> downsample, COLUMNS >> downsample
        self.image = torch.rand(self.events, 3, *shape, device=device)
        self.labels = [torch.randint(0, 3, (self.events, *shape), device=device) for _ in range(3)]
        self.optimizer = optimizer_of("adam", self.net, 3e-4)

    def autocast(self):
        return torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.precision == "bfloat16")

    def __call__(self):
        if self.trains:
            self.optimizer.zero_grad()
            with self.autocast():
                logits = self.net(self.image)
            loss_of([plane.float() for plane in logits], self.labels, "focal").backward()
            self.optimizer.step()
        else:
            with torch.no_grad(), self.autocast():
                self.net(self.image)
        if self.device == "cuda":
            torch.cuda.synchronize()


def peak_bytes(device):
    """What the device has lent out, contexts and workspaces included; unknown on a CPU, where others use the memory."""
    if device != "cuda":
        return None
    free, total = torch.cuda.mem_get_info()
    return total - free


def timed(step, repeat):
    """Seconds of each step but the first, which also chooses algorithms."""
    seconds = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return seconds[1:]


def write_trace(step, device, repeat, path):
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities,
                                schedule=torch.profiler.schedule(wait=0, warmup=1, active=repeat),
                                on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(path))) as profiler:
        for _ in range(repeat + 1):
            step()
            profiler.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="+", metavar="KEY=VALUE")
    parser.add_argument("--record", type=pathlib.Path, required=True)
    parser.add_argument("--trace", type=pathlib.Path, required=True)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--repeat", type=int, default=10, help="steps that are timed (default 10)")
    parser.add_argument("--profiled", type=int, default=3, help="steps that are profiled (default 3)")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    a = parser.parse_args()
    wrong = next((word for word in a.settings if "=" not in word), None)
    if wrong:
        parser.error(f"{wrong!r} is no setting (key=value)")
    torch.set_num_threads(a.threads)
    step = Step(a.settings, a.device)
    seconds = timed(step, a.repeat)
    used = peak_bytes(a.device)
    write_trace(step, a.device, a.profiled, a.trace)
    record = {"format": "cosmictagger record 1", "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
              "device": torch.cuda.get_device_name() if a.device == "cuda" else f"CPU, {a.threads} threads",
              "software": {"python": platform.python_version(), "torch": torch.__version__},
              "settings": a.settings,
              "step": {"kind": "training" if step.trains else "inference", "events": step.events,
                       "seconds": statistics.median(seconds), "all_seconds": seconds},
              "peak_bytes": used}
    a.record.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
