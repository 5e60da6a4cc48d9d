"""How long it takes to compare large results with their bounds on rounding, and to draw them."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch.nn import functional

from .figure import AtMost, Figure
from .process import OURS, ProcessFailed, fresh

COMPARED, DRAWN = 10.0, 3.0  # seconds, on sixteen cores
QUICK = 8  # the part of the programs that a quick run has
NAMES = (
    "layer norm 4096x4096",
    "softmax 8192x8192",
    "softmax 4096x8192",
    "matmul 2048^3",
    "attention 4x16x2048x64",
)


def measure(quick: bool = False) -> list[Figure]:
    """Seconds of the clock on the wall for each case, in a process of its own."""
    figures = []
    for name in NAMES:
        try:
            found = fresh("comparing:time_case", name, QUICK if quick else 1, environment=OURS)
        except ProcessFailed as failure:
            figures.append(Figure(f"{name}: compare", float("nan"), "s", note=str(failure)))
            continue
        note = f"{found['verdict']}, {found['unknown']:,} not looked at, {found['processor']:.3g} s of processors"
        figures += [
            Figure(f"{name}: compare", found["compared"], "s", AtMost(COMPARED), note),
            Figure(f"{name}: draw", found["drawn"], "s", AtMost(DRAWN)),
        ]
    return figures


def time_case(name: str, part: int = 1) -> dict[str, float | str]:
    """Seconds for the comparison and for both forms of its picture, and how many elements it left open."""
    import triton_lab as lab

    run, expected = _cases(part)[name]()
    with lab.target("cpu"), lab.record(max_bytes=1 << 30) as launches:
        run()
    start, processor = time.perf_counter(), time.process_time()
    comparison = lab.compare(launches[-1], expected)
    compared, processor = time.perf_counter() - start, time.process_time() - processor
    verdict, unknown = comparison.verdict, sum(one.undecided for one in comparison if one.written)
    # The first picture of a process loads matplotlib.
    lab.compare(launches[-1], launches[-1]).plot(tries=False)._repr_mimebundle_()
    start = time.perf_counter()
    view = comparison.plot(tries=False)
    view._repr_mimebundle_()
    drawn = time.perf_counter() - start
    return {
        "compared": compared, "processor": processor, "drawn": drawn, "verdict": verdict, "unknown": unknown,
    }  # fmt: skip


Made = tuple[Callable[[], object], torch.Tensor | dict[str, torch.Tensor]]
Case = Callable[[], Made]


def _cases(part: int) -> dict[str, Case]:
    """Each case by name: makes the launch, and what was expected."""
    from triton_lab.examples import attention, layer_norm, matmul, softmax

    def rows(count: int, columns: int, seed: int = 0) -> torch.Tensor:
        return torch.randn(count // part, columns, generator=torch.Generator().manual_seed(seed))

    def normalised() -> Made:
        x, weight, bias = rows(4096, 4096), torch.rand(4096), torch.rand(4096)
        return lambda: layer_norm.layer_norm(x, weight, bias), {"y_ptr": functional.layer_norm(x, [4096], weight, bias)}

    def softmaxed(count: int) -> Case:
        def case() -> Made:
            x = rows(count, 8192)
            return lambda: softmax.softmax_forward(x), torch.softmax(x, 1)

        return case

    def multiplied() -> Made:
        a, b = rows(2048, 2048), rows(2048 * part, 2048, seed=1)
        return lambda: matmul.matmul(a, b), a @ b

    def attended() -> Made:
        q, k, v = (rows(64 * 2048, 64, seed).reshape(-1, 2048, 64) for seed in range(3))
        return lambda: attention.attention(q, k, v, causal=False), functional.scaled_dot_product_attention(q, k, v)

    return dict(zip(NAMES, (normalised, softmaxed(8192), softmaxed(4096), multiplied, attended), strict=True))
