"""No file of the repository (text, output, recording or image) names folders of the machine that made it."""

from __future__ import annotations

import base64
import binascii
import gzip
import io
import re
import subprocess
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# A whole path below a folder where people, temporary files and checkouts are. Ada is who examples are about.
PLACE = re.compile(rb"(?<![\w.~)}\]-])/(?:root|tmp|work|home(?!/ada\b)|Users|var/folders|mnt)/[\w.@-][^\s\"'<>\\]*")
SITE = re.compile(rb"(?<![\w.~)}\]-])/(?:[\w.-]+/)+(?:site|dist)-packages/")
BASE64 = re.compile(rb"[A-Za-z0-9+/]{64,}={0,2}")
PNG = b"\x89PNG\r\n\x1a\n"
DEEPEST = 4  # an archive in an output in a notebook


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("this is no checkout of git")
    files = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [file for file in files if file.is_file() and not file.is_symlink()]


def inside(data: bytes, depth: int = 0) -> Iterator[bytes]:
    """The bytes, and all that is packed in them."""
    yield data
    if depth == DEEPEST:
        return
    parts: list[bytes] = []
    if data.startswith(b"\x1f\x8b"):
        parts.append(gzip.decompress(data))
    elif data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts += [archive.read(name) for name in archive.namelist()]
    elif data.startswith(PNG):
        parts += texts_of_png(data)
    else:
        for found in BASE64.finditer(data.replace(b"\\n", b"")):
            try:
                decoded = base64.b64decode(found[0])
            except binascii.Error:
                continue
            if decoded.startswith((b"\x1f\x8b", b"PK\x03\x04", PNG)):
                parts.append(decoded)
    for part in parts:
        yield from inside(part, depth + 1)


def texts_of_png(data: bytes) -> Iterator[bytes]:
    at = len(PNG)
    while at < len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        chunk = data[at + 8 : at + 8 + length]
        at += 12 + length
        if kind == b"zTXt":
            yield zlib.decompress(chunk.partition(b"\0")[2][1:])
        elif kind in (b"tEXt", b"iTXt", b"eXIf"):
            yield chunk


def places(data: bytes) -> set[str]:
    """The folders of machines that it names."""
    return {
        found.decode(errors="replace")[:100]
        for part in inside(data)
        for p in (PLACE, SITE)
        for found in p.findall(part)
    }


def test_no_file_names_the_folders_of_a_machine() -> None:
    files = tracked()
    found = {str(file.relative_to(ROOT)): places(file.read_bytes()) for file in files}
    assert {name: told for name, told in found.items() if told} == {}
    assert sum(name.endswith(".launch") for name in found) > 5 and sum(name.endswith(".ipynb") for name in found) > 10


@pytest.mark.parametrize("folder", ["root", "tmp", "work", "home", "Users"])
def test_a_place_is_found_however_deep_it_is_packed(folder: str) -> None:
    place = f"/{folder}/someone/lab/k.py".encode()
    text = b'{"path": "' + place + b'"}'
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("head.json", text)
    png = PNG + len(text).to_bytes(4, "big") + b"tEXt" + text + b"0000"
    for packed in (text, gzip.compress(text), archive.getvalue(), png):
        notebook = b'"data": "' + base64.b64encode(packed) + b'"'
        assert places(packed) == {place.decode()}
        assert packed is text or places(notebook) == {place.decode()}


def test_other_paths_are_none() -> None:
    assert not places(b"https://example.org/work/k.py ../root/k.py ~/home/k.py /home/ada/k.py triton_lab/tmp/k.py")
