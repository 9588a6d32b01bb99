"""Separates cosmic-ray from neutrino pixels in liquid-argon detector images.

Tag events::

    import cosmictagger
    events = cosmictagger.open("events.h5")
    tagger = cosmictagger.Tagger("weights.safetensors", shape=events.shape)
    tags = tagger.tag(events[0])        # in a notebook: a picture
    tags.neutrino                       # numpy, [3, rows, columns]

Train a network of your own with PopTorch's names: `Options`, `DataLoader`, `trainingModel`,
`inferenceModel`, `optim`, and `nn` for the layers. Train CosmicTagger's: `Training`.
"""

from cosmictagger import datasets, nn, optim
from cosmictagger._core import (
    DataError,
    Error,
    Event,
    Events,
    InternalError,
    ShapeError,
    Tags,
    TargetError,
    UserError,
    __revision__,
    __version__,
)
from cosmictagger._session import (
    DataLoader,
    InferenceModel,
    Options,
    OutputMode,
    TrainingModel,
    inferenceModel,
    trainingModel,
)
from cosmictagger._tagging import Tagger, detector, open, read_predictions
from cosmictagger._training import Progress, Training
from cosmictagger.nn import identity_loss

__all__ = [
    "DataError",
    "DataLoader",
    "Error",
    "Event",
    "Events",
    "InferenceModel",
    "InternalError",
    "Options",
    "OutputMode",
    "Progress",
    "ShapeError",
    "Tagger",
    "Tags",
    "TargetError",
    "Training",
    "TrainingModel",
    "UserError",
    "__revision__",
    "__version__",
    "datasets",
    "detector",
    "identity_loss",
    "inferenceModel",
    "nn",
    "open",
    "optim",
    "read_predictions",
    "trainingModel",
]
