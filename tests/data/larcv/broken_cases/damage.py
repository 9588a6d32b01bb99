"""Ways to damage tables, the finished file and its bytes."""

import struct

import numpy as np


def replaced(table, make):
    def change(tables):
        tables[table] = make(tables[table])
    return change


def as_type(dtype):
    """The same rows with other member types; members that the new type lacks are dropped."""
    def make(table):
        result = np.zeros(len(table), dtype)
        for name in result.dtype.names:
            if name in table.dtype.names:
                result[name] = table[name]
        return result
    return make


def patched(old, new, which=0):
    """Bytes of the finished file replaced, at the given occurrence."""
    def change(data):
        at = -1
        for _ in range(which + 1):
            at = data.index(old, at + 1)
        return data[:at] + new + data[at + len(new):]
    return change


def removed(*names):
    def change(tables):
        for name in names:
            del tables[name]
    return change


def patched_layout(find, offset, new):
    def change(data):
        at = data.index(find) + offset
        return data[:at] + new + data[at + len(new):]
    return change


def tail_biting_tree(data, start):
    """The first tree node becomes an inner node whose only child is itself."""
    at = data.index(start)
    node = data[at:at + 5] + b"\x01" + struct.pack("<H", 1) + b"\xff" * 16
    key_bytes = 24 if data[at + 4] == 1 else 8
    node += bytes(key_bytes) + struct.pack("<Q", at)
    return data[:at] + node + data[at + len(node):]


def recreated(table, create):
    """A table written in another way, once the rest of the file is there."""
    def change(file):
        data = file[table][:]
        del file[table]
        create(file, table, data)
    return change


def chunk_bytes(table, number, make, rows_per_chunk=4):
    """The stored bytes of one chunk replaced."""
    def change(file):
        dataset = file[table]
        mask, stored = dataset.id.read_direct_chunk((number * rows_per_chunk,))
        stored, mask = make(stored, mask)
        dataset.id.write_direct_chunk((number * rows_per_chunk,), stored, mask)
    return change
