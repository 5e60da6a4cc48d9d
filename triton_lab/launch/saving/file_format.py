"""The format of a saved launch: numbered arrays and one JSON object, read within bounds for any file.

A file is a zip archive with ``head.json`` and arrays in NumPy's format, without pickles. ``head.json`` is one object:
``format`` is "triton-lab launch", ``version`` is `FORMAT`, the launch's fields have their names, and ``plan`` and
``twin`` are the kernel and its probed twin as MLIR's generic text. Fields that were added later may be missing:
``time``, the kernel's time on a GPU; ``tuning``, what an autotuner tried; ``compilations``, the results of GPU
compilers, with stages as arrays of bytes; ``options``, those of the launch; and the twin's ``lines``. The object refers
to an array by a number: ``arrays/<number>.npy``. Since version 2, ``arrays/<number>-<other>.npy`` has the bits in which
an array differs from an earlier one, ``<other>``.
The kernel is read as data; the interpreter runs it on the memory in the file and on no other memory.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _

Array = NDArray[Any]

FORMAT = 2
NAME = "triton-lab launch"  # the value of ``format``
HEAD = "head.json"
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")  # of the launch: how a compiler divides its work
MAX_BYTES = 1 << 30  # unpacked, unless the reader says otherwise
# Bounds of any file: members, bytes of the object (with its texts), and its depth.
_MEMBERS = 4096
_HEAD_BYTES = 64 << 20
_NAMES = 1 << 20  # bytes of an archive besides its packed members
_DEPTH = 32
_KINDS = "biuf"
_LARGE = 1 << 30  # a member of more bytes has its size written in 64 bits


class SavedLaunchError(ValueError):
    """A file is no launch saved by triton-lab, or it is larger than allowed; the message says why."""


def simple(value: Any) -> Any:
    """A value that JSON has as it is; any other as the first 200 letters of its text."""
    return value if value is None or type(value) in (bool, int, float, str) else str(value)[:200]


class Writer:
    """Collects arrays and writes them with the object that refers to them."""

    def __init__(self) -> None:
        self._arrays: list[Array] = []
        self._near: dict[int, int] = {}

    def array(self, array: Array, near: int | None = None) -> int:
        """Add an array and return its number. Arrays of dtypes that NumPy does not have are stored as bytes.

        ``near`` is the number of a similar array of the same shape and dtype: then only the differing bits are stored.
        """
        number = len(self._arrays)
        self._arrays.append(np.ascontiguousarray(array))
        if near is not None:
            self._near[number] = near
        return number

    def write(self, path: Path, head: Mapping[str, Any]) -> None:
        """Write the whole file at once, so that no half-written file remains."""
        path.write_bytes(self.packed(head))

    def packed(self, head: Mapping[str, Any], *, compressed: bool = True) -> bytes:
        """The bytes of the archive."""
        whole = io.BytesIO()
        method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
        with zipfile.ZipFile(whole, "w", method, compresslevel=6) as archive:
            archive.writestr(HEAD, json.dumps(head))
            for number, array in enumerate(self._arrays):
                near = self._near.get(number)
                kept = array if near is None else _differing(array, self._arrays[near])
                with archive.open(_name(number, near), "w", force_zip64=kept.nbytes > _LARGE) as member:
                    np.lib.format.write_array(member, kept, allow_pickle=False)
        return whole.getvalue()


def _name(number: int, near: int | None = None) -> str:
    return f"arrays/{number}.npy" if near is None else f"arrays/{number}-{near}.npy"


def _differing(one: Array, other: Array) -> Array:
    """The exclusive or of two arrays' bits; combined with ``other`` again, it gives ``one``."""
    return (one.view(np.uint8) ^ other.view(np.uint8)).view(one.dtype)


