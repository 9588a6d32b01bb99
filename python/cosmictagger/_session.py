"""PopTorch's session: options, a loader, and models that are compiled once and then only called."""

from __future__ import annotations

import json
import warnings
from typing import Iterator

import numpy as np

from cosmictagger import _core, nn, optim


class OutputMode:
    """Which results of the batches of a call come back."""

    All, Sum, Mean, Final, EveryN = "all", "sum", "mean", "final", "every_n"


class _Training:
    def __init__(self, options: "Options") -> None:
        self._options = options

    def gradientAccumulation(self, count: int) -> "Options":
        return self._options.set(gradient_accumulation=count)


class Options:
    """How a model is run. PopTorch's methods, and `set()` for every option of docs/session.md::

        Options().deviceIterations(4).set(threads=2)
    """

    def __init__(self, **options) -> None:
        self._values: dict = {}
        self._compute_mode = ""
        self.Training = _Training(self)
        self.set(**options)

    def set(self, **options) -> "Options":
        """Any option by its name. An unknown one is an error with the nearest known."""
        _core.check_options(_yaml({**self._values, **options}))
        self._values.update(options)
        return self

    def computeMode(self, mode: str) -> "Options":
        """CPU, GPU, IPU, HPU or RDU: `cosmictagger targets` lists those that are here."""
        self._compute_mode = mode
        return self

    def deviceIterations(self, count: int) -> "Options":
        return self.set(device_iterations=count)

    def replicationFactor(self, count: int) -> "Options":
        return self.set(replication_factor=count)

    def outputMode(self, mode: str, every: int = 1) -> "Options":
        return self.set(output_mode=mode, output_every=every)

    def randomSeed(self, seed: int) -> "Options":
        return self.set(seed=seed)

    def enableExecutableCaching(self, folder: str) -> "Options":
        return self.set(executable_cache=str(folder))

    def enableSyntheticData(self, on: bool = True) -> "Options":
        return self.set(synthetic_data=on)

    def _batches(self, training: bool) -> int:
        count = self._values.get("device_iterations", 1) * self._values.get("replication_factor", 1)
        return count * (self._values.get("gradient_accumulation", 1) if training else 1)

    def __repr__(self) -> str:
        return f"<Options {self._values}>"


def _yaml(values: dict) -> str:
    # JSON is YAML.
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items())


