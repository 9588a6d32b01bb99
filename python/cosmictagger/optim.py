"""Optimizers, with PyTorch's names. They say how weights change; the model does it."""

from __future__ import annotations

from cosmictagger import _core
from cosmictagger.nn import Parameters


class Optimizer:
    """`lr` may change at any time: `optimizer.lr = 0.01`, then `model.setOptimizer(optimizer)`."""

    def __init__(self, params: Parameters, lr: float) -> None:
        if not isinstance(params, Parameters):
            raise _core.UserError(
                "an optimizer of single parameters (here one changes all of a module); give "
                "model.parameters()"
            )
        self.lr = lr

    def _constants(self) -> dict:
        raise NotImplementedError


class SGD(Optimizer):
    def __init__(self, params: Parameters, lr: float = 0.01, momentum: float = 0.0) -> None:
        super().__init__(params, lr)
        self.momentum = momentum

    def _constants(self) -> dict:
        return {"kind": "sgd", "momentum": self.momentum}


class Adam(Optimizer):
    def __init__(
        self,
        params: Parameters,
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(params, lr)
        self.betas, self.eps = betas, eps
        self._weight_decay = 0.0

    def _constants(self) -> dict:
        return {
            "kind": "adam",
            "beta1": self.betas[0],
            "beta2": self.betas[1],
            "epsilon": self.eps,
            "weight_decay": self._weight_decay,
        }


class AdamW(Adam):
    def __init__(
        self,
        params: Parameters,
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(params, lr, betas, eps)
        self._weight_decay = weight_decay


class RMSprop(Optimizer):
    def __init__(
        self, params: Parameters, lr: float = 0.01, alpha: float = 0.99, eps: float = 1e-8
    ) -> None:
        super().__init__(params, lr)
        self.alpha, self.eps = alpha, eps

    def _constants(self) -> dict:
        return {"kind": "rmsprop", "alpha": self.alpha, "epsilon": self.eps}
