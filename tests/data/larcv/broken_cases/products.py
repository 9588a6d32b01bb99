"""Particles, clusters and boxes that are out of range or not what they should be."""

import numpy as np

from .cases import case, table_case
from .damage import as_type, removed, replaced
from .tables import BOXES, CLUSTERS, PARTICLE, PARTICLES, with_boxes, with_clusters, with_particles

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
