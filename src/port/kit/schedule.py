"""The learning rate of each update, as a function of its number."""
import math


def rising(start, stop, step, length):
    return start + step * (stop - start) / length


def falling(start, floor, step):
    return (start - floor) * math.exp(-0.01 * step) + floor


def updates_of(run, events):
    """How many a whole run makes."""
    if run["length"] == 0:
        return run["iterations"]
    if run["units"] == "iteration":
        return run["length"]
    return run["length"] * max(events // run["minibatch_size"], 1)


def learning_rate(optimizer, step, batch, events, updates):
    """Of update `step`; `updates` is the length of the whole run."""
    peak = optimizer["learning_rate"]
    floor = optimizer["floor_learning_rate"]
    name = optimizer["schedule"]
    if name == "reference":
        epoch = step * (batch / events)
        if epoch < 1:
            return 1e-4 + epoch * (peak - 1e-4)
        if epoch < 21:
            return peak
        return (peak - 1e-4) * math.exp(-0.999 * (epoch - 21)) + 1e-4
    if name == "cosine":
        warm_up = optimizer["warmup_iterations"]
        if step < warm_up:
            return rising(0, peak, step + 1, warm_up + 1)
        length = max(updates - 1 - warm_up, 1)
        done = min(step - warm_up, length) / length
        return floor + (peak - floor) * (1 + math.cos(math.pi * done)) / 2
    per_epoch = max(events // batch, 1)
    epochs = -(-updates // per_epoch)
    decay_begins = (epochs - optimizer["decay_epochs"]) * per_epoch
    if step >= epochs * per_epoch:
        return 0.0
    if name == "flat":
        return peak
    if name == "warmup_flat_decay":
        if step < per_epoch:
            return rising(1e-6, peak, step, per_epoch)
        if step < decay_begins:
            return peak
        return falling(peak, floor, step - decay_begins)
    low, half = optimizer["minimum_learning_rate"], decay_begins // 2
    if step < half:
        return rising(low, peak, step, half)
    if step < decay_begins:
        return rising(peak, low, step - half, decay_begins - half)
    return falling(low, floor, step - decay_begins)
