marked = 0


def mark_step(device_str="", sync=False):
    global marked
    marked += 1
