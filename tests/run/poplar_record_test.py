"""tools/records/poplar_record.py on a stand-in for libpva: it shows what the script reads, not that a
Poplar SDK gives it."""
import importlib.util
import pathlib
from types import SimpleNamespace as Thing

path = pathlib.Path("tools/records/poplar_record.py")
spec = importlib.util.spec_from_file_location("poplar_record", path)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


def step(begin, end):
    return Thing(cyclesFrom=Thing(min=begin), cyclesTo=Thing(max=end))


def tile(total):
    return Thing(memory=Thing(total=Thing(excludingGaps=total)))


report = Thing(
    compilation=Thing(target=Thing(clockFrequency=1000.0), tiles=[tile(300), tile(400)]),
    execution=Thing(runs=[Thing(steps=[step(0, 100), step(100, 500)]), Thing(steps=[step(0, 500)])]))
record = script.record_of(report, ["network=a21"])
assert record["format"] == "cosmictagger record 1"
assert record["step"]["seconds"] == 0.5, record
assert record["peak_bytes"] == 400
assert record["settings"] == ["network=a21"]

report.execution.runs = []
try:
    script.record_of(report, [])
except SystemExit as error:
    assert "no execution" in str(error)
else:
    raise AssertionError("a profile without an execution was taken")
