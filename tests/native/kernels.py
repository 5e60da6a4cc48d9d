"""Random Triton kernels and arguments for them, on which two engines have to agree bit by bit.

What a kernel computes has one right answer, whatever the order: sums and products of blocks are of small whole numbers,
and programs write nothing that others read. So the order is free, and the bits are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import strategies as st

from tests.native.writing import FLOATS, FP8, INTS, Var, Writer
from tests.native.writing_control import leaving, statements
from tests.native.writing_memory import load, store
from tests.native.writing_waits import waiting

_TORCH = {name: getattr(torch, name) for name in (*INTS, *FLOATS)} | {"int1": torch.bool}
_TORCH |= {"float8e5": torch.float8_e5m2, "float8e4nv": torch.float8_e4m3fn}


@dataclass(frozen=True)
class Case:
    """A kernel as source, and what it is launched with. ``outputs`` are dtypes and elements of one program each, below
    zero of all together; ``inputs`` dtypes, elements, and how many elements of the storage lie before the first."""

    source: str
    grid: tuple[int, int]
    rows: int
    cols: int
    inputs: tuple[tuple[str, int, int], ...]
    outputs: tuple[tuple[str, int], ...]
    scalars: tuple[int, int, int]
    real: float
    seed: int
    cut: int = 0
    # Where the first output's storage is an input's: which, and from which byte on.
    shared: tuple[int, int] | None = None


# What is computed first: scalars that were specialised as constants are tensors all the same.
_HEAD = """
    p = tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)
    n, s, b = n + tl.full((), 0, tl.int32), s + tl.full((), 0, tl.int32), b + tl.full((), 0, tl.int64)
    r = tl.arange(0, R)
    c = tl.arange(0, C)
"""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A kernel of some ten statements, with loads in every form, in loops and branches, and what it is given."""
    rows, cols = draw(st.sampled_from([(1 << i, 1 << j) for i in range(7) for j in range(8) if i + j <= 11]))
    inputs = tuple(
        (
            draw(st.sampled_from((*INTS, *FLOATS, *FLOATS, *FP8, "int1"))),
            draw(st.sampled_from((1, 7, 40, 100, 300, 512, 1000, 3000))) + draw(st.integers(0, 9)),
            draw(st.sampled_from((0, 0, 1, 2, 3, 16))),
        )
        for _ in range(draw(st.integers(1, 3)))
    )
    grid = (draw(st.integers(1, 5)), draw(st.integers(1, 3)))
    shared = None
    if draw(st.integers(0, 3)) == 0:  # one program: what several would read of it rests on their order
        grid = (1, 1)
        shared = (draw(st.integers(0, len(inputs) - 1)), draw(st.integers(0, 40)))
    writer = Writer(draw, rows, cols, inputs, alone=grid == (1, 1), waits=draw(st.sampled_from((False, False, True))))
    writer.shown += [Var(name, "int32", "") for name in "pns"] + [Var("b", "int64", ""), Var("f", "float32", "")]
    writer.shown += [Var("r", "int32", "r"), Var("c", "int32", "c")]
    given = len(writer.shown)
    load(writer)
    statements(writer, draw(st.integers(2, 10)))
    if writer.waits:
        waiting(writer)
        statements(writer, draw(st.integers(0, 3)))
    if writer.often(8):
        leaving(writer)
        statements(writer, draw(st.integers(1, 3)))
    for var in [*dict.fromkeys(reversed(writer.shown[given:]))][:4]:
        store(writer, var)
    names = [f"P{k}" for k in range(len(inputs))] + [f"O{k}" for k in range(len(writer.outputs))]
    head = f"@triton.jit\ndef kernel({', '.join(names)}, n, s, b, f, cut, R: tl.constexpr, C: tl.constexpr):{_HEAD}"
    return Case(
        source="".join(writer.functions.values()) + head + "\n".join(writer.lines) + "\n",
        grid=grid,
        rows=rows,
        cols=cols,
        inputs=inputs,
        outputs=tuple(writer.outputs),
        scalars=(
            draw(st.integers(1, 40)),
            draw(st.sampled_from((1, 3, -1, 2**22 + 3, 2**31 - 1))),
            draw(st.sampled_from((1, 2, -1, 2**31, 2**33 + 1, 2**62, 2**63 - 1, -(2**63)))),
        ),
        real=draw(st.sampled_from((0.5, -1.75, 1e30, -0.0))),
        seed=draw(st.integers(0, 2**32 - 1)),
        cut=draw(st.integers(0, rows * cols)),
        shared=shared,
    )


