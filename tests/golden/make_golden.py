#!/usr/bin/python3
"""Golden files from PyTorch: make them, and check this implementation against others.

  make_golden.py make [FOLDER] [NAME...]   write the cases below (default: all, next to this script)
  make_golden.py check FILE.h5...          run golden files in float32 and compare everything they record
  make_golden.py spec                      networks, losses and gradients of the specification's appendix A.1

The files are computed in double precision and stored in float32, so that the whole tolerance of a comparison
belongs to the implementation under test. `check` shows what float32 arithmetic makes of the same run.
"""
import argparse
import ctypes
import json
import math
import sys
from pathlib import Path

import h5py
import numpy as np
import torch

from uresnet_torch import UResNet, loss_of, metrics_of, optimizer_of, options

STEPS = 5

# What each file is for: the combinations that presets at small size leave out. Sizes are kept small on purpose,
# they are prime or odd where an implementation is tempted to assume a multiple of a vector.
_SMALL = dict(blocks_per_layer=1, blocks_deepest_layer=1, blocks_final=1, depth=2, residual=False,
              bottleneck_deepest=7, connections="sum", filter_size_deepest=3)
_CONV = dict(downsampling="convolutional", upsampling="convolutional")


def _case(batch, size, loss, optimizer, rate, without_neutrino=(), **network):
    return dict(batch=batch, size=size, loss=loss, optimizer=optimizer, rate=rate,
                without_neutrino=without_neutrino, network={**_SMALL, **network})


CASES = {
    "odd_channels_batch3": _case(3, (8, 12), "light", "adam", 1e-3, n_initial_filters=3, blocks_deepest_layer=2),
    "multiplicative_block_concat": _case(
        1, (12, 20), "none", "rmsprop", 3e-4, n_initial_filters=5, growth_rate="multiplicative", block_concat=True,
        connections="concat", filter_size_deepest=5),
    "no_bias_residual_depth1_even": _case(  # one plane without a class: the weight of an absent class is finite
        3, (6, 14), "even", "sgd", 1e-3, without_neutrino=(2,), n_initial_filters=5, depth=1, bias=False, residual=True,
        blocks_final=2),
    "convolutional_concat_depth3": _case(
        1, (16, 24), "none", "adam", 1e-3, n_initial_filters=3, depth=3, connections="concat", blocks_final=0, **_CONV),
    "convolutional_down_only_none": _case(
        1, (6, 34), "light", "rmsprop", 1e-3, n_initial_filters=5, depth=1, connections="none", blocks_final=2,
        blocks_per_layer=2, downsampling="convolutional"),
    "no_norm_bias_residual_odd": _case(
        3, (8, 12), "focal", "sgd", 1e-3, n_initial_filters=3, normalization="none", residual=True, blocks_final=0,
        growth_rate="multiplicative", upsampling="convolutional"),
    "conv3d_convolutional_residual_concat": _case(
        1, (12, 16), "light", "adam", 1e-3, conv_mode="conv_3D", n_initial_filters=3, residual=True,
        connections="concat", **_CONV),
    "conv3d_none_no_bias_batch3": _case(
        3, (6, 10), "none", "sgd", 5e-3, conv_mode="conv_3D", n_initial_filters=5, depth=1, bias=False,
        connections="none", blocks_final=0, filter_size_deepest=5),
    "conv3d_sum_multiplicative_no_norm": _case(
        2, (8, 12), "even", "rmsprop", 1e-4, conv_mode="conv_3D", n_initial_filters=3, normalization="none",
        growth_rate="multiplicative", blocks_final=2),
    "wide_layers": _case(  # wide and deep enough in channels for algorithms other than direct sums
        1, (12, 32), "focal", "adam", 1e-3, n_initial_filters=16, depth=1),
}


def event_batch(batch, size, without_neutrino, generator):
    """Straight tracks over noise. The noise keeps max pooling free of ties, whose gradient is a matter of taste."""
    h, w = size
    image = torch.rand(batch, 3, h, w, generator=generator) * 0.5
    label = torch.zeros(batch, 3, h, w, dtype=torch.uint8)
    for b in range(batch):
        for p in range(3):
            for kind in (1, 1, 2):
                if kind == 2 and p in without_neutrino:
                    continue
                start, stop, row0, row1 = torch.rand(4, generator=generator).tolist()
                first, last = sorted((int(start * w), int(stop * w)))
                for x in range(first, min(w, last + 4)):
                    y = int((row0 + (row1 - row0) * x / w) * h)
                    image[b, p, y, x] += 1.0 + kind * 0.5
                    label[b, p, y, x] = kind
    return image, label


