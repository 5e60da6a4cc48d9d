"""What kernels print and assert: program by program, in the GPU's own form."""

from __future__ import annotations

import ctypes
import functools
import re

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.interpreter.support import bf16, e4m3, e5m2, evaluate, tensor
from tests.wordings import Wording
from triton_lab.backend.plugin import launcher
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.printing import Column, KernelPrinter, PrintStatement


@triton.jit
def show(x, N: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * N + tl.arange(0, N))
    tl.device_print("v", v)


def printed(capsys):
    return capsys.readouterr().out.splitlines()


def test_a_line_for_each_lane_with_its_program_and_index(capsys):
    show[(2,)](torch.arange(4, dtype=torch.int32) - 1, 2)
    assert printed(capsys) == [
        "pid (0, 0, 0) idx (0) v: -1",
        "pid (0, 0, 0) idx (1) v: 0",
        "pid (1, 0, 0) idx (0) v: 1",
        "pid (1, 0, 0) idx (1) v: 2",
    ]


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (torch.float32, "1.500000"),
        (torch.float16, "1.500000"),
        (torch.bfloat16, "1.500000"),
        (torch.float64, "1.500000"),
        (torch.int8, "1"),
    ],
)
def test_numbers_of_every_kind(dtype, text, capsys):
    show[(1,)](torch.full((1,), 1.5).to(dtype), 1)
    assert printed(capsys) == [f"pid (0, 0, 0) idx (0) v: {text}"]


def test_unsigned_numbers_and_indices_of_one_width(capsys):
    show[(1,)](torch.full((128,), 200, dtype=torch.uint8), 128)
    lines = printed(capsys)
    assert lines[0] == "pid (0, 0, 0) idx (  0) v: 200" and lines[-1] == "pid (0, 0, 0) idx (127) v: 200"


def test_hexadecimal_scalars_pointers_and_no_operand_at_all(capsys):
    @triton.jit
    def kernel(x):
        tl.device_print("h", tl.load(x).to(tl.int16), hex=True)
        print("s", tl.program_id(0))
        print("nothing")
        tl.device_print("p", x)

    x = torch.full((1,), 255, dtype=torch.int32)
    kernel[(1,)](x)
    assert printed(capsys) == [
        "pid (0, 0, 0) idx () h: 0x00ff",
        "pid (0, 0, 0) idx () s: 0",
        "pid (0, 0, 0) nothing",
        f"pid (0, 0, 0) idx () p: {x.data_ptr():#x}",
    ]


@triton.jit
def show_both(x, N: tl.constexpr, HEX: tl.constexpr):
    tl.device_print("v", tl.load(x + tl.arange(0, N)), hex=HEX)


def what_cuda_prints(dtype: str, hexadecimal: bool) -> tuple[str, str]:
    """The ``printf`` format of a value, and how its bits come to the argument, in LLVM's words."""
    source = ASTSource(
        show_both, {"x": f"*{dtype}", "N": "constexpr", "HEX": "constexpr"}, {"N": 128, "HEX": hexadecimal}
    )
    options = {"enable_fp_fusion": True}
    text = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm["llir"]
    found = re.search(r'c"pid .*? v: (.*?)\\0A\\00"', text)
    assert found is not None
    steps = set(re.findall(r" (zext|sext|fpext) \w+ \S+ to \w+", text))
    assert len(steps) <= 1
    return found.group(1), "".join(steps)


def by_the_c_library(pattern: str, step: str, value: np.generic) -> str:
    """What ``printf`` makes of a value that is passed as CUDA passes it."""
    if step == "fpext" or (not step and value.dtype == np.float64):
        argument = ctypes.c_double(float(value))
    else:
        wide = max(4, value.itemsize)
        whole = int(value.view(f"{'i' if step == 'sext' else 'u'}{value.itemsize}"))
        argument = (ctypes.c_uint64 if wide == 8 else ctypes.c_uint32)(whole % (1 << (8 * wide)))
    out = ctypes.create_string_buffer(400)
    length = ctypes.CDLL(None).snprintf(out, ctypes.c_size_t(400), pattern.encode(), argument)
    return out.raw[:length].decode()


