"""Equal kernels are compiled once, others are not taken for each other; the report counts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.lazy.test_cache import compilations, done
from tests.wordings import Wording, line_of
from triton_lab import lazy
from triton_lab.lazy.compile_cache import cache
from triton_lab.lazy.graph import Dims, Graph, GraphOp, JoinedAxis
from triton_lab.lazy.hashing import ingredients


def floats(*shape: int, dtype: torch.dtype = torch.float32) -> lazy.Tensor:
    return lazy.tensor(torch.ones(shape), dtype=dtype)


def test_equal_kernels_of_one_graph_are_compiled_once() -> None:
    x, y, z = floats(5), floats(5), floats(5)
    with compilations() as seen:
        a, b, c = x * 2 + 1, y * 2 + 1, z * 3
        step = done()
    assert len(step.executable.kernels) == 3 and len(seen) == 2
    assert (a[0].item(), b[0].item(), c[0].item()) == (3, 3, 3)


def test_equal_kernels_of_two_graphs_are_compiled_once(wording: Wording) -> None:
    x = floats(5)
    y = x * 2 + 1
    done()
    other = floats(5)
    with compilations() as seen:
        z, total = x * 2 + 1, other.sum()
        step = done()
    assert not step.hit and len(step.executable.kernels) == 2 and len(seen) == 1
    wording(
        line_of(lazy.explain(step).text(), "compiled,"),
        new="1 kernel",
        number=step.number,
        nearest=step.nearest.key[:8],
    )
    assert (y[0].item(), z[0].item(), total.item()) == (3, 3, 5)


DIFFERENT: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
    "dtypes": (lambda: floats(4) + floats(4), lambda: floats(4, dtype=torch.float64) + floats(4, dtype=torch.float64)),
    "sizes": (lambda: floats(4) + floats(4), lambda: floats(5) + floats(5)),
    "numbers": (lambda: floats(4) + 1, lambda: floats(4) + 2),
    "strides": (lambda: floats(3, 3)[:2, :2].clone(), lambda: floats(3, 3)[1:, 1:].clone()),
    "order of operands": (lambda: floats(4) - floats(4) * 2, lambda: floats(4) * 2 - floats(4)),
    "operand used twice": (lambda: floats(4) - floats(4) * 2, lambda: (lambda x: x - x * 2)(floats(4))),
    "dimension": (lambda: floats(3, 3).sum(0), lambda: floats(3, 3).sum(1)),
    "operation": (lambda: floats(4).argmax(), lambda: floats(4).argmin()),
    "parts": (lambda: lazy.cat([floats(1), floats(3)]), lambda: lazy.cat([floats(3), floats(1)])),
    "indices": (lambda: floats(3, 3).gather(0, lazy.zeros(3, 3, dtype=torch.int64)),
                lambda: floats(3, 3).gather(1, lazy.zeros(3, 3, dtype=torch.int64))),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_kernels_that_differ_are_not_shared(name: str) -> None:
    with compilations() as seen:
        kept = [DIFFERENT[name][0](), done(), DIFFERENT[name][1](), done()]
    first, second = (step.executable for step in (kept[1], kept[3]) if isinstance(step, lazy.Step))
    assert not set(map(id, first.functions)) & set(map(id, second.functions)) and len(seen) >= 2


def test_in_place_and_not_in_place_are_two_kernels() -> None:
    with compilations() as seen:
        x = floats(4)
        x.add_(1)
        done()
        y = floats(4)
        z = y + 1
        done()
    assert len(seen) == 2 and (x[0].item(), y[0].item(), z[0].item()) == (2, 1, 2)


@pytest.mark.parametrize(("name", "first", "second"), [
    ("cat", JoinedAxis(0), JoinedAxis(1)), ("gather", JoinedAxis(0), JoinedAxis(1)),
    ("cumsum", JoinedAxis(0), JoinedAxis(1)),
    ("argmax", Dims((0,)), Dims((1,))), ("any", Dims((0,)), Dims((0, 1))),
])  # fmt: skip
def test_what_an_operation_goes_along_is_part_of_the_hash(
    name: str, first: JoinedAxis | Dims, second: JoinedAxis | Dims
) -> None:
    """Of equal shapes and dtypes: nothing else tells the two graphs apart."""
    keys = set()
    for attribute in (first, second):
        ops = (GraphOp("input", (), (2, 2), torch.int64), GraphOp(name, (0,), (2, 2), torch.int64, attribute))
        keys.add(ingredients(Graph(ops, (1,)), (), "here").key(True))
    assert len(keys) == 2


def test_the_report_counts_what_was_compiled_and_what_came_again() -> None:
    x, y = floats(5), floats(5)
    for _ in range(3):
        x.mul_(2)
        done()
    kept = y * 2, x.sum()
    done()
    report = lazy.report()
    totals = report.totals
    assert (totals.steps, totals.hits, totals.misses) == (4, 2, 2)
    assert totals.compiled_kernels == cache.totals().compiled_kernels == 3 and kept
    assert totals.compile_seconds > 0 and totals.run_seconds == pytest.approx(
        sum(use.run_seconds for use in totals.uses)
    )
    assert totals.compile_seconds == pytest.approx(sum(step.compile_seconds for step in lazy.history))
    assert [use.runs for use in totals.uses] == [3, 1]
    text = repr(report)
    assert text.startswith("4 steps: 2 hits, 2 misses\n") and "compiling: " in text and "mul_0" in text
    data, _ = report._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and data["text/plain"] == text
    x.mul_(2)
    done()
    assert totals.steps == 4 and totals.uses[0].runs == 3, "a report is of its moment"
    lazy.cache.clear()
    assert lazy.report().totals.steps == 0 and repr(lazy.report()).startswith("0 steps")
