"""Tables whose rows have other members or types than larcv3 gives them."""

import struct

import h5py
import numpy as np

from .cases import case
from .damage import as_type, patched_layout, recreated, replaced
from .tables import IMAGE, META

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
