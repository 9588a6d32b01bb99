#!/usr/bin/env python3
"""Compares a generated larcv3 file with the real sample: a table, and a picture of an event of each.

    compare_with_sample.py REAL GENERATED [--picture FILE --events REAL_ENTRY GENERATED_ENTRY]

Needs Debian's python3-h5py. The table is Markdown; it says which means over the
generated events are within what the real events span.
"""
import argparse
import struct
import zlib

import h5py
import numpy as np

ROWS, COLUMNS = 1280, 2048
LABELS = ("background", "cosmic", "neutrino")
# First and second induction wires are different planes in the two drift volumes.
HALVES = {"rows 0 to 639": slice(0, 640), "rows 640 to 1279": slice(640, 1280)}


def read_product(file, producer):
    """Pixels of each event and plane."""
    group = file[f"Data/sparse2d_{producer}_group"]
    extents, voxel_extents, voxels = (group[k][:] for k in ("extents", "voxel_extents", "voxels"))
    for event in extents:
        rows = voxel_extents[int(event["first"]) : int(event["first"]) + int(event["N"])]
        yield [voxels[int(r["first"]) : int(r["first"]) + int(r["N"])] for r in rows]


def read_charged(path):
    """For each event, whether its neutrino interacted by the charged current."""
    with h5py.File(path, "r") as file:
        group = file["Data/particle_sbndneutrino_group"]
        first = group["extents"]["first"].astype(int)
        return group["particles"]["current_type"][first] == 0


def read_events(path):
    """For each event and plane: columns, rows, values, labels."""
    with h5py.File(path, "r") as file:
        images, labels = read_product(file, "sbndwire"), read_product(file, "sbnd_cosmicseg")
        return [
            [
                (
                    (pixels["id"] // ROWS).astype(int),
                    (pixels["id"] % ROWS).astype(int),
                    pixels["value"],
                    truth["value"].astype(int),
                )
                for pixels, truth in zip(image, label)
            ]
            for image, label in zip(images, labels)
        ]


def measure(columns, rows, values, labels):
    result = {"stored pixels": len(values)}
    for label, name in enumerate(LABELS):
        result[f"{name} pixels"] = (labels == label).sum()
    for half, part in HALVES.items():
        inside = (rows >= part.start) & (rows < part.stop)
        result[f"background pixels in {half}"] = ((labels == 0) & inside).sum()
    result["columns used"] = len(np.unique(columns))
    result["rows used"] = len(np.unique(rows))
    result["sum of the values"] = values.sum(dtype=np.float64)
    for label, name in enumerate(LABELS):
        mine = values[labels == label]
        for share in (5, 50, 90, 99):
            result[f"{name} value, {share} % quantile"] = (
                np.percentile(mine, share) if len(mine) else np.nan
            )
    return result


def number(value):
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def print_table(real, generated, charged):
    """`charged` says which generated events are charged currents."""
    print(f"{len(real)} real and {len(generated)} generated events; **bold**: outside the span\n")
    planes = range(3)
    print("| |" + "".join(f" plane {p}: real (span) | generated |" for p in planes))
    print("|---|" + "---:|---:|" * len(planes))
    of_real = [[measure(*event[p]) for event in real] for p in planes]
    of_generated = [[measure(*event[p]) for event in generated] for p in planes]
    inside = 0
    names = list(of_real[0][0])
    for name in names:
        cells = []
        for p in planes:
            known = np.array([m[name] for m in of_real[p]], float)
            least, most = np.nanmin(known), np.nanmax(known)
            # Neutral currents have hardly more than protons, which are bright; the real ones are
            # all charged currents.
            fair = charged if name.startswith("neutrino value") else [True] * len(generated)
            mean = np.nanmean([m[name] for m, use in zip(of_generated[p], fair) if use])
            ok = least <= mean <= most
            inside += ok
            span = f"{number(np.nanmean(known))} ({number(least)} to {number(most)})"
            cells += [span, number(mean) if ok else f"**{number(mean)}**"]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print(f"\n{inside} of {len(names) * len(planes)} means are inside the span of the real events")


def panel(columns, rows, values, shrink=3):
    """The charge as colours, the largest of shrink x shrink pixels."""
    dense = np.zeros((-(-ROWS // shrink), -(-COLUMNS // shrink)))
    np.maximum.at(dense, (rows // shrink, columns // shrink), values)
    t = np.clip(np.log1p(dense) / np.log1p(100.0), 0, 1)[..., None]
    lit = dense[..., None] > 0
    # Dark blue through magenta to yellow; noise at the threshold stays visible.
    colours = np.concatenate([1.4 * t - 0.2, 2.2 * t * t - 0.9, 0.9 - abs(1.6 * t - 0.7)], axis=2)
    return np.where(lit, np.clip(colours, 0.05, 1), 0.04) * 255


def write_png(path, image):
    height, width, _ = image.shape
    raw = b"".join(b"\0" + row.tobytes() for row in image.astype(np.uint8))

    def chunk(kind, content):
        return (
            struct.pack(">I", len(content))
            + kind
            + content
            + struct.pack(">I", zlib.crc32(kind + content))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header))
        file.write(chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def draw(path, real, generated):
    """Real on the left, generated on the right; planes 0, 1, 2 from top to bottom."""
    rows = []
    for plane in range(3):
        left, right = panel(*real[plane][:3]), panel(*generated[plane][:3])
        gap = np.full((left.shape[0], 6, 3), 110.0)
        rows += [np.concatenate([left, gap, right], axis=1), None]
    gap = np.full((6, rows[0].shape[1], 3), 110.0)
    write_png(path, np.concatenate([gap if r is None else r for r in rows[:-1]]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("real")
    parser.add_argument("generated")
    parser.add_argument("--picture")
    parser.add_argument("--events", nargs=2, type=int, default=(3, 0))
    options = parser.parse_args()
    real, generated = read_events(options.real), read_events(options.generated)
    print_table(real, generated, read_charged(options.generated))
    if options.picture:
        draw(options.picture, real[options.events[0]], generated[options.events[1]])


if __name__ == "__main__":
    main()
