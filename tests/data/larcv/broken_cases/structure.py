"""Products that miss tables, extents that point elsewhere, and grids that cannot be."""

import numpy as np

from .cases import case, table_case
from .damage import removed, replaced
from .tables import COLUMNS, IMAGE, LABELS, MAX64, ROWS, only_event_ids, with_labels

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

# Extents.

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

# Meta.

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
