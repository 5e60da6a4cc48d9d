"""`ThreadOrder`: which warps do the accesses of a launch on sm_90, and whether a barrier lies between two of them.

Both follow from the compiled kernel: TTGIR has the layout of each access, and PTX has all barriers, those of the source
and those that Triton's compiler puts where threads exchange values or around atomics.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from triton_lab.backend.compiler import options_of
from triton_lab.compiled import compiler_client, disk_cache
from triton_lab.compiled.architecture import architecture
from triton_lab.compiled.compiler_client import MAX_BYTES, SECONDS
from triton_lab.compiled.front_end import Request, without_marker
from triton_lab.compiled.layouts.linear_layout import Ints, Linear
from triton_lab.compiled.transactions.access_matching import chain_of, family
from triton_lab.compiled.transactions.ptx_parser import Chain, Instruction, Ptx
from triton_lab.compiled.transactions.ttgir_accesses import GpuAccess, gpu_accesses
from triton_lab.ir import Op, Plan
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _

# Barriers of all threads of a program, and waits that threads of other warps end.
_BARRIERS = ("bar.", "barrier.", "mbarrier.try_wait", "mbarrier.test_wait")
_INSTRUCTIONS = {"load": ("ld",), "store": ("st",), "atomic": ("atom", "red", "ld", "st")}


def thread_order(launch: Recorded) -> ThreadOrder:
    """The order of a launch's kernel. Raises CannotReplay where it does not compile, or its options are not known."""
    metadata = launch.compiled[1]
    if metadata is None:
        raise CannotReplay(_("the options with which the kernel was compiled are not known"))
    plan = launch.executable.plan
    request = Request(
        launch.kernel,
        architecture("sm_90"),
        without_marker(plan.text),
        json.dumps(options_of(metadata), sort_keys=True),
    )
    outcome = disk_cache.find(request)
    if outcome is None:
        outcome = compiler_client.ask(request, SECONDS, MAX_BYTES, threading.Event())
        if not outcome.failure:
            disk_cache.keep(request, outcome)
    ttgir, ptx = outcome.stages.get("ttgir"), outcome.stages.get("ptx")
    if not isinstance(ttgir, str) or not isinstance(ptx, str):
        reason = (outcome.failure.strip().splitlines() or [""])[-1]
        raise CannotReplay(_("the kernel does not compile for sm_90: {reason}").format(reason=reason))
    return ThreadOrder(plan, ttgir, ptx)


class ThreadOrder:
    """The accesses of a kernel in its compiled form, by the indices of the plan's operations."""

    def __init__(self, plan: Plan, ttgir: str, ptx: str) -> None:
        self._ttgir, self._ptx = ttgir, Ptx(ptx)
        self._places: dict[int, Chain] = {op.index: chain_of(op) for op in plan.walk()}

    def warps(self, op: Op) -> Ints | None:
        """(lanes,) the warp that accesses each lane of a block, row-major; None if that is not known.

        Of the copies of an element the first counts: it is the one that is stored.
        """
        every = {one.linear for one in self._operations(op)}
        linear = every.pop() if len(every) == 1 else None
        if linear is None or any(any(basis) for basis in linear.bases("block")):
            return None
        return _first_warps(linear)

    def unordered(self, first: Op, second: Op) -> bool:
        """Whether a thread can go from the first access to the second without a barrier.

        False if that is not known, and where one of two ways has a barrier.
        """
        starts, ends = self._instructions(first), {one.index for one in self._instructions(second)}
        return bool(ends) and any(self._reaches(one, ends) for one in starts)

    @cached_property
    def _accesses(self) -> dict[Chain, list[GpuAccess]]:
        found: dict[Chain, list[GpuAccess]] = {}
        for one in gpu_accesses(self._ttgir):
            found.setdefault(one.chain, []).append(one)
        return found

    def _operations(self, op: Op) -> Sequence[GpuAccess]:
        return self._accesses.get(self._places[op.index], [])

    def _instructions(self, op: Op) -> list[Instruction]:
        """The instructions of an access; none if those of another access cannot be told from them."""
        place, operations = self._places[op.index], self._operations(op)
        families = {name for one in operations for name in _INSTRUCTIONS.get(one.way, ())}
        chains = {one.chain for one in self._ptx.instructions}
        if place not in chains:  # the PTX of Triton 3.6 has the innermost place alone
            place = place[:1]
            if sum(other[:1] == place for other in self._places.values()) > 1:
                return []
        return [one for one in self._ptx.instructions if one.chain == place and family(one) in families]

    @cached_property
    def _blocks(self) -> dict[int, list[Instruction]]:
        found: dict[int, list[Instruction]] = {}
        for one in self._ptx.instructions:
            found.setdefault(one.block, []).append(one)
        return found

    @cached_property
    def _guarded(self) -> frozenset[int]:
        """The blocks with a barrier."""
        return frozenset(block for block, every in self._blocks.items() if any(map(_is_barrier, every)))

    def _reaches(self, start: Instruction, ends: set[int]) -> bool:
        """Whether one of the instructions ``ends`` can follow ``start`` without a barrier in between."""
        waiting = [[one for one in self._blocks[start.block] if one.index > start.index]]
        blocks, seen = [start.block], set[int]()
        while waiting:
            block, stopped = blocks.pop(), False
            for one in waiting.pop():
                if one.index in ends:
                    return True
                if _is_barrier(one):
                    stopped = True
                    break
            for after in () if stopped else self._ptx.successors.get(block, ()):
                # A way around a barrier may not be taken: a loop that is left out, a branch.
                if after not in seen and not self._guarded.intersection(range(block + 1, after)):
                    seen.add(after)
                    blocks.append(after)
                    waiting.append(self._blocks.get(after, []))
        return False


def _is_barrier(one: Instruction) -> bool:
    return one.opcode.startswith(_BARRIERS)


def _first_warps(linear: Linear) -> Ints:
    """(elements,) the lowest warp that holds each element."""
    table = linear.table()
    below = linear.size("register") * linear.size("lane")
    found = np.full(int(np.prod(linear.shape)), np.iinfo(np.int64).max)
    np.minimum.at(found, table, np.arange(len(table)) // below % linear.size("warp"))
    return found
