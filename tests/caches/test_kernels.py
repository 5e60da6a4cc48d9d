"""Compiled kernels: what changes their meaning makes another kernel; launches that only look alike share nothing."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab

_names = itertools.count()


def define(text: str, **names: Any) -> Any:
    """The kernel `kernel` of a text, with these globals; as a notebook's cell would define it."""
    import linecache

    filename = f"<cell {next(_names)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"triton": triton, "tl": tl, "__name__": __name__, **names}
    exec(compile(text, filename, "exec"), space)
    return space["kernel"]


FILL = """@triton.jit
def kernel(out, N: tl.constexpr):
    i = tl.arange(0, 16)
    tl.store(out + i, {value}, mask=i < N)
"""


def filled(kernel: Any, dtype: torch.dtype = torch.float32, n: int = 16, **options: Any) -> list[float]:
    out = torch.zeros(16, dtype=dtype)
    kernel[(1,)](out, n, **options)
    return out.tolist()


def test_two_kernels_of_one_name_on_the_same_lines_are_two() -> None:
    one, two = define(FILL.format(value="1")), define(FILL.format(value="2"))
    assert filled(one) == [1.0] * 16 and filled(two) == [2.0] * 16 and filled(one) == [1.0] * 16


def test_two_kernels_of_one_text_with_other_globals_are_two() -> None:
    text = FILL.format(value="VALUE")
    one, two = define(text, VALUE=tl.constexpr(1)), define(text, VALUE=tl.constexpr(2))
    assert filled(one) == [1.0] * 16 and filled(two) == [2.0] * 16


def test_two_kernels_of_one_text_with_other_helpers_are_two() -> None:
    helper = "@triton.jit\ndef kernel(x):\n    return x * {factor}\n"
    text = FILL.format(value="helper(i)")
    one, two = (define(text, helper=define(helper.format(factor=factor))) for factor in (1, 2))
    assert filled(one)[3] == 3.0 and filled(two)[3] == 6.0


@pytest.mark.xfail(reason="Triton's own key, on every target: it holds no types and nothing found in modules")
@pytest.mark.parametrize("value", ["tl.full((16,), 3.75, tl.float32).to(DTYPE) * 4", "settings.SCALE"])
def test_two_kernels_of_one_text_with_other_types_or_modules_are_two(value: str) -> None:
    settings = [types.ModuleType("settings") for _ in range(2)]
    settings[0].SCALE, settings[1].SCALE = tl.constexpr(12), tl.constexpr(15)  # type: ignore[attr-defined]
    text = FILL.format(value=value)
    one, two = (define(text, DTYPE=d, settings=s) for d, s in zip((tl.int32, tl.float32), settings, strict=True))
    assert filled(one) == [12.0] * 16 and filled(two) == [15.0] * 16


@pytest.mark.parametrize("again", [False, True], ids=["first", "then the first again"])
def test_constexprs_dtypes_and_scalars_make_kernels_of_their_own(again: bool) -> None:
    kernel = define(FILL.format(value="N"))
    for n in (16, 8, 16 if again else 4):
        assert sum(filled(kernel, n=n)) == n * n
    for dtype in (torch.float32, torch.int32, torch.float16, torch.float32):
        assert filled(kernel, dtype) == [16.0] * 16


ADD = """@triton.jit
def kernel(x, y, out, n):
    i = tl.arange(0, 16)
    inside = i < n
    a = tl.load(x + i, mask=inside)
    tl.store(out + i, a + 1, mask=inside)
    b = tl.load(y + i, mask=inside)
    tl.store(out + i, a + 10 * b, mask=inside)
"""


def test_arguments_that_alias_and_arguments_that_do_not_share_a_plan_and_are_both_right() -> None:
    """A plan asks nothing of aliasing: it reads and writes the tensors' own memory, in the program's order."""
    kernel = define(ADD)
    for _ in range(2):
        x, y, out = torch.arange(16.0), torch.arange(16.0), torch.zeros(16)
        kernel[(1,)](x, y, out, 16)
        assert torch.equal(out, 11 * torch.arange(16.0)) and torch.equal(y, torch.arange(16.0))
        x, y = torch.arange(16.0), torch.arange(16.0)
        kernel[(1,)](x, y, y, 16)  # what the first store wrote is what the second load reads
        assert torch.equal(y, x + 10 * (x + 1))
        base = torch.arange(20.0)
        kernel[(1,)](base[:16], base[4:], base[4:], 16)
        assert torch.equal(base[:4], torch.arange(4.0))


