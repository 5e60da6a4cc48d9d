"""Which launches several threads may share: held against all that their programs touch."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.interpreter.support import kernel_from
from triton_lab.examples import Example, all_examples
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.machine import Machine
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir.effects import Role, is_access, writes
from triton_lab.native import engine
from triton_lab.native.analysis.launch_footprint import Footprints
from triton_lab.native.runtime.native_launch import groups_of, regions_of


class Remembering:
    """Whether the programs of a launch keep apart, by one `Footprints` for all launches of the kernel."""

    def __init__(self) -> None:
        self._kept: Footprints | None = None

    def __call__(self, machine: Machine) -> bool:
        regions = regions_of(machine, machine.executable.roots)
        assert not isinstance(regions, str)
        if self._kept is None:
            self._kept = Footprints(machine.executable.plan, groups_of(regions))
        return self._kept.are_apart(machine, regions)


class Touches:
    """An observer that keeps the bytes that each program reads and writes."""

    def __init__(self) -> None:
        self.read: dict[int, set[int]] = defaultdict(set)
        self.written: dict[int, set[int]] = defaultdict(set)

    def access(self, frame: Any, op: Any, kind: str, pointer: Any, mask: Any, values: Any) -> None:
        addresses = pointer.elements(np.dtype(np.int64)) if isinstance(pointer, AffineBlock) else pointer
        on = (
            mask.elements()
            if isinstance(mask, MaskBox)
            else np.ones((1,) * addresses.ndim, bool)
            if mask is None
            else mask
        )
        whole, on = np.broadcast_arrays(addresses, on)
        type = frame.type(op.operands[0])
        size = {"f32": 4, "i32": 4, "f16": 2, "i64": 8, "bf16": 2, "i8": 1, "i16": 2}[type.pointee.element]
        for row, program in enumerate(frame.programs):
            row = row if whole.shape[0] > 1 else 0
            for address in whole[row][on[row]].reshape(-1).tolist():
                (self.written if writes(op) else self.read)[int(program)].update(range(address, address + size))

    def are_apart(self) -> bool:
        for one, other in itertools.permutations({*self.written, *self.read}, 2):
            if self.written[one] & (self.written[other] | self.read[other]):
                return False
        return True


@pytest.fixture
def told() -> Iterator[list[tuple[bool, bool]]]:
    """Of each launch, whether its programs are said to keep apart, and whether they do."""
    with before_launches(told_and_true) as found:
        yield found


@contextmanager
def before_launches(ask: Callable[[Machine], Any]) -> Iterator[list[Any]]:
    """What ``ask`` says of each launch before it runs, on NumPy."""
    found: list[Any] = []
    chosen = engine.chosen

    def asking(machine: Machine, *how: Any) -> Callable[[], None]:
        found.append(ask(machine))
        return chosen(machine, *how)

    with pytest.MonkeyPatch.context() as patch, lab.limits(engine="numpy"):
        patch.setattr(engine, "chosen", asking)
        yield found


def told_and_true(machine: Machine) -> tuple[bool, bool]:
    """Whether programs are said to keep apart if a launch comes twice, and whether they do: it is run to see that."""
    regions = regions_of(machine, machine.executable.roots)
    assert not isinstance(regions, str)
    footprints = Footprints(machine.executable.plan, groups_of(regions))
    told = footprints.are_apart(machine, regions) or footprints.are_apart(machine, regions)
    touches = Touches()
    watched = Machine(machine.executable, machine.arguments, machine.grid, machine.memory, access_observer=touches)  # type: ignore[arg-type]
    watched.run()
    return told, touches.are_apart()


SOURCE = """
@triton.jit
def kernel(x, out, m, n, pitch, H: tl.constexpr, W: tl.constexpr):
    p = tl.program_id(0)
    across = tl.cdiv(n, W)
    {place}
    i = top + tl.arange(0, H)[:, None]
    j = left + tl.arange(0, W)[None, :]
    {body}
