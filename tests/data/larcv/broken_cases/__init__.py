"""The cases of make_broken_files.py, in the order of its list of expectations."""
from . import container, storage, row_types, structure, pixels, products, sound  # noqa: F401
from .cases import CASES

__all__ = ["CASES"]
