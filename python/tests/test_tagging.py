import subprocess
import warnings
from pathlib import Path

import cosmictagger
import numpy as np
import pytest


def test_events_of_the_detector_are_arrays_and_pictures(events):
    assert len(events) == 3
    assert events.shape == (3, 1280, 2048)
    event = events[-1]
    assert event.image.shape == events.shape and event.image.dtype == np.float32
    assert event.labels.shape == events.shape and set(np.unique(event.labels)) <= {0, 1, 2}
    rows, columns, charges = event.planes[1]
    assert np.array_equal(event.image[1][rows, columns], charges)
    assert event._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(IndexError):
        events[3]


def test_an_array_gets_the_tags_that_its_event_gets(events, weights):
    tagger = cosmictagger.Tagger(weights, shape=events.shape, threads=1)
    event = events[0]
    tags = tagger.tag(event)
    tag, cosmic, neutrino = tagger.tag(event.image)
    stored = event.image != 0
    assert np.array_equal(tags.tag[stored], tag[stored])
    assert np.array_equal(tags.neutrino[stored], neutrino[stored])
    assert (cosmic[~stored] == 0).all() and cosmic[stored].sum() > 0
    assert tags._repr_png_().startswith(b"\x89PNG")
    assert tags.event.run == event.run


def test_a_network_in_the_box_knows_cosmic_rays_from_neutrinos(events):
    fast = cosmictagger.Tagger("fast", shape=events.shape)
    assert fast.weights.endswith("weights/fast.safetensors")
    found = [fast.tag(event).tag[event.labels == 1] for event in events]
    assert np.mean(np.concatenate(found) == 1) > 0.9
    assert cosmictagger.Tagger(shape=events.shape).weights.endswith("weights/best.safetensors")


def test_events_that_the_network_does_not_know_are_warned_of_once(events):
    fast = cosmictagger.Tagger("fast", shape=events.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast.tag(list(events))
    assert fast.oddities == []
    louder = cosmictagger.Tagger("fast", shape=events.shape)
    image = 100 * events[0].image  # charge in other units
    with pytest.warns(UserWarning, match="median charge of a pixel: .* against 0.328"):
        louder.tag(image)
    assert len(louder.oddities) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        louder.tag(image)


def test_several_events_get_what_each_gets_alone(events, weights):
    two = cosmictagger.Tagger(weights, shape=events.shape, threads=1, events_at_a_time=2)
    one = cosmictagger.Tagger(weights, shape=events.shape, threads=1)
    together = two.tag(list(events))
    assert len(together) == 3
    assert np.array_equal(together[2].tag, one.tag(events[2]).tag)
    assert two.memory_bytes > one.memory_bytes
    assert one.step == 3 and one.threads == 1


def test_mistakes_are_errors_that_say_what_to_do(events, weights):
    with pytest.raises(cosmictagger.UserError, match="names no weights"):
        cosmictagger.Tagger("nowhere/weights")
    tagger = cosmictagger.Tagger(weights, shape=events.shape, threads=1)
    with pytest.raises(cosmictagger.DataError, match="give shape= to Tagger"):
        tagger.tag(np.zeros((3, 10, 10), np.float32))
    bad = np.zeros(events.shape, np.float32)
    bad[0, 5, 7] = np.nan
    with pytest.raises(cosmictagger.DataError, match="row 5, column 7"):
        tagger.tag(bad)
    with pytest.raises(cosmictagger.Error):
        cosmictagger.open("no_such_file.h5")


def test_predictions_of_the_command_are_those_of_the_module(weights, tmp_path, program):
    file = tmp_path / "events.h5"
    run = lambda *words: subprocess.run([program, *words], check=True, capture_output=True)
    run("generate", "--events", "1", "--seed", "3", "--output", str(file))
    run("tag", str(file), "--weights", weights, "run.threads=1", "run.distributed=false")
    events = cosmictagger.open(file)
    written = cosmictagger.read_predictions(tmp_path / "events.tagged.h5", 0)
    tagger = cosmictagger.Tagger(weights, shape=events.shape, threads=1)
    tags = tagger.tag(events[0])
    assert np.array_equal(written.tag, tags.tag)
    assert np.array_equal(written.neutrino, tags.neutrino)
    with pytest.raises(cosmictagger.DataError, match="has no event 1"):
        cosmictagger.read_predictions(tmp_path / "events.tagged.h5", 1)


@pytest.fixture
def program():
    path = Path(cosmictagger.__file__).parents[2] / "bin" / "cosmictagger"
    if not path.exists():
        pytest.skip("the program is not beside the module")
    return str(path)
