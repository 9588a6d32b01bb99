#!/usr/bin/env python3
"""Measures a running server: latency against load, as JSON and as a picture. bench/serve_compare starts one.

    bench/serve_load.py http://127.0.0.1:8000 MODEL --pixels 3000 --seconds 10 \\
        --json load.json --svg docs/serving-load.svg

First as many clients as make it busy ask one after the other: that rate is the saturation. Then events
are asked for at shares of it at random times, which do not wait for answers, so that a slow answer
does not hide the queue behind it. Only the standard library is needed.
"""

import argparse
import http.client
import json
import math
import random
import statistics
import struct
import threading
import time
from urllib.parse import urlparse

SHARES = (0.2, 0.4, 0.6, 0.8, 0.9)


class Asker:
    """One connection."""

    def __init__(self, url, model, body, json_bytes):
        self.url = urlparse(url)
        self.path = f"/v2/models/{model}/infer"
        self.body = body
        self.headers = {"Inference-Header-Content-Length": str(json_bytes)}
        self.connection = None

    def ask(self):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=120)
        self.connection.request("POST", self.path, self.body, self.headers)
        answer = self.connection.getresponse()
        answer.read()
        return answer.status


def body_of(config, pixels):
    parameters = config["parameters"]
    size = int(parameters["rows"]["string_value"]) * int(parameters["columns"]["string_value"])
    draw = random.Random(1)
    tensors = []
    per_plane = [sorted(draw.sample(range(size), pixels // 3)) for _ in range(3)]
    planes = [plane for plane in range(3) for _ in per_plane[plane]]
    indices = [index for plane in per_plane for index in plane]
    charges = [draw.expovariate(0.05) for _ in indices]
    head = {"inputs": [], "parameters": {"binary_data_output": True}}
    for name, kind, code, values in (
        ("plane", "UINT8", "B", planes),
        ("index", "INT64", "q", indices),
        ("charge", "FP32", "f", charges),
    ):
        tensors.append(struct.pack(f"<{len(values)}{code}", *values))
        head["inputs"].append(
            {
                "name": name,
                "datatype": kind,
                "shape": [len(values)],
                "parameters": {"binary_data_size": len(tensors[-1])},
            }
        )
    text = json.dumps(head).encode()
    return text + b"".join(tensors), len(text)


def saturation(make_asker, clients, seconds):
    """Answers in a second while every client asks again at once."""
    counts = [0] * clients
    end = time.monotonic() + seconds

    def work(which):
        asker = make_asker()
        while time.monotonic() < end:
            counts[which] += asker.ask() == 200

    threads = [threading.Thread(target=work, args=(i,)) for i in range(clients)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.monotonic() - begin)


def at_rate(make_asker, rate, seconds, clients, arrivals="random"):
    """Latencies of requests that come `rate` in a second: at random times, or evenly spaced."""
    draw = random.Random(2)
    times = []
    at = 0.0
    while at < seconds:
        at += draw.expovariate(rate) if arrivals == "random" else 1 / rate
        times.append(at)
    lock = threading.Lock()
    latencies, refused = [], []
    begin = time.monotonic()

    def work():
        asker = make_asker()
        while True:
            with lock:
                if not times:
                    return
                due = begin + times.pop(0)
            time.sleep(max(0, due - time.monotonic()))
            status = asker.ask()
            with lock:
                (latencies if status == 200 else refused).append(time.monotonic() - due)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    latencies.sort()
    return {
        "requests_per_second": rate,
        "arrivals": arrivals,
        "answers": len(latencies),
        "refused": len(refused),
        "median_ms": 1000 * statistics.median(latencies),
        "p99_ms": 1000 * latencies[min(len(latencies) - 1, int(0.99 * len(latencies)))],
    }


def draw_svg(result, path):
    width, height, left, bottom, top = 720, 320, 64, 48, 40
    rows = result["loads"]
    slowest = max(row["p99_ms"] for row in rows)
    unit = 10 ** math.floor(math.log10(slowest / 4))
    highest = next(4 * unit * step for step in (1, 2, 5, 10) if 4 * unit * step >= slowest)

    def place(share, value):
        x = left + share * (width - left - 24)
        return x, height - bottom - value / highest * (height - bottom - top)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{left}" y="20" font-size="15">Latency of events that come at random; at most {result["saturation_per_second"]:.1f} are tagged in a second</text>',
    ]
    for step in range(5):
        value = highest * step / 4
        _, y = place(0, value)
        parts.append(f'<line x1="{left}" x2="{width - 24}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.0f}</text>')
    for key, colour, name in (("p99_ms", "#d55e00", "99 %"), ("median_ms", "#0072b2", "median")):
        points = [place(row["share"], row[key]) for row in rows]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in points]
        parts.append(f'<text x="{points[-1][0] - 4:.1f}" y="{points[-1][1] - 10:.1f}" text-anchor="end" fill="{colour}">{name}</text>')
    for row in rows:
        x, _ = place(row["share"], 0)
        parts.append(f'<text x="{x:.1f}" y="{height - bottom + 18}" text-anchor="middle">{row["share"]:.0%}</text>')
    parts.append(f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle">load, of saturation</text>')
    parts.append(f'<text x="14" y="{height / 2}" transform="rotate(-90 14 {height / 2})" text-anchor="middle">milliseconds</text>')
    parts.append("</svg>\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts))


def config_of(server, model):
    url = urlparse(server)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
    connection.request("GET", f"/v2/models/{model}/config")
    return json.loads(connection.getresponse().read())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("model")
    parser.add_argument("--pixels", type=int, default=3000, help="of an event")
    parser.add_argument("--clients", type=int, default=8, help="for the saturation")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    parser.add_argument("--json", default="")
    parser.add_argument("--svg", default="")
    options = parser.parse_args()
    body, json_bytes = body_of(config_of(options.server, options.model), options.pixels)

    def make_asker():
        return Asker(options.server, options.model, body, json_bytes)

    saturation(make_asker, options.clients, min(options.seconds, 2))  # warm
    result = {
        "request_bytes": len(body),
        "clients": options.clients,
        "saturation_per_second": saturation(make_asker, options.clients, options.seconds),
        "loads": [],
    }
    for share in SHARES:
        row = at_rate(make_asker, share * result["saturation_per_second"], options.seconds, 4 * options.clients)
        result["loads"].append({"share": share, **row})
    text = json.dumps(result, indent=2)
    print(text)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    if options.svg:
        draw_svg(result, options.svg)


if __name__ == "__main__":
    main()
