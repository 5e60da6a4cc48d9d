"""Pictures that show a lot in little: of each view what it can look like, on launches and nests of few elements."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from unittest.mock import patch

import torch

import triton_lab as lab
from tests.launch.on_both import on_both
from tests.launch.swept import swept
from tests.views.kernels import (
    counts_kernel,
    gathers_kernel,
    line_kernel,
    pointers_kernel,
    slices_kernel,
    sums_kernel,
    tiles_kernel,
)
from triton_lab import KernelError, lazy
from triton_lab.backend.targets.autotuner_trials import Tried, Tuning
from triton_lab.launch.launch import Launch
from triton_lab.lazy import buffer
from triton_lab.lazy import step as steps
from triton_lab.lazy.compile_cache import Totals, Use
from triton_lab.polyhedral import Schedule, scop
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.polyhedral.related_work.three_ways import ragged_ways
from triton_lab.views.launch.card.launch_card import SHOWN, Card
from triton_lab.views.launch.card.launch_table import LaunchTable
from triton_lab.views.launch.storage.storage_view import storage
from triton_lab.views.lazy.lazy_report import LazyReport
from triton_lab.views.polyhedral.kernel_view import KernelView
from triton_lab.views.polyhedral.maximal_view import maximal_view
from triton_lab.views.polyhedral.page_view import PageFigures
from triton_lab.views.polyhedral.ragged_view import RaggedView
from triton_lab.views.polyhedral.three_ways_view import WaysView
from triton_lab.views.view import View


def recorded(run: Callable[[], object]) -> Launch:
    """The last launch, said to have taken a millisecond."""
    with lab.target("cpu"), lab.record() as launches, contextlib.suppress(KernelError):
        run()
    launch = launches[-1]
    launch.seconds = 0.001
    return launch


def compared() -> View:
    """A comparison whose causes are all tried, however long that takes."""
    comparison = lab.compare(sums(), lambda x_ptr, **_: x_ptr.sum(1) + 1)
    comparison.causes(seconds=600)
    return comparison.plot()


@cache
def sums() -> Launch:
    """Rows of a transposed tensor, each by a program in three steps, the last of which hangs over."""
    x = torch.arange(120.0).reshape(20, 6).t()
    return recorded(lambda: sums_kernel[(6,)](x, torch.zeros(6), 20, x.stride(1), BLOCK=8))


def tuned(launch: Launch) -> Launch:
    """The same as an autotuner of three configurations would have made it on a GPU."""
    tried = (
        Tried({"BLOCK": 8, "num_warps": 4}, 9e-6, 8.8e-6, 9.5e-6),
        Tried({"BLOCK": 16, "num_warps": 4}, 12e-6, 11e-6, 15e-6),
        Tried({"BLOCK": 32, "num_warps": 4}, *[float("inf")] * 3, "out of resource: shared memory"),
    )
    return replace(launch, tuning=Tuning("sums_kernel", "gpu", tried, 0, ("columns=20",)))


@cache
def tiles() -> Launch:
    """Tiles over both edges, and a division by zero."""
    x = torch.arange(9 * 14.0).reshape(9, 14)
    return recorded(lambda: tiles_kernel[(3, 4)](x, torch.zeros(14, 9), 9, 14, B=4))


@cache
def many() -> Launch:
    """More programs than colours, of blocks that overlap."""
    n = 700
    return recorded(lambda: line_kernel[(40,)](torch.arange(float(n)), torch.zeros(n), n, 18, BLOCK=32, MASKED=True))


@cache
def beyond() -> Launch:
    """No mask where one is needed."""
    return recorded(lambda: line_kernel[(4,)](torch.ones(50), torch.zeros(50), 50, 16, BLOCK=16, MASKED=False))


@cache
def slices() -> Launch:
    """Atomics into one line, from a tensor of three axes."""
    x = torch.arange(96.0).reshape(4, 3, 8)
    return recorded(lambda: slices_kernel[(6,)](x, torch.zeros(6), B=16))


def interleaving() -> View:
    """A lost update."""
    launch = recorded(lambda: counts_kernel[(3,)](torch.zeros(1, dtype=torch.int32), torch.zeros(3)))
    return launch.plot.interleaving((0, 2))


def pointers() -> View:
    """Into an argument, of a program that takes a branch that not all take."""
    launch = recorded(lambda: pointers_kernel[(4,)](torch.ones(32), torch.zeros(4), 3, B=8))
    return launch.plot.values("later", program=2)


def large() -> Launch:
    """So many elements that a cell stands for several."""
    return recorded(
        lambda: line_kernel[(500,)](torch.ones(900_000), torch.ones(900_000), 900_000, 2048, BLOCK=1024, MASKED=True)
    )


def race() -> View:
    x = torch.arange(70.0)
    launch = recorded(lambda: line_kernel[(5,)](x, torch.zeros(70), 70, 12, BLOCK=16, MASKED=True))
    return KernelView(lab.polyhedral.scop(launch))  # type: ignore[arg-type]


def proof() -> View:
    """Of one access in bounds, one that is not known, and one whose last lane leaves its tensor."""
    x, index = torch.zeros(20), torch.zeros(20, dtype=torch.int32)
    launch = recorded(lambda: gathers_kernel[(2,)](x, index, torch.zeros(20), 20, BLOCK=16))
    return lab.prove(launch, assume=["n >= 3", "not index_ptr in [0, x_ptr.shape[0])"], seconds=60).plot()


def ways() -> View:
    """All runs said to have taken a millisecond, and how far they are off left out."""
    made = ragged_ways()
    told = [
        tuple(re.sub(r"(?<=in )[\d.]+ [mµ]?s|(?<=NumPy: ).*", "1 ms", one) for one in way.measured)
        for way in made.every
    ]
    polyhedral, scheduling, blocks = (
        replace(way, measured=measured) for way, measured in zip(made.every, told, strict=True)
    )
    return WaysView(replace(made, polyhedral=polyhedral, scheduling=scheduling, blocks=blocks))


def step() -> View:
    lazy.cache.clear()
    lazy.history.clear()
    # Steps and memories are numbered from the process's first on.
    with patch.object(steps, "_numbers", itertools.count(1)), patch.object(buffer, "_places", itertools.count(1)):
        return _step()  # its picture asks nobody again


def _step() -> View:
    x, y = (lazy.tensor(torch.arange(12.0).reshape(3, 4), name=name) for name in "xy")
    x.mul_(0.5).add_(y)
    kept = (x - x.amax(1, keepdim=True)).exp() @ y.t()
    lazy.mark_step()
    del kept
    return lazy.explain()


def report() -> View:
    """Of two graphs, one of which ran twice."""
    uses = (Use("0123456789", ("add_0", "mul_1", "sum_2", "exp_3"), 2, 0.5, 0.004), Use("abcdef0123", (), 1, 0.0, 0.25))
    return LazyReport(Totals(1, 2, 3, 1, 0.5, 0.254, uses))


def skewed() -> Schedule:
    return scop(page_nests.SKEWED, n=6).schedule.skew("j", "i", 1).interchange("i", "j")


TRIANGLE = "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) A[i][j] = A[i][j-1];"
LINE = "for (int i = 2; i < 9; i++) A[i] = A[i-2];"
WIDE = "for (int i = 0; i < 3; i++) for (int j = 0; j < 60; j++) A[i][j] = 0;"
TALL = "for (int i = 40; i < 90; i++) for (int j = 0; j < 4; j++) A[i][j] = A[i-1][j];"
BELOW = "for (int i = -6; i < 5; i++) for (int j = -3; j < i; j++) A[j] = A[j] + 1;"
GAPS = """for (int i = 0; i < 14; i += 3) for (int j = i; j < 20; j += 4) {
    if (i + j > 9) A[i][j] = 1;
    B[j][i] = 2;
}"""
BOX = "for (int i = 0; i < 5; i++) for (int j = 0; j < 3; j++) for (int k = j; k < 4; k++) A[i][k] = A[i-1][k];"
PARTLY_AFFINE = "for (int i = 0; i < n; i++) A[i] = 0;\nwhile (p) x = f(x);\nfor (int i = 0; i < n; i++) B[i] = A[i];\n"

LAUNCHED: dict[str, Callable[[], View]] = {
    "card": lambda: Card(sums(), SHOWN),
    "card of a failure": lambda: Card(beyond(), ("tiling", "findings")),
    "launches": lambda: LaunchTable([sums(), tiles(), sums()], lambda launch: Card(launch, ("grid",))),
    "tiling of rows": lambda: sums().plot.tiling("x_ptr", program=2),
    "tiling over edges": lambda: tiles().plot.tiling("x_ptr"),
    "tiling of many": lambda: many().plot.tiling("out_ptr", program=7),
    "tiling of slices": lambda: slices().plot.tiling("x_ptr"),
    "tiling past the end": lambda: beyond().plot.tiling("x_ptr"),
    "tiling of bins": lambda: large().plot.tiling("x_ptr", program=250),
    "counts": lambda: tiles().plot.accesses("x_ptr"),
    "programs": lambda: many().plot.accesses("out_ptr", "program"),
    "iterations": lambda: sums().plot.accesses("x_ptr", "iteration", program=1, iteration=1),
    "reuse": lambda: many().plot.accesses("x_ptr", "reuse"),
    "order": lambda: tiles().plot.accesses(tiles().accesses[-1], "order"),
    "values of an access": lambda: tiles().plot.accesses("out_ptr", "values"),
    "bytes": lambda: sums().plot.accesses("x_ptr", "count", "storage"),
    "timeline of a program": lambda: tiles().plot.timeline("out_ptr", program=5),
    "storage": lambda: sums().plot.storage(),
    "storage of views": lambda: storage(*torch.arange(48.0).reshape(4, 12)[:, ::2].split(2, 1), names=["a", "b", "c"]),
    "grid": lambda: tiles().plot.grid(),
    "waves": lambda: many().plot.grid("wave", sms=16),
    "shared": lambda: many().plot.grid("shared", program=20),
    "variable": lambda: sums().values("total").view(2, 1),
    "variable with NaN": lambda: tiles().plot.values("x", program=1),
    "pointers": pointers,
    "held": lambda: sums().plot.values(program=1),
    "interleaving": interleaving,
    "origins": lambda: sums().plot.origins(program=3, lane=0),
    "autotuned": lambda: tuned(sums()).plot.autotune(),
    "sweep": lambda: swept().plot(),
    "two programs": lambda: tiles().values("x").compare(programs=(0, 5)),
    "card of both": lambda: Card(on_both(sums()), ("grid",), both=True),
    "comparison": compared,
    "product": lambda: lab.tiled_product(torch.empty(100, 70), torch.empty(70, 90), tile=(32, 16), program=(3, 5)),
}
NESTS: dict[str, Callable[[], View]] = {
    "page": PageFigures,
    "triangle": lambda: scop(TRIANGLE, n=6).plot(dependences="value"),
    "triangle, one instance": lambda: scop(TRIANGLE, n=5).plot(instance=(1, 3), order=True),
    "skewed": lambda: (
        scop(page_nests.SKEWED, n=6)
        .schedule.skew("j", "i", 1)
        .interchange("i", "j")
        .plot(dependences="value", order=True)
    ),
    "tiled": lambda: scop(page_nests.TRANSPOSE, n=7).schedule.tile({"i": 3, "j": 2}).plot(time=True),
    "parallel": lambda: scop(page_nests.WAVEFRONT, n=6).schedule.automatic().plot(),
    "illegal": lambda: scop(page_nests.WAVEFRONT, n=4).schedule.matrix([[0, -1], [1, 0]]).plot(dependences="memory"),
    "line": lambda: scop(LINE).plot(dependences="value"),
    "statements": lambda: scop(page_nests.STENCIL, n=5).plot(dependences="memory"),
    "wide": lambda: scop(WIDE).plot(),
    "tall": lambda: scop(TALL).plot(dependences="value"),
    "below zero": lambda: scop(BELOW).plot(dependences="memory", order=True),
    "long line": lambda: scop("for (int i = 3; i < 75; i++) A[i] = A[i-3];").plot(dependences="value"),
    "steps and gaps": lambda: scop(GAPS).plot(order=True),
    "large tiles": lambda: scop(page_nests.TRANSPOSE, n=14).schedule.tile({"i": 5, "j": 3}).plot(),
    "box": lambda: scop(BOX).plot(dependences="value"),
    "cube": lambda: scop(page_nests.MATMUL, n=2).plot(dependences="value", order=True),
    "race": race,
    "proof": proof,
    "ragged": RaggedView,
    "ways": ways,
    "partly affine": lambda: maximal_view(scop(PARTLY_AFFINE, maximal=True)),
}
STEPS: dict[str, Callable[[], View]] = {"step": step, "report": report}


def blocked(rows: int) -> lab.Layout:
    return lab.layout(
        "blocked", (rows, 16), size_per_thread=[1, 4], threads_per_warp=[8, 4], warps_per_cta=[2, 1], order=[1, 0]
    )


LAYOUTS: dict[str, Callable[[], View]] = {
    "layout": lambda: blocked(16).plot(element=(9, 6)),
    "layout with copies": lambda: blocked(8).plot(warp=1, lane=9),
    "conversion": lambda: (
        blocked(16)
        .to(
            lab.layout(
                "linear", register=[[1, 0], [2, 0]], lane=[[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp=[[0, 8]]
            )
        )
        .plot(element=(9, 6))
    ),
    "layout of shared memory": lambda: lab.layout(
        "swizzled_shared", (16, 16), vec=4, per_phase=1, max_phase=4, order=[1, 0], bits=16
    ).plot(),
}

PICTURES = {**LAUNCHED, **NESTS, **STEPS, **LAYOUTS}
