"""Weights by name in safetensors files, without the package of that name.

A file is the length of its header in eight bytes, the header in JSON, data.
The C++ program reads what is written here.
"""
import json

import numpy as np

TYPES = {"F32": np.dtype("<f4"), "I64": np.dtype("<i8")}


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])],
                                TYPES[entry["dtype"]])
            .reshape(entry["shape"]).copy()
            for name, entry in header.items()}


def save(path, arrays):
    header, chunks, end = {}, [], 0
    for name, array in arrays.items():
        word = "I64" if array.dtype.kind == "i" else "F32"
        chunk = array.astype(TYPES[word]).tobytes()
        header[name] = {"dtype": word, "shape": list(array.shape),
                        "data_offsets": [end, end + len(chunk)]}
        chunks.append(chunk)
        end += len(chunk)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(chunks))