"""
PLACES = [
    "top = p // across * H; left = p % across * W",
    "top = p % across * H; left = p // across * W",
    "q = p ^ 1; top = q // across * H; left = q % across * W",
    "top = p * H; left = 0",
    "top = p // 2 * H; left = 0",
    "top = (p // across) * (H - 1); left = p % across * W",
    "g = p // (2 * across); r = tl.minimum(m // H - 2 * g, 2); r = tl.maximum(r, 1); "
    "top = (2 * g + p % r) * H; left = p % (2 * across) // r * W",
]
MASKS = ["(i < m) & (j < n)", "(i < m)", "(i + j < n)", "(i < m) & (j < n) & (tl.load(x + i) > 0)"]
BODIES = [
    "tl.store(out + i * pitch + j, p, mask={mask})",
    "v = tl.load(out + i * pitch + j, mask={mask}); tl.store(out + i * pitch + j, v + 1, mask={mask})",
    "v = tl.load(out + j * pitch + i, mask={mask}); tl.store(out + i * pitch + j, v, mask={mask})",
    "for k in range(0, 3):\n        tl.store(out + i * pitch + j + k * W, p, mask={mask})",
    "for k in range(left, n, W):\n        c = k + j - left\n        tl.store(out + i * pitch + c, p, mask=c < n)",
    "if p % 2 == 0:\n        tl.store(out + i * pitch + j, p, mask={mask})",
    "if tl.load(x + p) > 0:\n        tl.store(out + i * pitch + j, p, mask={mask})",
    "tl.store(out + tl.load(x + i) + j, p, mask={mask})",
    "tl.atomic_add(out + i * pitch + j, 1, mask={mask})",
]


@st.composite
def _launches(draw: st.DrawFn) -> tuple[str, tuple[int, int, int], int]:
    body = draw(st.sampled_from(BODIES)).replace("{mask}", draw(st.sampled_from(MASKS)))
    source = SOURCE.replace("{place}", draw(st.sampled_from(PLACES))).replace("{body}", body)
    n = draw(st.integers(3, 14))
    return source, (draw(st.integers(3, 14)), n, n + draw(st.integers(-2, 3))), draw(st.integers(1, 9))


@settings(max_examples=40, deadline=None)
@given(_launches())
def test_no_launch_is_said_to_keep_apart_that_does_not(launch: tuple[str, tuple[int, int, int], int]) -> None:
    source, sizes, programs = launch
    kernel = kernel_from(source)
    x, out = torch.arange(100, dtype=torch.int32), torch.zeros(4000, dtype=torch.int32)
    with before_launches(told_and_true) as found:
        kernel[(programs,)](x, out, *sizes, H=4, W=4)
    (told, true), *_ = found
    assert true or not told


@pytest.mark.parametrize(
    ("place", "body", "mask", "expected"),
    [
        (0, 0, 0, True),
        (1, 0, 0, True),
        (2, 0, 0, True),
        (4, 0, 0, False),  # two programs a tile
        (5, 0, 0, False),  # tiles overlap by a row
        (6, 0, 0, True),  # in groups, as products of matrices go
        (0, 0, 1, False),  # beyond the row, into the next one
        (0, 1, 0, True),  # in place
        (0, 2, 0, False),  # transposed in place: it reads what others write
        (3, 4, 0, True),  # a loop over tiles of a row
        (0, 5, 0, True),
        (0, 6, 0, False),  # what memory holds decides
        (0, 7, 0, False),
        (0, 8, 0, False),  # atomics
        (0, 0, 3, False),  # a mask that comes from memory counts for none, and the tile reaches beyond its row
    ],
)
def test_what_kernels_do_is_seen(place, body, mask, expected, told: list[tuple[bool, bool]]) -> None:
    source = SOURCE.replace("{place}", PLACES[place]).replace("{body}", BODIES[body].replace("{mask}", MASKS[mask]))
    x, out = torch.arange(100, dtype=torch.int32), torch.zeros(4000, dtype=torch.int32)
    kernel_from(source)[(9,)](x, out, 11, 11, 11, H=4, W=4)
    ((said, true),) = told
    assert said == expected and (true or not said)


APART = {
    "vector_add",
    "softmax",
    "softmax_backward",
    "matmul",
    "layer_norm",
    "attention",
    "attention_causal",
    "rms_norm",
    "dropout",
}


@pytest.mark.parametrize("each", [each for each in all_examples() if each.name in APART], ids=lambda each: each.name)
def test_programs_of_examples_are_seen_to_keep_apart(each: Example, told: list[tuple[bool, bool]]) -> None:
    each.run(**each.inputs("small", 0, "cpu"))
    assert set(told) == {(True, True)}


def test_where_tensors_lie_and_what_does_not_matter_is_not_asked_again(monkeypatch) -> None:
    from triton_lab.native.analysis import launch_footprint

    asked: list[Machine] = []
    are_apart = launch_footprint._are_apart
    monkeypatch.setattr(launch_footprint, "_are_apart", lambda *how: asked.append(how[1]) or are_apart(*how))
    kernel = kernel_from(SCALED)
    known: list[Footprints] = []

    def ask(machine: Machine) -> bool:
        regions = regions_of(machine, machine.executable.roots)
        known.append(known[0] if known else Footprints(machine.executable.plan, groups_of(regions)))
        return known[0].are_apart(machine, regions)

    x, held = torch.zeros(1000), []
    with before_launches(ask) as found:
        for factor, count in ((2.5, 99), (3.5, 99), (3.5, 98), (2.5, 98)):
            held.append(torch.zeros(1000))
            kernel[(7,)](held[-1], x, factor, count, B=16)
    assert found == [True] * 4 and len(asked) == 2


def test_a_short_launch_is_looked_into_when_one_like_it_comes_again() -> None:
    known: list[Footprints] = []

    def ask(machine: Machine) -> bool:
        regions = regions_of(machine, machine.executable.roots)
        known.append(known[0] if known else Footprints(machine.executable.plan, groups_of(regions)))
        return known[0].are_apart(machine, regions, at_once=False)

    x, out, kernel = torch.zeros(1000), torch.zeros(1000), kernel_from(SCALED)
    with before_launches(ask) as found:
        for count in (99, 98, 99, 97, 98, 99):
            kernel[(7,)](out, x, 2.5, count, B=16)
    assert found == [False, False, True, False, True, True]


@pytest.mark.parametrize(("step", "pitch", "expected"), [(4, 16, True), (3, 16, False), (4, 8, True), (4, 3, False)])
@pytest.mark.parametrize("value", ["tl.full((4, 8), 1, tl.int32)", "d.load([step * p, 8]) + 1"])
def test_blocks_of_a_described_tensor_are_seen(step, pitch, expected, value, told: list[tuple[bool, bool]]) -> None:
    """They are cut at its edges, after four columns and two rows; closer rows than that overlap."""
    source = f"""
