#!/usr/bin/env python3
r"""Writes a record for `cosmictagger calibrate` from a Poplar profile.

Needs the Poplar SDK, whose libpva reads profile.pop. Profile some calls of one update each (deviceIterations of 1):

    POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true", "autoReport.directory":"report"}' python3 train.py
    python3 poplar_record.py report/profile.pop record.json network=a21 mode=train run.compute_mode=IPU \
        run.minibatch_size=1 run.precision=float16

The step is the median over the runs of the profile, so that runs that load or fetch weights do not count. Fields of
the profile are those that Graphcore's own published scripts read; it has never been run on an IPU.
"""
import json
import statistics
import sys


def cycles_of(run):
    """From the first cycle of any IPU to the last; None if the run has no cycles."""
    spans = [ipu.activeCycles for step in run.steps for ipu in step.ipus]
    if not spans:
        return None
    return max(span.cyclesTo.max for span in spans) - min(span.cyclesFrom.min for span in spans)


def record_of(report, settings):
    """`report` as pva.openReport gives it."""
    target = report.compilation.target
    cycles = [taken for taken in map(cycles_of, report.execution.runs) if taken]
    if not cycles:
        raise SystemExit("the profile has no execution; set autoReport.outputExecutionProfile")
    fullest = max(tile.memory.total.excludingGaps for tile in report.compilation.tiles)
    return {
        "format": "cosmictagger record 1",
        "settings": settings,
        "step": {"seconds": statistics.median(cycles) / target.clockFrequency},
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
