"""tools/records/poplar_record.py on a stand-in for libpva: it shows what the script reads, not that a
Poplar SDK gives it. The stand-in has the fields that Graphcore's published scripts read (its test of
overlapping I/O in PopART reads report.execution.runs[i].steps[j].ipus[k].activeCycles.cyclesFrom.max)."""
import importlib.util
import pathlib
from types import SimpleNamespace as Thing

path = pathlib.Path("tools/records/poplar_record.py")
spec = importlib.util.spec_from_file_location("poplar_record", path)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


def step(*spans):
    """One span of cycles for each IPU."""
    return Thing(ipus=[Thing(activeCycles=Thing(cyclesFrom=Thing(min=begin, max=begin + 1),
                                                cyclesTo=Thing(min=end - 1, max=end)))
                       for begin, end in spans])


def tile(total):
    return Thing(memory=Thing(total=Thing(excludingGaps=total)))


def run(*steps):
    return Thing(steps=list(steps))


# Two IPUs, the second of which begins and ends later; the first run loads weights, the last fetches them.
update = run(step((0, 100), (100, 300)), step((100, 400), (300, 500)))
report = Thing(
    compilation=Thing(target=Thing(clockFrequency=1000.0), tiles=[tile(300), tile(400)]),
    execution=Thing(runs=[run(step((0, 7))), update, update, update, run(step((0, 9)))]))
record = script.record_of(report, ["network=a21"])
assert record["format"] == "cosmictagger record 1"
assert record["step"]["seconds"] == 0.5, record
assert record["peak_bytes"] == 400
assert record["settings"] == ["network=a21"]

for runs in ([], [run()]):
    report.execution.runs = runs
    try:
        script.record_of(report, [])
    except SystemExit as error:
        assert "no execution" in str(error)
    else:
        raise AssertionError("a profile without an execution was taken")