@triton.jit
def kernel(out, step, pitch):
    p = tl.program_id(0)
    d = tl.make_tensor_descriptor(out, shape=[10, 12], strides=[pitch, 1], block_shape=[4, 8])
    d.store([step * p, 8], {value})
"""
    kernel_from(source)[(3,)](torch.zeros(400, dtype=torch.int32), step, pitch)
    assert told == [(expected, expected)]


def test_lanes_are_looked_at_one_by_one_only_if_a_launch_comes_again() -> None:
    source = "@triton.jit\ndef kernel(out):\n    tl.store(out + 8 * tl.program_id(0) + (tl.arange(0, 8) ^ 3), 1)\n"
    kernel, out = kernel_from(source), torch.zeros(64, dtype=torch.int32)
    with before_launches(Remembering()) as found:
        for programs in (3, 3, 4, 3, 4):
            kernel[(programs,)](out)
    assert found == [False, True, False, True, True]


SCALED = """
@triton.jit
def scaled(out, x, factor, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)
"""


def test_an_access_of_each_kind_is_known_to_the_outline() -> None:
    """The marks stand for accesses alone: an outline has none that touches memory."""
    from triton_lab.native.analysis.address_slice import outline

    def ask(machine: Machine) -> Any:
        return outline(machine.executable.plan, groups_of(regions_of(machine, machine.executable.roots)))

    with before_launches(ask) as asked:
        kernel_from(SCALED)[(7,)](torch.zeros(1000), torch.zeros(1000), 2.5, 99, B=16)
    (found,) = asked
    assert found is not None and not any(is_access(op) for op in found.executable.plan.walk())
    assert [touching.role for touching in found.accesses.values()] == [Role.STORE] and found.arguments == (0, 3)


def test_a_kernel_that_writes_nothing_or_returns_early_has_an_outline(told: list[tuple[bool, bool]]) -> None:
    x, out = torch.arange(100, dtype=torch.int32), torch.zeros(100, dtype=torch.int32)
    for source in (READS, RETURNS):
        kernel_from(source)[(6,)](x, out, 50, B=16)
    assert told == [(True, True), (True, True)]


READS = """
@triton.jit
def reads(x, out, n, B: tl.constexpr):
    if tl.program_id(0) * B >= n:
        return
    tl.device_assert(tl.max(tl.load(x + tl.arange(0, B))) < 1000)
