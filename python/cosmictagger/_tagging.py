"""Events in, tags out."""

from __future__ import annotations

import os
import warnings
from typing import Sequence

import numpy as np

from cosmictagger import _core

ROWS, COLUMNS = 1280, 2048


def open(
    *files: str | os.PathLike[str],
    image_producer: str = "sbndwire",
    label_producer: str = "sbnd_cosmicseg",
) -> _core.Events:
    """The events of larcv3 files, or of patterns such as 'runs/*.h5', by number."""
    return _core.open_files([os.fspath(file) for file in files], image_producer, label_producer)


def detector(count: int, seed: int = 0) -> _core.Events:
    """Events of a simulated detector, with labels: event i of a seed is always the same."""
    return _core.detector(count, seed)


def read_predictions(file: str | os.PathLike[str], entry: int) -> _core.Tags:
    """What `cosmictagger tag` or `infer` has written about an event, counted from 0."""
    return _core.read_predictions(os.fspath(file), entry)


class Tagger:
    """A trained network. Everything that belongs to its weights comes from them.

    `weights` is a checkpoint, a folder of checkpoints, a .safetensors file, or a .ckpt of the
    reference; "fast" or "best" are networks that come with the module, and without it that is the
    best. `shape` is the size of images as they are stored, by default the detector's;
    `settings` further ones as on the command line, such as "run.compute_mode=GPU". Threads may
    share a tagger; its calls follow one another.
    """

    def __init__(
        self,
        weights: str | os.PathLike[str] = "best",
        *,
        shape: Sequence[int] = (3, ROWS, COLUMNS),
        threads: int = 0,
        events_at_a_time: int = 1,
        settings: Sequence[str] = (),
    ) -> None:
        rows, columns = shape[-2:]
        self._core = _core.Tagger(
            os.fspath(weights), threads, events_at_a_time, rows, columns, list(settings)
        )
        self._warned = False

    def tag(self, events):
        """Tags an event, a list of events, or an array of charges.

        An event gives `Tags`, a list of them a list. An array [3, rows, columns] or
        [events, 3, rows, columns] gives three arrays like it: tags (0 background, 1 cosmic,
        2 neutrino) and the probabilities of cosmic and of neutrino, all 0 where there is no charge.
        Warns once if the events do not look like those that the network was trained on.
        """
        if isinstance(events, _core.Event):
            tags = self._core.tag_events([events])[0]
        elif isinstance(events, np.ndarray):
            if events.ndim not in (3, 4) or events.shape[-3:] != self.shape:
                raise _core.DataError(
                    f"an array of shape {events.shape} (the weights are loaded for "
                    f"{self.shape}, or several of them in one array); give shape= to Tagger"
                )
            tags = self._core.tag_array(events)
        else:
            tags = self._core.tag_events(list(events))
        if not self._warned and self.oddities:
            self._warned = True
            warnings.warn(
                "the events do not look like those that the network was trained on, and their tags "
                f"may be wrong: {'; '.join(self.oddities)}. Charges are as the network sees them, "
                "after data.img_transform.",
                stacklevel=2,
            )
        return tags

    @property
    def shape(self) -> tuple[int, int, int]:
        """Planes, rows and columns."""
        return self._core.shape

    @property
    def weights(self) -> str:
        return self._core.weights

    @property
    def step(self) -> int:
        """Updates behind the weights."""
        return self._core.step

    @property
    def threads(self) -> int:
        return self._core.threads

    @property
    def memory_bytes(self) -> int:
        """What it holds, whether or not it has tagged anything yet."""
        return self._core.memory_bytes

    @property
    def notes(self) -> list[str]:
        """What a user should know about weights and settings; often nothing."""
        return self._core.notes

    @property
    def oddities(self) -> list[str]:
        """In what the events tagged so far (the latest thousand) do not look like those that the
        network was trained on, with the figures of both; often nothing."""
        return self._core.oddities

    def __repr__(self) -> str:
        return f"<Tagger {self.weights}, step {self.step}>"