NAMES = {
    "i1": np.bool_,
    **{f"i{n}": f"i{n // 8}" for n in (8, 16, 32, 64)},
    **{f"u{n}": f"u{n // 8}" for n in (8, 16, 32, 64)},
    **{"fp16": "f2", "bf16": bf16, "fp32": "f4", "fp64": "f8", "fp8e4nv": e4m3, "fp8e5": e5m2},
}


@pytest.mark.parametrize("hexadecimal", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_numbers_come_out_as_from_cudas_printf(name, hexadecimal, capsys):
    dtype = np.dtype(NAMES[name])
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, 128).astype(bool) if dtype.kind == "b" else patterns(dtype, rng)
    show_both[(1,)](tensor(values), 128, hexadecimal)
    pattern, step = what_cuda_prints(name, hexadecimal)
    if hexadecimal and dtype.kind not in "iub" and dtype.itemsize > 1 and "x" in pattern:
        pattern = "%a"  # before Triton 3.9, %x reads half of a double: nobody can want that
    shown = [line.split(" v: ")[1] for line in printed(capsys)]
    assert shown == [by_the_c_library(pattern, step, value) for value in values]


def patterns(dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    """128 values of any bits, the extremes among them; no NaN, whose sign is nobody's."""
    values = rng.integers(0, 256, 512 * dtype.itemsize, np.uint8).view(dtype)
    values[:4] = np.array([0, 1, -1 if dtype.kind != "u" else 255, 3]).astype(dtype)
    if dtype.kind in "iu":
        values[4:6] = np.iinfo(dtype).min, np.iinfo(dtype).max
    elif dtype.itemsize > 1:
        values[4:8] = np.array([-0.0, np.inf, -np.inf, 1.5]).astype(dtype)
        values = values[~np.isnan(values)]
    return values[:128]


def test_several_operands_are_numbered(capsys):
    @triton.jit
    def kernel():
        tl.device_print("", tl.arange(0, 2), tl.full((2,), 0.5, tl.float32))

    kernel[(1,)]()
    assert printed(capsys) == [
        "pid (0, 0, 0) idx (0): (operand 0) 0",
        "pid (0, 0, 0) idx (1): (operand 0) 1",
        "pid (0, 0, 0) idx (0): (operand 1) 0.500000",
        "pid (0, 0, 0) idx (1): (operand 1) 0.500000",
    ]


@triton.jit
def steps(N):
    pid = tl.program_id(0)
    for i in range(N):
        if (pid + i) % 2 == 0:
            print("even", i)
    print("end")


@pytest.mark.parametrize("batch", [1, 2, None])
def test_programs_come_in_ascending_order_each_in_its_own(batch, capsys, monkeypatch):
    monkeypatch.setattr(launcher.limits, "batch", batch)
    steps[(3,)](3)
    lines = [line.replace(", 0, 0) idx ()", ")").replace(", 0, 0)", ")") for line in printed(capsys)]
    assert lines == [
        *("pid (0) even: 0", "pid (0) even: 2", "pid (0) end"),
        *("pid (1) even: 1", "pid (1) end"),
        *("pid (2) even: 0", "pid (2) even: 2", "pid (2) end"),
    ]


def test_there_is_a_limit(wording: Wording, capsys, monkeypatch):
    monkeypatch.setattr(launcher.limits, "lines", 3)
    show[(4,)](torch.arange(8, dtype=torch.int32), 2)
    lines = printed(capsys)
    assert lines[2] == "pid (1, 0, 0) idx (0) v: 2"
    (rest,) = lines[3:]
    wording(rest, lines="5 more lines")


def test_what_was_printed_before_an_error_is_shown(capsys):
    @triton.jit
    def kernel(x):
        print("before")
        tl.store(x + 10, 1)

    with pytest.raises(Exception, match="out of bounds"):
        kernel[(1,)](torch.zeros(1))
    assert printed(capsys) == ["pid (0, 0, 0) before"]


def test_a_template_puts_a_program_on_a_line():
    lines = []
    printer = KernelPrinter((2, 1, 1), 100, lines.append)
    programs = np.arange(2)
    block = np.array([[1.25, 2.5], [3.0, 4.0]], np.float32)
    columns = Column(block, True, False), Column(np.array([-1], np.int8), False, False)
    printer.add(PrintStatement(" x = {:.1f}, n = {}: ", False, columns, programs))
    printer.flush()
    assert "".join(lines).splitlines() == [
        "pid (0, 0, 0) x = [1.2 2.5], n = 255",
        "pid (1, 0, 0) x = [3.0 4.0], n = 255",
    ]


def test_braces_that_are_no_template_stand_as_they_are():
    lines = []
    printer = KernelPrinter((1, 1, 1), 100, lines.append)
    for prefix in (" {: ", " {a}: ", " {}{}: "):
        printer.add(PrintStatement(prefix, False, (Column(np.array([3], np.int32), True, False),), np.arange(1)))
    printer.flush()
    assert "".join(lines).splitlines() == [
        "pid (0, 0, 0) idx () {: 3",
        "pid (0, 0, 0) idx () {a}: 3",
        "pid (0, 0, 0) idx () {}{}: 3",
    ]


@triton.jit
def at_most_five(x, N: tl.constexpr):
    k = tl.arange(0, N)
    v = tl.load(x + tl.program_id(0) * N + k)
    tl.device_assert(v < 6, "at most five", mask=k != 3)


@pytest.mark.parametrize("on", [True, False])
def test_assertions_hold_under_debug_alone(on):
    x = torch.arange(12, dtype=torch.int32)
    at_most_five[(1,)](x, 4, debug=on)
    if not on:
        at_most_five[(3,)](x, 4, debug=on)
        return
    with pytest.raises(Exception, match="at most five") as caught:
        at_most_five[(3,)](x, 4, debug=on)
    assert "program (1, 0, 0)" in str(caught.value) and "device_assert" in str(caught.value)


def test_masked_lanes_are_not_asserted():
    x = torch.tensor([0, 1, 2, 99], dtype=torch.int32)
    at_most_five[(1,)](x, 4, debug=True)


@pytest.mark.parametrize(("text", "a", "b"), [("a + b", 2**31 - 1, 1), ("a - b", -(2**31), 1), ("a * b", 2**20, 2**11)])
def test_overflow_is_an_assertion_under_debug(text, a, b):
    a, b, small = (np.array([v], np.int32) for v in (a, b, 1))
    evaluate(text, small, small, out=np.int32, block=1, debug=True)
    evaluate(text, a, b, out=np.int32, block=1)
    with pytest.raises(Exception, match="overflow"):
        evaluate(text, a, b, out=np.int32, block=1, debug=True)


def test_static_assertions_are_the_front_ends():
    @triton.jit
    def kernel(N: tl.constexpr):
        tl.static_assert(N > 3, "too few")

    kernel[(1,)](4)
    with pytest.raises(Exception, match="too few"):
        kernel[(1,)](2)


def test_assumptions_and_hints_do_nothing():
    @triton.jit
    def kernel(x, n):
        tl.assume(n > 0)
        k = tl.max_contiguous(tl.multiple_of(tl.arange(0, 8), 8), 8)
        v = tl.load(x + k, cache_modifier=".cg", eviction_policy="evict_last", volatile=True)
        tl.debug_barrier()
        tl.store(x + k, v + 1, cache_modifier=".wt", eviction_policy="evict_first")

    x = torch.zeros(8)
    kernel[(1,)](x, 3)
    assert (x == 1).all()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_line_is_shown_or_counted(data):
    """Whatever comes in whatever batches: the first ``limit`` lines, program by program, and how many more."""
    limit = data.draw(st.integers(0, 12))
    written = []
    printer = KernelPrinter((9, 1, 1), limit, written.append)
    expected = []
    first = 0
    for _ in range(data.draw(st.integers(1, 3))):  # batches
        size = data.draw(st.integers(1, 3))
        batch = []
        for number in range(data.draw(st.integers(0, 3))):
            some = sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=1)))
            programs = np.array(some) + first
            height = data.draw(st.integers(0, 3))  # 0: no operand
            values = np.arange(height, dtype=np.int32)[None] + 10 * number
            columns = (Column(values, True, False),) if height else ()
            statement = PrintStatement(f" s{number}: ", False, columns, programs)
            assert statement.height() == max(1, height)
            printer.add(statement)
            for program in programs:
                tails = [f" idx ({k}) s{number}: {v}" for k, v in enumerate(values[0])] if height else [f" s{number}: "]
                batch += [(program, number, f"pid ({program}, 0, 0){tail}") for tail in tails]
        printer.flush()
        expected += [text for _, _, text in sorted(batch, key=lambda entry: entry[:2])]
        first += size
    printer.close()
    left = len(expected) - limit
    told = (
        []
        if left <= 0
        else [f"... and {left} more line{'s'[: left > 1]}, which {'are' if left > 1 else 'is'} not shown"]
    )
    assert "".join(written).splitlines() == expected[:limit] + told
    printer.close()
    assert "".join(written).splitlines() == expected[:limit] + told, "said once"


