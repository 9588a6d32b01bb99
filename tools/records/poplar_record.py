#!/usr/bin/env python3
"""Writes a record for `cosmictagger calibrate` from a Poplar profile.

Needs the Poplar SDK, whose libpva reads profile.pop:

    POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true", "autoReport.directory":"report"}' python3 train.py
    python3 poplar_record.py report/profile.pop record.json network=a21 mode=train run.compute_mode=IPU \
        run.minibatch_size=1 run.precision=float16

It was written from libpva's documentation and has never been run on an IPU.
"""
import json
import sys


def record_of(report, settings):
    """`report` as pva.openReport gives it."""
    target = report.compilation.target
    steps = [step for run in report.execution.runs for step in run.steps]
    cycles = sum(step.cyclesTo.max - step.cyclesFrom.min for step in steps)
    runs = len(report.execution.runs)
    if runs == 0 or cycles == 0:
        raise SystemExit("the profile has no execution; set autoReport.outputExecutionProfile")
    fullest = max(tile.memory.total.excludingGaps for tile in report.compilation.tiles)
    return {
        "format": "cosmictagger record 1",
        "settings": settings,
        "step": {"seconds": cycles / runs / target.clockFrequency},
        "peak_bytes": fullest,
    }


def main(arguments):
    if len(arguments) < 3:
        raise SystemExit(__doc__)
    import pva
    record = record_of(pva.openReport(arguments[0]), arguments[2:])
    with open(arguments[1], "x") as file:
        json.dump(record, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1:])
