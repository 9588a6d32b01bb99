import os

from .. import session


def get_file_dir(file):
    return os.path.dirname(file)


def trace_graph(model, inputs, optimizers=None, pef=None, mapping=None):
    assert os.path.exists(pef), pef
    session.load(model, optimizers)
