"""A generated function in memory: from the cache on disk, else compiled now and kept there."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import threading
from typing import Any

from triton_lab.ir import Plan
from triton_lab.native import cache, jit
from triton_lab.native.program import Generated, Guard, Signature, Slot, generate

_FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.c_char_p,  # arguments
    ctypes.c_int64,  # first
    ctypes.c_int64,  # end
    ctypes.c_char_p,  # grid
    ctypes.c_char_p,  # regions
    ctypes.c_void_p,  # scratch
    ctypes.c_void_p,  # fault
)
_ALIGNED = 64
_thread = threading.local()


class Built:
    """A kernel's function for launches of one signature; several threads may call it at once."""

    def __init__(self, made: Generated, code: bytes) -> None:
        """Raises CannotCompile where ``code`` does not run here."""
        self.made = made
        self._linked = jit.Linked(code, made.symbol)
        self._function = _FUNCTION(self._linked.address)

    def __call__(
        self, arguments: bytes, first: int, end: int, grid: bytes, regions: bytes
    ) -> tuple[int, tuple[int, int]]:
        """Run programs ``first`` to ``end - 1``: up to which it came, and why no further (see `program`)."""
        fault = (ctypes.c_int64 * 2)()
        scratch = _scratch(self.made.scratch)
        came = self._function(arguments, first, end, grid, regions, scratch, ctypes.addressof(fault))
        return came, (fault[0], fault[1])


def host_signature(groups: tuple[tuple[int, int], ...]) -> Signature:
    """What functions for this processor are specialised on."""
    target = jit.host()
    if target.arm:
        return Signature(groups, 16, 32)
    if target.has("avx512f"):
        return Signature(groups, 64, 32)
    return Signature(groups, 32 if target.has("avx2") else 16, 16)


def build(plan: Plan, signature: Signature) -> Built:
    """From the cache, else anew. Raises Unsupported and CannotCompile."""
    return kept(plan, signature) or compiled(plan, signature)


def kept(plan: Plan, signature: Signature) -> Built | None:
    """What the cache has; None where it has nothing that can be used."""
    found = cache.find(_key(plan, signature))
    if found is None:
        return None
    try:
        return Built(_read(found[0]), found[1])
    except (jit.CannotCompile, ValueError, KeyError, TypeError):
        return None


def compiled(plan: Plan, signature: Signature) -> Built:
    """Compiled now, and kept. Raises Unsupported and CannotCompile."""
    made = generate(plan, signature)
    code = jit.object_code(made.text, jit.host())
    built = Built(dataclasses.replace(made, text=""), code)
    cache.keep(_key(plan, signature), _written(made), code)
    return built


def _key(plan: Plan, signature: Signature) -> str:
    return cache.key((plan.text, signature, jit.host(), jit.version()))


def _written(made: Generated) -> bytes:
    fields = dataclasses.asdict(made)
    del fields["text"]
    return json.dumps(fields).encode()


def _read(notes: bytes) -> Generated:
    fields: dict[str, Any] = json.loads(notes)
    fields["regions"] = tuple(Slot(**one) for one in fields["regions"])
    fields["guards"] = tuple(Guard(**one) for one in fields["guards"])
    return Generated(text="", **fields)


def _scratch(size: int) -> int:
    """The address of so many bytes that are this thread's own."""
    held: Any = getattr(_thread, "held", None)
    if held is None or len(held) < size + _ALIGNED:
        held = _thread.held = ctypes.create_string_buffer(size + _ALIGNED)
    return (ctypes.addressof(held) + _ALIGNED - 1) // _ALIGNED * _ALIGNED