@pytest.mark.parametrize(
    ("dtype", "signed", "spec", "shown"),
    [
        (np.int8, True, "", "[-1  0  5]"),
        (np.int8, False, "", "[255   0   5]"),
        (np.int16, False, "x", "[ffff 0 5]"),
        (np.int32, True, "+d", "[-1 +0 +5]"),
        (np.float16, True, "", "[-1.0 0.0 5.0]"),
        (np.bool_, True, "", "[True False True]"),
    ],
)
def test_elements_in_a_template_keep_their_sign_and_take_the_format(dtype, signed, spec, shown):
    written = []
    printer = KernelPrinter((1, 1, 1), 5, written.append)
    column = Column(np.array([[-1, 0, 5]]).astype(dtype), signed, False)
    printer.add(PrintStatement(f" {{:{spec}}}: " if spec else " {}: ", False, (column,), np.arange(1)))
    printer.flush()
    assert " ".join("".join(written).split()) == f"pid (0, 0, 0) {' '.join(shown.split())}"


@pytest.mark.parametrize(("count", "shown"), [(64, 64), (65, 8)])
def test_a_long_block_in_a_template_shows_four_elements_of_either_end(count, shown):
    written = []
    printer = KernelPrinter((1, 1, 1), 100, written.append)
    printer.add(PrintStatement(" {}: ", False, (Column(np.arange(count)[None], True, False),), np.arange(1)))
    printer.flush()
    numbers = [int(each) for each in "".join(written).replace("[", " ").replace("]", " ").split()[4:] if each.isdigit()]
    assert len(numbers) == shown
    assert numbers == (list(range(count)) if shown == count else [*range(4), *range(count - 4, count)])


@triton.jit
def never(x):
    tl.device_assert(tl.load(x) > 9, "never")


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("shared", [False, True])
def test_an_assertion_names_just_the_programs_in_which_it_fails(count, shared):
    """Programs of one batch: whether each has a value of its own or all share one."""
    for failing in range(1, 1 << count):
        x = torch.zeros(count, 4, dtype=torch.int32)
        for program in range(count):
            x[program, 2] = 9 if failing >> program & 1 else 5
        run = never[(count,)] if shared else functools.partial(at_most_five[(count,)], N=4)
        with pytest.raises(KernelError) as caught:
            run(x, debug=True)
        expected = range(count) if shared else [program for program in range(count) if failing >> program & 1]
        assert caught.value.programs.tolist() == list(expected)
