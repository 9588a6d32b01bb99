#!/usr/bin/env python3
"""Opens a written larcv3 file with h5py and compares it with the format's description.

usage: check_written_file.py FILE [--like LARCV3_FILE] [--level N]

Prints what differs and exits with 1; exits with 77 where h5py is missing.
"""
import argparse
import sys

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"h5py cannot be imported ({error}); Debian's package is python3-h5py")
    sys.exit(77)


def compound(size, *members):
    names, formats, offsets = zip(*members)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


POINT = compound(32, ("x", "<f8", 0), ("y", "<f8", 8), ("z", "<f8", 16), ("t", "<f8", 24))
EVENT_ID = compound(24, ("run", "<i8", 0), ("subrun", "<i8", 8), ("event", "<i8", 16))
EXTENTS = compound(16, ("first", "<u8", 0), ("N", "<u4", 8))
ID_EXTENTS = compound(16, ("first", "<u8", 0), ("N", "<u4", 8), ("ID", "<u4", 12))
VOXELS = compound(16, ("id", "<u8", 0), ("value", "<f4", 8))
IMAGE_META = compound(72, ("valid", "u1", 0), ("projection_id", "<u8", 8),
                      ("image_sizes", ("<f8", (2,)), 16), ("number_of_voxels", ("<u8", (2,)), 32),
                      ("origin", ("<f8", (2,)), 48))
BOXES = compound(64, ("centroid", ("<f8", (2,)), 0), ("half_length", ("<f8", (2,)), 16),
                 ("rotation", ("<f8", (4,)), 32))
PARTICLES = compound(
    344, ("id", "<u2", 0), ("mcst_index", "<u2", 2), ("mct_index", "<u2", 4), ("shape", "<i4", 8),
    ("current_type", "<i2", 12), ("interaction_type", "<i2", 14), ("trackid", "<u4", 16),
    ("pdg", "<i4", 20), ("px", "<f8", 24), ("py", "<f8", 32), ("pz", "<f8", 40), ("vtx", POINT, 48),
    ("end_pt", POINT, 80), ("first_step", POINT, 112), ("last_step", POINT, 144),
    ("dist_travel", "<f8", 176), ("energy_init", "<f8", 184), ("energy_deposit", "<f8", 192),
    ("process", "S64", 200), ("parent_trackid", "<u4", 264), ("parent_pdg", "<i4", 268),
    ("parent_vtx", POINT, 272), ("ancestor_trackid", "<u4", 304), ("ancestor_pdg", "<i4", 308),
    ("ancestor_vtx", POINT, 312))

# For each type of product, its tables: type and rows per chunk.
TABLES = {
    "sparse2d": {"extents": (EXTENTS, 10), "voxel_extents": (ID_EXTENTS, 100),
                 "image_meta": (IMAGE_META, 100), "voxels": (VOXELS, 1000)},
    "cluster2d": {"extents": (EXTENTS, 10), "projection_extents": (ID_EXTENTS, 100),
                  "image_meta": (IMAGE_META, 100), "cluster_extents": (ID_EXTENTS, 100),
                  "voxels": (VOXELS, 1000)},
    "particle": {"extents": (EXTENTS, 100), "particles": (PARTICLES, 500)},
    "bbox2d": {"extents": (EXTENTS, 1), "bbox_extents": (ID_EXTENTS, 1),
               "image_meta": (IMAGE_META, 100), "bboxes": (BOXES, 1000)},
}

problems = []


def expect(what, found, expected):
    if found != expected:
        problems.append(f"{what}: {found!r} instead of {expected!r}")


def check_table(table, dtype, chunk, level):
    expect(f"{table.name} type", table.dtype, dtype)
    expect(f"{table.name} size of a row", table.dtype.itemsize, dtype.itemsize)
    expect(f"{table.name} chunk", table.chunks, (chunk,))
    expect(f"{table.name} largest size", table.maxshape, (None,))
    filters = [table.id.get_create_plist().get_filter(i)[:3:2]
               for i in range(table.id.get_create_plist().get_nfilters())]
    deflate = [(h5py.h5z.FILTER_DEFLATE, (level,))]
    plain = level == 0 and not table.name.endswith("/event_id")
    expect(f"{table.name} filters", filters, [] if plain else deflate)
    expect(f"{table.name} attributes", len(table.attrs), 0)
    table[...]  # decompresses every chunk


def check_chain(group):
    """Each level of a product points at consecutive rows of the next, down to the last row."""
    kind = group.name.split("/")[-1].split("_")[0]
    chain = {"sparse2d": ["extents", "voxel_extents", "voxels"],
             "cluster2d": ["extents", "projection_extents", "cluster_extents", "voxels"],
             "particle": ["extents", "particles"],
             "bbox2d": ["extents", "bbox_extents", "bboxes"]}[kind]
    for upper, lower in zip(chain, chain[1:]):
        counts = group[upper]["N"].astype(np.uint64)
        expect(f"{group.name}/{upper} first rows", group[upper]["first"].tolist(),
               (np.cumsum(counts) - counts).tolist())
        expect(f"{group.name}/{lower} rows", len(group[lower]), int(counts.sum()))
    if "image_meta" in group:
        expect(f"{group.name}/image_meta planes", group["image_meta"]["projection_id"].tolist(),
               group[chain[1]]["ID"].tolist())
        expect(f"{group.name}/image_meta valid", set(group["image_meta"]["valid"]) - {1}, set())


def check_file(file, level):
    expect("groups of the file", sorted(file), ["Data", "Events"])
    expect("tables of /Events", list(file["Events"]), ["event_id"])
    expect("superblock version", file.id.get_create_plist().get_version()[0], 0)
    ids = file["Events/event_id"]
    check_table(ids, EVENT_ID, 100, level)
    for name, group in file["Data"].items():
        tables = TABLES[name.split("_")[0]]
        expect(f"suffix of {name}", name.split("_")[-1], "group")
        expect(f"tables of {name}", sorted(group), sorted(tables))
        for table, (dtype, chunk) in tables.items():
            check_table(group[table], dtype, chunk, level)
        expect(f"{name} events", len(group["extents"]), len(ids))
        check_chain(group)


def compare_tables(file, like):
    """Tables of the same name and type of product have the same storage in both files."""
    theirs = {(name.split("_")[0], table): group[table]
              for name, group in like["Data"].items() for table in group}
    theirs["", "event_id"] = like["Events/event_id"]
    ours = {(name.split("_")[0], table): group[table]
            for name, group in file["Data"].items() for table in group}
    ours["", "event_id"] = file["Events/event_id"]
    expect("tables that the other file has and this one lacks", set(theirs) - set(ours), set())
    for key in set(theirs) & set(ours):
        a, b = ours[key], theirs[key]
        for what in ("dtype", "chunks", "maxshape", "compression", "compression_opts", "shuffle",
                     "fletcher32", "fillvalue"):
            left, right = str(getattr(a, what)), str(getattr(b, what))
            expect(f"{a.name} {what}, compared with {like.filename}", left, right)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--like")
    parser.add_argument("--level", type=int, default=1)
    arguments = parser.parse_args()
    with h5py.File(arguments.file, "r") as file:
        check_file(file, arguments.level)
        if arguments.like:
            with h5py.File(arguments.like, "r") as like:
                compare_tables(file, like)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
