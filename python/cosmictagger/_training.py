"""A training of CosmicTagger's own networks, started and followed from Python."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from typing import Iterator

from cosmictagger import _core


@dataclass(frozen=True)
class Progress:
    """Where a training is after an update."""

    step: int
    last_step: int  #: where it ends; 0 if it has no end of its own
    loss: float
    accuracy: float  #: without background
    iou: float  #: mean of cosmic and neutrino
    images_per_second: float


class Training:
    """Trains in the background, by the settings of `cosmictagger train`.

    >>> training = Training("run.id=first", "data=detector", "run.length=100")
    >>> for progress in training:      # until it ends
    ...     print(progress.step, progress.loss)
    >>> training.result()["checkpoint"]

    In a notebook it shows its loss so far. What goes wrong is thrown by `result()`, and by the
    loop above.
    """

    def __init__(self, *settings: str) -> None:
        self.settings = list(settings)
        self.history: list[Progress] = []
        self.log: list[str] = []
        self._queue: queue.SimpleQueue[Progress | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._summary: dict | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="training", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._summary = _core.train(
                self.settings, self._on_progress, self.log.append, self._stop.is_set
            )
        except BaseException as error:  # for whoever waits
            self._error = error
        self._queue.put(None)

    def _on_progress(self, *numbers) -> None:
        progress = Progress(*numbers)
        self.history.append(progress)
        self._queue.put(progress)

    def __iter__(self) -> Iterator[Progress]:
        """Each update that was not yet told, until the end."""
        while True:
            progress = self._queue.get()
            if progress is None:
                self._queue.put(None)
                self.result()
                return
            yield progress

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """Ends it after the update that it is at, with a checkpoint."""
        self._stop.set()

    def result(self) -> dict:
        """Waits for the end: `ending`, `steps`, `seconds`, `checkpoint`, `output_folder`, and the
        last metrics as `training` and `validation`."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._summary is not None
        return self._summary

    def _repr_svg_(self) -> str:
        history = list(self.history)
        return _core.curve([p.step for p in history], [p.loss for p in history], "loss")

    def __repr__(self) -> str:
        state = "running" if self.running else "failed" if self._error else "ended"
        last = f", step {self.history[-1].step}, loss {self.history[-1].loss:.4g}" if self.history else ""
        return f"<Training {state}{last}>"
