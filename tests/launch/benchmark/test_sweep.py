"""Functions measured over sizes and configurations, on the CPU target; `tests/backend/test_sweeping.py` has a GPU's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

import triton_lab as lab
from tests.launch.swept import PEAKS, products, swept
from tests.wordings import Wording
from triton_lab.examples.vector_add import add
from triton_lab.launch.benchmark import sweep as module
from triton_lab.launch.benchmark.benchmark_result import Peaks


def mine(n: int, block: int = 128) -> Callable[[], Any]:
    x, y = torch.ones(n), torch.ones(n)
    return lambda: add(x, y, block=block)


def of_torch(n: int) -> Callable[[], Any]:
    if n == 300:
        raise RuntimeError("wrong size\nnor of others")
    x = torch.ones(n)
    return lambda: x + x


def test_every_function_size_and_configuration_has_its_row() -> None:
    configs = [{"block": 64}, {"block": 256}]
    found = lab.sweep({"mine": mine, "torch": of_torch}, [256, 1000], configs=configs, seconds=0.005)
    assert [(row.name, row.size, row.config.get("block")) for row in found] == [
        (name, size, block) for size in (256, 1000) for name, block in (("mine", 64), ("mine", 256), ("torch", None))
    ]
    assert all(row.time is not None and row.time.median > 0 and row.time.runs >= 1 for row in found)
    assert [row.line for row in found][:3] == ["mine (block=64)", "mine (block=256)", "torch"]


def test_bytes_are_counted_of_the_launches_accesses() -> None:
    found = lab.sweep({"torch": of_torch, "mine": mine}, [256, 1000], seconds=0.001)
    assert [row.bytes for row in found] == [3 * 4 * 256] * 2 + [3 * 4 * 1000] * 2, "masked lanes move nothing"
    assert all(row.flops is None for row in found)


def test_what_the_user_says_of_the_work_goes_before() -> None:
    (row,) = lab.sweep(mine, [64], bytes=lambda n: 8 * n, flops=lambda n: n, seconds=0.001)
    assert (row.bytes, row.flops) == (512, 64)
    assert row.bytes_per_second == pytest.approx(512 / row.seconds)


def test_counting_ends_where_the_interpreter_takes_too_long(wording: Wording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    found = lab.sweep(mine, [64, 128], seconds=0.001)
    assert [row.bytes for row in found] == [768, None]
    (remark,) = found.remarks
    wording(remark, axis="n", size=64)


def test_what_one_function_raises_is_told_and_the_others_go_on() -> None:
    def late(n: int) -> Callable[[], Any]:
        def run() -> None:
            raise ZeroDivisionError

        return run

    found = lab.sweep({"torch": of_torch, "late": late, "mine": mine}, [200, 300], seconds=0.001)
    assert [(row.name, row.size, row.error) for row in found if row.error] == [
        ("late", 200, "ZeroDivisionError"),
        ("torch", 300, "RuntimeError: wrong size"),
        ("late", 300, "ZeroDivisionError"),
    ]
    assert all(math.isnan(row.seconds) for row in found if row.error)
    told = repr(found)
    assert "torch at n = 300: RuntimeError: wrong size" in told
    assert "late at n = 200, 300: ZeroDivisionError" in told


@pytest.mark.parametrize(
    ("label", "functions", "sizes", "facts"),
    [
        ("no sizes", mine, [], {}),
        ("no function", {}, [1], {}),
        ("no callable", {"x": 3}, [1], {"name": "x", "type": "int"}),
        ("a fraction", mine, [0.5], {"size": 0.5}),
        ("a negative size", mine, [-1], {"size": -1}),
        ("a tensor", lambda n: torch.ones(n), [4], {"name": "function", "type": "Tensor", "size": 4}),
    ],
)
def test_what_cannot_be_measured_is_refused(
    wording: Wording, label: str, functions: Any, sizes: Any, facts: dict[str, Any]
) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        lab.sweep(functions, sizes)
    wording(caught.value, label, **facts)


def test_nobody_else_hears_of_its_launches() -> None:
    with lab.record() as launches:
        lab.sweep(mine, [64], seconds=0.001)
    assert launches == []


def test_on_the_cpu_there_is_no_rate_and_no_share() -> None:
    found = lab.sweep(mine, [64], bytes=lambda n: 12 * n, seconds=0.001)
    (row,) = found
    assert found.target == "cpu" and found.quantity == "time" and found.peaks is None
    assert found.rate(row) is None and found.share(row) is None


def test_the_roof_over_work_that_memory_holds_back() -> None:
    assert PEAKS.attainable(100.0, None) == 2.5e12
    assert PEAKS.attainable(None, 100.0) == 5e14
    assert PEAKS.attainable(100.0, 1000.0) == 2.5e13, "ten flops for each byte"
    assert PEAKS.attainable(1.0, 1e6) == 5e14


def test_rates_and_shares_on_a_gpu() -> None:
    found = swept()
    row = next(row for row in found if row.line == "torch" and row.size == 1 << 20)
    assert found.quantity == "bytes"
    assert found.rate(row) == pytest.approx(12 * (1 << 20) / row.seconds)
    assert found.share(row) == pytest.approx(found.rate(row) / 2.5e12)  # type: ignore[operator]
    matrices = products()
    first = matrices.rows[0]
    assert matrices.quantity == "flops"
    roof = 2.5e12 * 2 * 128**3 / (6 * 128**2)
    assert matrices.share(first) == pytest.approx(first.flops_per_second / roof)  # type: ignore[operator]
    assert isinstance(matrices.peaks, Peaks)


@pytest.mark.parametrize(
    ("functions", "axis", "found"),
    [
        (mine, "", "n"),
        ({"a": mine, "b": of_torch}, "", "n"),
        ({"a": mine, "b": lambda columns: mine(columns)}, "", ""),
        (lambda _: mine(8), "", ""),
        (mine, "programs", "programs"),
    ],
)
def test_the_axis_has_a_name(functions: Any, axis: str, found: str) -> None:
    swept = lab.sweep(functions, [64], seconds=0.001, axis=axis)
    assert swept.axis == found
    view = swept.plot()
    assert view.headings[1] == view.axis == (found or "size")
