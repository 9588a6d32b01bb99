"""Weights of a tiny network, trained once for all tests."""

import cosmictagger
import pytest

TINY = [
    "network=a21",
    "network.n_initial_filters=2",
    "network.depth=2",
    "network.bottleneck_deepest=3",
    "network.blocks_deepest_layer=1",
    "network.blocks_final=1",
    "data=detector",
    "data.downsample=3",
    "run.threads=1",
    "run.minibatch_size=1",
    "run.units=iteration",
]


@pytest.fixture(scope="session")
def training(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    training = cosmictagger.Training(
        *TINY, "run.id=tiny", "run.length=3", f"output_dir={folder / 'out'}"
    )
    training.result()
    return training


@pytest.fixture(scope="session")
def weights(training):
    return training.result()["checkpoint"]


@pytest.fixture(scope="session")
def events():
    return cosmictagger.detector(3, seed=5)
