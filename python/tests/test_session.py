import cosmictagger as poptorch
import numpy as np
import pytest
from cosmictagger import nn
from cosmictagger.datasets import Arrays


class Classifier(nn.Module):
    def __init__(self):
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(4 * 3 * 3, 2)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x, labels=None):
        x = self.head(nn.flatten(self.features(x), 1))
        return x if labels is None else (x, self.loss(x, labels))


def bright_and_dark(count=64):
    labels = np.arange(count) % 2
    images = np.where(labels, 1.0, -1.0)[:, None, None, None] * np.ones((count, 1, 8, 8))
    return Arrays(images.astype(np.float32), labels)


def trained(options, steps=40):
    model = Classifier()
    loader = poptorch.DataLoader(options, bright_and_dark(), batch_size=8, shuffle=True)
    optimizer = poptorch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    training = poptorch.trainingModel(model, options, optimizer)
    losses = []
    while len(losses) < steps:
        for images, labels in loader:
            output, loss = training(images, labels)
            losses.append(float(loss))
    return model, training, losses, output


def options():
    return poptorch.Options(threads=1).randomSeed(3)


def test_a_network_written_in_python_learns_and_is_used():
    model, training, losses, output = trained(options())
    assert losses[-1] < 0.1 * losses[0]
    assert output.shape == (8, 2)
    inference = poptorch.inferenceModel(model.eval(), options())
    data = bright_and_dark(8)
    assert (inference(data.images).argmax(axis=1) == data.labels).all()
    assert training.report()["memory_bytes"] > 0
    assert "features.0" in training.layers()


def test_device_iterations_are_calls_in_one():
    _, _, one, _ = trained(options(), steps=4)
    loader = poptorch.DataLoader(options().deviceIterations(4), bright_and_dark(), batch_size=8)
    images, _ = next(iter(loader))
    assert len(images) == 32 and len(loader) == 2
    _, training, four, output = trained(options().deviceIterations(4), steps=2)
    assert output.shape == (8, 2)  # of the last batch of the call
    assert four[0] == pytest.approx(np.mean(one[:4]), rel=1e-5)


def test_weights_are_arrays_and_files(tmp_path):
    model, _, _, _ = trained(options(), steps=4)
    weights = model.state_dict()
    assert weights["features.0.weight"].shape == (4, 1, 3, 3)
    model.save(tmp_path / "weights.safetensors")
    changed = {name: np.zeros_like(array) for name, array in weights.items()}
    model.load_state_dict(changed)
    assert (model.state_dict()["head.weight"] == 0).all()
    model.load(tmp_path / "weights.safetensors")
    assert np.array_equal(model.state_dict()["head.weight"], weights["head.weight"])


def test_the_learning_rate_changes_without_compiling_and_other_constants_do_not():
    model, training, _, _ = trained(options(), steps=4)
    training.setOptimizer(poptorch.optim.SGD(model.parameters(), lr=0.0, momentum=0.9))
    with pytest.raises(poptorch.UserError, match="momentum"):
        training.setOptimizer(poptorch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5))


def test_a_loss_of_ones_own_is_an_identity_loss():
    class Small(Classifier):
        def forward(self, x, labels=None):
            x = self.head(nn.flatten(self.features(x), 1))
            return x if labels is None else (x, poptorch.identity_loss(nn.relu(x), "mean"))

    training = poptorch.trainingModel(Small(), options())
    images = bright_and_dark(8).images
    _, first = training(images, np.zeros(8))
    for _ in range(20):
        _, last = training(images, np.zeros(8))
    assert last < first


def test_mistakes_are_errors_that_say_what_to_do():
    with pytest.raises(poptorch.UserError, match="device_iterations"):
        poptorch.Options(device_iteration=2)
    with pytest.raises(poptorch.UserError, match="no weights yet"):
        Classifier().state_dict()
    with pytest.raises(poptorch.UserError, match="leave the stride out"):
        nn.MaxPool2d(3, stride=1)
    with pytest.raises(poptorch.UserError, match="model.parameters"):
        poptorch.optim.Adam([1, 2])
    with pytest.raises(poptorch.UserError, match="not compiled"):
        poptorch.trainingModel(Classifier()).report()

    class NoLoss(Classifier):
        def forward(self, x, labels=None):
            return self.head(nn.flatten(self.features(x), 1))

    with pytest.raises(poptorch.UserError, match="an output and a loss"):
        poptorch.trainingModel(NoLoss(), options())(bright_and_dark(8).images, np.zeros(8))

    class WrongSize(Classifier):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(5, 2)

    with pytest.raises(poptorch.ShapeError, match="head"):
        poptorch.trainingModel(WrongSize(), options())(bright_and_dark(8).images, np.zeros(8))
    with pytest.raises(poptorch.DataError, match="from 0 to 255"):
        poptorch.trainingModel(Classifier(), options())(bright_and_dark(8).images, [-1] * 8)


def test_a_python_error_in_forward_comes_out_as_it_is():
    class Broken(Classifier):
        def forward(self, x, labels=None):
            raise KeyError("of mine")

    with pytest.raises(KeyError, match="of mine"):
        poptorch.trainingModel(Broken(), options())(bright_and_dark(8).images, np.zeros(8))


def test_other_machines_say_what_a_step_would_take():
    training = poptorch.trainingModel(Classifier(), options().computeMode("IPU"))
    training(bright_and_dark(8).images, np.zeros(8))
    assert training.report()["measured"] is False
    assert training.report()["machine"]
