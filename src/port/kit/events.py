"""Events from larcv3 files, and tags into one, through h5py."""
import itertools
from pathlib import Path

import h5py
import numpy as np

PLANES = 3

EXTENTS = np.dtype({"names": ["first", "N"], "formats": ["<u8", "<u4"],
                    "offsets": [0, 8], "itemsize": 16})
VOXEL_EXTENTS = np.dtype([("first", "<u8"), ("N", "<u4"), ("ID", "<u4")])
VOXELS = np.dtype({"names": ["id", "value"], "formats": ["<u8", "<f4"],
                   "offsets": [0, 8], "itemsize": 16})
IMAGE_META = np.dtype({
    "names": ["valid", "projection_id", "image_sizes", "number_of_voxels",
              "origin"],
    "formats": ["u1", "<u8", ("<f8", 2), ("<u8", 2), ("<f8", 2)],
    "offsets": [0, 8, 16, 32, 48], "itemsize": 72})


def open_file(path):
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise SystemExit(f"{path} cannot be read ({error}); with --events "
                         "FOLDER the files of settings.json are looked for "
                         "in another folder") from None


class LarcvEvents:
    """The events of some files, one after the other."""

    def __init__(self, paths, data):
        self.files = [open_file(path) for path in paths]
        self.data = data
        self.ends = np.cumsum([len(file["Events/event_id"])
                               for file in self.files])

    def __len__(self):
        return int(self.ends[-1])

    def find(self, entry):
        """The file of an entry, and its number there."""
        i = int(np.searchsorted(self.ends, entry, side="right"))
        return self.files[i], int(entry - (self.ends[i - 1] if i else 0))

    def event_id(self, entry):
        file, row = self.find(entry)
        return file["Events/event_id"][row]

    def image(self, entry):
        side = 2**self.data["downsample"]
        pixels = self.pooled(entry, self.data["image_producer"], np.add)
        image = pixels / np.float32(side * side)
        return np.log(image + 1) if self.data["img_transform"] else image

    def label(self, entry):
        pixels = self.pooled(entry, self.data["label_producer"],
                             np.maximum)
        return pixels.astype(np.int64)

    def pooled(self, entry, producer, pool):
        """Planes, rows, columns; squares of pixels become one."""
        file, row = self.find(entry)
        group = file[f"Data/sparse2d_{producer}_group"]
        side = 2**self.data["downsample"]
        first, count = group["extents"][row]
        first, count = int(first), int(count)
        metas = group["image_meta"][first:first + count]
        extents = group["voxel_extents"][first:first + count]
        columns, rows = (int(n) // side
                         for n in group["image_meta"][0]["number_of_voxels"])
        planes = np.zeros((PLANES, columns, rows), np.float32)
        for meta, extent in zip(metas, extents):
            begin = int(extent["first"])
            voxels = group["voxels"][begin:begin + int(extent["N"])]
            x, y = np.divmod(voxels["id"].astype(np.int64),
                             int(meta["number_of_voxels"][1]))
            pool.at(planes[int(meta["projection_id"])], (x // side, y // side),
                    voxels["value"])
        return planes.transpose(0, 2, 1)


class NoiseEvents:
    """Random images and labels, to measure without files."""

    def __init__(self, rows, columns):
        self.shape = (PLANES, rows, columns)

    def __len__(self):
        return 1_000_000

    def image(self, entry):
        return np.random.default_rng(entry).random(self.shape, np.float32)

    def label(self, entry):
        return np.random.default_rng(entry).integers(0, 3, self.shape)


def training_events(settings):
    """Paths in settings.json that are not absolute begin in its folder."""
    data = settings["configuration"]["data"]
    if data["synthetic"]:
        return NoiseEvents(settings["image"]["rows"],
                           settings["image"]["columns"])
    here = Path(__file__).parent
    return LarcvEvents([here / name for name in settings["files"]], data)


def entries(configuration, size, block):
    """The numbers of events in the order in which they are read."""
    order = configuration["data"]["order"]
    random = np.random.default_rng(configuration["data"]["seed"])
    first = configuration["mode"]["start_index"]
    while True:
        if order == "shuffled":
            yield from random.permutation(size)
            continue
        if order == "random_blocks":
            first = int(random.integers(0, max(size - block, 0) + 1))
        for i in range(block):
            yield (first + i) % size
        first += block


def batches(configuration, source, count, part=0, parts=1):
    """Images and labels of `count` events at a time.

    Of `parts` readers, number `part` gets its share of what all of them
    together read.
    """
    data = configuration["data"]
    random = np.random.default_rng([data["seed"], part])
    numbers = entries(configuration, len(source), parts * count)
    while True:
        block = list(itertools.islice(numbers, parts * count))
        mine = block[part * count:(part + 1) * count]
        images = [source.image(entry) for entry in mine]
        labels = [source.label(entry) for entry in mine]
        if data["augment"] == "flips":
            for i in range(count):
                rows, columns = random.choice([1, -1], 2)
                images[i] = images[i][:, ::rows, ::columns]
                labels[i] = labels[i][:, ::rows, ::columns]
        yield np.stack(images), np.stack(labels)


class TagFile:
    """Probabilities as two sparse2d products, like the C++ program's.

    Pixels are those with charge, on the grid that the network saw.
    """

    PRODUCERS = {"cosmic_prediction": 1, "neutrino_prediction": 2}

    def __init__(self):
        self.event_ids = []
        self.extents = []
        self.voxel_extents = []
        self.metas = []
        self.voxels = {producer: [] for producer in self.PRODUCERS}
        self.end = 0

    def add(self, event_id, image, probabilities):
        """Of one event: image [plane, row, column], probabilities
        [plane, class, row, column]."""
        self.event_ids.append(event_id)
        self.extents.append((len(self.metas), PLANES))
        rows, columns = image.shape[1:]
        for plane in range(PLANES):
            x, y = np.nonzero(image[plane].T)
            self.voxel_extents.append((self.end, len(x), plane))
            self.metas.append((1, plane, (columns, rows), (columns, rows),
                               (0, 0)))
            self.end += len(x)
            for producer, of_class in self.PRODUCERS.items():
                voxels = np.zeros(len(x), VOXELS)
                voxels["id"] = x * rows + y
                voxels["value"] = probabilities[plane, of_class, y, x]
                self.voxels[producer].append(voxels)

    def write(self, path):
        with h5py.File(path, "w") as file:
            self.table(file, "Events/event_id", np.array(self.event_ids), 100)
            for producer, voxels in self.voxels.items():
                group = f"Data/sparse2d_{producer}_group/"
                self.table(file, group + "extents",
                           np.array(self.extents, EXTENTS), 10)
                self.table(file, group + "voxel_extents",
                           np.array(self.voxel_extents, VOXEL_EXTENTS), 100)
                self.table(file, group + "image_meta",
                           np.array(self.metas, IMAGE_META), 100)
                self.table(file, group + "voxels", np.concatenate(voxels),
                           1000)

    @staticmethod
    def table(file, name, rows, chunk):
        file.create_dataset(name, data=rows, maxshape=(None,),
                            chunks=(chunk,), compression="gzip",
                            compression_opts=1)
