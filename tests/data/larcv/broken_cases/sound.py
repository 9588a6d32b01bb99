"""Files that are unusual and must be read all the same."""

import zlib

import h5py

from .cases import case
from .damage import as_type, chunk_bytes, recreated, replaced
from .tables import IMAGE, with_boxes, with_clusters, with_particles
from .writer import CHUNKED, Writer


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
