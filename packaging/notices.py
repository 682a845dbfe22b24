"""Prints the licences of what others wrote and the program contains: its crates, and the C libraries within them."""

import json
import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path

TARGET = "x86_64-unknown-linux-gnu"
LICENCE = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicen[cs]e)([-._].*)?", re.IGNORECASE)
# Programs whose names begin like that.
CODE = {".c", ".h", ".html", ".in", ".lua", ".py", ".rs", ".sh"}
BYTES_MAX = 200_000


def metadata():
    command = [os.environ.get("CARGO", "cargo"), "metadata", "--format-version=1", "--locked"]
    top = Path(__file__).resolve().parent.parent
    return json.loads(subprocess.check_output([*command, f"--filter-platform={TARGET}"], cwd=top))


def contained(about):
    """The packages that the program `dyno` is built from. Those that only build it are among them: some bring C code."""
    packages = {package["id"]: package for package in about["packages"]}
    needs = {
        node["id"]: [to["pkg"] for to in node["deps"] if any(kind["kind"] != "dev" for kind in to["dep_kinds"])]
        for node in about["resolve"]["nodes"]
    }
    reached = set()
    left = [id for id, package in packages.items() if package["name"] == "dyno" and package["source"] is None]
    while left:
        id = left.pop()
        if id not in reached:
            reached.add(id)
            left += needs[id]
    return sorted((packages[id] for id in reached), key=lambda package: (package["name"], package["version"]))


def licences(folder):
    """The texts of licences below a folder, each with the name of the folder that it is in."""
    for path in sorted(folder.rglob("*")):
        is_licence = LICENCE.fullmatch(path.name) and path.suffix.lower() not in CODE
        if is_licence and path.is_file() and path.stat().st_size < BYTES_MAX:
            yield path.parent.name, path.read_text(encoding="utf-8", errors="replace").strip()


def main():
    of_text = defaultdict(list)
    texts = {}
    without = []
    for package in contained(metadata()):
        # What is of others in Dyno's own crates has a folder of its own.
        is_ours = package["source"] is None
        name = f"{package['name']} {package['version']} ({package['license']})"
        found = {" ".join(text.split()): (place, text) for place, text in licences(Path(package["manifest_path"]).parent)}
        for key, (place, text) in found.items():
            texts[key] = text
            of_text[key].append(place if is_ours else name)
        if not found and not is_ours:
            without.append(f"{name}, {package['repository'] or 'without an address'}")
    print("The program dyno contains the work of others, under these licences.\n")
    if without:
        print("Crates that bring no text of their licence:\n")
        print("\n".join(without))
    for key, names in of_text.items():
        print(f"\n{'-' * 80}\n{', '.join(names)}:\n\n{texts[key]}")


main()
