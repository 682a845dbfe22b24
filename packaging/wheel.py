"""Packs a folder as packaging/stage.sh lays it out into a wheel.

    python3 packaging/wheel.py STAGE VERSION PLATFORM FOLDER

The format is that of https://packaging.python.org/en/latest/specifications/binary-distribution-format/.
"""

import base64
import hashlib
import os
import sys
import time
import zipfile
from pathlib import Path

# PyPI has another project that is called dyno.
NAME = "dyno-bench"
FILE_NAME = NAME.replace("-", "_")

METADATA = """\
Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: Compares database engines, versions and settings
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
License-File: third-party.txt
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Database
Classifier: Topic :: System :: Benchmark
Description-Content-Type: text/plain

The program `dyno`. `dyno quickstart` compares two journals of SQLite; `dyno --help` lists the commands.
"""

WHEEL = """\
Wheel-Version: 1.0
Generator: packaging/wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def contents(stage, version, tag):
    """Files by their names in the wheel, in order."""
    data = f"{FILE_NAME}-{version}.data"
    info = f"{FILE_NAME}-{version}.dist-info"
    yield f"{data}/scripts/dyno", (stage / "bin/dyno").read_bytes()
    for path in sorted(path for path in (stage / "share").rglob("*") if path.is_file()):
        if path.parent.name == "dyno":
            continue
        yield f"{data}/data/{path.relative_to(stage)}", path.read_bytes()
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "third-party.txt"]:
        yield f"{info}/licenses/{name}", (stage / "share/doc/dyno" / name).read_bytes()
    yield f"{info}/METADATA", METADATA.format(name=NAME, version=version).encode()
    yield f"{info}/WHEEL", WHEEL.format(tag=tag).encode()


def main():
    stage, version, platform, folder = sys.argv[1:]
    tag = f"py3-none-{platform}"
    # The format of zip begins in 1980.
    when = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
    record_name = f"{FILE_NAME}-{version}.dist-info/RECORD"
    record = []
    with zipfile.ZipFile(Path(folder) / f"{FILE_NAME}-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(name, content):
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o100755 if "/scripts/" in name else 0o100644
            entry.external_attr = mode << 16
            wheel.writestr(entry, content)

        for name, content in contents(Path(stage), version, tag):
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}\n")
            add(name, content)
        add(record_name, "".join([*record, f"{record_name},,\n"]).encode())


main()