"""
RETURNS = """
@triton.jit
def returns(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if tl.program_id(0) * B >= n:
        return
    tl.store(out + i, tl.load(x + i))
"""


MEETING = {
    "where addresses are not affine": "tl.store(out + 8 * p + i * 5 % 11, p)",
    "in rows that a program goes on in": "k = 7 * p + i\n    tl.store(out + k // 5 * 7 + k % 5, p, mask=k < 20)",
    "in a while loop": "k = 0\n    while k < p * 2:\n        tl.store(out + k, p)\n        k += 1",
    "through a pointer that was loaded": (
        "q = tl.load(at).to(tl.pointer_type(tl.int32))\n    tl.store(q + i, p)\n    tl.store(out + 8 * p + i, p)"
    ),
    "through one tensor that two pointers may be": (
        "q = x\n    if p == 0:\n        q = out\n    tl.store(q + 8 * p + i, p)\n"
        "    r = y\n    if p == 1:\n        r = out\n    tl.store(r + (p + 2) % 3 * 8 + i, p)"
    ),
    "beyond what a mask leaves out ahead": "tl.store(out + 4 * p + i, p, mask=(i >= 4 - 4 * p) & (i < 8 - 4 * p))",
    "after more rounds than are looked at": "for k in range(0, 300):\n        tl.store(out + i, k)",
    "where a number is the mask": "tl.store(out + tl.where(p % 2 == 0, 0, p), p, mask=p % 2 == 0)",
    "through either of two pointers": (
        "q = out\n    if p == 0:\n        q = x\n    tl.store(q + 8 * p + i, p)\n"
        "    if p == 0:\n        tl.store(out + 8 + i, p)\n    if p == 1:\n        tl.store(x + i, p)"
    ),
}


@pytest.mark.parametrize("how", MEETING)
def test_programs_that_meet_are_not_said_to_keep_apart(how: str, told: list[tuple[bool, bool]]) -> None:
    source = (
        f"@triton.jit\ndef kernel(x, y, out, at):\n"
        f"    p = tl.program_id(0)\n    i = tl.arange(0, 8)\n    {MEETING[how]}\n"
    )
    x, y, out = (torch.zeros(64, dtype=torch.int32) for _ in range(3))
    kernel_from(source)[(3,)](x, y, out, torch.tensor([x.data_ptr()]))
    ((said, true),) = told
    assert not true and not said


KEEPING_APART = {
    "where addresses are not affine": "tl.store(out + 8 * p + (i ^ 3), p)",
    "in rows that a program goes on in": "k = 8 * p + i\n    tl.store(out + k // 5 * 7 + k % 5, p, mask=k < 20)",
    "where two programs take turns": "tl.store(out + (2 * i + p % 2) % 16 + p // 2 * 16, p)",
    "in a while loop": "k = p\n    while k < 50:\n        tl.store(out + k, p)\n        k += 3",
    "where a loop ended": "at = i\n    for j in range(1, 4):\n        at = i + 8 * j * p\n    tl.store(out + at, p)",
    "where a while loop ended": "k = 1\n    while k < 9:\n        k += p + 1\n    tl.store(out + 8 * p + k % 8, p)",
}


@pytest.mark.parametrize("how", KEEPING_APART)
def test_programs_that_keep_apart_are_said_to(how: str, told: list[tuple[bool, bool]]) -> None:
    source = (
        f"@triton.jit\ndef kernel(out):\n    p = tl.program_id(0)\n    i = tl.arange(0, 8)\n    {KEEPING_APART[how]}\n"
    )
    kernel_from(source)[(3,)](torch.zeros(100, dtype=torch.int32))
    assert told == [(True, True)]


def test_what_one_program_may_do_alone_two_may_not() -> None:
    """The same arguments over another grid are another launch."""
    kernel = kernel_from("@triton.jit\ndef kernel(out):\n    tl.store(out + tl.arange(0, 8), 1)\n")
    out = torch.zeros(8, dtype=torch.int32)
    with before_launches(Remembering()) as found:
        for programs in (1, 2):
            kernel[(programs,)](out)
    assert found == [True, False]
