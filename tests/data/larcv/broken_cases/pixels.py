"""Pixels and labels that are out of range, out of order or not there."""

import numpy as np

from .cases import case, table_case
from .damage import replaced
from .tables import IMAGE, LABELS, MAX64, with_labels

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

# Labels.

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
