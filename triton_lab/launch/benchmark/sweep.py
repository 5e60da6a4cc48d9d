"""`sweep`: measures functions over sizes and configurations, and compares them with each other and the GPU's peak."""

from __future__ import annotations

import inspect
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from triton_lab.backend.plugin.recorders import recorders
from triton_lab.backend.targets.active_target import TargetError, current
from triton_lab.backend.targets.gpu_timer import SECONDS, Time, device_name, measured
from triton_lab.launch.benchmark.benchmark_result import Peaks, Sweep, SweepRow
from triton_lab.launch.benchmark.byte_traffic import PATIENCE, bytes_of
from triton_lab.localization import _

Function = Callable[..., Callable[[], object]]
Work = Callable[[int], float]
_MOST_ON_CPU = 20  # runs
# What is copied and multiplied to see what a GPU reaches at best.
COPIED = 256 << 20  # bytes, several times what the caches hold
ROWS = 8192  # of the square matrices
_LEAST = 1024  # bytes, or rows


def sweep(
    functions: Function | Mapping[str, Function],
    sizes: Iterable[int],
    *,
    configs: Sequence[Mapping[str, Any]] = (),
    bytes: Work | None = None,
    flops: Work | None = None,
    dtype: str = "float16",
    seconds: float = SECONDS,
    axis: str = "",
) -> Sweep:
    """Measure ``functions`` over ``sizes``, with each of ``configs`` if they take such parameters.

    A function gets the size, prepares its data, and returns a function without arguments, which is timed. So making
    tensors and compiling are not counted. Several functions, for example one of torch, are given by name. ``configs``
    are keyword arguments, such as ``{"BLOCK": 128, "num_warps": 4}``; a function that lacks a parameter for one of them
    is measured once. ``axis`` says what a size counts, such as "programs" or "columns"; without it, the figure has the
    name of the functions' own parameter.

    ``bytes`` and ``flops`` give for a size the bytes that one run moves and the operations that it computes. With
    neither, the bytes of one run are counted on the CPU target, as long as the interpreter is fast enough. On a GPU the
    figure shows bytes or flops per second, also as a fraction of this GPU's peak: a copy and a large product of
    ``dtype``, measured once. Each point takes about ``seconds``, by the GPU's events (see `Time`). On the CPU target
    the figure shows how each time grows and compares nothing, as the interpreter's times say nothing about a GPU.

    If a function raises, its row has the error, and the others go on. Raises TypeError if an item is no function or
    returns none, ValueError without a size, TargetError if launches go to a GPU of another machine.

    >>> def mine(n, block=128):
    ...     x, y = torch.ones(n), torch.ones(n)
    ...     return lambda: add(x, y, block=block)
    >>> def of_torch(n):
    ...     x, y = torch.ones(n), torch.ones(n)
    ...     return lambda: x + y
    >>> found = lab.sweep({"mine": mine, "torch": of_torch}, [256, 1024],
    ...                   configs=[{"block": 64}, {"block": 256}], seconds=0.01)
    >>> [(row.line, row.size, row.bytes) for row in found][:3]
    [('mine (block=64)', 256, 3072), ('mine (block=256)', 256, 3072), ('torch', 256, 3072)]
    """
    _has_a_clock()
    named = _named(functions)
    sizes = [_size(one) for one in sizes]
    if not sizes:
        raise ValueError(_("sweep needs sizes to measure, such as [2**k for k in range(10, 24)]"))
    remarks: list[str] = []
    axis = axis or _parameter(named.values())
    work = _Work(bytes, flops, remarks, axis or _("size"))
    rows: list[SweepRow] = []
    for size in sizes:
        cases = [
            (name, config, function)
            for name, function in named.items()
            for config in (configs if configs and _takes(function, configs) else [{}])
        ]
        made = [_prepared(name, function, size, config) for name, config, function in cases]
        moved = work.of(size, [run for run in made if callable(run)])
        for (name, config, _unused), run in zip(cases, made, strict=True):
            found = run if isinstance(run, str) else _timed(run, seconds)
            told = {"error": found} if isinstance(found, str) else {"time": found}
            rows.append(SweepRow(name, size, dict(config), bytes=moved[0], flops=moved[1], **told))
    target = current()
    return Sweep(tuple(rows), target, _peaks(dtype) if target == "gpu" else None, tuple(remarks), axis)


def _has_a_clock() -> None:
    """Raise TargetError for a GPU of another machine, as the network's time would be measured too."""
    from triton.runtime import driver

    from triton_lab.backend.targets.benchmark_events import DeviceInterface

    if current() == "gpu" and driver.active.get_device_interface() is DeviceInterface:
        raise TargetError(
            _(
                "lab.sweep measures a GPU of this machine, but launches run on another machine now. Run the sweep "
                "there, or measure single launches with lab.record(time=True)"
            )
        )


def _named(functions: Any) -> dict[str, Function]:
    found = dict(functions) if isinstance(functions, Mapping) else {_name(functions): functions}
    for name, function in found.items():
        if not callable(function):
            raise TypeError(
                _(
                    "{name} is {name_2}, but must be a function that takes the size and returns the function to time"
                ).format(name=name, name_2=type(function).__name__)
            )
    if not found:
        raise ValueError(_("sweep needs a function to measure, or several by name"))
    return found


