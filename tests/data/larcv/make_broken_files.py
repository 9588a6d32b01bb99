#!/usr/bin/env python3
"""Makes the damaged (and the merely unusual) larcv3 files of broken/, and broken/expected.txt.

Each case of broken_cases/ says what is wrong with its file and what the reader must say about it. The files are
committed, gzipped, so that the tests need no Python; run this again only to add or change cases
(needs python3-h5py):

    python3 tests/data/larcv/make_broken_files.py tests/data/larcv/broken

A line of expected.txt is: file, what to read, outcome, text; separated by tabs. What to read is
`events` (images, and labels where there are any), `labelled` (labels are required) or `products`
(every product, on its own). Outcomes are `error` (its message contains the text), `warning` (the
text is '<count> <kind>: <part of the example>') and `sound` (the same events as in sound_plain.h5).
"""
import gzip
import os
import sys
import tempfile

import h5py

from broken_cases import CASES


def make(path, content, change, writer, change_file, change_bytes):
    tables = content()
    if change:
        change(tables)
    writer.write(path, tables)
    if change_file:
        with h5py.File(path, "r+", libver=writer.libver) as file:
            change_file(file)
    with open(path, "rb") as file:
        data = file.read()
    return change_bytes(data) if change_bytes else data


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER")
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, open(os.path.join(folder, "expected.txt"), "w") as expected:
        for name, what, outcome, text, *how in CASES:
            data = make(os.path.join(scratch, name + ".h5"), *how)
            with open(os.path.join(folder, name + ".h5.gz"), "wb") as file:
                file.write(gzip.compress(data, 9, mtime=0))
            expected.write(f"{name}.h5\t{what}\t{outcome}\t{text}\n")


if __name__ == "__main__":
    main()
