"""How long one warp of a program takes by itself: its PTX in order, each instruction when its operands are there.

A loop is followed for a few rounds, and the last is repeated as often as the launch ran it. So loads that are issued
together wait together, and an asynchronous copy is waited for as many rounds later as the pipeline is deep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from triton_lab.compiled.transactions.ptx_parser import Instruction, Ptx

_ROUNDS = 5  # of a loop that are followed, above the depth of usual pipelines
_REGISTER = re.compile(r"%\w+")
_FREE = ("mov", "cvta", "createpolicy")  # ptxas makes names of them
_SPECIAL = ("ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh")
_USUAL, _SHARED, _SHUFFLE, _MUFU, _PRODUCT, _BARRIER = 4, 29, 24, 22, 33, 25
# Instructions of the machine code for one of PTX, where they are several.
_LONG = {"div": 10, "rem": 18, "sqrt": 4}

Times = Callable[[Instruction], float]


def issued(one: Instruction) -> float:
    """About how many slots of a scheduler an instruction of PTX takes in a warp."""
    first = one.parts[0]
    if first in _FREE and "%tid" not in "".join(one.operands):
        return 0.0
    if first in _LONG:
        return _LONG[first] * (4.0 if one.parts[-1] in ("s64", "u64") else 1.0)
    if first in _SPECIAL or first == "shfl":
        return 2.0
    wide = one.parts[-1] in ("s64", "u64", "b64") and first in ("add", "sub", "shl", "mul", "mad")
    return 2.0 if wide else 1.0


def critical_cycles(ptx: Ptx, times: Times, far: float) -> float:
    """The cycles of one warp: ``times`` says how often a program runs an instruction, ``far`` how long loads take."""
    clock = _Clock(far)
    done = 0.0
    for rounds, body in _bodies(ptx, times):
        before = clock.now
        follow = min(_ROUNDS, max(1, round(rounds)))
        last = 0.0
        for _unused in range(follow):
            begun = clock.now
            for one in body:
                clock.issue(one)
            last = clock.now - begun
        done += (clock.now - before) * min(1.0, rounds) + max(0.0, rounds - follow) * last
    return done + clock.left()


def _bodies(ptx: Ptx, times: Times) -> Iterator[tuple[float, Sequence[Instruction]]]:
    """Straight runs and bodies of innermost loops, in order, with how often a program runs each."""
    for (_function, _depth), run in groupby(ptx.instructions, lambda one: (one.function, ptx.depths[one.block])):
        body = list(run)
        counts = sorted(times(one) for one in body)
        yield counts[len(counts) // 2], body


class _Clock:
    """The cycle at which the next instruction may be issued, and those at which registers are ready."""

    def __init__(self, far: float) -> None:
        self.far, self.now = far, 0.0
        self.ready: dict[str, float] = {}
        self.groups: list[float] = []  # when the asynchronous copies, or products, of a group have landed
        self.copies = self.products = self.landed = 0.0

    def left(self) -> float:
        """The cycles until all that was issued has landed."""
        return max([0.0, *(at - self.now for at in (self.landed, self.copies, self.products, *self.groups))])

    def issue(self, one: Instruction) -> None:
        """Issue one instruction, after what it waits for."""
        first, name = one.parts[0], one.opcode
        writes = 0 if first in ("st", "red", "bar", "bra", "cp", "ret") or not one.operands else 1
        reads = _REGISTER.findall(" ".join(one.operands[writes:])) + ([one.guard[0]] if one.guard else [])
        inner = _REGISTER.findall(one.operands[0]) if writes else []
        self.now = max([self.now, *(self.ready.get(each, 0.0) for each in reads)]) + issued(one)
        if name.startswith("cp.async.wait"):
            self._wait(one, name)
        elif name.startswith("cp.async.commit"):
            self.groups.append(self.copies)
            self.copies = 0.0
        elif name.startswith("cp.async"):
            self.copies = self.now + self.far
        elif name.startswith("wgmma.mma_async"):
            self.products = max(self.products, self.now) + _wgmma_cycles(name)
        elif name.startswith("wgmma.wait_group"):
            self.now = max(self.now, self.products + _PRODUCT)
        elif first == "bar" or name.startswith("barrier"):
            self.now += _BARRIER
        else:
            at = self.now + self._latency(one, first, name)
            if first != "st":
                for each in inner:
                    self.ready[each] = at
                if name.startswith(("ld.global", "atom")):
                    self.landed = max(self.landed, at)

    def _wait(self, one: Instruction, name: str) -> None:
        open_groups = int(one.operands[0], 0) if "group" in name and one.operands else 0
        landed = self.groups[: len(self.groups) - open_groups] if open_groups else self.groups
        self.now = max([self.now, *landed])
        self.groups = self.groups[len(self.groups) - open_groups :] if open_groups else []

    def _latency(self, one: Instruction, first: str, name: str) -> float:
        if name.startswith(("ld.global", "atom")):
            return self.far
        if first in ("ld", "ldmatrix") and ("shared" in name or first == "ldmatrix"):
            return _SHARED
        if first == "mma":
            return _PRODUCT
        if first == "shfl":
            return _SHUFFLE
        if first in _SPECIAL or first in _LONG:
            return _MUFU * (2 if first in _LONG else 1)
        return 0 if issued(one) == 0.0 else _USUAL


def _wgmma_cycles(name: str) -> float:
    """The cycles of a product of a group of four warps at the tensor cores' full rate, at least those of 64 columns."""
    shape = re.search(r"m64n(\d+)k(\d+)", name)
    return max(64, int(shape[1])) / 2 if shape else 64.0
