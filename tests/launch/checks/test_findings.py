"""What a finding tells: where, who, which elements, and what to do."""

from __future__ import annotations

import contextlib
import ctypes
import inspect

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.checks.race.barriers import around_atomics
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch


def line(kernel: object, text: str) -> int:
    """The line of the file that holds ``text`` in a kernel."""
    lines, first = inspect.getsourcelines(kernel.fn)  # type: ignore[attr-defined]
    return next(first + k for k, each in enumerate(lines) if text in each)


def only(launch: Launch, kind: str) -> Finding:
    (found,) = [each for each in launch.findings if each.kind == kind]
    return found


@triton.jit
def shift_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    right = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n)
    tl.store(x_ptr + offsets, right, mask=offsets < n)  # over what the left neighbour reads


def test_a_race_names_both_sides_and_points_at_the_store() -> None:
    x = torch.zeros(10, 10)
    with triton_lab.record() as launches:
        shift_kernel[(4,)](x, 100, BLOCK=32)
    found = only(launches[0], "race")
    assert found.severity == "error"
    assert found.kernel == "shift_kernel"
    assert found.line == line(shift_kernel, "tl.store")
    assert found.argument == "x_ptr"
    assert found.message.startswith(
        f"program (1, 0, 0) stores to x_ptr[3, 2] and program (0, 0, 0) loads it (line {line(shift_kernel, 'tl.load')})"
    )
    source, caret = found.excerpt
    assert source[caret.index("^") : caret.rindex("^") + 1] == "tl.store(x_ptr + offsets, right, mask=offsets < n)"
    assert found.programs.tolist() == [0, 1, 1, 2, 2, 3]
    assert found.lanes.tolist() == [31, 0, 31, 0, 31, 0]
    assert found.elements.tolist() == [32, 32, 64, 64, 96, 96]
    assert found.count == 6
    assert "atomic" in found.hint


@triton.jit
def put_kernel(out_ptr, value):
    tl.store(out_ptr, tl.program_id(0) * value)


def test_stores_of_the_same_value_are_told_apart(wording: Wording) -> None:
    out = torch.zeros(1, dtype=torch.int32)
    with triton_lab.record() as launches:
        put_kernel[(4,)](out, 0)
        put_kernel[(4,)](out, 3)
    same, different = only(launches[0], "same-value"), only(launches[1], "race")
    assert (same.severity, different.severity) == ("warning", "error")
    wording(
        same.message, "same", one="program (0, 0, 0)", other="program (1, 0, 0)", element="out_ptr[0]", lanes="4 lanes"
    )
    wording(same.hint, "same, hint")
    assert same.values.tolist() == [0, 0, 0, 0]
    wording(
        different.message, one="program (0, 0, 0)", other="program (1, 0, 0)", element="out_ptr[0]", lanes="4 lanes"
    )
    assert different.values.tolist() == [0, 3, 6, 9]
    assert "  values: 0, 3, 6, 9\n" in str(different)


@triton.jit
def sum_kernel(x_ptr, total_ptr, lock_ptr, BARRIER: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + lane)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr + lane, tl.load(total_ptr + lane) + x)
    if BARRIER:
        tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@pytest.mark.parametrize("barrier", [True, False])
def test_a_lock_orders_blocks_if_there_is_a_barrier_before_it_opens(barrier: bool) -> None:
    """Triton 3.9 puts one there by itself."""
    with triton_lab.record() as launches:
        lock = torch.zeros(1, dtype=torch.int32)
        sum_kernel[(8,)](torch.ones(8, 64), torch.zeros(64), lock, BARRIER=barrier, BLOCK=64)
    races = [found for found in launches[0].findings if found.kind == "race"]
    assert bool(races) != (barrier or around_atomics())
    if races:
        assert "tl.debug_barrier()" in races[0].hint
        assert set(races[0].programs.tolist()) == set(range(8)), "the first hundred lanes are of all programs"
        assert len(races[0].programs) == 100 < races[0].count


@triton.jit
def double_kernel(x_ptr, out_ptr, row_stride, columns, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + column, mask=column < columns)
    tl.store(out_ptr + row * columns + column, x * 2, mask=column < columns)