def test_alignment_and_ones_are_noticed() -> None:
    kernel = define(ADD)
    base = torch.arange(64.0)
    for start, n in ((0, 16), (1, 16), (3, 1), (0, 15), (16, 16)):
        x, out = base[start : start + 16], torch.zeros(16)
        kernel[(1,)](x, x, out, n)
        assert torch.equal(out[:n], 11 * x[:n]) and not out[n:].any()


CHECKED = """@triton.jit
def kernel(out, N: tl.constexpr):
    i = tl.arange(0, 16)
    tl.device_assert(i < 8, "too far")
    tl.store(out + i, 1, mask=i < N)
"""


def test_debug_is_part_of_the_key() -> None:
    kernel = define(CHECKED)
    assert filled(kernel, debug=False) == [1.0] * 16
    with pytest.raises(Exception, match="too far"):
        filled(kernel, debug=True)
    assert filled(kernel, debug=False) == [1.0] * 16


def test_a_redefined_kernel_is_recorded_with_its_own_values() -> None:
    launches = []
    for value in (5, 7):
        kernel = define(FILL.format(value=value))
        with lab.record() as recorded:
            filled(kernel)
        launches += recorded
    assert [float(launch.accesses[0].values(0).max()) for launch in launches] == [5.0, 7.0]


BODY = """@triton.jit
def kernel(out, N: tl.constexpr):
    i = tl.arange(0, 16)
    x = i * {factor}
    tl.store(out + i, x, mask=i < N)
"""


def change_global(kernel: Any) -> None:
    kernel.fn.__globals__["FACTOR"] = tl.constexpr(100)


def change_helper(kernel: Any) -> None:
    kernel.fn.__globals__["helper"] = define("@triton.jit\ndef kernel(x):\n    return x * 100\n")


@pytest.mark.parametrize(
    ("factor", "change"), [("FACTOR", change_global), ("helper(1)", change_helper)], ids=["global", "helper"]
)
def test_a_replay_shows_the_kernel_that_was_launched(factor: str, change: Callable[[Any], None]) -> None:
    helper = define("@triton.jit\ndef kernel(x):\n    return x * 3\n")
    kernel = define(BODY.format(factor=factor), FACTOR=tl.constexpr(3), helper=helper)
    with lab.record() as launches:
        assert filled(kernel)[5] == 15
    change(kernel)
    assert int(launches[0].accesses[0].values(0).max()) == 45
    assert launches[0].values("x").at().max() == 45


OUTSIDE = """@triton.jit
def kernel(out, N: tl.constexpr):
    i = tl.arange(0, 16)
    tl.store(out + i + N, 1.0)
"""


def test_kernels_of_one_text_share_a_plan_and_each_reports_errors_of_its_own() -> None:
    one, two = define(OUTSIDE), define("\n\n" + OUTSIDE)
    for kernel in (one, two, one):
        filename = kernel.fn.__code__.co_filename
        line = kernel.fn.__code__.co_firstlineno + 3
        with pytest.raises(Exception, match="out") as caught:
            filled(kernel, n=4)
        assert filename in str(caught.value) and str(line) in str(caught.value)


def test_what_a_cached_plan_means_is_in_the_backends_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    from triton_lab.backend import compiler

    made = compiler.CPUBackend(compiler.TARGET).hash()
    read = Path.read_bytes
    for room in ("ir/parse.py", "ir/lower.py", "backend/compiler.py"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "read_bytes", lambda path, room=room: read(path) + b"#" * path.match(f"*/{room}"))
            compiler._sources_hash.cache_clear()
            assert compiler.CPUBackend(compiler.TARGET).hash() != made, room
    compiler._sources_hash.cache_clear()
    assert compiler.CPUBackend(compiler.TARGET).hash() == made
