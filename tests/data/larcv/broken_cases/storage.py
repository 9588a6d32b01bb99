"""Damage to how a table is stored: its layout, chunks and filters."""

import struct
import zlib

import h5py
import numpy as np

from .cases import case
from .damage import chunk_bytes, patched, patched_layout, recreated, tail_biting_tree
from .tables import IMAGE, MAX64
from .writer import CHUNKED, Writer


def external_storage(file, table, data):
    file.create_dataset(table, data.shape, data.dtype, external=[("rows.bin", 0, h5py.h5f.UNLIMITED)])


def virtual_dataset(file, table, data):
    layout = h5py.VirtualLayout(shape=data.shape, dtype=data.dtype)
    layout[:] = h5py.VirtualSource("other.h5", "rows", shape=data.shape, dtype=data.dtype)
    file.create_virtual_dataset(table, layout)


def never_written(file, table, data):
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_chunk((4,))
    space = h5py.h5s.create_simple((len(data),))
    h5py.h5d.create(file.id, table.encode(), h5py.h5t.py_create(data.dtype), space, creation)


def never_written_in_one_piece(file, table, data):
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    space = h5py.h5s.create_simple((len(data),))
    h5py.h5d.create(file.id, table.encode(), h5py.h5t.py_create(data.dtype), space, creation)


def one_chunk_missing(file, table, data):
    dataset = file.create_dataset(table, data.shape, data.dtype, chunks=(4,), compression="gzip")
    dataset[:4] = data[:4]
    dataset[8:] = data[8:]


def deflated(data):
    return zlib.compress(data, 1)


case("rows_in_external_files", "events", "error", "keeps its rows in other files",
     change_file=recreated(IMAGE + "voxels", external_storage))
case("rows_in_a_virtual_dataset", "events", "error", "is a virtual dataset",
     change_file=recreated(IMAGE + "voxels", virtual_dataset), writer=Writer(libver="latest"))
case("chunks_never_written", "events", "error", f"table '/{IMAGE}voxels' has no chunk 0 of 3",
     change_file=recreated(IMAGE + "voxels", never_written))
case("rows_never_written", "events", "error", "has 10 rows that were never written",
     change_file=recreated(IMAGE + "voxels", never_written_in_one_piece))
case("chunk_missing", "events", "error", f"table '/{IMAGE}voxels' has no chunk 1 of 3 (rows 4 to 7",
     change_file=recreated(IMAGE + "voxels", one_chunk_missing))
case("chunk_tree_damaged", "events", "error", "table '/Events/event_id' does not start with 'TREE'",
     writer=CHUNKED, change_bytes=patched(b"TREE\x01", b"TROE\x01"))
case("chunk_tree_bites_its_tail", "events", "error", "level 1 with 1 entries in its tree of chunks",
     writer=CHUNKED, change_bytes=lambda data: tail_biting_tree(data, b"TREE\x01"))
case("chunk_index_of_hdf5_1_10", "events", "error", "lists its chunks in an index of kind 4",
     writer=Writer(libver="latest", chunks=(4,), compression="gzip"))
case("deflate_stream_damaged", "events", "error", f"event 0, plane 0: table '/{IMAGE}voxels': chunk 0 is not a valid deflate stream",
     writer=CHUNKED, change_file=chunk_bytes(IMAGE + "voxels", 0, lambda stored, mask: (b"\x00" * len(stored), mask)))
case("deflate_stream_damaged_in_event_1", "events", "error", "event 1, plane 2",
     writer=CHUNKED, change_file=chunk_bytes(IMAGE + "voxels", 2, lambda stored, mask: (stored[:-6] + b"\xff" * 6, mask)))
case("deflate_stream_cut", "events", "error", "chunk 1 is not a valid deflate stream",
     writer=CHUNKED, change_file=chunk_bytes(IMAGE + "voxels", 1, lambda stored, mask: (stored[:-9], mask)))
case("chunk_inflates_to_less", "events", "error", "chunk 0 inflates to 63 bytes (its rows need 64)",
     writer=CHUNKED, change_file=chunk_bytes(IMAGE + "voxels", 0, lambda stored, mask: (deflated(bytes(63)), mask)))
case("chunk_inflates_to_more", "events", "error", "chunk 0 inflates to more than 64 bytes",
     writer=CHUNKED, change_file=chunk_bytes(IMAGE + "voxels", 0, lambda stored, mask: (deflated(bytes(100000)), mask)))
case("chunk_without_filters_too_short", "events", "error", "chunk 0 unpacks to 60 bytes (its rows need 64)",
     writer=CHUNKED, change_file=chunk_bytes(IMAGE + "voxels", 0, lambda stored, mask: (bytes(60), 1)))
