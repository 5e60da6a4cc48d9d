"""A launch under both engines."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch

import triton_lab as lab
from triton_lab.native import engine
from triton_lab.native.lowering.guards import Guard, Guards
from triton_lab.native.runtime import code_cache

# Where memory starts and stops that functions touch beside what a call hands them.
BESIDE: list[tuple[int, int]] = []


def both(launch: Callable[[], Any], *, why: str | None = None) -> tuple[Any, Any, int]:
    """What ``launch`` gives on NumPy's engine and on the native one, and the programs that this handed over.

    ``why`` is what the native one must say to refuse it; None: it must not.
    """
    with lab.limits(engine="numpy"):
        expected = launch()
    with lab.limits(engine="native"):
        found = launch()
    last = engine.lately[-1]
    assert (last.why or None) == why, last
    return expected, found, last.handed


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether tensors are equal bit by bit, but that any NaN equals any other."""
    if not a.dtype.is_floating_point or a.element_size() == 1:
        return bool((a.view(torch.uint8) == b.view(torch.uint8)).all())
    kind = {2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
    return bool(((a.view(kind) == b.view(kind)) | (a.isnan() & b.isnan())).all())


class Forced:
    """Guards that fail when they are told to, though what they ask holds: kernels that are compiled within `forcing`.

    ``sites`` are the guards that stand before a program's first side effect.
    """

    _NEVER = 1 << 62

    def __init__(self) -> None:
        self.sites: list[Guard] = []
        self._left = (ctypes.c_int64 * 1000)()
        start = ctypes.addressof(self._left)
        self.range = start, start + ctypes.sizeof(self._left)
        self.fail(None)

    def fail(self, site: Guard | None, times: int = 0) -> None:
        """From now on ``site`` fails once, after it has been passed so many times; None: no guard does."""
        for at in range(len(self._left)):
            self._left[at] = self._NEVER
        if site is not None:
            self._left[self.sites.index(site)] = times

    def has_failed(self, site: Guard) -> bool:
        return self._left[self.sites.index(site)] < 0

    def asked(self, guards: Guards, ok: Any, site: Guard) -> Any:
        """``ok``, and that the guard need not fail."""
        if site not in self.sites:
            self.sites.append(site)
        code = guards.code
        address = ctypes.addressof(self._left) + 8 * self.sites.index(site)
        pointer = code.let(f"inttoptr i64 {address} to ptr", "ptr")
        left = code.load("i64", pointer)
        code.store(code.op("sub", left, code.constant("i64", 1)), pointer)
        return code.op("and", ok, code.compare("ne", left, code.constant("i64", 0)))


@contextmanager
def forcing() -> Iterator[Forced]:
    """Every launch compiles its kernel anew within, with guards that can be told to fail."""
    forced, require, kernels = Forced(), Guards.require, {}

    def required(self: Guards, ok: Any, op: Any, what: str, *where: Any) -> None:
        if ok.literal != 1 and not self.late:
            ok = forced.asked(self, ok, Guard(op.index, what))
        require(self, ok, op, what, *where)

    def kernel_of(executable: Any) -> Any:
        return kernels.setdefault(id(executable), (engine.NativeKernel(executable), executable))[0]

    with (
        patch.object(Guards, "require", required),
        patch.object(engine, "_kernel_of", kernel_of),
        patch.object(code_cache, "find", lambda name: None),
        patch.object(code_cache, "keep", lambda name, notes, code: False),
    ):
        BESIDE.append(forced.range)
        yield forced
        BESIDE.remove(forced.range)
