"""The native engine's code for arm64, run here: ``python -m tests.native.emulated cortex-a72 fuzz --examples 1000``.

Kernels are compiled for a processor that QEMU emulates, and run there on copies of the memory that they may touch, at
its own addresses; all else happens in this process. After the processor comes ``fuzz`` and what `tests.native.fuzz`
takes, or ``pytest`` and its arguments. Asks for ``qemu-aarch64`` and ``aarch64-linux-gnu-gcc``, which Debian has as
``qemu-user``, ``gcc-aarch64-linux-gnu`` and ``libc6-dev-arm64-cross``.

Not covered: threads, since calls come one after the other; interrupts; and loading code, which the C library does here.
Tests that call machine code by its address themselves, or look at processes, fail under ``pytest``.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.native.harness import BESIDE
from triton_lab.native.function_contract import Generated, RegionSlot
from triton_lab.native.llvm import jit
from triton_lab.native.runtime import compiled_function
from triton_lab.native.threads import thread_team

_TRIPLE = "aarch64-unknown-linux-gnu"
EMULATOR, COMPILER, _LIBRARIES = "qemu-aarch64", "aarch64-linux-gnu-gcc", "/usr/aarch64-linux-gnu"
_PAGE = 4096
# What QEMU calls a processor -> what LLVM finds on one: without arithmetic of fp16, with it, and with SVE of 256 bits.
PROCESSORS = {
    "cortex-a72": ("cortex-a72", jit.Target(_TRIPLE, "cortex-a72", "+aes,+crc,+fp-armv8,+neon,+sha2,-sve")),
    "neoverse-n1": ("neoverse-n1", jit.Target(_TRIPLE, "neoverse-n1", "+aes,+crc,+fp-armv8,+lse,+neon,+sha2,-sve")),
    "neoverse-v1": (
        "max,sve-max-vq=2",
        jit.Target(_TRIPLE, "neoverse-v1", "+aes,+crc,+fp-armv8,+lse,+neon,+rand,+sha2,+sha3,+sm4,+sve"),
    ),
}


class Emulated:
    """A process in QEMU that runs generated functions; calls wait for each other."""

    def __init__(self, processor: str, folder: Path) -> None:
        self._command = [EMULATOR, "-cpu", processor, "-L", _LIBRARIES, str(folder / "runner")]
        self._folder, self._numbers, self._lock = folder, itertools.count(), threading.Lock()
        self._handles: dict[str, int] = {}
        source = Path(__file__).with_suffix(".c")
        subprocess.run([COMPILER, "-O2", "-o", folder / "runner", source], check=True)
        self.calls = 0
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._handles.clear()

    def stop(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _ask(self, *parts: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"".join(parts))
        self._process.stdin.flush()

    def _hear(self, count: int) -> bytes:
        assert self._process.stdout is not None
        heard = self._process.stdout.read(count)
        if len(heard) < count:
            status = self._process.wait()
            self.stop()
            self._start()
            raise AssertionError(f"the emulated process ended with {status}")
        return heard

    def linked(self, code: bytes) -> str:
        """Object code as a library that `call` finds."""
        name = str(self._folder / f"kernel{next(self._numbers)}")
        Path(f"{name}.o").write_bytes(code)
        subprocess.run([COMPILER, "-shared", "-nostartfiles", "-o", f"{name}.so", f"{name}.o"], check=True)
        return f"{name}.so"

    def _handle(self, library: str) -> int:
        if library not in self._handles:
            path = library.encode()
            self._ask(b"L", struct.pack("<q", len(path)), path)
            (self._handles[library],) = struct.unpack("<q", self._hear(8))
            assert self._handles[library], library
        return self._handles[library]

    def call(
        self,
        kernel: tuple[str, Sequence[RegionSlot]],
        arguments: bytes,
        first: int,
        end: int,
        grid: bytes,
        regions: bytes,
        _: int,
        fault: int,
    ) -> int:
        """The generated function, as `program` describes it; scratch and ``fault``'s fourth number are QEMU's own."""
        library, slots = kernel
        numbers = (ctypes.c_int64 * 5).from_address(fault)
        ranges = _ranges(regions, slots)
        with self._lock:
            for _ in range(5):
                given = (arguments, grid, regions)
                head = (self._handle(library), first, end, numbers[2], *map(len, given))
                self._ask(b"C", struct.pack("<7q", *head), *given, _counted(_pages(ranges)))
                self._ask(struct.pack("<q", len(ranges)))
                for start, stop in ranges:
                    self._ask(struct.pack("<2q", start, stop), ctypes.string_at(start, stop - start))
                (came,) = struct.unpack("<q", self._hear(8))
                if came >= 0:
                    break
                self.stop()  # Something else lies there: elsewhere in the next process.
                self._start()
            else:
                raise AssertionError("no process has room at these addresses")
            self.calls += 1
            numbers[0], numbers[1], _, _, numbers[4] = struct.unpack("<5q", self._hear(40))
            for start, stop in ranges:
                held = self._hear(stop - start)
                if held != ctypes.string_at(start, stop - start):
                    ctypes.memmove(start, held, stop - start)
        return came


def _ranges(regions: bytes, slots: Sequence[RegionSlot]) -> list[tuple[int, int]]:
    """The memory that a function may touch: entries without those that say where others are, each byte once."""
    numbers = struct.unpack(f"<{len(regions) // 8}q", regions)
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    found = [*BESIDE, *(pair for pair in pairs[len(slots) :] if _is_range(pair))]
    own = {slot.op: pair for slot, pair in zip(slots, pairs, strict=False) if not slot.keeps}
    for slot, pair in zip(slots, pairs, strict=False):
        if _is_range(own[slot.op]):
            start, stop = own[slot.op]
            found += [(start + behind, stop + behind) for behind in (pair if slot.keeps else (0,))]
    return _joined(found)


def _is_range(pair: tuple[int, int]) -> bool:
    """Whether it is memory, and does not say where in the table there is more of it."""
    return _PAGE <= pair[0] < pair[1]


def _pages(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return _joined((start // _PAGE * _PAGE, -(-stop // _PAGE) * _PAGE) for start, stop in ranges)


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if found and start <= found[-1][1]:
            start, stop = found[-1][0], max(stop, found.pop()[1])
        found.append((start, stop))
    return found


def _counted(ranges: Sequence[tuple[int, int]]) -> bytes:
    return struct.pack(f"<{1 + 2 * len(ranges)}q", len(ranges), *itertools.chain(*ranges))


@contextlib.contextmanager
def emulating(name: str) -> Iterator[Emulated]:
    """What the native engine compiles within is for this processor, and runs in QEMU."""
    processor, target = PROCESSORS[name]
    with tempfile.TemporaryDirectory() as folder:
        emulated = Emulated(processor, Path(folder))

        class Linked:
            def __init__(self, code: bytes, symbol: str) -> None:
                assert symbol == "run" and jit.made_for(code, target)
                self.address = emulated.linked(code)

        class Built(compiled_function.Built):
            def __init__(self, made: Generated, code: bytes) -> None:
                super().__init__(made, code)
                self._function = functools.partial(emulated.call, (self._function, made.regions))

        try:
            with (
                patch.object(jit, "host", lambda: target),
                patch.object(jit, "Linked", Linked),
                # Threads of this process cannot run it.
                patch.object(thread_team, "make_ready", lambda: None),
                patch.object(thread_team, "_ways", None),
                patch.object(compiled_function, "_FUNCTION", str),
                patch.object(compiled_function, "Built", Built),
            ):
                yield emulated
        finally:
            emulated.stop()


def main() -> None:
    if len(sys.argv) < 3 or sys.argv[1] not in PROCESSORS or sys.argv[2] not in ("fuzz", "pytest"):
        sys.exit(f"{__doc__}\nProcessors: {', '.join(PROCESSORS)}")
    _, name, what, *arguments = sys.argv
    status: Any = 0
    with emulating(name) as emulated:
        try:
            if what == "pytest":
                os.environ["TRITON_LAB_ENGINE"] = "native"
                status = int(pytest.main(arguments))
            else:
                from tests.native import fuzz  # pytest wants to be the first that imports hypothesis

                sys.argv = ["tests.native.fuzz", *arguments]
                fuzz.main()
        finally:
            print(f"{emulated.calls} calls on {name}")
    sys.exit(status)


if __name__ == "__main__":
    main()
