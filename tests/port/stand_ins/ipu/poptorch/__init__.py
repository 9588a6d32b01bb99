"""A stand-in for PopTorch on the CPU. With COSMIC_STAND_IN_HOST set its calls take no cycles."""
import enum
import os

import torch

from . import optim  # noqa: F401

__version__ = "stand-in"


class ReductionType(enum.Enum):
    Sum = 0
    Mean = 1


class OutputMode(enum.Enum):
    Final = 0
    All = 1


class AutoStage(enum.Enum):
    SameAsIpu = 0


class PipelinedExecution:
    def __init__(self, *args):
        self.args = args


class TensorLocationSettings:
    def useOnChipStorage(self, use=True):
        return self

    def useReplicatedTensorSharding(self, use=True):
        assert isinstance(use, bool)
        return self


class _Training:
    def __init__(self):
        self.micro_batches, self.reduction = 1, ReductionType.Mean

    def gradientAccumulation(self, gradient_accumulation):
        self.micro_batches = gradient_accumulation

    def accumulationAndReplicationReductionType(self, reduction_type):
        self.reduction = reduction_type


class _Precision:
    def setPartialsType(self, dtype):
        assert dtype in (torch.half, torch.float)

    def enableStochasticRounding(self, enabled):
        assert isinstance(enabled, bool)


class _TensorLocations:
    def setOptimizerLocation(self, location):
        assert isinstance(location, TensorLocationSettings)


class _Popart:
    def set(self, key, value):
        assert isinstance(key, str) and isinstance(value, int)


class Options:
    def __init__(self):
        self.Training, self.Precision = _Training(), _Precision()
        self.TensorLocations, self._Popart = _TensorLocations(), _Popart()
        self.mode = None

    def randomSeed(self, random_seed):
        assert isinstance(random_seed, int)

    def logCycleCount(self, log_cycle_count):
        assert log_cycle_count is True

    def enableExecutableCaching(self, path):
        assert isinstance(path, str)

    def setAvailableMemoryProportion(self, available_memory_proportion):
        assert all(0 < share <= 1 for share in available_memory_proportion.values())

    def outputMode(self, output_mode, output_return_period=None):
        self.mode = output_mode

    def setExecutionStrategy(self, strategy):
        assert isinstance(strategy, PipelinedExecution)


def BeginBlock(layer_to_call, user_id=None, ipu_id=None):
    assert isinstance(layer_to_call, torch.nn.Module) and isinstance(ipu_id, int)
    return layer_to_call


def identity_loss(x, reduction):
    assert reduction in ("sum", "mean", "none")
    return x


class PoplarExecutor:
    def __init__(self, model, options, training, optimizer=None):
        self.model, self.options, self.training, self.optimizer = model, options, training, optimizer
        self.calls = 0

    def setOptimizer(self, optimizer):
        self.optimizer = optimizer

    def __call__(self, image, label=None):
        self.calls += 1
        if not self.training:
            with torch.no_grad():
                return self.model(image)
        count = self.options.Training.micro_batches
        self.optimizer.zero_grad()
        losses = []
        for part, of in zip(image.chunk(count), label.chunk(count)):
            loss = self.model(part, of)
            mean = self.options.Training.reduction is ReductionType.Mean
            (loss / (count if mean else 1)).backward()
            losses.append(loss.detach())
        self.optimizer.step()
        assert self.options.mode is OutputMode.All
        return torch.stack(losses)

    def isCompiled(self):
        return self.calls > 0

    def isAttachedToDevice(self):
        return True

    def cycleCount(self):
        return 0 if os.environ.get("COSMIC_STAND_IN_HOST") else 1000

    def copyWeightsToHost(self):
        pass


def trainingModel(model, options=None, optimizer=None):
    return PoplarExecutor(model, options, True, optimizer)


def inferenceModel(model, options=None):
    return PoplarExecutor(model, options, False)


def ipuHardwareVersion():
    return 2
