"""Training, tagging, comparing and measuring, whatever the machine is.

A machine has these members:
  name, parts, part            parts: processes that train together
  events_per_step              events that one step of this process takes
  step(image, label, rate)     one update; returns the loss
  tag(image)                   probabilities, as loss.Tagger returns them
  weights()                    arrays by name
  require_device()             raises unless steps ran on the device
  peak_bytes(), device_name(), versions()
"""
import argparse
import json
import time
from pathlib import Path

import torch

import events
import record
import schedule
import weights
from network import UResNet

HERE = Path(__file__).parent


def load_settings():
    return json.loads((HERE / "settings.json").read_text())


def look_in(folder, settings):
    """Files of events were brought to another folder; None: they were not."""
    if folder is not None:
        settings["files"] = [str((Path(folder) / Path(name).name).absolute())
                             for name in settings["files"]]


def load_network(settings, path=HERE / "weights.safetensors"):
    network = UResNet(settings["configuration"]["network"])
    network.load_state_dict({name: torch.from_numpy(array) for name, array
                             in weights.load(path).items()})
    return network


def steps(settings, machine, count=None):
    """Makes `count` updates, or those of the whole run.

    Yields number, loss and seconds of each.
    """
    configuration = settings["configuration"]
    run, optimizer = configuration["run"], configuration["mode"]["optimizer"]
    source = events.training_events(settings)
    batches = events.batches(configuration, source, machine.events_per_step,
                             machine.part, machine.parts)
    updates = schedule.updates_of(run, len(source))
    for step in range(updates if count is None else count):
        image, label = next(batches)
        rate = schedule.learning_rate(optimizer, step, run["minibatch_size"],
                                      len(source), updates)
        begin = time.perf_counter()
        loss = machine.step(torch.from_numpy(image), torch.from_numpy(label),
                            rate)
        yield step, loss, time.perf_counter() - begin


def train(settings, machine, count, output):
    for step, loss, seconds in steps(settings, machine, count):
        machine.require_device()
        if machine.part == 0:
            print(f"step {step}: loss {loss:.6g} ({seconds:.3g} s)",
                  flush=True)
    if machine.part == 0:
        weights.save(output, machine.weights())
        print(f"wrote {output}")


def tag(settings, machine, files, output):
    configuration = settings["configuration"]
    source = events.LarcvEvents(files, configuration["data"])
    batch = configuration["run"]["minibatch_size"]
    tags = events.TagFile()
    for first in range(0, len(source), batch):
        # Shapes are fixed: the last batch repeats the last event.
        entries = [min(first + i, len(source) - 1) for i in range(batch)]
        images = [source.image(entry) for entry in entries]
        answer = machine.tag(torch.stack([torch.from_numpy(image.copy())
                                          for image in images]))
        for i in range(min(batch, len(source) - first)):
            tags.add(source.event_id(first + i), images[i], answer[i])
    machine.require_device()
    tags.write(output)
    print(f"wrote {output}: {len(source)} events")


def compare(settings, machine, plain, count, tolerance):
    """The machine's losses beside those of plain PyTorch on the CPU."""
    theirs = steps(settings, machine, count)
    worst = 0.0
    for (step, loss, _), (_, expected, _) in zip(
            theirs, steps(settings, plain, count)):
        machine.require_device()
        difference = abs(loss - expected) / abs(expected)
        worst = max(worst, difference)
        print(f"step {step}: loss {loss:.6g}, plain PyTorch "
              f"{expected:.6g}, difference {difference:.2%}")
    if worst > tolerance:
        raise SystemExit(f"losses differ by {worst:.2%}, more than "
                         f"{tolerance:.2%}")
    print(f"losses agree within {tolerance:.2%}")


def measure(settings, machine, count, output):
    seconds = [taken for _, _, taken in steps(settings, machine, count)]
    machine.require_device()
    if machine.part == 0:
        record.write(output, settings, machine, seconds[1:], seconds[0])
        print(f"wrote {output}: {machine.events_per_step * machine.parts} "
              f"events a step")


def parse_arguments():
    parser = argparse.ArgumentParser(description="The run of settings.json.")
    parser.add_argument("--weights", default=HERE / "weights.safetensors",
                        help="weights to start from")
    parser.add_argument("--events", metavar="FOLDER",
                        help="where the files of settings.json are")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, output, count, about in (
            ("train", "trained.safetensors", None, "train"),
            ("test", None, 3, "compare losses with plain PyTorch's"),
            ("measure", "record.json", 20, "time steps, write a record")):
        one = verbs.add_parser(verb, help=about)
        one.add_argument("--steps", type=int, default=count)
        if output:
            one.add_argument("--output", default=output)
        else:
            one.add_argument("--tolerance", type=float, default=0.02)
    one = verbs.add_parser("tag", help="tag the events of larcv files")
    one.add_argument("files", nargs="+")
    one.add_argument("--output", default="tags.h5")
    return parser.parse_args()


def main(make_machine, make_plain):
    settings = load_settings()
    arguments = parse_arguments()
    look_in(arguments.events, settings)
    machine = make_machine(load_network(settings, arguments.weights),
                           settings)
    if arguments.verb == "train":
        train(settings, machine, arguments.steps, arguments.output)
    elif arguments.verb == "tag":
        tag(settings, machine, arguments.files, arguments.output)
    elif arguments.verb == "measure":
        measure(settings, machine, arguments.steps, arguments.output)
    else:
        plain = make_plain(load_network(settings, arguments.weights),
                           settings)
        compare(settings, machine, plain, arguments.steps,
                arguments.tolerance)