def _name(function: Any) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return "function" if name == "<lambda>" else name


def _size(one: Any) -> int:
    if isinstance(one, bool) or not hasattr(one, "__index__"):
        raise TypeError(_("a size must be an integer, not {one}").format(one=repr(one)))
    size = one.__index__()
    if size <= 0:
        raise ValueError(_("a size must be positive, not {size}").format(size=size))
    return int(size)


def _parameter(functions: Iterable[Function]) -> str:
    """The name of the parameter that gets the size, if all functions call it the same; else empty."""
    names = set()
    for function in functions:
        try:
            names.add(next(iter(inspect.signature(function).parameters), ""))
        except ValueError:  # a builtin may have no signature
            return ""
    return names.pop().strip("_") if len(names) == 1 else ""


def _takes(function: Function, configs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a function has a parameter for each name in ``configs``."""
    parameters = inspect.signature(function).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        return True
    return all(name in parameters for config in configs for name in config)


def _prepared(name: str, function: Function, size: int, config: Mapping[str, Any]) -> Callable[[], object] | str:
    """The function to time, or the text of the error that preparing it raised."""
    try:
        with recorders.unrecorded():
            run = function(size, **config)
    except Exception as error:
        return _raised(error)
    if not callable(run):
        raise TypeError(
            _(
                "{name} returned {name_2} for the size {size}, but must return the function to time: prepare the "
                "inputs, then return a function without arguments, as in `return lambda: kernel[grid](...)`"
            ).format(name=name, name_2=type(run).__name__, size=size)
        )
    return run


def _raised(error: Exception) -> str:
    first = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _timed(run: Callable[[], object], seconds: float) -> Time | str:
    """The time of ``run``, or the text of the error that it raised."""
    from triton.runtime import driver

    try:
        with recorders.unrecorded():
            if current() == "cpu":
                return Time.of(_on_cpu(run, seconds))
            run()  # compiles, and lets an autotuner choose
            return Time.of(measured(run, driver.active, seconds), device_name(driver.active))
    except Exception as error:
        return _raised(error)


def _on_cpu(run: Callable[[], object], seconds: float) -> list[float]:
    """The seconds of each run; the first run compiles and does not count."""

    def once() -> float:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    once()
    found = [once()]
    while sum(found) < seconds and len(found) < _MOST_ON_CPU:
        found.append(once())
    return found


class _Work:
    """The bytes and flops of one run by size: from the user's functions, or the bytes counted."""

    def __init__(self, bytes: Work | None, flops: Work | None, remarks: list[str], axis: str) -> None:
        self._bytes, self._flops, self._remarks, self._axis = bytes, flops, remarks, axis
        self._counts = bytes is None and flops is None

    def of(self, size: int, runs: Sequence[Callable[[], object]]) -> tuple[float | None, float | None]:
        """Bytes and flops; None for what is not known."""
        if not self._counts:
            return (
                None if self._bytes is None else self._bytes(size),
                None if self._flops is None else self._flops(size),
            )
        for run in runs:
            try:
                found, took = bytes_of(run)
            except Exception:  # the error is reported when the function is timed
                continue
            if took > PATIENCE:
                self._counts = False
                self._remarks.append(
                    _("bytes were not counted beyond {axis} = {size}. Pass them: bytes=lambda n: ...").format(
                        axis=self._axis, size=size
                    )
                )
            if found is not None:
                return found, None
        return None, None


_known_peaks: dict[tuple[str, str], Peaks] = {}


def _peaks(dtype: str) -> Peaks:
    """What this GPU reaches at best, measured once in a process: a copy of its memory, and a large product of matrices
    of ``dtype``, by torch's name, such as "float16"."""
    from triton.runtime import driver

    active = driver.active
    key = device_name(active), dtype
    if key not in _known_peaks:
        copied, took = _largest(lambda size: _copy(active, size), COPIED)
        rows, product = _largest(lambda size: _product(active, size, dtype), ROWS)
        _known_peaks[key] = Peaks(2 * copied / took, 2 * rows**3 / product, dtype, key[0])
    return _known_peaks[key]


def _largest(seconds: Callable[[int], float], size: int) -> tuple[int, float]:
    """Of that size, or of the largest half, quarter, ... of it for which the GPU has memory."""
    import torch

    while True:
        try:
            return size, seconds(size)
        except torch.OutOfMemoryError:
            if size <= _LEAST:
                raise
            size //= 2


def _copy(driver: Any, size: int) -> float:
    import torch

    there = torch.ones(size, dtype=torch.uint8, device=driver.get_active_torch_device())
    other = torch.empty_like(there)
    return statistics.median(measured(lambda: other.copy_(there), driver))


def _product(driver: Any, rows: int, dtype: str) -> float:
    import torch

    device, kind = driver.get_active_torch_device(), getattr(torch, dtype)
    a, b = (torch.randn(rows, rows, device=device).to(kind) for _unused in range(2))
    return statistics.median(measured(lambda: a @ b, driver))
