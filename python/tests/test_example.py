import re
import subprocess
import sys
from pathlib import Path

import cosmictagger
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "fashion_mnist.py"


def test_the_program_of_the_tutorial_runs_and_learns():
    folder = cosmictagger._core.FASHION_MNIST_FOLDER
    if not Path(folder).exists():
        pytest.skip(f"there is no data set in {folder} (package dataset-fashion-mnist)")
    result = subprocess.run(
        [sys.executable, str(EXAMPLE), "1"], capture_output=True, text=True, check=True
    )
    accuracy = re.search(r"Eval accuracy: ([0-9.]+)%", result.stdout)
    assert accuracy and float(accuracy.group(1)) > 70


# PopTorch's names on plain PyTorch, without an IPU; and few pictures, because only that it runs is asked.
POPTORCH = """
import torch
from torch import optim

class Options:
    pass

def DataLoader(options, dataset, batch_size, shuffle=False):
    return torch.utils.data.DataLoader(dataset, batch_size=batch_size, shuffle=shuffle, drop_last=True)

class trainingModel:
    def __init__(self, model, options, optimizer):
        self.model, self.optimizer = model, optimizer

    def __call__(self, images, labels):
        self.optimizer.zero_grad()
        output, loss = self.model(images, labels)
        loss.backward()
        self.optimizer.step()
        return output, loss

    def detachFromDevice(self):
        pass

class inferenceModel:
    def __init__(self, model, options):
        self.model = model

    def __call__(self, images):
        with torch.no_grad():
            return self.model(images)

    def detachFromDevice(self):
        pass
"""
PICTURES = """
import numpy, torch

def FashionMNIST(train):
    random = numpy.random.default_rng(0)
    images = torch.from_numpy(random.normal(size=(64, 1, 28, 28)).astype(numpy.float32))
    return torch.utils.data.TensorDataset(images, torch.from_numpy(random.integers(10, size=64)))
"""
IMPORTS = {
    "import cosmictagger as poptorch": "import poptorch",
    "from cosmictagger import nn": "import torch.nn as nn",
    "from cosmictagger.datasets import FashionMNIST": "from pictures import FashionMNIST",
}


def test_its_lines_run_with_pytorch_once_the_imports_are_changed(tmp_path):
    pytest.importorskip("torch", reason="needs PyTorch (package python3-torch)")
    text = EXAMPLE.read_text()
    for ours, theirs in IMPORTS.items():
        assert f"\n{ours}\n" in text
        text = text.replace(f"\n{ours}\n", f"\n{theirs}\n")
    (tmp_path / "fashion_mnist.py").write_text(text)
    (tmp_path / "poptorch.py").write_text(POPTORCH)
    (tmp_path / "pictures.py").write_text(PICTURES)
    result = subprocess.run(
        [sys.executable, "fashion_mnist.py", "1"], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert re.search(r"Eval accuracy: [0-9.]+%", result.stdout)


def test_it_has_fifteen_lines_as_its_comment_says():
    text = EXAMPLE.read_text().split("# Fifteen lines.\n")[1]
    assert len(text.splitlines()) == 15
