"""The list of cases, filled by the modules beside this one."""

from .tables import events
from .writer import CONTIGUOUS

CASES = []


def case(name, what, outcome, text, content=None, change=None, writer=CONTIGUOUS, change_file=None,
         change_bytes=None):
    CASES.append((name, what, outcome, text, content or events, change, writer, change_file, change_bytes))


def table_case(name, outcome, text, table, index, field, value, content=events, what="events"):
    """One number of one row is wrong."""
    def change(tables):
        tables[table][field][index] = value
    case(name, what, outcome, text, content, change)
