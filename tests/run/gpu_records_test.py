"""scripts/gpu_records on the CPU: with a stand-in for the profiled peer, or, with `torch`, with PyTorch itself.

  gpu_records_test.py stand-in|torch PROGRAM SCRATCH     from the sources' root
"""
import json
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77  # CTest's
SMALL = ["network.depth=2", "network.n_initial_filters=2", "network.bottleneck_deepest=4",
         "network.blocks_deepest_layer=1", "network.blocks_per_layer=1", "network.blocks_final=0", "data.downsample=5"]


def records(build, output, *more):
    """Exit status and report."""
    command = [sys.executable, "scripts/gpu_records", build, *SMALL, "--output", output, "--compute-mode", "CPU",
               "--machine", "zen4-2core", "--stack", "", "--precision", "float32", "--batch", "1", "--repeat", "2", *more]
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False)
    report = (output / "report.md").read_text() if (output / "report.md").is_file() else ""
    return done.returncode, report, done.stderr


def check_whole(output, report):
    for net in ("a21", "uresnet"):
        for mode in ("train", "inference"):
            record = json.loads((output / "records" / f"peer-{net}-{mode}.json").read_text())
            assert record["step"]["seconds"] > 0 and f"network={net}" in record["settings"], record
            measured = json.loads((output / "measured" / f"zen4-2core-{net}-{mode}.json").read_text())
            assert measured["machine"]["provenance"] == "measured" and measured["ops"], measured
            assert "run.machine=zen4-2core" in measured["settings"]
            explained = (output / f"explain-{net}-{mode}.txt").read_text()
            assert "Predicted: zen4-2core, modelled" in explained and "initial_convolution" in explained, explained
    rows = [line for line in report.splitlines() if line.startswith("| zen4-2core, ")]
    assert any("| a21 training (" in row and "| uresnet training (" in row for row in rows), report
    assert all("% too " in row for row in rows), report
    assert "What did not come about" not in report, report
    return rows


def test_stand_in(build, scratch):
    peer = ["--peer", "tests/run/stand_in_torch_profile.py"]
    status, report, errors = records(build, scratch / "whole", *peer)
    assert status == 0, errors
    rows = check_whole(scratch / "whole", report)
    assert len(rows) == 8 and sum("times of kernels" in row for row in rows) == 4, report
    kernels = json.loads((scratch / "whole" / "records" / "peer-kernels-a21-train.json").read_text())
    assert abs(kernels["products_seconds"] - 0.6e-3) < 1e-9 and abs(kernels["other_seconds"] - 0.3e-3) < 1e-9, kernels
    assert kernels["step"]["seconds"] == 0.001, "the step is the one without the profiler"
    assert "| PyTorch stand-in | a21 | training | 1 | 0.6 | 0.3 | 2.00 |" in report, report

    status, report, errors = records(build, scratch / "broken", *peer, "run.seed=13")
    assert status == 1, errors
    assert "PyTorch, uresnet, inference:" in report and "the device was lost" in report, report
    assert "| uresnet training (" in report, "what could be measured is there: " + report

    status, report, errors = records(build / "nowhere", scratch / "nothing", *peer)
    assert status == 2 and "looking for the device" in report, report


def test_torch(build, scratch):
    pythons = [python for python in (sys.executable, "/usr/bin/python3")
               if subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode == 0]
    if not pythons:
        print("skipped: needs PyTorch (package python3-torch)")
        sys.exit(SKIPPED)
    status, report, errors = records(build, scratch / "torch", "--python", pythons[0])
    assert status == 0, errors
    check_whole(scratch / "torch", report)


if __name__ == "__main__":
    what, program, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(scratch, ignore_errors=True)
    (test_torch if what == "torch" else test_stand_in)(program.parent.parent, scratch)
