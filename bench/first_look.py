"""What the first look at a launch costs: from Run to its picture, from its end to its card, and to that of each tab;
how large the course's notebooks are, and how soon the pictures of a saved one are live.

Seconds are the processor's, with one thread: a busy machine spoils them less than those of a clock on the wall. (A
browser's alone are the clock's.)
"""

# Kernels' parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import compileall
import math
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import triton
import triton.language as tl

from .figure import AtMost, Figure
from .process import OURS, ProcessFailed, fresh
from .speed import ONE_THREAD

if TYPE_CHECKING:
    import torch

RUN, CARD, TAB = 0.3, 0.5, 0.5  # seconds
NOTEBOOK = 1.0  # MB
SMALL_TAB = 0.3  # of what is small
REOPENED = 0.5
PACKAGE = Path(__file__).parents[1] / "triton_lab"
NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
QUICK = ("matmul 512^3", "10,000 small programs")


@triton.jit
def gather(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + at, mask=at < n)
    tl.store(out_ptr + at, tl.load(x_ptr + index, mask=at < n), mask=at < n)


@triton.jit
def histogram(x_ptr, bins_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.atomic_add(bins_ptr + value, 1, mask=at < n)


@triton.jit
def add_at(x_ptr, index_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + at, mask=at < n)
    tl.store(x_ptr + index, tl.load(x_ptr + index, mask=at < n) + 1, mask=at < n)


def _matmul(size: int) -> Callable[[], object]:
    import torch

    from triton_lab.examples.matmul import matmul

    a, b = torch.rand(size, size), torch.rand(size, size)
    return lambda: matmul(a, b, block_m=32, block_n=32, block_k=32)


def _softmax() -> Callable[[], object]:
    import torch

    from triton_lab.examples import example

    x = torch.rand(8192, 781)
    return lambda: example("softmax").run(x=x)


def _gather() -> Callable[[], object]:
    import torch

    count = 10_000_000
    index = torch.randint(0, count, (count,), dtype=torch.int32)
    x, out = torch.rand(count), torch.empty(count)
    return lambda: gather[(triton.cdiv(count, 8192),)](x, index, out, count, BLOCK=8192)


def _histogram() -> Callable[[], object]:
    import torch

    count = 1_000_000
    x, bins = torch.randint(0, 256, (count,), dtype=torch.int32), torch.zeros(256, dtype=torch.int32)
    return lambda: histogram[(triton.cdiv(count, 1024),)](x, bins, count, BLOCK=1024)


def _add_at() -> Callable[[], object]:
    import torch

    count = 10_000_000
    index, x = torch.randint(0, count, (count,), dtype=torch.int32), torch.zeros(count)
    return lambda: add_at[(triton.cdiv(count, 8192),)](x, index, count, BLOCK=8192)


def _million() -> Callable[[], object]:
    import torch

    from triton_lab.examples.vector_add import add

    x: torch.Tensor = torch.rand(16_000_000 - 13)
    return lambda: add(x, x, 16)


def _small() -> Callable[[], object]:
    import torch

    from triton_lab.examples.vector_add import add

    x: torch.Tensor = torch.rand(640_000 - 13)
    return lambda: add(x, x, 64)


LAUNCHES: dict[str, Callable[[], Callable[[], object]]] = {
    "matmul 512^3": lambda: _matmul(512),
    "matmul 1024^3": lambda: _matmul(1024),
    "softmax 8192x781": _softmax,
    "histogram of 10^6, atomics": _histogram,
    "gather of 10^7 scattered lanes": _gather,
    "10^7 scattered lanes that race": _add_at,
    "10^6 programs": _million,
    "10,000 small programs": _small,
}


def measure(quick: bool = False) -> Iterable[Figure]:
    """Of a cell in a fresh kernel, idle before or not, and run again: seconds from Run to the first picture. Largest
    notebook, and a saved one opened. Per launch: seconds to its card with the first live picture, which comes before
    the findings where these take long, that over the launch's, and of tabs.
    """
    yield from _from_run()
    yield _largest_notebook()
    if not quick:
        yield _reopened()
    for name in QUICK if quick else LAUNCHES:
        seconds = fresh("first_look:time_launch", name, environment=OURS | ONE_THREAD)
        launch, card = seconds.pop("launch"), seconds.pop("card")
        parts = [f"{part} {seconds.pop(part):.2g} s" for part in ("findings", "scene", "picture")]  # the file's PNG
        note = f"launch {launch:.2g} s; {', '.join(parts)}"
        yield Figure(f"{name}: card with its first live picture", card, "s", AtMost(CARD), note)
        yield Figure(f"{name}: that over the recorded launch", card / launch, "times")
        slowest = max(seconds, key=lambda tab: seconds[tab])
        told = ", ".join(f"{tab} {each:.2g}" for tab, each in seconds.items())
        limit = SMALL_TAB if name in QUICK else TAB
        yield Figure(f"{name}: slowest tab, {slowest}", seconds[slowest], "s", AtMost(limit), told)


def _from_run() -> list[Figure]:
    """Seconds of the kernel's process from Run to the live picture, and until the file's PNG is there too."""
    compileall.compile_dir(PACKAGE, quiet=2)  # as pip does: nobody who has installed the wheel waits for that
    figures = []
    for what, idle in (("at once after the imports", False), ("after the kernel was idle", True)):
        first, second = fresh("notebook_run:time_runs", idle, environment=OURS | ONE_THREAD)
        for name, (shown, complete, clock) in ((what, first), (f"{what}, run again", second)):
            note = f"{complete:.2g} s with the PNG; by the clock {clock:.2g} s to the first"
            figures.append(Figure(f"small kernel, {name}: Run to first picture", shown, "s", AtMost(RUN), note))
    return figures


def _largest_notebook() -> Figure:
    sizes = {path.stem: path.stat().st_size / 1e6 for path in NOTEBOOKS.glob("*.ipynb")}
    largest = max(sizes, key=lambda name: sizes[name])
    told = ", ".join(f"{name} {size:.2g}" for name, size in sorted(sizes.items()))
    return Figure(f"largest notebook of the course, {largest}", sizes[largest], "MB", AtMost(NOTEBOOK), told)


def _reopened() -> Figure:
    name = "first notebook of the course, saved: scrolling to its first live picture"
    try:
        seconds = fresh("reopening:time_reopening", "00_first_kernel", environment=OURS)
    except ProcessFailed as failure:  # no browser here
        return Figure(name, math.nan, "s", AtMost(REOPENED), str(failure))
    return Figure(name, seconds, "s", AtMost(REOPENED), "by the clock, in JupyterLab")


def time_launch(name: str) -> dict[str, float]:
    """Seconds of a recorded launch, of its card and what that is made of, and of what each tab opens with."""
    import torch

    import triton_lab
    from triton_lab.examples.vector_add import add
    from triton_lab.launch.recording.progress_callback import waiting
    from triton_lab.notebook.cell.show_launches import PATIENCE, not_yet_checked
    from triton_lab.views.drawing.png import png
    from triton_lab.views.launch.card.card_parts import opened, tabs
    from triton_lab.views.launch.card.launch_card import Card

    torch.set_num_threads(1)
    torch.manual_seed(0)
    with triton_lab.record() as launches:
        add(torch.rand(1000), torch.rand(1000))
    Card(launches[0])._repr_mimebundle_()  # imported now

    found: dict[str, float] = {}

    def timed(what: str, run: Callable[[], object]) -> None:
        start = time.process_time()
        run()
        found[what] = time.process_time() - start

    run = LAUNCHES[name]()
    run()  # compiled now
    with triton_lab.record() as launches:
        timed("launch", run)
    launch = launches[0]
    start = time.process_time()

    def unchecked() -> None:
        card = Card(not_yet_checked(launch))
        card.scene(), card.brief()
        found["card"] = time.process_time() - start

    with waiting(time.monotonic() + PATIENCE, unchecked):
        timed("findings", lambda: launch.findings)
    card = Card(launch)
    timed("scene", lambda: (card.scene(), card.brief()))
    timed("picture", lambda: png(card.figure()))
    found.setdefault("card", found["findings"] + found["scene"])
    fresh_card = Card(launch)  # which has drawn nothing yet
    for tab in tabs(fresh_card):
        timed(tab["label"], lambda tab=tab: opened(fresh_card, tab["name"]))
    return found
