#!/usr/bin/env python3
"""Shortens a profile.json (run.profile=true) to what docs/models.md shows of it, with the settings of explain.

  layer_profile.py profiles/profile.json network=a21 mode=train run.compute_mode=GPU run.machine=h200 ... > machines/measured/NAME.json

Ops of one kind in one layer become one, and so do all short ops of one kind; what is left is some kilobytes that
`explain --measured` reads.
"""
import json
import sys

SHORT = 2e-4  # of the step
KEPT = ("format", "format_version", "revision", "date", "purpose", "network", "batch", "machine", "step")


def main(path, settings):
    with open(path) as file:
        profile = json.load(file)
    times = {}
    for op in profile["ops"]:
        if op["seconds"] is None:  # nobody timed it
            continue
        key = (op["op"], op["layer"] if op["seconds"] > SHORT * profile["step"]["seconds"] else "")
        times[key] = times.get(key, 0.0) + op["seconds"]
    short = {key: profile[key] for key in KEPT}
    short["settings"] = settings
    short["ops"] = []
    text = json.dumps(short, indent=1)
    lines = ",\n".join("  " + json.dumps({"op": op, "layer": layer, "seconds": float(f"{seconds:.4g}")})
                       for (op, layer), seconds in times.items())
    print(text.replace('"ops": []', '"ops": [\n' + lines + "\n ]"))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
