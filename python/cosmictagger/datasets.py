"""Data sets for `DataLoader`."""

from __future__ import annotations

import numpy as np

from cosmictagger import _core


class Arrays:
    """Images [n, ...] and labels [n] that are in memory."""

    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        if len(images) != len(labels):
            raise _core.DataError(
                f"{len(images)} images and {len(labels)} labels (each image has one); give "
                "equally many"
            )
        self.images, self.labels = images, labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class FashionMNIST(Arrays):
    """Xiao, Rasul and Vollgraf's 70,000 pictures of clothes, as [n, 1, 28, 28] around zero.

    `root` has the four files of the set, gzipped or not; by default where Debian's package
    dataset-fashion-mnist puts them.
    """

    classes = 10

    def __init__(
        self, root: str | None = None, train: bool = True, mean: float = 0.5, std: float = 0.5
    ) -> None:
        images, labels = _core.fashion_mnist(str(root or _core.FASHION_MNIST_FOLDER), train)
        scaled = (images[:, np.newaxis].astype(np.float32) / 255 - mean) / std
        super().__init__(scaled.astype(np.float32), labels)
