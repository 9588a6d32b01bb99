"""Runs a port kit on a batch that a test made: run_kit.py KIT IN OUT BATCH,ROWS,COLUMNS RATE STEPS

IN/image has float32, IN/label has bytes. OUT/logits gets the logits in evaluation before training, plane after plane,
OUT/losses the losses of STEPS updates as float32, OUT/weights.safetensors the weights after them.
"""
import os
import sys

import numpy as np
import torch

kit, given, out, shape, rate, steps = sys.argv[1:]
sys.path.insert(0, kit)
sys.dont_write_bytecode = True
torch.set_num_threads(1)

import loop  # noqa: E402  (of the kit)
import on_torch  # noqa: E402
import weights  # noqa: E402

batch, rows, columns = map(int, shape.split(","))
image = torch.from_numpy(np.fromfile(os.path.join(given, "image"), np.float32).reshape(batch, 3, rows, columns))
label = torch.from_numpy(np.fromfile(os.path.join(given, "label"), np.uint8).astype(np.int64).reshape(image.shape))

settings = loop.load_settings()
network = loop.load_network(settings)
network.eval()
with torch.no_grad():
    torch.cat(network(image)).numpy().tofile(os.path.join(out, "logits"))

machine = on_torch.Machine(network, settings)
losses = [machine.step(image, label, float(rate)) for _ in range(int(steps))]
machine.require_device()
np.array(losses, np.float32).tofile(os.path.join(out, "losses"))
weights.save(os.path.join(out, "weights.safetensors"), machine.weights())