def shake(net, generator):
    """Move normalisation and biases off their trivial initial values, so that evaluation mode tests them too."""
    with torch.no_grad():
        for name, t in net.state_dict().items():
            noise = lambda: torch.rand(t.shape, generator=generator) - 0.5
            if name.endswith(("norm.weight", "running_var")):
                t.copy_(1.0 + 0.6 * noise())
            elif name.endswith(("norm.bias", "conv.bias", "bottleneck.bias", "running_mean")):
                t.copy_(0.4 * noise())


def run(net, image, labels, loss, optimizer, rate, steps):
    """Train on one fixed batch; everything a golden file records, as {path: tensor} and {attribute: value}."""
    data, attributes, losses = {}, {}, []
    keep = lambda where, tensors: data.update({f"{where}/{k}": v.detach().clone() for k, v in tensors.items()})
    planes = lambda logits: {f"plane{p}": z for p, z in enumerate(logits)}

    def evaluate(where):
        net.eval()
        with torch.no_grad():
            logits = net(image)
        keep(f"{where}/eval_logits", planes(logits))
        return logits

    keep("initial/state_dict", net.state_dict())
    evaluate("initial")
    update = optimizer_of(optimizer, net, rate)
    net.train()
    for step in range(steps):
        update.zero_grad()
        logits = net(image)
        value = loss_of(logits, labels, loss)
        value.backward()
        losses.append(float(value))
        update.step()
        if step == 0:
            keep("step0/train_logits", planes(logits))
            keep("step0/grad", {k: p.grad for k, p in net.named_parameters()})
            keep("step0/state_dict_after", net.state_dict())
            attributes["step0_metrics"] = metrics_of([z.detach().float() for z in logits], labels)
    keep("final/state_dict", net.state_dict())
    attributes["final_metrics"] = metrics_of([z.float() for z in evaluate("final")], labels)
    data["losses"] = torch.tensor(losses, dtype=torch.float64)
    return data, attributes


def timeless(kind):
    """A creation property list without time stamps: the same run gives the same bytes."""
    create = h5py.h5p.create(kind)
    create.set_obj_track_times(False)
    return create


def create_file(path):
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V18, h5py.h5f.LIBVER_V18)  # the older layout has larger headers
    return h5py.File(h5py.h5f.create(bytes(path), h5py.h5f.ACC_TRUNC, timeless(h5py.h5p.FILE_CREATE), access))


def store(f, where, array):
    """Write a contiguous dataset and the groups on the way to it, with headers as small as they can be.

    A file holds hundreds of tiny tensors, so headers matter. h5py does not expose the hint that leaves out the room
    for attributes; it is set through the C library that h5py has loaded.
    """
    *groups, name = where.encode().split(b"/")
    parent = f.id
    for group in groups:
        parent = (h5py.h5g.open(parent, group) if group in parent else
                  h5py.h5g.create(parent, group, gcpl=timeless(h5py.h5p.GROUP_CREATE)))
    plain = timeless(h5py.h5p.DATASET_CREATE)
    ctypes.CDLL(h5py.h5p.__file__).H5Pset_dset_no_attrs_hint(ctypes.c_int64(plain.id), ctypes.c_bool(True))
    space = h5py.h5s.create_simple(array.shape) if array.shape else h5py.h5s.create(h5py.h5s.SCALAR)
    dataset = h5py.h5d.create(parent, name, h5py.h5t.py_create(array.dtype), space, plain)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(array))


def plane_labels(label):
    return [label[:, p].long() for p in range(3)]


def make(folder, name):
    case = CASES[name]
    torch.manual_seed(1 + list(CASES).index(name))
    generator = torch.Generator().manual_seed(100 + list(CASES).index(name))
    o = options(**{**case["network"], "name": name})
    net = UResNet(o)
    shake(net, generator)
    image, label = event_batch(case["batch"], case["size"], case["without_neutrino"], generator)
    data, metrics = run(net.double(), image.double(), plane_labels(label), case["loss"], case["optimizer"],
                        case["rate"], STEPS)
    path = Path(folder) / f"{name}.h5"
    with create_file(path) as f:
        f.attrs["network"] = json.dumps(o)
        f.attrs["loss_balance_scheme"] = case["loss"]
        f.attrs["optimizer"] = case["optimizer"]
        f.attrs["learning_rate"] = case["rate"]
        f.attrs["steps"] = STEPS
        f.attrs["conv_mode"] = "3D" if o.three_d else "2D"
        for key, value in metrics.items():
            f.attrs[key] = json.dumps(value)
        data.update(image=image, label=label)
        for where, t in data.items():
            stored = t.float() if t.dtype == torch.float64 and where != "losses" else t
            store(f, where, stored.numpy())
    print(f"{path}: {path.stat().st_size} bytes, losses {' '.join(f'{x:.6f}' for x in data['losses'].tolist())}")


