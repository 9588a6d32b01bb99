#!/usr/bin/python3
"""Lints packaging/Dockerfile and packaging/cosmictagger.def, which no engine builds here.

    lint_container_recipes.py FOLDER

Their shell parts pass shellcheck, packages are installed without recommendations and leave no lists behind, bases are
tagged, both are the same base, every file that is copied from the tree is there, and what a build needs is installed. Exits with 1 and a line for each
finding, with 77 where shellcheck is missing.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path


def instructions(text):
    """(name, argument) of a Dockerfile, continued lines joined, comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def sections(text):
    """Name and text of each %section of an Apptainer recipe, and its header under ''."""
    found, name = {"": []}, ""
    for line in text.splitlines():
        if line.startswith("%"):
            name = line[1:].split()[0]
            found[name] = []
        else:
            found[name].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


# Packages of scripts/setup.sh that the preset `package` does without: MPI, tests and benchmarks.
NOT_FOR_PACKAGES = {"libopenmpi-dev", "openmpi-bin", "libgtest-dev", "libgmock-dev", "libbenchmark-dev",
                    "dataset-fashion-mnist"}


def needed_packages(setup):
    """What a build installs, by the list that demo.sh, test.sh and CI go by."""
    return set(re.search(r"^cosmic_packages=\(\n(.*?)^\)", setup, re.M | re.S)[1].split()) - NOT_FOR_PACKAGES


class Lint:
    def __init__(self, folder):
        self.folder, self.findings = folder, []

    def expect(self, condition, where, text):
        if not condition:
            self.findings.append(f"{where}: {text}")

    def shell(self, where, script):
        checked = subprocess.run(["shellcheck", "--shell=sh", "-"], input=script + "\n", capture_output=True, text=True)
        self.expect(checked.returncode == 0, where, checked.stdout)
        if "apt-get install" in script:
            self.expect("--yes --no-install-recommends" in script, where, "installs what is only recommended, or asks")
            self.expect("apt-get update" in script, where, "installs from lists that may not be there")
            self.expect(re.search(r"rm -rf .*/var/lib/apt/lists/\*", script), where, "leaves apt's lists in the image")

    def base(self, where, image):
        self.expect(re.fullmatch(r"[\w./-]+:(?!latest)[\w.-]+", image), where, f"{image} has no tag of its own")

    def dockerfile(self, path):
        bases, installed = [], set()
        known = {"FROM", "RUN", "COPY", "WORKDIR", "ENTRYPOINT", "ENV", "LABEL", "ARG"}
        for name, argument in instructions(path.read_text()):
            self.expect(name in known, path.name, f"{name} is no instruction that is used here")
            if name == "FROM":
                bases.append(argument.split()[0])
                self.base(path.name, bases[-1])
            elif name == "RUN":
                self.shell(path.name, argument)
                installed |= set(argument.split())
            elif name == "WORKDIR":
                self.expect(argument.startswith("/"), path.name, f"WORKDIR {argument} depends on the one before")
            elif name == "COPY" and not argument.startswith("--from"):
                source = argument.split()[0]
                self.expect((self.folder / source).exists(), path.name, f"{source} is not in the tree")
            elif name == "ENTRYPOINT":
                self.expect(argument.startswith("["), path.name, "ENTRYPOINT in a shell hides signals from the program")
        self.expect(bases, path.name, "there is no base")
        missing = needed_packages((self.folder / "scripts" / "setup.sh").read_text()) - installed
        self.expect(not missing, path.name, f"a build needs {', '.join(sorted(missing))} (scripts/setup.sh)")
        return bases

    def apptainer(self, path):
        found = sections(path.read_text())
        header = dict(line.split(": ", 1) for line in found[""].splitlines() if ": " in line and line[0] != "#")
        self.expect(header.get("Bootstrap") == "docker", path.name, "Bootstrap is not docker")
        self.base(path.name, header.get("From", ""))
        for name in ("post", "runscript", "test"):
            self.expect(name in found, path.name, f"there is no %{name}")
            self.shell(f"{path.name} %{name}", "#!/bin/sh\n" + found.get(name, ""))
        return header.get("From", "")


def main():
    folder = Path(sys.argv[1])
    if shutil.which("shellcheck") is None:
        print("needs shellcheck (package shellcheck)")
        return 77
    lint = Lint(folder)
    bases = lint.dockerfile(folder / "packaging" / "Dockerfile")
    bases.append(lint.apptainer(folder / "packaging" / "cosmictagger.def"))
    lint.expect(len(set(bases)) == 1, "packaging", f"there are several bases: {', '.join(sorted(set(bases)))}")
    print(*lint.findings, sep="\n")
    return 1 if lint.findings else 0


if __name__ == "__main__":
    sys.exit(main())