def test_an_uninitialised_read_names_the_element_in_its_own_coordinates(wording: Wording) -> None:
    with triton_lab.record() as launches:
        x = torch.empty(3, 8)
        x[:, :6] = 1.0
        double_kernel[(3,)](x, torch.empty(3, 8), 8, 8, BLOCK=8)
    found = only(launches[0], "uninitialized")
    assert found.severity == "error"
    wording(found.message, program="program (0, 0, 0)", element="x_ptr[0, 6]", lanes="6 lanes")
    assert found.line == line(double_kernel, "tl.load")
    assert found.elements.tolist() == [6, 7, 14, 15, 22, 23]
    assert np.isnan(found.values).all(), "the poison that was read"


def test_a_view_is_left_although_its_storage_is_not() -> None:
    x = torch.ones(3, 8)[:, 1:6]
    with triton_lab.record() as launches:
        double_kernel[(3,)](x, torch.zeros(3, 6), 8, 6, BLOCK=8)
    found = only(launches[0], "outside-view")
    assert found.severity == "note"
    assert found.elements.tolist() == [5, 13, 21]
    assert "(shape (3, 5), stride (8, 1))" in found.message
    assert found.values.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("offset", [0, 2])
def test_outside_the_view_is_what_brute_force_says(offset: int) -> None:
    base = torch.ones(12, 12)
    for view in (base.t(), base[2:, ::3], base[offset:9, 1:9], base.as_strided((4, 3), (13, 2), offset), base[:1]):
        with triton_lab.record() as launches:
            reader_kernel[(1,)](view, torch.zeros(64), BLOCK=64)
        elements = {int(i) for i in _offsets(view)}
        expected = sorted(set(range(64)) - elements)
        found = [each for each in launches[0].findings if each.kind == "outside-view"]
        assert [f.elements.tolist() for f in found] == ([expected] if expected else [])


@triton.jit
def reader_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.load(x_ptr + lane))


def _offsets(tensor: torch.Tensor) -> np.ndarray:
    index = np.indices(tuple(tensor.shape)).reshape(tensor.dim(), -1)
    return (index * np.array(tensor.stride())[:, None]).sum(axis=0)


def test_an_alias_names_the_element_through_both_arguments(wording: Wording) -> None:
    x = torch.ones(20)
    with triton_lab.record() as launches:
        double_kernel[(1,)](x[4:].view(2, 8), x[:16].view(2, 8), 8, 8, BLOCK=8)
    found = only(launches[0], "alias")
    assert found.severity == "note"
    assert found.argument == "out_ptr"
    wording(found.message, program="program (0, 0, 0)", element="out_ptr[0, 4]", other="x_ptr[0, 0]", lanes="4 lanes")
    assert found.lanes.tolist() == [4, 5, 6, 7]
    assert found.values.tolist() == [2.0] * 4, "what was written over the other argument"


@triton.jit
def rows_kernel(x_ptr, out_ptr, rows, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride, mask=row < rows, other=0.0)
    tl.store(out_ptr + row, x, mask=row < rows)


def test_an_offset_that_wraps_in_masked_lanes_is_no_overflow() -> None:
    x = torch.ones(1).expand(4)
    with triton_lab.record() as launches:
        rows_kernel[(1,)](x, torch.zeros(4), 1, 1 << 30, BLOCK=4)
    assert not [found for found in launches[0].findings if found.kind == "overflow"]


def test_an_overflow_shows_the_numbers(wording: Wording) -> None:
    with triton_lab.record() as launches, contextlib.suppress(KernelError):
        wrapping_kernel[(3,)](torch.ones(64), torch.zeros(3), 1 << 31 - 1)
    found = only(launches[0], "overflow")
    assert found.severity == "warning"
    product = "2 * 1073741824 = 2147483648"
    wording(found.message, program="program (2, 0, 0)", product=product, type="int32", wrapped=-(1 << 31))
    assert found.programs.tolist() == [2]
    assert found.values.tolist() == [-(1 << 31)]
    assert "int64" in found.hint


@triton.jit
def wrapping_kernel(x_ptr, out_ptr, stride):
    program = tl.program_id(0)
    offset = program * stride
    tl.store(out_ptr + program, tl.load(x_ptr + offset, mask=(offset < 64) & (offset >= 0), other=0.0))


@triton.jit
def exp_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.exp(tl.load(x_ptr + offsets)))


@triton.jit
def hide_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.where(lane < 8, tl.load(x_ptr + lane), float("-inf")))


