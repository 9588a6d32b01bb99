"""How the file of a case is written."""

import ctypes

import h5py


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
