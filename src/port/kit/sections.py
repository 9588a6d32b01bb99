"""Writes decision.json: which ops SambaFlow lays out on the chip together.

Sections are those of settings.json (run.section_plan) or, if there are none,
one for each block of the network, as in the plan that was published for this
network. Names of ops follow that plan too: the class of the outermost module,
the path of a module and its class, in lower case. The backward pass and the
update are left to the compiler.
"""
import json

import loop
from network import Block

ROOT = "stepwithlogits__network"


def blocks_of(network, settings):
    named = settings["plan"]["sections"]
    if named:
        return named
    return [[name] for name, module in network.named_modules()
            if isinstance(module, Block)] + [["bottleneck"]]


def op_names(network, layers):
    """Of all leaves inside of some layers."""
    names = []
    for path, module in network.named_modules():
        inside = any(path == layer or path.startswith(layer + ".")
                     for layer in layers)
        if inside and not list(module.children()):
            names.append("__".join([ROOT, *path.split("."),
                                    type(module).__name__.lower()]))
    return names


def decision(network, settings):
    return {"fwd_section_boundaries": [op_names(network, layers) for layers
                                       in blocks_of(network, settings)]}


if __name__ == "__main__":
    SETTINGS = loop.load_settings()
    with open("decision.json", "w") as file:
        json.dump(decision(loop.load_network(SETTINGS), SETTINGS), file,
                  indent=2)
    print("wrote decision.json")
