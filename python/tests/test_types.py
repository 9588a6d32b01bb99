import ast
import warnings
from pathlib import Path

import cosmictagger
import numpy as np
import pytest
from cosmictagger import _core
from cosmictagger.datasets import Arrays


def test_what_is_typed_is_there_and_what_is_there_is_typed():
    stub = ast.parse((Path(cosmictagger.__file__).parent / "_core.pyi").read_text())
    typed = {}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            typed[node.name] = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            typed[node.name] = set()
        elif isinstance(node, ast.AnnAssign):
            typed[node.target.id] = set()
    there = {name for name in vars(_core) if not name.startswith("__")}
    assert there == {name for name in typed if not name.startswith("__")}
    for name, members in typed.items():
        public = {m for m in vars(getattr(_core, name)) if not m.startswith("_")} if members else set()
        assert public == {m for m in members if not m.startswith("_")}, name


def test_everything_public_is_documented():
    for name in cosmictagger.__all__:
        thing = getattr(cosmictagger, name)
        if callable(thing) and not issubclass(type(thing), type(_core)):
            assert thing.__doc__, name


def test_workers_that_have_nothing_to_do_are_told():
    data = Arrays(np.zeros((4, 1, 2, 2), np.float32), np.zeros(4))
    with pytest.warns(UserWarning, match="has no effect"):
        cosmictagger.DataLoader(None, data, num_workers=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cosmictagger.DataLoader(None, data)
