#!/usr/bin/env python3
"""Makes the damaged (and the merely unusual) larcv3 files of broken/, and broken/expected.txt.

Each case below says what is wrong with its file and what the reader must say about it. The files are
committed, gzipped, so that the tests need no Python; run this again only to add or change cases
(needs python3-h5py):

    python3 tests/data/larcv/make_broken_files.py tests/data/larcv/broken

A line of expected.txt is: file, what to read, outcome, text; separated by tabs. What to read is
`events` (images, and labels where there are any), `labelled` (labels are required) or `products`
(every product, on its own). Outcomes are `error` (its message contains the text), `warning` (the
text is '<count> <kind>: <part of the example>') and `sound` (the same events as in sound_plain.h5).
"""
import ctypes
import gzip
import os
import struct
import sys
import tempfile
import zlib

import h5py
import numpy as np

EVENT_ID = np.dtype([("run", "<i8"), ("subrun", "<i8"), ("event", "<i8")])
EXTENTS = np.dtype({"names": ["first", "N"], "formats": ["<u8", "<u4"], "offsets": [0, 8], "itemsize": 16})
ID_EXTENTS = np.dtype([("first", "<u8"), ("N", "<u4"), ("ID", "<u4")])
VOXEL = np.dtype({"names": ["id", "value"], "formats": ["<u8", "<f4"], "offsets": [0, 8], "itemsize": 16})
META = np.dtype({"names": ["valid", "projection_id", "image_sizes", "number_of_voxels", "origin"],
                 "formats": ["u1", "<u8", ("<f8", 2), ("<u8", 2), ("<f8", 2)],
                 "offsets": [0, 8, 16, 32, 48], "itemsize": 72})
BOX = np.dtype([("centroid", "<f8", 2), ("half_length", "<f8", 2), ("rotation", "<f8", 4)])
POINT = np.dtype([(axis, "<f8") for axis in "xyzt"])
PARTICLE = np.dtype({
    "names": ["id", "mcst_index", "mct_index", "shape", "current_type", "interaction_type", "trackid",
              "pdg", "px", "py", "pz", "vtx", "end_pt", "first_step", "last_step", "dist_travel",
              "energy_init", "energy_deposit", "process", "parent_trackid", "parent_pdg", "parent_vtx",
              "ancestor_trackid", "ancestor_pdg", "ancestor_vtx"],
    "formats": ["<u2", "<u2", "<u2", "<i4", "<i2", "<i2", "<u4", "<i4", "<f8", "<f8", "<f8", POINT,
                POINT, POINT, POINT, "<f8", "<f8", "<f8", "S64", "<u4", "<i4", POINT, "<u4", "<i4",
                POINT],
    "offsets": [0, 2, 4, 8, 12, 14, 16, 20, 24, 32, 40, 48, 80, 112, 144, 176, 184, 192, 200, 264,
                268, 272, 304, 308, 312],
    "itemsize": 344})

COLUMNS, ROWS = 8, 6
IMAGE = "Data/sparse2d_sbndwire_group/"
LABELS = "Data/sparse2d_sbnd_cosmicseg_group/"
PARTICLES = "Data/particle_sbndneutrino_group/"
CLUSTERS = "Data/cluster2d_sbndneutrino_group/"
BOXES = "Data/bbox2d_bbox_neutrino_group/"
MAX64 = 2**64 - 1


def rows(dtype, *values):
    table = np.zeros(len(values), dtype)  # padding too, which else is whatever lay in memory
    table[:] = list(values)
    return table


def metas():
    return rows(META, *[(1, plane, (COLUMNS, ROWS), (COLUMNS, ROWS), (0, 0)) for plane in (0, 1, 2) * 2])


def events():
    """Two events with an image: 3, 2 and 1 pixels, then 2, 0 and 2."""
    return {
        "Events/event_id": rows(EVENT_ID, (1, 2, 3), (1, 2, 4)),
        IMAGE + "extents": rows(EXTENTS, (0, 3), (3, 3)),
        IMAGE + "voxel_extents": rows(ID_EXTENTS, (0, 3, 0), (3, 2, 1), (5, 1, 2), (6, 2, 0), (8, 0, 1),
                                      (8, 2, 2)),
        IMAGE + "image_meta": metas(),
        IMAGE + "voxels": rows(VOXEL, (1, 5.5), (7, 6.5), (47, 7.5), (0, 8.5), (20, 9.5), (46, 10.5),
                               (3, 11.5), (4, 12.5), (11, 13.5), (12, 14.5)),
    }