def in_front_of_norm(name, names):
    """A convolution bias followed by a batch norm has a zero gradient; what is recorded is round-off."""
    return name.endswith("conv.bias") and name[:-len("conv.bias")] + "norm.weight" in names


def check(path):
    """Run a golden file and compare at the tolerances of its documentation; True when all hold."""
    f = h5py.File(path, "r")
    rate = float(f.attrs["learning_rate"])
    net = UResNet(options(**json.loads(f.attrs["network"])))
    net.load_state_dict({k: torch.tensor(v[()]) for k, v in f["initial/state_dict"].items()})
    data, metrics = run(net, torch.tensor(f["image"][()]), plane_labels(torch.tensor(f["label"][()])),
                        f.attrs["loss_balance_scheme"], f.attrs["optimizer"], rate, int(f.attrs["steps"]))
    missing = []
    f.visititems(lambda k, v: missing.append(k) if isinstance(v, h5py.Dataset) and k not in data else None)
    if sorted(missing) != ["image", "label"]:
        raise SystemExit(f"{path}: tensors in the file that this network does not have: {sorted(missing)}")

    def worst(prefix, measure, choose=lambda name: True):
        names = [k for k in data if k.startswith(prefix) and choose(k)]
        return max((measure(data[k].double().numpy(), f[k][()].astype(np.float64)) for k in names), default=0.0)

    largest = lambda a, b: float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30))
    norm = lambda a, b: float(np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-30))
    moved = lambda a, b: float(np.abs(a - b).max() / rate)
    real = lambda k: not in_front_of_norm(k.replace("step0/grad", "initial/state_dict"), data)
    is_running = lambda k: "running_" in k or "num_batches" in k
    far = lambda key: max(abs(v - json.loads(f.attrs[key])[k]) for k, v in metrics[key].items())
    rows = [
        ("initial eval logits", worst("initial/eval_logits", largest), 1e-5),
        ("train logits", worst("step0/train_logits", largest), 1e-5),
        ("first loss", largest(data["losses"][:1].numpy(), f["losses"][:1]), 1e-5),
        ("gradients", worst("step0/grad", norm, real), 1e-4),
        ("running statistics", worst("step0/state_dict_after", largest, is_running), 1e-5),
        # Adam's first step is the sign of the gradient: an element whose gradient is almost zero may be off by two
        # learning rates, so only the norm over a tensor can be asked to be small.
        ("updated parameters", worst("step0/state_dict_after", norm, lambda k: real(k) and not is_running(k)), 1e-3),
        ("  largest, in rates", worst("step0/state_dict_after", moved, lambda k: real(k) and not is_running(k)), None),
        ("step 0 metrics", far("step0_metrics"), 1e-6),
        ("later losses", largest(data["losses"].numpy(), f["losses"][()]), 1e-2),
        # No limit below: five steps of Adam or RMSprop amplify the round-off in biases in front of a batch norm.
        ("final eval logits", worst("final/eval_logits", largest), None),
        ("final metrics", far("final_metrics"), None),
    ]
    good = all(limit is None or value <= limit for _, value, limit in rows)
    print(f"{'ok  ' if good else 'FAIL'} {path}")
    for what, value, limit in rows:
        verdict = "" if limit is None else f"  (at most {limit:g})" + ("" if value <= limit else "  <-- too large")
        print(f"       {what:<22}{value:10.2e}{verdict}")
    return good


_BASE = dict(n_initial_filters=4, depth=2, blocks_per_layer=2, blocks_deepest_layer=2, blocks_final=1,
             bottleneck_deepest=6, residual=False, connections="sum")
