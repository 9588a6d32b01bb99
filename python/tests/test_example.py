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


def test_it_has_fifteen_lines_as_its_comment_says():
    text = EXAMPLE.read_text().split("# Fifteen lines.\n")[1]
    assert len(text.splitlines()) == 15