class Arguments:
    """The tensors of a case, whose memory is filled anew before each launch: addresses in messages stay the same."""

    def __init__(self, case: Case) -> None:
        self.case = case
        numbers = np.random.default_rng(case.seed)
        programs = case.grid[0] * case.grid[1]
        self._storages: list[torch.Tensor] = []
        self.tensors: list[torch.Tensor] = []
        for dtype, count, before in case.inputs:
            self._storages.append(_filled(numbers, dtype, count + before))
            self.tensors.append(self._storages[-1][before:])
        for number, (dtype, count) in enumerate(case.outputs):
            kind, count = _TORCH[dtype], count * programs if count > 0 else -count
            room = self._room(kind, count) if number == 0 else None
            if room is None:
                self._storages.append(torch.zeros(count, dtype=kind))
            self.tensors.append(self._storages[-1] if room is None else room)
        self._saved = [storage.clone() for storage in self._storages]

    def _room(self, kind: torch.dtype, count: int) -> torch.Tensor | None:
        """A tensor in the storage of the input that the case names, if it is long enough."""
        if self.case.shared is None:
            return None
        number, first = self.case.shared
        raw = self._storages[number].view(torch.uint8)[first // kind.itemsize * kind.itemsize :]
        fits = len(raw) >= count * kind.itemsize and kind != torch.bool  # bytes that are neither 0 nor 1
        return raw[: count * kind.itemsize].view(kind) if fits else None

    def anew(self) -> list[torch.Tensor]:
        """The tensors as they were at the start."""
        for storage, saved in zip(self._storages, self._saved, strict=True):
            storage.copy_(saved)
        return self.tensors

    def held(self) -> Iterator[np.ndarray]:
        """What all memory holds now, NaN in one form."""
        for storage in self._storages:
            raw = storage.view(torch.uint8).numpy().reshape(-1, storage.itemsize).copy()
            if storage.is_floating_point():
                raw[storage.double().isnan().numpy()] = 255
            yield raw.ravel()


def _filled(numbers: np.random.Generator, dtype: str, count: int) -> torch.Tensor:
    """Small numbers, and among them the ends of the type and any bits."""
    kind = _TORCH[dtype]
    if dtype == "int1":
        return torch.from_numpy(numbers.random(count) < 0.5)
    small = torch.from_numpy(numbers.integers(-20, 20, count) / (1 if dtype in INTS else 4))
    filled = small.abs().to(kind) if dtype[0] == "u" else small.to(kind)
    if dtype in INTS:
        limits = torch.iinfo(kind)
        special = torch.from_numpy(np.array([limits.min, limits.max, 0, 1], dtype)).view(kind)
    else:
        info = torch.finfo(kind)
        special = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.0, info.tiny / 4, info.max], dtype=torch.float64)
        special = special.to(kind)
    bits = torch.from_numpy(numbers.integers(0, 256, count * kind.itemsize, dtype=np.uint8)).view(kind)
    ends = special.view(torch.uint8).view(-1, kind.itemsize)[numbers.integers(0, len(special), count)].view(-1)
    chance = numbers.random(count)
    found = filled.view(torch.uint8).view(-1, kind.itemsize).clone()
    for low, high, other in ((0.0, 0.1, ends), (0.1, 0.15, bits.view(torch.uint8))):
        chosen = torch.from_numpy((low <= chance) & (chance < high))
        found[chosen] = other.view(-1, kind.itemsize)[chosen]
    return found.view(-1).view(kind)
