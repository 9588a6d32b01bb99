"""The tables of larcv3 files: the types of their rows, and small sound contents to damage."""

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
