"""Reads a profile in NumPy's format and prints its fields and rows as JSON: python3 read_profile.py FILE

By NumPy where it is installed; otherwise by hand, from the description of the format. Times are microseconds, NaT null.
"""
import ast
import json
import struct
import sys

NOT_A_TIME = -2**63


def by_hand(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    (length,) = struct.unpack("<H", data[8:10])
    assert (10 + length) % 64 == 0 and data[9 + length:10 + length] == b"\n"
    header = ast.literal_eval(data[10:10 + length].decode("latin1"))
    assert header["fortran_order"] is False
    codes = {"<i4": "i", "<M8[us]": "q", "<m8[us]": "q"}
    row = struct.Struct("<" + "".join(codes[kind] for _, kind in header["descr"]))
    rows = list(row.iter_unpack(data[10 + length:]))
    assert header["shape"] == (len(rows),)
    return [list(field) for field in header["descr"]], rows


def by_numpy(path):
    import numpy
    array = numpy.load(path)
    descr = [[name, array.dtype[name].str] for name in array.dtype.names]
    return descr, [tuple(int(row[name].astype("int64")) for name in array.dtype.names) for row in array]


try:
    FIELDS, ROWS = by_numpy(sys.argv[1])
    assert (FIELDS, ROWS) == by_hand(sys.argv[1])
except ImportError:
    FIELDS, ROWS = by_hand(sys.argv[1])
NAMES = [name for name, _ in FIELDS]
print(json.dumps({
    "fields": FIELDS,
    "rows": [{name: None if value == NOT_A_TIME else value for name, value in zip(NAMES, row)} for row in ROWS],
}))