def with_labels():
    content = events()
    for table in ("extents", "voxel_extents", "image_meta", "voxels"):
        content[LABELS + table] = content[IMAGE + table].copy()
    content[LABELS + "voxels"]["value"] = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    return content


def only_event_ids():
    return {"Events/event_id": events()["Events/event_id"]}


def with_particles():
    content = only_event_ids()
    content[PARTICLES + "extents"] = rows(EXTENTS, (0, 2), (2, 1))
    particles = np.zeros(3, PARTICLE)
    particles["process"] = b"primary"
    particles["pdg"] = [14, 13, 12]
    content[PARTICLES + "particles"] = particles
    return content


def with_clusters():
    content = only_event_ids()
    content[CLUSTERS + "extents"] = rows(EXTENTS, (0, 3), (3, 3))
    content[CLUSTERS + "projection_extents"] = rows(
        ID_EXTENTS, (0, 2, 0), (2, 0, 1), (2, 0, 2), (2, 1, 0), (3, 0, 1), (3, 0, 2))
    content[CLUSTERS + "image_meta"] = metas()
    content[CLUSTERS + "cluster_extents"] = rows(ID_EXTENTS, (0, 2, 0), (2, 1, 1), (3, 1, 0))
    content[CLUSTERS + "voxels"] = rows(VOXEL, (1, 1), (2, 1), (3, 1), (4, 1))
    return content


def with_boxes():
    content = only_event_ids()
    content[BOXES + "extents"] = rows(EXTENTS, (0, 3), (3, 3))
    content[BOXES + "bbox_extents"] = rows(
        ID_EXTENTS, (0, 1, 0), (1, 1, 1), (2, 1, 2), (3, 1, 0), (4, 1, 1), (5, 1, 2))
    content[BOXES + "image_meta"] = metas()
    content[BOXES + "bboxes"] = np.array([((p, p), (1, 1), (1, 0, 0, 1)) for p in range(6)], BOX)
    return content


class Writer:
    """How a file is written; cases override parts of it."""

    def __init__(self, libver="earliest", user_block=0, sizes=None, small_trees=True, **dataset_options):
        self.libver = libver
        self.user_block = user_block
        self.sizes = sizes
        self.small_trees = small_trees
        self.dataset_options = dataset_options  # of create_dataset, for every table

    def create(self, path):
        creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
        access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
        if self.libver == "latest":
            access.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
        if self.user_block:
            creation.set_userblock(self.user_block)
        if self.sizes:
            creation.set_sizes(*self.sizes)
        if self.small_trees and self.libver == "earliest":
            # Tree nodes with room for a few entries keep the committed files small. h5py does not
            # offer these two properties, so ask the library that it is linked with.
            library = ctypes.CDLL(h5py.h5p.__file__)
            library.H5Pset_istore_k(ctypes.c_int64(creation.id), ctypes.c_uint(2))
            library.H5Pset_sym_k(ctypes.c_int64(creation.id), ctypes.c_uint(2), ctypes.c_uint(3))
        access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
        return h5py.File(h5py.h5f.create(path.encode(), h5py.h5f.ACC_TRUNC, creation, access))

    def write(self, path, content):
        with self.create(path) as file:
            file.require_group("Data")
            file.require_group("Events")
            for name, table in content.items():
                options = dict(self.dataset_options)
                if "chunks" in options:
                    options["maxshape"] = (None,)
                file.create_dataset(name, data=table, **options)


CONTIGUOUS = Writer()
CHUNKED = Writer(chunks=(4,), compression="gzip", compression_opts=1)
CASES = []


def case(name, what, outcome, text, content=None, change=None, writer=CONTIGUOUS, change_file=None,
         change_bytes=None):
    CASES.append((name, what, outcome, text, content or events, change, writer, change_file, change_bytes))


def table_case(name, outcome, text, table, index, field, value, content=events, what="events"):
    """One number of one row is wrong."""
    def change(tables):
        tables[table][field][index] = value
    case(name, what, outcome, text, content, change)


def replaced(table, make):
    def change(tables):
        tables[table] = make(tables[table])
    return change


def as_type(dtype, **renamed):
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


