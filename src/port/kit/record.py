"""What a run took, in the form that `cosmictagger calibrate` reads."""
import json
import platform
import statistics
import time

import torch


def write(path, settings, machine, seconds, first_seconds):
    """`seconds` of every step but the first, which also compiles."""
    record = {
        "format": "cosmictagger record 1",
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": machine.name,
        "device": machine.device_name(),
        "software": {"python": platform.python_version(),
                     "torch": torch.__version__, **machine.versions()},
        "settings": settings,
        "step": {
            "kind": "training",
            "events": machine.events_per_step,
            "seconds": statistics.median(seconds),
            "all_seconds": seconds,
            "first_seconds": first_seconds,
        },
        "peak_bytes": machine.peak_bytes(),
    }
    with open(path, "w") as file:
        json.dump(record, file, indent=2)
        file.write("\n")
