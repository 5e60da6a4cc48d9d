"""A launch of our own that is never shown: it imports, reads and builds everything that a first picture needs."""

# A kernel's parameters are pointers and scalars of the device, which have no Python types.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from triton import knobs

from triton_lab.launch.launch import Launch


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


def harmless() -> bool:
    """Whether a launch has no effect on the user: no GPU, no interpreter of Triton's, and no hooks."""
    from triton_lab.backend.plugin.launcher import progress
    from triton_lab.backend.plugin.recorders import recorders
    from triton_lab.backend.targets.gpu import gpu_driver_class

    told = [getattr(found, "calls", found) for found in map(_knob, _HOOKS)]
    return gpu_driver_class() is None and not (knobs.runtime.interpret or progress or recorders.hearing() or any(told))


_HOOKS = (
    ("runtime", "launch_enter_hook"),
    ("runtime", "launch_exit_hook"),
    ("runtime", "kernel_load_start_hook"),
    ("runtime", "kernel_load_end_hook"),
    ("runtime", "jit_cache_hook"),
    ("runtime", "jit_post_compile_hook"),
    ("compilation", "listener"),
)


def _knob(name: tuple[str, str]) -> Any:
    """One of Triton's hooks; None if this version has no such hook."""
    return getattr(getattr(knobs, name[0]), name[1], None)


def launch() -> Launch:
    """The launch, recorded and checked."""
    from triton_lab.launch.recording.last_launch import of_the_lab
    from triton_lab.launch.recording.record import record

    x = torch.zeros(10)
    with of_the_lab(), record() as launches:
        double[(2,)](x, torch.zeros(10), 10, BLOCK=8)
    launches[0].findings  # noqa: B018  (computed now)
    return launches[0]


def show(launch: Launch) -> None:
    """Make its picture, and discard it."""
    from triton_lab.views.drawing.png import png
    from triton_lab.views.launch.card.launch_card import Card
    from triton_lab.views.scene_packing import packed

    card = Card(launch)
    packed(card.saved())
    card.text()
    png(card.figure())