# ---------------------------------------------------------------- the container as a whole

case("not_hdf5", "events", "error", "is not an HDF5 file", change_bytes=lambda data: b"run,event\n1,2\n" * 60)
case("empty", "events", "error", "is empty (0 bytes)", change_bytes=lambda data: b"")
case("signature_only", "events", "error", "in its superblock", change_bytes=lambda data: data[:8])
case("cut_in_half", "events", "error", "the file is cut short", change_bytes=lambda data: data[:len(data) // 2])
case("cut_by_one_byte", "events", "error", "but says that it has", change_bytes=lambda data: data[:-1])
case("superblock_version_9", "events", "error", "superblock of version 9",
     change_bytes=lambda data: data[:8] + b"\x09" + data[9:])
case("addresses_of_4_bytes", "events", "error", "addresses of 4 and lengths of 4 bytes", writer=Writer(sizes=(4, 4)))
case("base_address_elsewhere", "events", "error", "addresses count from byte 77",
     change_bytes=lambda data: data[:28] + struct.pack("<Q", 77) + data[36:])
case("root_beyond_the_end", "events", "error", "group '/' has its header at address 1000000",
     change_bytes=lambda data: data[:68] + struct.pack("<Q", 1000000) + data[76:])
case("root_is_no_header", "events", "error", "group '/' does not start with 'OHDR'",
     change_bytes=lambda data: data[:68] + struct.pack("<Q", 0) + data[76:])
case("names_damaged", "events", "error", "does not start with 'HEAP'", change_bytes=patched(b"HEAP", b"HOAP"))
case("group_tree_damaged", "events", "error", "does not start with 'TREE'", change_bytes=patched(b"TREE", b"TROE"))
case("group_leaf_damaged", "events", "error", "does not start with 'SNOD'", change_bytes=patched(b"SNOD", b"SNOW"))
case("group_tree_bites_its_tail", "events", "error", "has a tree node of type 0 and level 1",
     change_bytes=lambda data: tail_biting_tree(data, b"TREE\x00\x00"))


def tail_biting_tree(data, start):
    """The first tree node becomes an inner node whose only child is itself."""
    at = data.index(start)
    node = data[at:at + 5] + b"\x01" + struct.pack("<H", 1) + b"\xff" * 16
    key_bytes = 24 if data[at + 4] == 1 else 8
    node += bytes(key_bytes) + struct.pack("<Q", at)
    return data[:at] + node + data[at + len(node):]


def linked(kind, name, target):
    def change(file):
        if target in file:
            file.move(target, "elsewhere")
        file[name] = h5py.SoftLink("/elsewhere") if kind == "soft" else h5py.ExternalLink("other.h5", "/elsewhere")
    return change


for kind, reason in (("soft", "is a soft link"), ("external", "is an external link")):
    case(f"data_is_{kind}_link", "events", "error", f"'/Data' {reason}",
         change_file=linked(kind, "Data", "Data"))
    case(f"product_is_{kind}_link", "events", "error", f"'/{IMAGE[:-1]}' {reason}",
         change_file=linked(kind, IMAGE[:-1], IMAGE[:-1]))
    case(f"table_is_{kind}_link", "events", "error", f"'/{IMAGE}voxels' {reason}",
         change_file=linked(kind, IMAGE + "voxels", IMAGE + "voxels"))
case("no_data", "events", "error", "has no '/Data'", change_file=lambda file: file.pop("Data"))
case("no_events", "events", "error", "has no '/Events'", change_file=lambda file: file.pop("Events"))
case("no_event_id", "events", "error", "has no '/Events/event_id'", change=removed("Events/event_id"))
case("data_is_a_table", "events", "error", "group '/Data/' is not a group",
     content=only_event_ids, change_file=lambda file: (file.pop("Data"), file.create_dataset("Data", data=[1])))
case("table_is_a_group", "events", "error", "does not say its size",
     change=removed(IMAGE + "voxels"), change_file=lambda file: file.create_group(IMAGE + "voxels"))
case("group_name_without_underscores", "events", "warning", "1 groups not named <type>_<producer>_group (ignored): '/Data/notes'",
     change_file=lambda file: file.create_group("Data/notes"))
case("group_name_with_another_end", "events", "warning", "1 groups not named <type>_<producer>_group (ignored): '/Data/sparse2d_old_groups'",
     change_file=lambda file: file.create_group("Data/sparse2d_old_groups"))
case("group_name_with_control_characters", "events", "error", "has a name with control characters",
     change_file=lambda file: file.create_group("Data/\x1b[2J"))
case("link_name_with_control_characters", "events", "error", "has a name with control characters",
     writer=Writer(libver="latest"), change_file=lambda file: file.create_group("Data/\x1b[2J"))
case("links_in_a_fractal_heap", "events", "error", "keeps its links in a fractal heap", content=only_event_ids,
     writer=Writer(libver="latest"),
     change_file=lambda file: [file.create_group(f"Data/sparse2d_{i}_group") for i in range(9)])

# ---------------------------------------------------------------- how a table is stored


def recreated(table, create):
    """A table written in another way, once the rest of the file is there."""
    def change(file):
        data = file[table][:]
        del file[table]
        create(file, table, data)
    return change


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


def chunk_bytes(table, number, make, rows_per_chunk=4):
    """The stored bytes of one chunk replaced."""
    def change(file):
        dataset = file[table]
        mask, stored = dataset.id.read_direct_chunk((number * rows_per_chunk,))
        stored, mask = make(stored, mask)
        dataset.id.write_direct_chunk((number * rows_per_chunk,), stored, mask)
    return change


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


def chunk_address(data, address):
    at = data.index(b"TREE\x01") + 24 + 24
    return data[:at] + struct.pack("<Q", address) + data[at + 8:]


def chunk_size(data, size):
    at = data.index(b"TREE\x01") + 24
    return data[:at] + struct.pack("<I", size) + data[at + 4:]


def chunk_row(data, row):
    at = data.index(b"TREE\x01") + 24 + 8
    return data[:at] + struct.pack("<Q", row) + data[at + 8:]


def patched_layout(find, offset, new):
    def change(data):
        at = data.index(find) + offset
        return data[:at] + new + data[at + len(new):]
    return change


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

# ---------------------------------------------------------------- what a row is

case("event_id_of_integers", "events", "error", "holds values of the type 'integer'",
     change=replaced("Events/event_id", lambda table: np.arange(2)))
case("event_id_of_two_dimensions", "events", "error", "has 2 dimensions",
     change=replaced("Events/event_id", lambda table: table.reshape(1, 2)))
case("event_id_of_no_dimension", "events", "error", "has 0 dimensions",
     change=replaced("Events/event_id", lambda table: table[0]))
case("event_id_without_subrun", "events", "error", "has no member 'subrun'",
     change=replaced("Events/event_id", as_type([("run", "<i8"), ("event", "<i8")])))
case("voxels_without_value", "events", "error", "has no member 'value'",
     change=replaced(IMAGE + "voxels", as_type([("id", "<u8"), ("Value", "<f4")])))
case("voxel_value_is_an_integer", "events", "error", "has a member 'value' of the type 'integer' ('real number' is expected)",
     change=replaced(IMAGE + "voxels", as_type([("id", "<u8"), ("value", "<i4")])))
case("voxel_value_of_half_precision", "events", "error", "has real numbers of 16 bits",
     change=replaced(IMAGE + "voxels", as_type([("id", "<u8"), ("value", "<f2")])))
case("voxel_id_is_real", "events", "error", "has a member 'id' of the type 'real number' ('integer' is expected)",
     change=replaced(IMAGE + "voxels", as_type([("id", "<f8"), ("value", "<f4")])))
case("voxel_id_is_an_array", "events", "error", "has a member 'id' of the type 'array'",
     change=replaced(IMAGE + "voxels", lambda table: np.zeros(10, [("id", "<u8", 2), ("value", "<f4")])))
case("voxel_value_is_text", "events", "error", "has a member 'value' of the type 'text'",
     change=replaced(IMAGE + "voxels", lambda table: np.zeros(10, [("id", "<u8"), ("value", "S4")])))
case("extents_n_in_lower_case", "events", "error", "has no member 'N'",
     change=replaced(IMAGE + "extents", as_type([("first", "<u8"), ("n", "<u4")])))
case("meta_valid_is_an_enum", "events", "error", "holds values of the type 'enum'",
     change=replaced(IMAGE + "image_meta", as_type([("valid", "?")] + [(n, META[n]) for n in META.names[1:]])))
case("meta_of_three_dimensions", "events", "error", "has a member 'image_sizes' of 3 value(s) (2 are expected)",
     change=replaced(IMAGE + "image_meta", lambda table: np.ones(
         6, [("valid", "u1"), ("projection_id", "<u8"), ("image_sizes", "<f8", 3), ("number_of_voxels", "<u8", 3),
             ("origin", "<f8", 3)])))
case("voxels_of_variable_length", "events", "error", "holds values of the type 'variable-length'",
     change_file=lambda file: (file.pop(IMAGE + "voxels"),
                               file.create_dataset(IMAGE + "voxels", (10,), h5py.vlen_dtype(np.float32))))
case("type_is_shared", "events", "error", "shares its type with other objects",
     change_file=recreated(IMAGE + "voxels", lambda file, table, data: (
         file.__setitem__("type", data.dtype), file.create_dataset(table, data=data, dtype=file["type"]))))
case("member_outside_its_row", "events", "error", "of rows of 24 bytes",
     # event_id, type version 1: the member 'event' moves from byte 16 to byte 17.
     change_bytes=patched_layout(b"event\0\0\0" + struct.pack("<I", 16), 8, struct.pack("<I", 17)))

# ---------------------------------------------------------------- products and their tables

case("no_image_product", "events", "error", "has no product 'sparse2d_sbndwire' (it has: none)", content=only_event_ids)
case("no_label_product", "labelled", "error", "has no product 'sparse2d_sbnd_cosmicseg' (it has: sparse2d_sbndwire)")
for table in ("extents", "voxel_extents", "image_meta", "voxels"):
    case(f"no_{table}", "events", "error", f"has no '/{IMAGE}{table}'", change=removed(IMAGE + table))
case("no_event_at_all", "events", "error", "no events (every table is empty)",
     change=lambda tables: tables.update({name: table[:0] for name, table in tables.items()}))
case("no_plane_at_all", "events", "error", "no event has an image",
     change=lambda tables: tables[IMAGE + "extents"].__setitem__("N", 0))
case("extents_shorter_than_event_id", "events", "error", "has 1 rows, but table '/Events/event_id' has 2",
     change=replaced(IMAGE + "extents", lambda table: table[:1]))
case("extents_longer_than_event_id", "events", "error", "has 2 rows, but table '/Events/event_id' has 1",
     change=replaced("Events/event_id", lambda table: table[:1]))
case("meta_shorter_than_voxel_extents", "events", "error", "has 6 rows, but table '/Data/sparse2d_sbndwire_group/image_meta' has 5",
     change=replaced(IMAGE + "image_meta", lambda table: table[:5]))
case("label_extents_shorter", "events", "error", "sparse2d_sbnd_cosmicseg", content=with_labels,
     change=replaced(LABELS + "extents", lambda table: table[:1]))

# ---------------------------------------------------------------- extents

table_case("extents_first_beyond_the_end", "error", "event 1: row 1", IMAGE + "extents", 1, "first", 7)
table_case("extents_n_beyond_the_end", "error", "stands for 4 rows from 3", IMAGE + "extents", 1, "N", 4)
table_case("extents_first_wraps_around", "error", f"from {MAX64}", IMAGE + "extents", 1, "first", MAX64)
table_case("extents_n_of_4_billion", "error", "stands for 4294967295 rows", IMAGE + "extents", 0, "N", 2**32 - 1)
table_case("event_takes_planes_of_the_one_before", "error", "(an event would get what belongs to another)",
           IMAGE + "extents", 1, "first", 0)
table_case("event_leaves_a_plane_out", "warning", "1 gaps between rows (larcv3 could read them): event 1: row 1",
           IMAGE + "extents", 0, "N", 2)
table_case("voxel_extents_first_beyond_the_end", "error", "event 0, plane 1: row 1", IMAGE + "voxel_extents", 1, "first", 10)
table_case("voxel_extents_n_beyond_the_end", "error", "event 1, plane 2: row 5", IMAGE + "voxel_extents", 5, "N", 3)
table_case("voxel_extents_first_wraps_around", "error", f"from {MAX64 - 1}", IMAGE + "voxel_extents", 5, "first", MAX64 - 1)
table_case("plane_takes_pixels_of_the_one_before", "error", "(an event would get what belongs to another)",
           IMAGE + "voxel_extents", 1, "first", 2)
table_case("plane_leaves_a_pixel_out", "warning", "1 gaps between rows (larcv3 could read them): event 0, plane 1: row 1",
           IMAGE + "voxel_extents", 0, "N", 2)
table_case("plane_numbers_differ", "warning", "1 planes numbered differently in extents and meta (the meta counts): has ID 2",
           IMAGE + "voxel_extents", 1, "ID", 2)

# ---------------------------------------------------------------- meta

table_case("meta_not_valid", "error", "event 1, plane 2: row 5", IMAGE + "image_meta", 5, "valid", 0)
table_case("meta_not_valid_in_event_0", "error", "says that it is not valid", IMAGE + "image_meta", 0, "valid", 0)
table_case("projection_3", "error", "is for plane 3 (planes are 0 to 2)", IMAGE + "image_meta", 1, "projection_id", 3)
table_case("projection_of_64_bits", "error", f"is for plane {2**63}", IMAGE + "image_meta", 4, "projection_id", 2**63)
table_case("projection_twice", "error", "is for a plane that the event has already", IMAGE + "image_meta", 2, "projection_id", 0)
table_case("image_without_columns", "error", "has 0 pixels on axis 0", IMAGE + "image_meta", 0, "number_of_voxels", (0, ROWS))
table_case("image_without_rows", "error", "has 0 pixels on axis 1", IMAGE + "image_meta", 3, "number_of_voxels", (COLUMNS, 0))
table_case("image_of_absurd_size", "error", "has 4294967296 pixels on axis 0", IMAGE + "image_meta", 0, "number_of_voxels", (2**32, 2**32))
table_case("image_size_not_finite", "error", "has size nan", IMAGE + "image_meta", 0, "image_sizes", (np.nan, 1))
table_case("image_size_zero", "error", "has size 0", IMAGE + "image_meta", 0, "image_sizes", (1, 0))
table_case("image_size_negative", "error", "has size -8", IMAGE + "image_meta", 0, "image_sizes", (-8, 1))
table_case("image_origin_not_finite", "error", "origin inf", IMAGE + "image_meta", 0, "origin", (0, np.inf))
table_case("plane_on_another_grid", "error", "event 0, plane 2: has a grid of 8x12 pixels (others have 8x6",
           IMAGE + "image_meta", 2, "number_of_voxels", (8, 12))
table_case("event_on_another_grid", "error", "event 1, plane 0: has a grid of 16x6 pixels", IMAGE + "image_meta", 3,
           "number_of_voxels", (16, 6))
table_case("more_pixels_than_the_grid_has", "error", "has 3 stored pixels on a grid of 1x2", IMAGE + "image_meta", 0,
           "number_of_voxels", (1, 2))

# ---------------------------------------------------------------- pixels

table_case("id_out_of_range", "warning", "1 pixels outside their image (dropped): event 0, plane 0: id 48, value 7.5",
           IMAGE + "voxels", 2, "id", 48)
table_case("id_the_largest", "warning", f"1 pixels outside their image (dropped): event 1, plane 2: id {MAX64}",
           IMAGE + "voxels", 9, "id", MAX64)
table_case("id_the_largest_comes_first", "warning", f"1 pixels outside their image (dropped): event 0, plane 0: id {MAX64}",
           IMAGE + "voxels", 0, "id", MAX64)
table_case("id_twice", "warning", "1 pixels stored more than once (the last counts): event 0, plane 1: id 0",
           IMAGE + "voxels", 4, "id", 0)
table_case("ids_descend", "warning", "1 pixels out of order (sorted): event 1, plane 0: id 2",
           IMAGE + "voxels", 7, "id", 2)
table_case("value_nan", "warning", "1 values that are not finite (pixels and boxes dropped): event 0, plane 0: id 7",
           IMAGE + "voxels", 1, "value", np.nan)
table_case("value_infinite", "warning", "1 values that are not finite (pixels and boxes dropped): event 0, plane 2: id 46, value -inf",
           IMAGE + "voxels", 5, "value", -np.inf)
table_case("value_minus_999", "warning", "1 values of -999, larcv3's mark for no pixel (kept): event 1, plane 2: id 11",
           IMAGE + "voxels", 8, "value", -999)
case("ids_of_a_signed_type", "events", "error", "member 'id' has the value -1",
     change=replaced(IMAGE + "voxels", lambda table: np.array(
         [(-1, 1.0)] + [(i, 1.0) for i in range(1, 10)], [("id", "<i8"), ("value", "<f4")])))
case("extents_n_of_64_bits", "events", "error", "member 'N' has the value 1099511627776",
     change=replaced(IMAGE + "extents", lambda table: np.array([(0, 2**40), (3, 3)], [("first", "<u8"), ("N", "<u8")])))

# ---------------------------------------------------------------- labels

for name, value in (("3", 3), ("a_half", 0.5), ("negative", -1)):
    table_case(f"label_{name}", "error", f"sparse2d_sbnd_cosmicseg, event 0, plane 2: id 46 has the label {value:g}",
               LABELS + "voxels", 5, "value", value, with_labels)
table_case("label_nan", "warning", "1 pixels without a label (taken for background): event 1, plane 0",
           LABELS + "voxels", 6, "value", np.nan, with_labels)
table_case("label_without_a_pixel", "warning", "1 labels without a pixel (dropped): event 0, plane 0: the image has 3 pixels, the labels 3, and 2 are in both",
           LABELS + "voxels", 1, "id", 8, with_labels)
table_case("label_missing", "warning", "1 pixels without a label (taken for background): event 0, plane 0",
           LABELS + "voxel_extents", 0, "N", 2, with_labels)
table_case("labels_on_another_grid", "error", "event 0, plane 0: has a grid of 8x7 pixels", LABELS + "image_meta", 0,
           "number_of_voxels", (8, 7), with_labels)
table_case("labels_without_planes", "warning", "4 pixels without a label (taken for background): event 1, plane 0: the image has 2 pixels, the labels 0",
           LABELS + "extents", 1, "N", 0, with_labels)

# ---------------------------------------------------------------- particles, clusters, boxes

table_case("particles_beyond_the_end", "error", "particle_sbndneutrino, event 1: row 1", PARTICLES + "extents", 1, "N", 2,
           with_particles, "products")
table_case("particles_of_the_event_before", "error", "(an event would get what belongs to another)", PARTICLES + "extents",
           1, "first", 1, with_particles, "products")
table_case("particle_process_without_end", "warning", "1 texts without an end (cut): event 0: particle 1",
           PARTICLES + "particles", 1, "process", b"x" * 64, with_particles, "products")
table_case("particle_energy_nan", "warning", "1 values that are not finite (pixels and boxes dropped): event 1: particle 0",
           PARTICLES + "particles", 2, "energy_init", np.nan, with_particles, "products")
case("particle_vertex_is_an_array", "products", "error", "has a member 'vtx' of the type 'array'", with_particles,
     replaced(PARTICLES + "particles", lambda table: np.zeros(
         3, [(name, ("<f8", 4) if name == "vtx" else PARTICLE[name]) for name in PARTICLE.names])))
case("particle_vertex_without_time", "products", "error", "has no member 't'", with_particles,
     replaced(PARTICLES + "particles", lambda table: np.zeros(
         3, [(name, [(axis, "<f8") for axis in "xyz"] if name == "vtx" else PARTICLE[name]) for name in PARTICLE.names])))
case("particle_process_is_a_number", "products", "error", "has a member 'process' of the type 'integer'", with_particles,
     replaced(PARTICLES + "particles", lambda table: np.zeros(
         3, [(name, "<i4" if name == "process" else PARTICLE[name]) for name in PARTICLE.names])))
case("no_particles", "products", "error", f"has no '/{PARTICLES}particles'", with_particles, removed(PARTICLES + "particles"))
table_case("clusters_beyond_the_end", "error", "cluster2d_sbndneutrino, event 1, plane 0: row 3", CLUSTERS + "projection_extents",
           3, "N", 2, with_clusters, "products")
table_case("cluster_beyond_the_end", "error", "event 1, plane 0: row 2", CLUSTERS + "cluster_extents", 2, "N", 5, with_clusters, "products")
table_case("cluster_takes_pixels_of_another", "error", "(an event would get what belongs to another)", CLUSTERS + "cluster_extents",
           1, "first", 1, with_clusters, "products")
table_case("cluster_id_out_of_range", "warning", "1 pixels outside their image (dropped): event 1, plane 0: id 48", CLUSTERS + "voxels",
           3, "id", 48, with_clusters, "products")
table_case("cluster_projection_twice", "error", "is for a plane that the event has already", CLUSTERS + "image_meta", 5,
           "projection_id", 1, with_clusters, "products")
table_case("boxes_beyond_the_end", "error", "bbox2d_bbox_neutrino, event 1, plane 2: row 5", BOXES + "bbox_extents", 5, "N", 2,
           with_boxes, "products")
table_case("box_not_finite", "warning", "1 values that are not finite (pixels and boxes dropped): event 0, plane 1: a box",
           BOXES + "bboxes", 1, "centroid", (np.nan, 0), with_boxes, "products")
case("boxes_without_rotation", "products", "error", "has no member 'rotation'", with_boxes,
     replaced(BOXES + "bboxes", as_type([("centroid", "<f8", 2), ("half_length", "<f8", 2)])))

# ---------------------------------------------------------------- unusual, and sound all the same


def shuffled_members(table):
    return as_type([("value", table.dtype["value"]), ("something", "<i2"), ("id", "<u8")])(table)


def skipped_filter(file):
    """Chunk 1 is stored as it is, which a writer may do where deflate does not pay."""
    chunk_bytes(IMAGE + "voxels", 1, lambda stored, mask: (zlib.decompress(stored), 1))(file)


def compact(file, table, data):
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple((len(data),))
    dataset = h5py.h5d.create(file.id, table.encode(), h5py.h5t.py_create(data.dtype), space, creation)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data)


def planes_in_another_order(tables):
    """Event 0 stores its planes 2, 0, 1."""
    meta, extents, voxels = tables[IMAGE + "image_meta"], tables[IMAGE + "voxel_extents"], tables[IMAGE + "voxels"]
    meta[:3] = meta[[2, 0, 1]]
    extents[:3] = [(0, 1, 2), (1, 3, 0), (4, 2, 1)]
    voxels[:6] = voxels[[5, 0, 1, 2, 3, 4]]


def big_endian(table):
    return table.astype(table.dtype.newbyteorder(">"))


case("sound_plain", "events", "sound", "")
case("sound_chunked", "events", "sound", "", writer=CHUNKED)
case("sound_chunked_one_row_each", "events", "sound", "", writer=Writer(chunks=(1,), compression="gzip"))
case("sound_not_compressed", "events", "sound", "", writer=Writer(chunks=(4,)))
case("sound_shuffled_with_checksum", "events", "sound", "", writer=Writer(chunks=(4,), compression="gzip", shuffle=True, fletcher32=True))
case("sound_only_shuffled", "events", "sound", "", writer=Writer(chunks=(3,), shuffle=True))
case("sound_filter_skipped", "events", "sound", "", writer=CHUNKED, change_file=skipped_filter)
case("sound_compact", "events", "sound", "", change_file=recreated(IMAGE + "voxels", compact))
case("sound_user_block", "events", "sound", "", writer=Writer(user_block=512))
case("sound_newest_format", "events", "sound", "", writer=Writer(libver="latest"))
case("sound_newest_format_one_chunk", "events", "sound", "",
     writer=Writer(libver="latest"), change_file=recreated(IMAGE + "voxels", lambda file, table, data: file.create_dataset(
         table, data=data, chunks=data.shape, compression="gzip")))
case("sound_usual_trees", "events", "sound", "", writer=Writer(small_trees=False, chunks=(4,), compression="gzip"))
case("sound_packed_rows", "events", "sound", "", change=replaced(IMAGE + "voxels", as_type([("id", "<u8"), ("value", "<f4")])))
case("sound_members_in_another_order", "events", "sound", "", change=replaced(IMAGE + "voxels", shuffled_members), writer=CHUNKED)
case("sound_smaller_ids_double_values", "events", "sound", "", change=replaced(IMAGE + "voxels", as_type([("id", "<u2"), ("value", "<f8")])))
case("sound_signed_ids", "events", "sound", "", change=replaced(IMAGE + "voxels", as_type([("id", "<i4"), ("value", "<f4")])))
case("sound_big_endian", "events", "sound", "", change=lambda tables: tables.update(
    {name: big_endian(table) for name, table in tables.items()}), writer=CHUNKED)
case("sound_planes_in_another_order", "events", "sound", "", change=planes_in_another_order)
case("sound_particles", "products", "sound", "", with_particles)
case("sound_clusters", "products", "sound", "", with_clusters)
case("sound_boxes", "products", "sound", "", with_boxes)


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
