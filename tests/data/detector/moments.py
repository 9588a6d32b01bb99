#!/usr/bin/env python3
"""Prints the table of moments in statistics_test.cpp: of every quantity there, its mean, standard deviation and
kurtosis over the events of a generated file, for each plane.

    moments.py GENERATED

Needs Debian's python3-h5py.
"""
import sys

import numpy as np

from compare_with_sample import measure, read_events

QUANTITIES = ("stored pixels", "background pixels", "cosmic pixels", "neutrino pixels", "columns used", "rows used",
              "sum of the values", "cosmic value, 50 % quantile", "cosmic value, 90 % quantile")


def main():
    events = read_events(sys.argv[1])
    for plane in range(3):
        measured = [measure(*event[plane]) for event in events]
        rows = []
        for name in QUANTITIES:
            # As in the test, the quantile of no pixels is 0.
            values = np.nan_to_num(np.array([m[name] for m in measured], float))
            mean, deviation = values.mean(), values.std(ddof=1)
            kurtosis = ((values - mean) ** 4).mean() / values.var() ** 2
            rows.append(f"{{{mean:.6g}, {deviation:.4g}, {kurtosis:.3g}}}")
        print("    {{" + ",\n      ".join(rows) + "}},")


if __name__ == "__main__":
    main()
