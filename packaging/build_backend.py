"""What pip calls to make a wheel of the Python module (PEP 517), with nothing but CMake and Python.

    pip install .
    pip install --config-settings build-dir=build/release .    # of a build that is there

$CMAKE_ARGS are further arguments of the configure step.
"""

import base64
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = Path((config_settings or {}).get("build-dir", ROOT / "build" / "wheel"))
    if not (build / "CMakeCache.txt").exists():
        _configure(build)
    _require_module(build)
    _run("cmake", "--build", build, "--parallel", len(os.sched_getaffinity(0)), "--target", "cosmictagger_python")
    with tempfile.TemporaryDirectory() as prefix:
        _run("cmake", "--install", build, "--component", "python", "--prefix", prefix)
        packages = list(Path(prefix).rglob("cosmictagger"))
        return _pack(packages[0].parent, Path(wheel_directory))


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError(
        "there is no source distribution (a checkout is one); make a wheel, or `git archive` the tree"
    )


def _run(*words):
    subprocess.run([str(word) for word in words], check=True)


def _configure(build):
    ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
    _run(
        "cmake", "-S", ROOT, "-B", build, *ninja, "-DCMAKE_BUILD_TYPE=Release", "-DCOSMIC_UNITY=ON",
        "-DCOSMIC_TESTS=OFF", "-DCOSMIC_EXAMPLES=OFF", "-DCOSMIC_LIBRARIES=OFF", "-DCOSMIC_MPI=OFF",
        f"-DPython_EXECUTABLE={sys.executable}", *shlex.split(os.environ.get("CMAKE_ARGS", "")),
    )  # fmt: skip


def _require_module(build):
    found = re.search(r"^pybind11_DIR:[A-Z]+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    if not found or found.group(1).endswith("-NOTFOUND"):
        raise RuntimeError(
            f"{build} is without the module for Python (pybind11 or Python's headers were not found "
            "when it was configured); install pybind11-dev and python3-dev, and remove the folder"
        )


def _version():
    return re.search(r"project\(CosmicTagger VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def _pack(folder, wheel_directory):
    version = _version()
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"{python}-{python}-{platform}"
    info = f"cosmictagger-{version}.dist-info"
    texts = {
        f"{info}/METADATA": (
            f"Metadata-Version: 2.1\nName: cosmictagger\nVersion: {version}\n"
            "Summary: Separates cosmic-ray from neutrino pixels in liquid-argon detector images\n"
            "Requires-Python: >=3.9\nRequires-Dist: numpy\n"
        ),
        f"{info}/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: CosmicTagger\nRoot-Is-Purelib: false\nTag: {tag}\n"
        ),
    }
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    # The networks in the box, which the module looks for below the folders above it.
    files.update(
        {f"cosmictagger-{version}.data/data/share/cosmictagger/weights/{path.name}": path.read_bytes()
         for path in sorted((ROOT / "weights").glob("*.*"))
         if path.suffix in (".safetensors", ".md")}
    )  # fmt: skip
    files.update({name: text.encode() for name, text in texts.items()})
    record = f"{info}/RECORD"
    lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items()]
    files[record] = ("".join(lines) + f"{record},,\n").encode()
    name = f"cosmictagger-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel_directory / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
