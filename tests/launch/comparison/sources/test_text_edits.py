"""Slips in what the front end evaluates are named: types, unrolled loops, constexprs, and where steps stand.

Lines count from the ``def``.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from itertools import chain
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.sources.expression_edits import regrouped
from triton_lab.launch.comparison.sources.nested_index import reordered
from triton_lab.launch.comparison.sources.text_edits import repeated_edits, text_edits
from triton_lab.launch.comparison.sources.written_kernel import as_written


@triton.jit
def late_taps(x_ptr, w_ptr, out_ptr, n, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for k in tl.static_range(1, TAPS):
        total += tl.load(w_ptr + k) * tl.load(x_ptr + i + k, mask=i + k < n, other=0.0)
    tl.store(out_ptr + i, total, mask=i < n)


@triton.jit
def mirrored_taps(x_ptr, w_ptr, out_ptr, n, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for k in tl.static_range(TAPS):
        x = tl.load(x_ptr + i + k, mask=i + k < n, other=0.0)
        total += tl.load(w_ptr + i * TAPS + TAPS - 1 - k, mask=i < n, other=0.0) * x
    tl.store(out_ptr + i, total, mask=i < n)


@triton.jit
def narrow_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.uint8)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + start + i)
    tl.store(out_ptr + i, total)


@triton.jit
def whole_means(count_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    share = tl.load(count_ptr + i) // n
    tl.store(out_ptr + i, share * share)


@triton.jit
def pages(x_ptr, out_ptr, heads, lines, width, BLOCK: tl.constexpr):
    page, head, line = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i = tl.arange(0, BLOCK)
    at = ((page * lines + line) * heads + head) * width
    x = tl.load(x_ptr + ((page * lines + line) * heads + head) * width + i, mask=i < width)
    tl.store(out_ptr + at + i, x, mask=i < width)


@triton.jit
def decays(x_ptr, v_ptr, out_ptr, feed, kill, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, v = tl.load(x_ptr + i), tl.load(v_ptr + i)
    tl.store(out_ptr + i, x - feed + kill * v)


@triton.jit
def smooth(x):
    return tl.where(x > 20, x, tl.log(1 + tl.exp(x)))


@triton.jit
def turn(a, b, angle):
    return a * tl.cos(angle) - b * tl.sin(angle)


@triton.jit
def softened(x_ptr, out_ptr, bias, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, smooth(tl.load(x_ptr + i)) + bias)


@triton.jit
def turned(x_ptr, y_ptr, out_ptr, angle, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, turn(y, x, angle))
    tl.store(out_ptr + BLOCK + i, turn(y, -x, angle))


@triton.jit
def gathered(index_ptr, x_ptr, out_ptr, width, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    e, d = tl.arange(0, BLOCK), tl.arange(0, WIDTH)
    near = tl.load(index_ptr + row * BLOCK + e)
    x = tl.load(x_ptr + row * width + d[None, :])
    tl.store(out_ptr + row * width + d, tl.sum(x * (near[:, None] >= 0), axis=0))


@triton.jit
def walked(x_ptr, out_ptr, n, stride_xm, stride_xn, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = x_ptr + i * stride_xn
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for _k in range(0, n):
        total += tl.load(at)
        at += stride_xn
    tl.store(out_ptr + i, total)


X, Y, ROWS = randn(64), randn(64, seed=1), randn(6, 48)
WEIGHTS = randn(64, 3, seed=2)
BYTES = torch.randint(0, 200, (64,), generator=torch.Generator().manual_seed(3), dtype=torch.uint8)
COUNTS = torch.randint(0, 99, (32,), generator=torch.Generator().manual_seed(4), dtype=torch.int32)
NEAR = torch.randint(0, 6, (6, 4), generator=torch.Generator().manual_seed(5), dtype=torch.int32)
PAGES = randn(3 * 4 * 2 * 5, seed=6)


def ahead(k: int) -> torch.Tensor:
    return torch.cat((X[k:50], torch.zeros(k)))


CASES: list[tuple[Any, Callable[[], object], dict[str, torch.Tensor], int]] = [
    (
        late_taps,
        lambda: late_taps[(1,)](X, Y, torch.zeros(50), 50, TAPS=4, BLOCK=64),
        {"out_ptr": sum(Y[k] * ahead(k) for k in range(4))},  # type: ignore[dict-item]
        4,
    ),
    (
        mirrored_taps,
        lambda: mirrored_taps[(1,)](X, WEIGHTS, torch.zeros(50), 50, TAPS=3, BLOCK=64),
        {"out_ptr": sum(WEIGHTS[:50, k] * ahead(k) for k in range(3))},  # type: ignore[dict-item]
        6,
    ),
    (
        narrow_sum,
        lambda: narrow_sum[(1,)](BYTES, torch.zeros(16, dtype=torch.int32), 64, BLOCK=16),
        {"out_ptr": BYTES.reshape(4, 16).sum(0, dtype=torch.int32)},
        3,
    ),
    (
        whole_means,
        lambda: whole_means[(1,)](COUNTS, torch.zeros(32), 7, BLOCK=32),
        {"out_ptr": (COUNTS / 7) ** 2},
        3,
    ),
    (
        pages,
        lambda: pages[(3, 2, 4)](PAGES, torch.zeros(120), 2, 4, 5, BLOCK=8),
        {"out_ptr": PAGES.reshape(3, 4, 2, 5).transpose(1, 2).reshape(-1)},
        4,
    ),
    (decays, lambda: decays[(1,)](X, Y, X * 0, 0.3, 0.7, BLOCK=64), {"out_ptr": X - (0.3 + 0.7) * Y}, 4),
    (
        softened,
        lambda: softened[(1,)](X, X * 0, 0.75, BLOCK=64),
        {"out_ptr": torch.nn.functional.softplus(X + 0.75)},
        3,
    ),
    (
        turned,
        lambda: turned[(1,)](X, Y, torch.zeros(128), 0.4, BLOCK=64),
        {
            "out_ptr": torch.cat(
                (
                    X * torch.cos(torch.tensor(0.4)) - Y * torch.sin(torch.tensor(0.4)),
                    Y * torch.cos(torch.tensor(0.4)) + X * torch.sin(torch.tensor(0.4)),
                )
            )
        },
        4,
    ),
    (
        gathered,
        lambda: gathered[(6,)](NEAR, ROWS, torch.zeros(6, 48), 48, BLOCK=4, WIDTH=16),
        {"out_ptr": torch.cat((ROWS[NEAR.long()].sum(1)[:, :16], torch.zeros(6, 32)), 1)},
        5,
    ),
    (
        walked,
        lambda: walked[(1,)](ROWS, torch.zeros(16), 6, 48, 1, BLOCK=16),
        {"out_ptr": ROWS.sum(0)[:16]},
        7,
    ),
]


@pytest.mark.parametrize(("kernel", "run", "right", "line"), CASES, ids=[one[0].__name__ for one in CASES])
def test_the_line_is_named(kernel, run, right, line) -> None:
    launch = recorded(run)
    causes = lab.compare(launch, right).causes()
    assert causes.known
    named = {int(n) for part in re.findall(r"lines? ([\d and,]+)", causes.cause) for n in re.findall(r"\d+", part)}
    # The line of the decorator is the first of the launch.
    assert line in {n - launch.first_line for n in named} and len(named) <= 2


@triton.jit
def refused(x_ptr, out_ptr, BLOCK: tl.constexpr, TAPS: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for k in tl.static_range(TAPS):
        total += tl.load(x_ptr + i) * (k + 1)
    tl.store(out_ptr + i, tl.reshape(total, [BLOCK]))


def test_texts_that_triton_refuses_leave_no_trace(capfd: pytest.CaptureFixture[str]) -> None:
    launch = as_written(recorded(lambda: refused[(1,)](X, torch.zeros(64), BLOCK=64, TAPS=2)))
    out, errors, failed = sys.stdout, sys.stderr, 0
    capfd.readouterr()
    scope = KernelScope(launch, ["out_ptr"])
    for switch in chain(*text_edits(scope), repeated_edits(scope)):
        try:
            switch.executable(launch)
        except Exception:
            failed += 1
    assert failed > 5
    assert (sys.stdout, sys.stderr) == (out, errors) and capfd.readouterr() == ("", "")


def _with_a_helper_of_its_own() -> Any:
    @triton.jit
    def placed(row, i, n):
        return (row * n + i) * 2

    @triton.jit
    def spaced(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        row, i = tl.program_id(0), tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * BLOCK + i)
        tl.store(out_ptr + placed(row, i, n), x * x)

    return spaced


def test_a_helper_of_a_closure_is_left_alone() -> None:
    kernel = _with_a_helper_of_its_own()
    launch = recorded(lambda: kernel[(2,)](X, torch.zeros(64), 16, BLOCK=16))
    right = torch.zeros(64)
    right[::2] = X[:32] ** 3
    causes = lab.compare(launch, {"out_ptr": right}).causes()
    switches = list(chain(*text_edits(KernelScope(launch, ["out_ptr"]))))
    assert switches and all(one.source is not None and not one.source.helper for one in switches)
    assert causes.known or causes.probed


def _expression(text: str) -> Any:
    return ast.parse(text, mode="eval").body


def test_parentheses_are_tried_around_neighbours_and_taken_away() -> None:
    tried = {ast.unparse(one) for one in regrouped(_expression("a - b + c * d"))}
    assert {"a - (b + c) * d", "a - (b + c * d)", "(a - b + c) * d"} <= tried
    assert {ast.unparse(one) for one in regrouped(_expression("(a + b) * c"))} == {"a + b * c"}
    assert "f(x + y)" in {ast.unparse(one) for one in regrouped(_expression("f(x) + y"))}
    assert not list(regrouped(_expression("a + b + c")))


def test_nested_indices_are_exchanged_with_their_extents() -> None:
    tried = {ast.unparse(one) for one in reordered(_expression("(a * B + b) * C + c"), {}, {})}
    assert tried == {"(a * C + c) * B + b", "(b * B + a) * C + c", "(c * B + b) * C + a"}


def test_the_outermost_index_gets_a_size_of_the_tensor() -> None:
    counts = {"A": 5.0, "B": 3.0, "C": 4.0, "N": 7.0, "rows": None}
    tried = {ast.unparse(one) for one in reordered(_expression("p + a * B + b"), counts, {"p": (5, 3)})}
    assert tried == {"p + (b * B + a)", "p + (b * A + a)", "p + (b * rows + a)"}