class DataLoader:
    """Batches of a data set, as many samples as one call of a model with these options takes.

    `dataset` has a length and gives (image, label) by number, or several of them by an array of
    numbers (`datasets.Arrays`). A last call that is not full is dropped unless `drop_last` is
    False, and then padded by nobody: a model refuses it.
    """

    def __init__(
        self,
        options: Options | None,
        dataset,
        batch_size: int = 1,
        shuffle: bool = False,
        num_workers: int = 0,
        drop_last: bool = True,
        training: bool = True,
    ) -> None:
        if num_workers:
            warnings.warn(
                f"num_workers={num_workers} has no effect: samples are read where they are used, "
                "which costs little of arrays in memory",
                stacklevel=2,
            )
        self.options, self.dataset = options or Options(), dataset
        self.batch_size, self.shuffle, self.drop_last = batch_size, shuffle, drop_last
        self.samples = batch_size * self.options._batches(training)
        self._random = np.random.default_rng(self.options._values.get("seed", 0))

    def __len__(self) -> int:
        count = len(self.dataset)
        return count // self.samples if self.drop_last else -(-count // self.samples)

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        order = np.arange(len(self.dataset))
        if self.shuffle:
            self._random.shuffle(order)
        for call in range(len(self)):
            yield self._read(order[call * self.samples : (call + 1) * self.samples])

    def _read(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(getattr(self.dataset, "images", None), np.ndarray):
            return self.dataset[numbers]
        images, labels = zip(*(self.dataset[int(number)] for number in numbers))
        return np.stack([np.asarray(image) for image in images]), np.asarray(labels)


def _images(data) -> np.ndarray:
    return np.ascontiguousarray(data, dtype=np.float32)


def _labels(labels) -> np.ndarray:
    labels = np.asarray(labels)
    if labels.dtype != np.uint8:
        if labels.size and (labels.min() < 0 or labels.max() > 255):
            raise _core.DataError(
                f"labels from {labels.min()} to {labels.max()} (a label is a class from 0 to 255)"
            )
        labels = labels.astype(np.uint8)
    return np.ascontiguousarray(labels)


class _Model:
    """What training and inference models share."""

    _training = False

    def __init__(self, model: nn.Module, options: Options | None) -> None:
        self.model, self.options = model, options or Options()
        model._take_names()
        self._compiled = None
        self._shape: tuple[int, ...] = ()

    def _name(self) -> str:
        return type(self.model).__name__.lower()

    def _micro_batch(self, data: np.ndarray) -> tuple[int, ...]:
        batches = self.options._batches(self._training)
        if len(data) % batches:
            raise _core.UserError(
                f"a call with {len(data)} samples (these options make {batches} batches of them); "
                "take them from a DataLoader with the same options"
            )
        return (len(data) // batches, *data.shape[1:])

    def _require_shape(self, data: np.ndarray) -> None:
        if data.shape != self._shape:
            raise _core.UserError(
                f"a call with {data.shape} (the model was compiled for {self._shape}, and for no "
                "other); make another model for other sizes"
            )

    def isCompiled(self) -> bool:
        return self._compiled is not None

    def detachFromDevice(self) -> None:
        self._require_compiled().detach()

    def attachToDevice(self) -> None:
        self._require_compiled().attach()

    def isAttachedToDevice(self) -> bool:
        return self._compiled is not None and self._compiled.attached()

    def compilationTime(self) -> float:
        return self.report()["seconds"]

    def report(self) -> dict:
        """What compiling did: seconds, nodes, memory_bytes, flops, and of a modelled machine its
        name and the time of a step."""
        return self._require_compiled().report()

    def layers(self) -> list[str]:
        return self._require_compiled().layers()

    def _require_compiled(self):
        if self._compiled is None:
            raise _core.UserError(
                "the model is not compiled (nothing is known about it before); call it, or "
                "compile() with a batch"
            )
        return self._compiled


class TrainingModel(_Model):
    """One call is forward, backward and update: `output, loss = model(images, labels)`."""

    _training = True

    def __init__(
        self,
        model: nn.Module,
        options: Options | None = None,
        optimizer: optim.Optimizer | None = None,
    ) -> None:
        super().__init__(model, options)
        self.optimizer = optimizer or optim.SGD(model.parameters(), lr=0.01)
        self._loss: nn.Loss | None = None

    def _forward(self, image, training):
        result = self.model(image, nn.Labels())
        output, loss = result if isinstance(result, tuple) and len(result) == 2 else (None, None)
        if not isinstance(loss, nn.Loss):
            raise _core.UserError(
                f"forward(images, labels) returned {result!r} (a training model needs an output "
                "and a loss); return both, the loss from nn.NLLLoss, nn.CrossEntropyLoss or "
                "identity_loss"
            )
        self._loss = loss
        return output

    def compile(self, images, labels) -> None:
        """For calls like this one; the first call does it too."""
        images, labels = _images(images), _labels(labels)
        image = self._micro_batch(images)
        label = (image[0], *labels.shape[1:])
        values = {"output_logits": True, **self.options._values}
        compiled = _core.TrainingModel(
            self._name(),
            self._forward,
            lambda labels: self._loss.make(labels),
            _yaml(values),
            self.options._compute_mode,
            self.optimizer._constants(),
        )
        compiled.compile(image, label)
        if self.model._state is not None:
            compiled.state().set_weights(self.model._state.weights())
        self.model._state = compiled.state()
        self._compiled, self._shape = compiled, images.shape

    def __call__(self, images, labels):
        images, labels = _images(images), _labels(labels)
        if self._compiled is None:
            self.compile(images, labels)
        self._require_shape(images)
        output, loss = self._compiled(images, labels, self.optimizer.lr)
        return output, np.float32(loss)

    def setOptimizer(self, optimizer: optim.Optimizer) -> None:
        """The learning rate changes at any time; other constants only with the option
        variable_optimizer."""
        if optimizer._constants() != self.optimizer._constants() and self._compiled is not None:
            self._compiled.set_optimizer(optimizer._constants())
        self.optimizer = optimizer


class InferenceModel(_Model):
    """One call is forward: `output = model(images)`. It has the weights of its module, also those
    that a training model goes on to change."""

    def _forward(self, image, training):
        result = self.model(image)
        return result[0] if isinstance(result, tuple) else result

    def compile(self, images) -> None:
        images = _images(images)
        values = {
            key: value
            for key, value in self.options._values.items()
            if key not in ("gradient_accumulation", "accumulation_reduction", "variable_optimizer")
        }
        compiled = _core.InferenceModel(
            self._name(),
            self._forward,
            _yaml(values),
            self.options._compute_mode,
            self.model._state,
        )
        compiled.compile(self._micro_batch(images))
        if self.model._state is None:
            self.model._state = compiled.state()
        self._compiled, self._shape = compiled, images.shape

    def __call__(self, images) -> np.ndarray:
        images = _images(images)
        if self._compiled is None:
            self.compile(images)
        self._require_shape(images)
        return self._compiled(images)


def trainingModel(
    model: nn.Module, options: Options | None = None, optimizer: optim.Optimizer | None = None
) -> TrainingModel:
    """A model that trains; by default with SGD and a learning rate of 0.01."""
    return TrainingModel(model, options, optimizer)


def inferenceModel(model: nn.Module, options: Options | None = None) -> InferenceModel:
    """A model that uses the weights of its module."""
    return InferenceModel(model, options)