def test_infinity_is_new_only_where_the_program_loaded_none_and_the_kernel_writes_none(wording: Wording) -> None:
    x = torch.zeros(64)
    x[3], x[40] = 1000.0, float("inf")
    with triton_lab.record() as launches:
        exp_kernel[(4,)](x, torch.zeros(64), BLOCK=16)
        hide_kernel[(1,)](torch.zeros(16), torch.zeros(16), BLOCK=16)
    found = only(launches[0], "non-finite")
    assert found.severity == "warning"
    wording(found.message, program="program (0, 0, 0)", value="inf", element="out_ptr[3]")
    assert found.programs.tolist() == [0]
    assert found.values.tolist() == [float("inf")]
    assert not [each for each in launches[1].findings if each.kind == "non-finite"]


@triton.jit
def bits_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    word = tl.load(x_ptr + tl.program_id(0) * BLOCK + lane)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + lane, tl.exp(word.to(tl.float32, bitcast=True)))


def test_infinity_in_the_bits_of_loaded_integers_is_not_new() -> None:
    x = torch.zeros(2, 16)
    x[0, 3], x[1, 5] = float("inf"), 1000.0
    with triton_lab.record() as launches:
        bits_kernel[(2,)](x.view(torch.int32), torch.zeros(2, 16), BLOCK=16)
    assert only(launches[0], "non-finite").programs.tolist() == [1]


def test_programs_of_a_grid_of_several_axes_are_named_by_their_coordinates(wording: Wording) -> None:
    with triton_lab.record() as launches:
        corner_kernel[(3, 4)](torch.zeros(100, dtype=torch.int32))
    found = only(launches[0], "idle-program")
    assert found.line is None and found.argument is None
    wording(found.message, program="program (2, 3, 0), number 11,", all="12 programs")
    assert found.programs.tolist() == [11]


@pytest.mark.parametrize(
    ("below", "prints", "advice"),
    [(4, False, "some are idle"), (0, False, "all are idle"), (0, True, "")],
)
def test_a_smaller_grid_is_no_advice_where_no_program_does_anything(
    wording: Wording, below: int, prints: bool, advice: str
) -> None:
    with triton_lab.record() as launches:
        masked_kernel[(8,)](torch.zeros(4), below, PRINTS=prints)
    told = [each.hint for each in launches[0].findings if each.kind == "idle-program"]
    assert len(told) == bool(advice)
    for text in told:
        wording(text, advice)


