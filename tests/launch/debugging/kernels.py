"""Kernels for the debugger, and the same functions run by Python itself, line by line."""

from __future__ import annotations

import sys
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.launch import Launch

SIZE = 8


@triton.jit
def halved(v, k):
    w = v * 0.5
    if k > 1:
        w = w + 1
    return w


@triton.jit
def summed(x, out, n, SIZE: tl.constexpr):
    """Sums rows."""
    pid = tl.program_id(0)
    i = pid * SIZE + tl.arange(0, SIZE)
    acc = tl.zeros([SIZE], tl.float32)
    for k in range(0, n):
        v = tl.load(x + i)
        acc += halved(v, k) + halved(v, 0)
        if k == 1:
            acc = acc - 1
    left = n
    while left > 0:
        left = left - 2
    if pid == 1:  # noqa: SIM108 (statements that the debugger steps through)
        acc = acc * 2
    else:
        acc = acc * 3
    tl.store(out + i, acc)


@triton.jit
def stopping(x, out, SIZE: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * SIZE + tl.arange(0, SIZE)
    v = tl.load(x + i)
    if pid == 2:
        breakpoint()
    tl.store(out + i, v)


def launched(kernel: Any, programs: int = 4, *more: Any) -> Launch:
    """A recorded launch of one of these, over floats 0, 1, 2 ..."""
    x, out = torch.arange(float(programs * SIZE)), torch.empty(programs * SIZE)
    with lab.record() as launches:
        kernel[(programs,)](x, out, *more, SIZE)
    return launches[0]


class _Memory:
    """A pointer into an array, as far as these kernels need it."""

    def __init__(self, data: Any, at: Any = 0) -> None:
        self.data, self.at = data, at

    def __add__(self, offset: Any) -> _Memory:
        return _Memory(self.data, self.at + offset)


def in_python(program: int, count: int, programs: int = 4) -> tuple[list[tuple[str, int, dict[str, Any]]], Any]:
    """What CPython does in `summed`: function, line and locals at each line event; and what it stored."""
    out = np.zeros(programs * SIZE, np.float32)
    data = np.arange(programs * SIZE, dtype=np.float32)
    language = SimpleNamespace(
        program_id=lambda axis: program,
        arange=np.arange,
        zeros=lambda shape, dtype: np.zeros(shape, np.float32),
        float32=np.float32,
        load=lambda pointer: pointer.data[pointer.at],
        store=lambda pointer, value: pointer.data.__setitem__(pointer.at, value),
        constexpr=int,
    )
    codes: dict[CodeType, str] = {}
    scope: dict[str, Any] = {"tl": language}
    for kernel in (halved, summed):
        function = kernel.fn
        copied = type(function)(function.__code__, scope, function.__name__)
        scope[function.__name__] = copied
        codes[function.__code__] = function.__name__
    events: list[tuple[str, int, dict[str, Any]]] = []

    def traced(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code not in codes:
            return None
        if event == "line":
            kept = {name: np.array(value) for name, value in frame.f_locals.items() if not isinstance(value, _Memory)}
            events.append((codes[frame.f_code], frame.f_lineno, kept))
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        scope["summed"](_Memory(data), _Memory(out), count, SIZE)
    finally:
        sys.settrace(before)
    return events, out
