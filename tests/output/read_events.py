"""Reads a TensorBoard event file the hard way and prints its events as JSON.

python3 read_events.py FILE

Knows nothing about the writer: record framing, CRC-32C, the protobuf wire format and PNG are decoded here, from their
specifications, with the standard library only. Where TensorBoard is installed, its own reader must see the same curves.
"""
import json
import struct
import sys
import zlib

POLYNOMIAL = 0x82F63B78


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def check(data, masked):
    rotated = (masked - 0xA282EAD8) & 0xFFFFFFFF
    crc = (rotated >> 17 | rotated << 15) & 0xFFFFFFFF
    if crc != crc32c(data):
        raise ValueError(f"checksum {crc:08x} of {len(data)} bytes whose checksum is {crc32c(data):08x}")


def records(data):
    at = 0
    while at < len(data):
        header = data[at:at + 8]
        (length,) = struct.unpack("<Q", header)
        check(header, *struct.unpack("<I", data[at + 8:at + 12]))
        body = data[at + 12:at + 12 + length]
        check(body, *struct.unpack("<I", data[at + 12 + length:at + 16 + length]))
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def fields(data):
    """(number, value) of each field: an int for a varint, bytes for anything else."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                assert kind == 2, f"wire type {kind}"
                size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def decode_png(data):
    """Grey samples, 8 bits, no filter."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body = 8, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at:at + 4])
        kind, chunk = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + chunk)
        if kind == b"IHDR":
            columns, rows, bits, color = struct.unpack(">IIBB", chunk[:10])
            assert (bits, color) == (8, 0)
        elif kind == b"IDAT":
            body += chunk
        at += 12 + length
    lines = zlib.decompress(body)
    assert len(lines) == rows * (columns + 1) and not any(lines[::columns + 1])
    return [list(lines[row * (columns + 1) + 1:(row + 1) * (columns + 1)]) for row in range(rows)]


def decode_image(data):
    image = dict(fields(data))
    return {"rows": image[1], "columns": image[2], "colorspace": image[3], "pixels": decode_png(image[4])}


def decode_event(data):
    event = {"step": 0, "scalars": {}, "images": {}}
    for number, value in fields(data):
        if number == 1:
            (event["wall_time"],) = struct.unpack("<d", value)
        elif number == 2:
            event["step"] = value
        elif number == 3:
            event["file_version"] = value.decode()
        elif number == 7:
            event["session_status"] = dict(fields(value))[1]
        elif number == 5:
            for _, summary in fields(value):
                parts = dict(fields(summary))
                tag = parts[1].decode()
                if 2 in parts:
                    (event["scalars"][tag],) = struct.unpack("<f", parts[2])
                if 4 in parts:
                    event["images"][tag] = decode_image(parts[4])
        else:
            raise ValueError(f"unexpected field {number}")
    return event


def require_that_tensorboard_agrees(path, events):
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    except ImportError:
        return
    accumulator = EventAccumulator(path, size_guidance={"scalars": 0, "images": 0})
    accumulator.Reload()
    curves, pictures = {}, 0
    for event in events:
        for tag, value in event["scalars"].items():
            curves.setdefault(tag, []).append((event["step"], value))
        pictures += len(event["images"])
    assert sorted(accumulator.Tags()["scalars"]) == sorted(curves)
    for tag, points in curves.items():
        seen = [(point.step, point.value) for point in accumulator.Scalars(tag)]
        assert repr(seen) == repr(points), (tag, seen, points)  # repr: NaN equals NaN
    assert sum(len(accumulator.Images(tag)) for tag in accumulator.Tags()["images"]) == pictures


with open(sys.argv[1], "rb") as file:
    EVENTS = [decode_event(record) for record in records(file.read())]
require_that_tensorboard_agrees(sys.argv[1], EVENTS)
print(json.dumps(EVENTS))
