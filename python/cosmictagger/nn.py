"""Layers, with PyTorch's names and arguments.

A `Module` is called once, when it is compiled, with values that stand for tensors to come; what its
`forward` does with them becomes the program. So shapes are known in `forward`, numbers are not.
"""

from __future__ import annotations

from typing import Callable, Iterator, Sequence

from cosmictagger import _core
from cosmictagger._core import Value


def _pair(size: int | Sequence[int]) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    rows, columns = size
    return int(rows), int(columns)


class Module:
    """Blocks and layers are its attributes, whose names become those of the weights."""

    training: bool = True
    _name: str = ""
    _state: _core.State | None = None

    def forward(self, *inputs):
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *inputs):
        return self.forward(*inputs)

    def children(self) -> Iterator[tuple[str, "Module"]]:
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield name, value

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, "Module"]]:
        yield prefix, self
        for name, child in self.children():
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    def _take_names(self) -> None:
        for name, module in self.named_modules():
            module._name = name

    def train(self, mode: bool = True) -> "Module":
        for _, module in self.named_modules():
            module.training = mode
        return self

    def eval(self) -> "Module":
        return self.train(False)

    def parameters(self) -> "Parameters":
        """What an optimizer is given: all parameters of the module, which are made with its first
        program."""
        return Parameters(self)

    def _require_state(self) -> _core.State:
        if self._state is None:
            raise _core.UserError(
                "the module has no weights yet (they are made when it is compiled); call "
                "trainingModel or inferenceModel with it, and compile or call that"
            )
        return self._state

    def state_dict(self) -> dict:
        """The weights by name, as numpy arrays."""
        return self._require_state().weights()

    def load_state_dict(self, weights: dict) -> None:
        self._require_state().set_weights(weights)

    def save(self, path: str) -> None:
        """Writes the weights as .safetensors."""
        self._require_state().save(str(path))

    def load(self, path: str) -> None:
        self._require_state().load(str(path))


class Parameters:
    """The parameters of a module."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def __iter__(self) -> Iterator[str]:
        yield from (self.module.state_dict() if self.module._state is not None else ())


class Sequential(Module):
    def __init__(self, *modules: Module) -> None:
        for number, module in enumerate(modules):
            setattr(self, str(number), module)

    def forward(self, x):
        for _, module in self.children():
            x = module(x)
        return x


class Conv2d(Module):
    """Groups and dilation are not there."""

    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] = 0,
        bias: bool = True,
    ) -> None:
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = _pair(kernel_size)
        self.stride, self.padding = _pair(stride), _pair(padding)
        self.bias = bias

    def forward(self, x: Value) -> Value:
        return _core.conv2d(
            x,
            self._name,
            self.in_channels,
            self.out_channels,
            self.kernel_size,
            self.stride,
            self.padding,
            self.bias,
            self._transposed,
        )


class ConvTranspose2d(Conv2d):
    _transposed = True


class Linear(Module):
    def __init__(self, in_features: int, out_features: int) -> None:
        self.in_features, self.out_features = in_features, out_features

    def forward(self, x: Value) -> Value:
        return _core.linear(x, self._name, self.in_features, self.out_features)


class GroupNorm(Module):
    def __init__(self, num_groups: int, num_channels: int) -> None:
        self.num_groups, self.num_channels = num_groups, num_channels

    def forward(self, x: Value) -> Value:
        return _core.group_norm(x, self._name, self.num_channels, self.num_groups)


class BatchNorm2d(Module):
    def __init__(self, num_features: int) -> None:
        self.num_features = num_features

    def forward(self, x: Value) -> Value:
        return _core.batch_norm(x, self._name, self.num_features)


class ReLU(Module):
    def __init__(self, inplace: bool = False) -> None:
        """`inplace` is PyTorch's and means nothing here: the compiler decides."""

    def forward(self, x: Value) -> Value:
        return relu(x)


class LeakyReLU(Module):
    def __init__(self, negative_slope: float = 0.01) -> None:
        self.negative_slope = negative_slope

    def forward(self, x: Value) -> Value:
        return _core.leaky_relu(x, self.negative_slope)


class MaxPool2d(Module):
    """Windows that do not overlap."""

    def __init__(
        self, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] | None = None
    ) -> None:
        self.kernel_size = _pair(kernel_size)
        if stride is not None and _pair(stride) != self.kernel_size:
            raise _core.UserError(
                f"MaxPool2d with windows of {self.kernel_size} every {_pair(stride)} (windows "
                "that overlap or leave gaps are not there); leave the stride out"
            )

    def forward(self, x: Value) -> Value:
        return _core.max_pool2d(x, self.kernel_size)


class Flatten(Module):
    def __init__(self, start_dim: int = 1) -> None:
        self.start_dim = start_dim

    def forward(self, x: Value) -> Value:
        return x.flatten(self.start_dim)


class Softmax(Module):
    _logarithm = False

    def __init__(self, dim: int = 1) -> None:
        self.dim = dim

    def forward(self, x: Value) -> Value:
        return _core.softmax(x, self.dim, self._logarithm)


class LogSoftmax(Softmax):
    _logarithm = True


def relu(x: Value) -> Value:
    return _core.leaky_relu(x, 0.0)


def flatten(x: Value, start_dim: int = 0) -> Value:
    return x.flatten(start_dim)


def cat(values: Sequence[Value], dim: int = 0) -> Value:
    return _core.concat(list(values), dim)


class Labels:
    """Stands for the labels in `forward`; only losses take it."""


class Loss:
    """A loss, to be made when labels are there."""

    def __init__(self, make: Callable[[Value], Value]) -> None:
        self.make = make


class NLLLoss(Module):
    """Of log probabilities [N, classes] and labels [N]; the mean over the batch."""

    def forward(self, log_probabilities: Value, labels: Labels) -> Loss:
        _require_labels(labels)
        return Loss(lambda given: _core.negative_log_likelihood(log_probabilities, given))


class CrossEntropyLoss(Module):
    """Of scores [N, classes] and labels [N]; the mean over the batch."""

    def forward(self, scores: Value, labels: Labels) -> Loss:
        return NLLLoss()(LogSoftmax(dim=1)(scores), labels)


def identity_loss(value: Value | Loss, reduction: str = "mean") -> Loss:
    """Makes any expression the loss: its `mean` or `sum`, or itself with `none`."""
    if reduction not in ("mean", "sum", "none"):
        raise _core.UserError(
            f"identity_loss with reduction={reduction!r} (there are mean, sum and none)"
        )
    if isinstance(value, Loss):
        return value  # one number already
    if reduction == "none":
        return Loss(lambda given: value)
    return Loss(lambda given: _core.reduced(value, reduction == "mean"))


def _require_labels(labels: object) -> None:
    if not isinstance(labels, Labels):
        raise _core.UserError(
            f"a loss was given {labels!r} as labels (it takes those that forward() is given, as "
            "they are)"
        )
