import cosmictagger
import pytest
from conftest import TINY


def test_a_training_is_followed_update_by_update(training):
    steps = [progress.step for progress in training]
    assert steps == [1, 2, 3]
    assert [progress.step for progress in training.history] == steps
    assert all(progress.loss > 0 for progress in training.history)
    summary = training.result()
    assert summary["ending"] == "complete" and summary["steps"] == 3
    assert any("Running" in line or "INFO" in line for line in training.log)


def test_its_curve_is_a_picture_of_its_own(training):
    svg = training._repr_svg_()
    assert svg.startswith("<svg") and svg.endswith("</svg>") or svg.rstrip().endswith("</svg>")
    assert "<style>" in svg


def test_it_stops_when_it_is_told_to(tmp_path):
    training = cosmictagger.Training(
        *TINY, "run.id=stopped", "run.length=100000", f"output_dir={tmp_path / 'out'}"
    )
    next(iter(training))
    training.stop()
    assert training.result()["ending"] == "stopped"
    assert not training.running


def test_a_setting_that_is_not_there_is_an_error_of_the_result(tmp_path):
    training = cosmictagger.Training("run.no_such_setting=1")
    with pytest.raises(cosmictagger.UserError, match="no_such_setting"):
        training.result()
    with pytest.raises(cosmictagger.UserError):
        list(training)