_THREE = dict(conv_mode="conv_3D")
# case: changes, parameters, logit sums of the planes, sum |logits| of plane 0, one logit, losses, gradient norm,
# sum |logits| of plane 0 in evaluation mode afterwards
SPEC = {
    "G1 base": ({}, 6053, 302.2917, 291.9438, 298.2150, 780.0004, -0.995836, 3.892174, 4.176958, 3.621551, 12.5344,
                651.2636),
    "G2 residual": (dict(residual=True), 11069, -684.0619, -668.3353, -662.5480, 2170.3989, 0.104761, 5.349206,
                    7.562906, 5.185675, 21.8343, 2951.6386),
    "G3 concat": (dict(connections="concat"), 6249, -187.7452, -188.8499, -182.9378, 741.5826, 0.181453, 3.457741,
                  4.161994, 3.621367, 5.6812, 525.8102),
    "G4 none": (dict(connections="none"), 6053, 308.7172, 293.5879, 296.0412, 774.8264, -2.895867, 3.834941, 4.168059,
                3.613664, 49.682, 528.6677),
    "G5 multiplicative": (dict(growth_rate="multiplicative"), 6309, -410.4464, -402.5860, -406.1385, 811.0202, 1.181235,
                          3.294687, 3.889834, 3.513865, 8.8620, 617.8503),
    "G6 conv down": (dict(downsampling="convolutional"), 6437, -349.7206, -349.3417, -347.3851, 646.9203, -0.596457,
                     3.272643, 3.999838, 3.544043, 2.7293, 476.5017),
    "G7 conv up": (dict(upsampling="convolutional"), 6437, -348.0952, -352.4057, -348.9394, 649.5379, -0.633414,
                   3.276294, 4.010097, 3.556602, 3.7494, 435.8455),
    "G8 block_concat": (dict(block_concat=True), 5693, -3.7220, -13.0334, -8.7664, 814.9713, -0.396897, 3.701603,
                        4.336658, 3.696091, 3.2014, 786.6784),
    "G9 no bias": (dict(bias=False), 5908, -7.0250, -9.0274, -9.0483, 189.5101, 0.001769, 3.555752, 3.444195, 3.346115,
                   1.9663, 72.0660),
    "G10 no norm": (dict(normalization="none"), 5769, 1157.3287, 1261.9907, 1051.7266, 4399.4506, -0.227830, 5.932318,
                    12.125737, 7.306884, 38.2677, 4399.4506),
    "G11 3D": (_THREE, 5981, 230.2358, 220.0711, 207.1876, 823.5428, 0.091185, 3.909722, 4.216679, 3.626562, 4.5087,
               938.5000),
    "G12 3D all": (dict(residual=True, connections="concat", **_CONV, **_THREE), 11961, 502.5894, 500.1572, 449.0604,
                   769.6733, -0.471583, 4.096784, 3.998950, 3.548597, 6.1016, 27419.3043),
}


def spec():
    """Appendix A.1: weights and input by formula, so that no random stream has to be reproduced."""
    g = torch.arange(2 * 3 * 16 * 24, dtype=torch.float64)
    image = (0.5 + 0.5 * torch.sin(0.3 * g)).float().double().reshape(2, 3, 16, 24)
    labels = plane_labels(((g // 5) % 3).reshape(2, 3, 16, 24))
    all_good = True
    for name, (changes, *wanted) in SPEC.items():
        net = UResNet(options(**{**_BASE, **changes})).double()
        start = 0
        with torch.no_grad():
            for key, p in net.named_parameters():
                index = torch.arange(start, start + p.numel(), dtype=torch.float64)
                fill = 0.3 * torch.sin(0.7 * index + 0.2)
                p.copy_((fill + 1 if key.endswith("norm.weight") else fill).float().double().reshape(p.shape))
                start += p.numel()
        z = net(image)
        losses = [loss_of(z, labels, s) for s in ("light", "focal", "even")]
        losses[1].backward()
        gradient = math.sqrt(sum(float((p.grad ** 2).sum()) for p in net.parameters()))
        net.eval()
        found = [start, *(float(x.sum()) for x in z), float(z[0].abs().sum()), float(z[1][1, 2, 3, 5]),
                 *map(float, losses), gradient, float(net(image)[0].abs().sum())]
        # Two units in the last printed digit of each column: the table's losses were summed in float32. One of its
        # gradient norms has three digits only.
        digits = [0.5] + 4 * [1e-4] + 4 * [1e-6] + [1e-3, 1e-4]
        units = [abs(a - b) / unit for a, b, unit in zip(found, wanted, digits)]
        good = max(units) <= 2
        all_good &= good
        print(f"{'ok  ' if good else 'FAIL'} {name:<20}largest difference {max(units):.2f} units of the last digit")
        if not good:
            print("     found ", found, "\n     wanted", wanted)
    return all_good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    m = verbs.add_parser("make")
    m.add_argument("folder", nargs="?", default=Path(__file__).parent)
    m.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CASES))
    verbs.add_parser("check").add_argument("files", nargs="+")
    verbs.add_parser("spec")
    a = parser.parse_args()
    torch.set_num_threads(1)  # small tensors; one thread also fixes the order of every sum
    if a.verb == "make":
        for name in a.names or CASES:
            make(a.folder, name)
        return 0
    good = [check(path) for path in a.files] if a.verb == "check" else [spec()]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