case("checksum_wrong", "events", "error", "has the checksum",
     writer=Writer(chunks=(4,), fletcher32=True),
     change_file=chunk_bytes(IMAGE + "voxels", 0, lambda stored, mask: (b"\x02" + stored[1:], mask)))
case("chunk_address_beyond_the_end", "events", "error", "the file is cut short", writer=CHUNKED,
     change_bytes=lambda data: chunk_address(data, 10**9))
case("chunk_address_near_the_largest", "events", "error", "the file is cut short", writer=CHUNKED,
     change_bytes=lambda data: chunk_address(data, MAX64 - 8))
case("chunk_of_no_bytes", "events", "error", "too few to be 4 rows of 24 bytes", writer=CHUNKED,
     change_bytes=lambda data: chunk_size(data, 0))
case("chunk_of_4_gigabytes", "events", "error", "the file is cut short", writer=CHUNKED,
     change_bytes=lambda data: chunk_size(data, 2**32 - 1))
case("chunk_at_another_row", "events", "error", "the index of chunks is out of order", writer=CHUNKED,
     change_bytes=lambda data: chunk_row(data, 4))


# Two chunks that are the whole file each: more bytes than there are, and a few kilobytes could be a million of them.
case("chunks_lie_over_each_other", "events", "error", "they lie over each other", writer=CHUNKED,
     change_bytes=lambda data: every_chunk_is_the_file(data))


def every_chunk_is_the_file(data):
    at = 0
    while (at := data.find(b"TREE\x01", at)) >= 0:
        entries = struct.unpack_from("<H", data, at + 6)[0]
        for entry in range(entries):
            key = at + 24 + 32 * entry
            data = data[:key] + struct.pack("<I", len(data)) + data[key + 4:key + 24] + bytes(8) + data[key + 32:]
        at += 8
    return data


def chunk_address(data, address):
    at = data.index(b"TREE\x01") + 24 + 24
    return data[:at] + struct.pack("<Q", address) + data[at + 8:]


def chunk_size(data, size):
    at = data.index(b"TREE\x01") + 24
    return data[:at] + struct.pack("<I", size) + data[at + 4:]


def chunk_row(data, row):
    at = data.index(b"TREE\x01") + 24 + 8
    return data[:at] + struct.pack("<Q", row) + data[at + 8:]


# The layout message of a table with chunks: version 3, class 2, 2 dimensions, address, rows, bytes.
CHUNK_SHAPE_OF_IDS = struct.pack("<II", 4, 24)
case("chunks_of_no_rows", "events", "error", "has chunks of 0 rows of 24 bytes", writer=CHUNKED,
     change_bytes=patched_layout(CHUNK_SHAPE_OF_IDS, 0, struct.pack("<I", 0)))
case("chunks_of_4_billion_rows", "events", "error", "has chunks of 4294967295 rows of 24 bytes", writer=CHUNKED,
     change_bytes=patched_layout(CHUNK_SHAPE_OF_IDS, 0, struct.pack("<I", 2**32 - 1)))
case("chunks_with_other_rows", "events", "error", "has chunks of 1 dimensions and rows of 25 bytes", writer=CHUNKED,
     change_bytes=patched_layout(CHUNK_SHAPE_OF_IDS, 4, struct.pack("<I", 25)))
case("rows_without_number", "events", "error", "has no chunk", writer=CHUNKED,
     # The dataspace of event_id: version 1, 1 dimension, with maximum; 2 rows become 2^60.
     change_bytes=patched_layout(struct.pack("<BBBBIQQ", 1, 1, 1, 0, 0, 2, MAX64), 8, struct.pack("<Q", 2**60)))
case("rows_beyond_63_bits", "events", "error", "has no chunk", writer=CHUNKED,
     change_bytes=patched_layout(struct.pack("<BBBBIQQ", 1, 1, 1, 0, 0, 2, MAX64), 8, struct.pack("<Q", MAX64)))
case("filter_lzf", "events", "error", "is packed with filter 32000, 'lzf'", writer=Writer(chunks=(4,), compression="lzf"))
case("filter_scaleoffset", "events", "error", "is packed with filter 6, 'scaleoffset'",
     change_file=lambda file: (file.pop(IMAGE + "voxels"),
                               file.create_dataset(IMAGE + "voxels", data=np.arange(10), chunks=(4,), scaleoffset=4)))
case("filter_from_a_plugin", "events", "error", "is packed with filter 32015", writer=CHUNKED,
     # The filter message of event_id: version 1, one filter, then its number.
     change_bytes=patched_layout(b"\x01\x01" + bytes(6) + struct.pack("<HH", 1, 8), 8, struct.pack("<H", 32015)))
