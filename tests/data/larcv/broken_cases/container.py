"""Damage to the file as a whole: its superblock, groups and links."""

import struct

import h5py

from .cases import case
from .damage import patched, removed, tail_biting_tree
from .tables import IMAGE, only_event_ids
from .writer import Writer

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