@pytest.mark.parametrize(("elements", "told"), [(4, True), (0, False)])
def test_a_grid_of_no_programs_is_told_unless_there_is_nothing_to_do(
    wording: Wording, elements: int, told: bool
) -> None:
    with triton_lab.record() as launches:
        masked_kernel[(elements // 8,)](torch.zeros(elements), elements, PRINTS=False)
    assert [(each.kind, each.count) for each in launches[0].findings] == [("small-grid", 0)] * told
    for each in launches[0].findings:
        wording(each.message)


def test_a_kernel_without_an_access_is_told_that_its_results_are_lost(wording: Wording) -> None:
    with triton_lab.record() as launches:
        returning_kernel[(1,)](torch.zeros(4))
    wording(only(launches[0], "idle-program").hint)


@triton.jit
def masked_kernel(out_ptr, below, PRINTS: tl.constexpr):
    place = tl.program_id(0)
    if PRINTS:
        tl.device_print("place", place)
    tl.store(out_ptr + place, place, mask=place < below)


@triton.jit
def returning_kernel(x_ptr):
    return tl.program_id(0) + 1


@triton.jit
def corner_kernel(out_ptr):
    place = tl.program_id(1) * 3 + tl.program_id(0)
    if place < 11:
        tl.store(out_ptr + place, place)


def test_faults_of_all_programs_are_told_and_not_only_of_the_first_batch(wording: Wording) -> None:
    with triton_lab.record() as launches, contextlib.suppress(KernelError):
        reach_kernel[(3000,)](torch.zeros(1000), torch.zeros(3000))
    found = only(launches[0], "out-of-bounds")
    assert found.line == line(reach_kernel, "x_ptr +")
    assert found.count == 2000
    assert found.programs.tolist() == list(range(1000, 1100))
    assert found.elements[0] == 1000
    tensor = "x_ptr: float32, shape (1000,), strides (1,)"
    element, last = "element 1000", "element 999"
    who = "program (1000, 0, 0)"
    wording(found.message, program=who, element=element, name="x_ptr", last=last, lanes="2,000 lanes", tensor=tensor)


@triton.jit
def reach_kernel(x_ptr, out_ptr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program)
    tl.store(out_ptr + program, x)


def test_the_gravest_come_first() -> None:
    with triton_lab.record() as launches:
        x = torch.empty(6, 8)
        double_kernel[(6,)](x, x, 0, 8, BLOCK=8)
    ranks = [["error", "warning", "note"].index(found.severity) for found in launches[0].findings]
    assert ranks == sorted(ranks)
    assert {"race", "alias"} <= {found.kind for found in launches[0].findings}


@triton.jit
def far_kernel(x_ptr, out_ptr, stride):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program * stride)
    tl.store(out_ptr + program, x)


def test_an_overflow_that_leads_out_of_bounds_is_told_as_well() -> None:
    with triton_lab.record() as launches, contextlib.suppress(KernelError):
        far_kernel[(3,)](torch.ones(64), torch.zeros(3), 1 << 30)
    by_kind = {found.kind: found for found in launches[0].findings}
    assert set(by_kind) == {"out-of-bounds", "overflow"}
    assert by_kind["out-of-bounds"].programs.tolist() == [1, 2]
    assert by_kind["overflow"].programs.tolist() == [2], "program 1 goes far, but does not wrap"


@triton.jit
def slot_kernel(slot_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    where = tl.load(slot_ptr + tl.program_id(0)) + tl.zeros((BLOCK,), tl.int32)
    if tl.program_id(0) % 2 == 0:
        tl.store(out_ptr + where, 1.0, mask=(lane ^ 1) < 3)


def test_values_of_a_block_that_is_one_element_over_and_over() -> None:
    with triton_lab.record() as launches:
        slot_kernel[(5,)](torch.full((5,), 2, dtype=torch.int32), torch.zeros(4), BLOCK=8)
    found = only(launches[0], "same-value")
    assert found.programs.tolist() == [0, 0, 0, 2, 2, 2, 4, 4, 4]
    assert found.values.tolist() == [1.0] * 9


@triton.jit
def shifted_kernel(x_ptr, out_ptr, shift):
    lane = tl.arange(0, 4)
    tl.store(out_ptr + lane, tl.load(x_ptr + lane + shift))


@pytest.mark.parametrize(
    ("shift", "first", "edge"),
    [(-1, -1, 0), (-4, -4, 0), (4, 6, 5)],
)
@pytest.mark.parametrize("offset", [0, 3])
def test_a_lane_out_of_bounds_is_told_the_end_that_it_is_beyond(
    shift: int, first: int, edge: int, offset: int, wording: Wording
) -> None:
    with triton_lab.record() as launches, contextlib.suppress(KernelError):
        shifted_kernel[(1,)](torch.zeros(6 + offset)[offset:], torch.zeros(4), shift - offset * (shift < 0))
    found = only(launches[0], "out-of-bounds")
    if offset and shift < 0:
        first, edge = first - offset, edge - offset
    assert found.elements[0] == first
    side = "before" if shift < 0 else "beyond"
    facts = {"first": f"element {first}", "edge": f"element {edge}", "lane": f"lane {2 if shift > 0 else 0}"}
    facts |= {"offset": f"storage offset {offset}"} if offset else {}
    facts |= {"lanes": {-4: "4 lanes", 4: "2 lanes"}[shift]} if shift != -1 else {}
    label = [side, "one lane" if shift == -1 else "lanes", "offset" if offset else "no offset"]
    wording(found.message, ", ".join(label), name="x_ptr", shape="(6,)", strides="(1,)", **facts)


class Address:
    """Knows where something lies, and does not keep it alive."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.dtype, self._address = tensor.dtype, tensor.data_ptr()

    def data_ptr(self) -> int:
        return self._address


def test_memory_behind_a_bare_address_is_looked_up_and_where_no_tensor_lies_it_is_told(wording: Wording) -> None:
    kept = torch.arange(4.0)
    numbers = (ctypes.c_float * 4)(*range(4))  # memory of this process, and of no tensor: as after a tensor was freed
    bare = Address(torch.frombuffer(numbers, dtype=torch.float32))
    with triton_lab.record() as launches:
        shifted_kernel[(1,)](Address(kept), torch.zeros(4), 0)
        shifted_kernel[(1,)](bare, torch.zeros(4), 0)
    assert not launches[0].findings
    found = only(launches[1], "unverified")
    assert (found.argument, found.count) == ("x_ptr", 4)
    address = hex(ctypes.addressof(numbers))
    wording(found.message, program="program (0, 0, 0)", address=address, name="x_ptr", lanes="4 lanes")
    wording(found.hint, "hint")