class Reader:
    """Reads an archive from a file or its bytes: ``head`` is the object, and `array` returns an array.

    ``members`` bounds the number of arrays and ``depth`` the nesting of the object. Raises SavedLaunchError for files
    that break a bound or the format.
    """

    def __init__(
        self, source: Path | bytes, max_bytes: int, *, members: int | None = None, depth: int | None = None
    ) -> None:
        self.max_bytes = max_bytes
        self._most, self._depth = members or _MEMBERS, depth or _DEPTH
        if isinstance(source, Path):
            with source.open("rb") as file:
                whole = file.read(max_bytes + _NAMES + 1)
        else:
            whole = source
        self._near: dict[str, int] = {}  # member name -> the number of the array from which its bits differ
        if len(whole) > max_bytes + _NAMES:
            raise SavedLaunchError(
                _("it is larger than {max_bytes} MB, which is the limit for its unpacked size").format(
                    max_bytes=f"{max_bytes / 2**20:.0f}"
                )
            )
        try:
            # In memory, since in a damaged file a seek to a wrong place would be an OSError.
            with zipfile.ZipFile(io.BytesIO(whole)) as archive:
                self._members = self._read(archive)
        except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            if isinstance(error, SavedLaunchError):
                raise
            raise SavedLaunchError(_("it is not a readable archive ({error})").format(error=error)) from None
        except Exception as error:  # zlib and others have exceptions of their own
            raise SavedLaunchError(_("it is not a readable archive ({error})").format(error=error)) from None
        self.head = self._object()

    def _read(self, archive: zipfile.ZipFile) -> dict[str, bytes]:
        infos = archive.infolist()
        if len(infos) > self._most:
            raise SavedLaunchError(
                _("it has {number} members, but at most {most} are allowed").format(number=len(infos), most=self._most)
            )
        claimed = sum(info.file_size for info in infos)
        if claimed > self.max_bytes:
            raise SavedLaunchError(
                _(
                    "it unpacks to {claimed} MB, but at most {max_bytes} MB are allowed: use lab.load(path, "
                    "max_bytes=...) if you trust it"
                ).format(claimed=f"{claimed / 2**20:.0f}", max_bytes=f"{self.max_bytes / 2**20:.0f}")
            )
        found: dict[str, bytes] = {}
        known = {HEAD, *map(_name, range(len(infos)))}
        for info in infos:
            name, near = _apart(info.filename)
            if name not in known or name in found:
                raise SavedLaunchError(_("it has members that do not belong to a saved launch"))
            if near is not None:
                self._near[name] = near
            with archive.open(info) as member:
                data = member.read(info.file_size + 1)
            if len(data) != info.file_size:
                raise SavedLaunchError(_("its members do not have the sizes in its table"))
            found[name] = data
        return found

    def _object(self) -> dict[str, Any]:
        data = self._members.get(HEAD)
        if data is None:
            raise SavedLaunchError(_("it has no {HEAD}").format(HEAD=HEAD))
        if len(data) > _HEAD_BYTES:
            raise SavedLaunchError(
                _("its {HEAD} has more than {HEAD_BYTES} MB").format(HEAD=HEAD, HEAD_BYTES=_HEAD_BYTES >> 20)
            )
        try:
            head = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise SavedLaunchError(
                _("its {HEAD} is not JSON ({name})").format(HEAD=HEAD, name=type(error).__name__)
            ) from None
        if not isinstance(head, dict) or not _shallow(head, self._depth):
            raise SavedLaunchError(_("its {HEAD} does not describe a launch").format(HEAD=HEAD))
        return head

    def array(self, number: Any) -> Array:
        """The array with this number, read-only."""
        data = self._members.get(_name(number)) if type(number) is int else None
        if data is None:
            raise SavedLaunchError(_("it has no array {number}").format(number=f"{number!r:.40}"))
        stream = io.BytesIO(data)
        try:
            version = np.lib.format.read_magic(stream)
            read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
            shape, by_column, dtype = read(stream)
        except Exception as error:
            raise SavedLaunchError(
                _("its array {number} is not an array ({name})").format(number=number, name=type(error).__name__)
            ) from None
        rest = memoryview(data)[stream.tell() :]
        if dtype.kind not in _KINDS or by_column or dtype.itemsize * math.prod(shape) != len(rest):
            raise SavedLaunchError(_("its array {number} does not match its header").format(number=number))
        array = np.frombuffer(rest, dtype).reshape(shape)
        near = self._near.get(_name(number))
        return array if near is None else self._from_near(array, near, number)

    def _from_near(self, differing: Array, near: int, number: int) -> Array:
        # The other array must come earlier and be stored whole, so that there is no chain and no cycle.
        other = self.array(near) if near < number and _name(near) not in self._near else None
        if other is None or (other.shape, other.dtype) != (differing.shape, differing.dtype) or not other.shape:
            raise SavedLaunchError(
                _("its array {number} is stored as a difference to an array of another shape or type").format(
                    number=number
                )
            )
        found = _differing(differing, other)
        found.flags.writeable = False
        return found


def _apart(name: str) -> tuple[str, int | None]:
    """A member's name without the number of its other array, and that number (None if it is stored whole)."""
    told = re.fullmatch(r"(arrays/\d{1,6})-(\d{1,6})\.npy", name)
    return (name, None) if told is None else (f"{told[1]}.npy", int(told[2]))


def _shallow(value: Any, depth: int) -> bool:
    if isinstance(value, dict):
        return depth > 0 and all(_shallow(one, depth - 1) for one in value.values())
    if isinstance(value, list):
        return depth > 0 and all(_shallow(one, depth - 1) for one in value)
    return True
