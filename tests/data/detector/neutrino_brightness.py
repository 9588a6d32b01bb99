#!/usr/bin/env python3
"""Are generated neutrinos as bright as those of the real sample? Says where each real event is among the generated
ones of its flavour, how often five generated events are as dim, and how much of the drift the cathode takes.

    neutrino_brightness.py REAL GENERATED

Needs Debian's python3-h5py. Some 1000 generated events are enough.
"""
import sys

import h5py
import numpy as np

from compare_with_sample import ROWS, read_events

CM_PER_ROW = 2.0 * 0.1563
LEAST_PIXELS = 100  # the median of fewer says little
PLANES = range(3)


def read_neutrinos(path):
    """Of each event: flavour, whether charged current, and the medians of its neutrino pixels on three planes."""
    with h5py.File(path, "r") as file:
        group = file["Data/particle_sbndneutrino_group"]
        neutrinos = group["particles"][group["extents"]["first"].astype(int)]
    medians = [
        [np.median(values[labels == 2]) if (labels == 2).sum() >= LEAST_PIXELS else np.nan for _, _, values, labels in event]
        for event in read_events(path)
    ]
    return abs(neutrinos["pdg"]), neutrinos["current_type"] == 0, np.array(medians)


def compare_medians(real_path, generated_path):
    flavours, _, real = read_neutrinos(real_path)
    generated_flavours, charged, generated = read_neutrinos(generated_path)
    usable = charged & ~np.isnan(generated).any(axis=1)
    pools = {f: np.log(generated[usable & (generated_flavours == f)]) for f in set(flavours)}
    print("| real event | neutrino | medians on planes 0, 1, 2 | dimmer generated ones of that flavour |\n|---:|---|---|---:|")
    for number, (flavour, medians) in enumerate(zip(flavours, real)):
        below = (pools[flavour].mean(axis=1) <= np.log(medians).mean()).mean()
        shown = ", ".join(f"{m:.1f}" for m in medians)
        print(f"| {number} | {'electron' if flavour == 12 else 'muon'} | {shown} | {100 * below:.1f} % |")
    random = np.random.default_rng(1)
    draws = 100_000
    drawn = np.stack([pools[f][random.integers(len(pools[f]), size=draws)].mean(axis=1) for f in flavours], axis=1)
    known = np.log(real).mean(axis=1)
    for name, statistic in (("mean", np.mean), ("median", np.median)):
        below = (statistic(drawn, axis=1) <= statistic(known)).mean()
        print(f"\nFive generated events of the same flavours have a {name} brightness as low in {100 * below:.1f} % of draws.")


def clusters(path, plane):
    """Columns and rows of the pixels of each true particle of the real sample."""
    with h5py.File(path, "r") as file:
        group = file["Data/cluster2d_sbndsegmerged_group"]
        extents, projections, ranges, voxels = (
            group[k][:] for k in ("extents", "projection_extents", "cluster_extents", "voxels")
        )
    for event in extents:
        projection = projections[int(event["first"]) + plane]
        for cluster in ranges[int(projection["first"]) : int(projection["first"]) + int(projection["N"])]:
            ids = voxels["id"][int(cluster["first"]) : int(cluster["first"]) + int(cluster["N"])]
            yield ids // ROWS * 1.0, ids % ROWS * 1.0


def cathode_gaps(path):
    """Of straight tracks that cross the cathode: the part of the drift, in cm, that is missing between their halves.
    The two halves lie on one line, so how far they are apart in wires, and their slope, say how far apart in space."""
    for plane in PLANES:
        for columns, rows in clusters(path, plane):
            negative = rows < ROWS / 2
            arrival = np.where(negative, rows, ROWS - rows)
            if min(negative.sum(), (~negative).sum()) < 12:
                continue
            ends, slopes, scatters = [], [], []
            for half in (negative, ~negative):
                last = arrival[half].max()
                near = half & (arrival > last - 60)
                line = np.polyfit(arrival[near], columns[near], 1)
                ends.append(np.polyval(line, last))
                slopes.append(line[0])
                scatters.append(np.std(columns[near] - np.polyval(line, arrival[near])))
                if last > ROWS / 2 - 3:  # cut by the end of the readout
                    slopes[-1] = np.nan
            slope = (slopes[0] - slopes[1]) / 2
            # One line on both sides, and steep enough in wires to measure.
            straight = abs(slopes[0] + slopes[1]) < 0.3 * abs(slope) + 0.1 and max(scatters) < 8
            if straight and abs(slope) > 0.4:
                yield (ends[1] - ends[0]) / slope * CM_PER_ROW


def main():
    real, generated = sys.argv[1:]
    compare_medians(real, generated)
    gaps = np.array(list(cathode_gaps(real)))
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    print(f"\nThe cathode takes {gaps.mean():.2f} +- {error:.2f} cm of the drift ({len(gaps)} views of crossing tracks).")


if __name__ == "__main__":
    main()
