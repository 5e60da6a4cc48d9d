"""Kinds of memory that a tensor may lie in, and what becomes of a kernel that touches it: ``python -m
tests.backend.memory_kinds ENGINE`` prints a line for each kind and access. A process of its own tries each kind."""

from __future__ import annotations

import ctypes
import itertools
import json
import mmap
import os
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.backend.plugin.launch_regions import UnreadableMemory
from triton_lab.interpreter.kernel_errors import KernelError

N, PAGE = 4096, mmap.PAGESIZE
BYTES = 4 * N
SECONDS = 60
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long]
_libc.mmap.restype = ctypes.c_void_p
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


@triton.jit
def load(p, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(p + i, mask=i < n), mask=i < n)


@triton.jit
def store(p, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(p + i, 7.0, mask=i < n)


@triton.jit
def atomic(p, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(p + i, 7.0, mask=i < n)


@triton.jit
def load_far(table, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    p = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(out + i, tl.load(p + i, mask=i < n), mask=i < n)


@triton.jit
def store_far(table, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    p = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(p + i, 7.0, mask=i < n)


@triton.jit
def atomic_far(table, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    p = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.atomic_add(p + i, 7.0, mask=i < n)


ACCESSES = {one.__name__: one for one in (load, store, atomic)}
FROM_TABLE = {"load": load_far, "store": store_far, "atomic": atomic_far}


def _mapped(protection: int | None = None, pages: slice = slice(None)) -> torch.Tensor:
    mapping = mmap.mmap(-1, BYTES)
    tensor = torch.frombuffer(mapping, dtype=torch.float32)
    if protection is not None:
        low, high, _ = pages.indices(BYTES // PAGE)
        assert _libc.mprotect(tensor.data_ptr() + low * PAGE, (high - low) * PAGE, protection) == 0
    return tensor


def _unmapped(low: int) -> torch.Tensor:
    # Far from where the system maps anything else.
    kinds = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    start = _libc.mmap(0x1234_0000_0000, BYTES, *kinds, -1, 0)
    array = np.ctypeslib.as_array((ctypes.c_float * N).from_address(start))
    assert _libc.munmap(start + low, BYTES - low) == 0
    return torch.from_numpy(array)


def _file(size: int = BYTES) -> str:
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(bytes(size))
    return file.name


def _cut(tensor: torch.Tensor, name: str, size: int) -> torch.Tensor:
    os.truncate(name, size)
    return tensor


def _memmap(name: str, mode: str) -> torch.Tensor:
    return torch.from_numpy(np.memmap(name, np.float32, mode))


def _from_file(name: str, shared: bool = True) -> torch.Tensor:
    return torch.from_file(name, shared=shared, size=N)


def _fixed_array(size: int = N) -> np.ndarray:
    array = np.zeros(size, np.float32)
    array.flags.writeable = False
    return array


def _read_map() -> mmap.mmap:
    with open(_file(), "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _copy_map() -> mmap.mmap:
    with open(_file(), "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


def _buffer(buffer: object, offset: int = 0) -> torch.Tensor:
    return torch.frombuffer(buffer, dtype=torch.float32, offset=offset)


class _Bytes(bytes):
    pass


def _array_and_view(fixed_first: bool) -> torch.Tensor:
    array = np.zeros(N, np.float32)
    fixed = array.view()
    fixed.flags.writeable = False
    return torch.from_numpy(fixed if fixed_first else array)


def _moved() -> torch.Tensor:
    name = _file()
    tensor = _from_file(name)
    os.unlink(name)
    return tensor


# What a kernel may do with each kind: "rw", "r" (stores and atomics are refused), "" (nothing is possible).
KINDS: dict[str, tuple[str, Callable[[], torch.Tensor]]] = {
    "torch's own": ("rw", lambda: torch.zeros(N)),
    "shared by torch": ("rw", lambda: torch.zeros(N).share_memory_()),
    "a NumPy array": ("rw", lambda: torch.from_numpy(np.zeros(N, np.float32))),
    "a bytearray": ("rw", lambda: _buffer(bytearray(BYTES))),
    "a bytearray under an offset": ("rw", lambda: _buffer(bytearray(BYTES + 64), 64)),
    "an anonymous mapping": ("rw", _mapped),
    "a copying mapping": ("rw", lambda: _buffer(_copy_map())),
    "a mapped file": ("rw", lambda: _memmap(_file(), "r+")),
    "torch's file": ("rw", lambda: _from_file(_file())),
    "torch's private file": ("rw", lambda: _from_file(_file(), shared=False)),
    "a file without a name": ("rw", _moved),
    "an array with a fixed view": ("rw", lambda: _array_and_view(False)),
    "a page to read": ("r", lambda: _mapped(mmap.PROT_READ)),
    "one page to read": ("r", lambda: _mapped(mmap.PROT_READ, slice(1, 2))),
    "bytes": ("r", lambda: _buffer(bytes(BYTES))),
    "bytes under an offset": ("r", lambda: _buffer(bytes(BYTES + 2048), 2048)),
    "many bytes under an offset": ("r", lambda: _buffer(bytes((1 << 20) + BYTES), 1 << 20)),
    "a subclass of bytes": ("r", lambda: _buffer(_Bytes(BYTES + 64), 64)),
    "a memoryview of bytes": ("r", lambda: _buffer(memoryview(bytes(BYTES + 64))[64:])),
    "a memoryview to read": ("r", lambda: _buffer(memoryview(bytearray(BYTES)).toreadonly())),
    "an array of bytes": ("r", lambda: torch.from_numpy(np.frombuffer(bytes(BYTES + 64), np.float32, offset=64))),
    "a fixed array": ("r", lambda: torch.from_numpy(_fixed_array())),
    "a fixed array as a tensor": ("r", lambda: torch.as_tensor(_fixed_array())),
    "a fixed array through dlpack": ("r", lambda: torch.from_dlpack(_fixed_array())),
    "a fixed view of an array": ("r", lambda: _array_and_view(True)),
    "a part of a fixed array": ("r", lambda: torch.from_numpy(_fixed_array(2 * N))[N:]),
    "a file to read": ("r", lambda: _memmap(_file(), "r")),
    "a mapping to read": ("r", lambda: _buffer(_read_map())),
    "a page without rights": ("", lambda: _mapped(0)),
    "a last page without rights": ("", lambda: _mapped(0, slice(-1, None))),
    "a page to write alone": ("", lambda: _mapped(mmap.PROT_WRITE)),
    "an array that was unmapped": ("", lambda: _unmapped(0)),
    "an array that was unmapped in part": ("", lambda: _unmapped(PAGE)),
    "a file cut to nothing": ("", lambda: _cut(_memmap(name := _file(), "r+"), name, 0)),
    "a file cut in the middle": ("", lambda: _cut(_memmap(name := _file(), "r"), name, 2 * PAGE + 3)),
    "torch's file, cut": ("", lambda: _cut(_from_file(name := _file()), name, PAGE)),
    "torch's private file, cut": ("", lambda: _cut(_from_file(name := _file(), shared=False), name, PAGE)),
}  # fmt: skip
# Those that are also reached by an address that the kernel loads.
FAR = (
    *("torch's own", "a bytearray under an offset", "a mapped file", "a page to read", "bytes under an offset"),
    *("a fixed array", "a last page without rights", "an array that was unmapped", "a file cut in the middle"),
)


def tried(kind: str, access: str, far: bool) -> str:
    """What became of it: ``done``, ``fixed``, ``unreadable``, ``stray``, or what it ought never to be."""
    tensor = KINDS[kind][1]()
    before = tensor.clone() if KINDS[kind][0] else None
    try:
        out = launched(tensor, access, far)
    except UnreadableMemory as error:
        return "unreadable" if "argument 'p'" in str(error) else f"wrong: {error}"
    except KernelError as error:
        if before is not None and not torch.equal(before, tensor):
            return "wrong: it changed"
        if "may only be read" in str(error) or "read-only" in str(error):
            return "fixed"
        return "stray" if error.fault is not None else f"wrong: {error}"
    if access == "load":
        return "done" if torch.equal(out, tensor) else "wrong: it read something else"
    return "done" if bool((tensor == 7).all()) else "wrong: it stored nothing"


def launched(tensor: torch.Tensor, access: str, far: bool) -> torch.Tensor:
    """What a load has read."""
    out = torch.full((N,), -1.0)
    target = torch.tensor([tensor.data_ptr()]) if far else tensor
    (FROM_TABLE if far else ACCESSES)[access][(N // 1024,)](target, out, N, B=1024)
    return out


def outcomes(engine: str) -> Iterator[tuple[str, str, bool, str]]:
    """Each kind, access and way to get there, with what became of it; a process that died is told by its signal."""
    lab.limits(engine=engine)
    for far in (False, True):
        for access in ACCESSES:
            launched(torch.zeros(N), access, far)
        for kind in FAR if far else KINDS:
            yield from ((kind, access, far, told) for access, told in _apart(kind, far))


def _apart(kind: str, far: bool) -> Iterator[tuple[str, str]]:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        for access in ACCESSES:
            try:
                told = tried(kind, access, far)
            except BaseException as error:
                told = f"wrong: {type(error).__name__}: {error}"
            os.write(write, told.encode()[:1000].replace(b"\n", b" ") + b"\n")
        os._exit(0)
    os.close(write)
    timer = threading.Timer(SECONDS, os.kill, (child, signal.SIGKILL))
    timer.start()
    with open(read, encoding="utf-8") as stream:
        told = stream.read().splitlines()
    timer.cancel()
    _, status = os.waitpid(child, 0)
    yield from itertools.zip_longest(ACCESSES, told, fillvalue=f"died: signal {status & 127}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for one in outcomes(sys.argv[1]):
        print(json.dumps(one), flush=True)
