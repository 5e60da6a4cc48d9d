"""The fields of a saved launch, with a check of each type, since a file from outside may contain anything."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, TypeVar

import ml_dtypes
import numpy as np

from triton_lab.backend.targets.autotuner_trials import Tried, Tuning
from triton_lab.backend.targets.gpu_timer import Time
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.comparison.number_formats import numpy_type
from triton_lab.launch.saving.file_format import MAX_BYTES, OPTIONS, SavedLaunchError
from triton_lab.launch.source_lines import UserLine
from triton_lab.localization import _

T = TypeVar("T")
_LARGEST_OPTION = 1 << 10
_AXES = 16
_NUMBERS = ("itemsize", "offset", "address", "storage_address", "storage_bytes")


class Shown:
    """Stands for a value that files do not hold: its ``repr`` is that of the value."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def hold(condition: bool, what: str) -> None:
    """Raise SavedLaunchError about ``what`` unless ``condition`` holds. All functions here raise it."""
    if not condition:
        raise SavedLaunchError(_("{what} is not valid").format(what=what))


def of(kind: type[T], value: Any) -> T:
    """``value``, which must have exactly this type."""
    hold(
        type(value) is kind,
        _("a {name} instead of {name_2}").format(name=type(value).__name__, name_2=kind.__name__),
    )
    return value  # type: ignore[no-any-return]


def maybe(kind: type[T], value: Any) -> T | None:
    """``value``, which must be None or have exactly this type."""
    return None if value is None else of(kind, value)


def real(value: Any) -> float:
    """``value`` as a float; it must be an int or a float."""
    hold(type(value) in (int, float), "a number")
    return float(value)


def ints(values: Sequence[Any]) -> tuple[int, ...]:
    """``values`` as a tuple; each must be an int."""
    check: Callable[[Any], int] = lambda value: of(int, value)  # noqa: E731
    return tuple(map(check, values))


def ranges(given: Any) -> Ranges:
    """Sorted address ranges that do not overlap, given as a list of starts and a list of stops."""
    starts, stops = (ints(one) for one in given)
    hold(len(starts) == len(stops), "ranges of addresses")
    ends = [end for pair in zip(starts, stops, strict=True) for end in pair]
    hold(all(0 <= low <= high < 1 << 63 for low, high in itertools.pairwise(ends)), "ranges of addresses")
    return Ranges.of(starts, stops)


def lines_of(given: Any) -> dict[int, UserLine | None]:
    """The source line of each operation, by its index. Raises SavedLaunchError or another error for a wrong field."""
    found: dict[int, UserLine | None] = {}
    for index, line, column, excerpt, file in given:
        shown = tuple(of(str, one) for one in excerpt)
        found[of(int, index)] = UserLine(of(int, line), of(int, column), shown, of(str, file))
    return found


def options(given: Any) -> SimpleNamespace | None:
    """The options of the launch, as attributes: whole numbers by the names of `OPTIONS`."""
    if given is None:
        return None
    found = {name: of(int, value) for name, value in given.items() if name in OPTIONS}
    hold(all(0 < value <= _LARGEST_OPTION for value in found.values()), "an option of the launch")
    return SimpleNamespace(**found)


def time(given: Any) -> Time | None:
    """The kernel's time on a GPU. Like `tuning`, raises SavedLaunchError or another error for a wrong field."""
    if given is None:
        return None
    median, low, high, runs, compiling, device = given
    compiled = None if compiling is None else real(compiling)
    return Time(real(median), real(low), real(high), of(int, runs), compiled, of(str, device)[:200])


def tuning(given: Any) -> Tuning | None:
    """What an autotuner tried before the launch."""
    if given is None:
        return None
    tried = []
    for config, times, failed in given["tried"]:
        seconds, low, high = (real(one) for one in times)
        plain = {of(str, name): value for name, value in config.items()}
        hold(all(one is None or isinstance(one, bool | int | float | str) for one in plain.values()), "a parameter")
        tried.append(Tried(plain, seconds, low, high, of(str, failed)))
    chose = of(int, given["chose"])
    hold(0 <= chose < len(tried), "what an autotuner chose")
    key = tuple(of(str, one) for one in given["key"])
    names = of(str, given["kernel"]), of(str, given["target"])
    held = given.get("protected")
    protected = None if held is None else tuple(of(str, one) for one in held)
    counts = of(bool, given["earlier"]), of(int, given["left_out"])
    return Tuning(*names, tuple(tried), chose, key, *counts, protected)


def argument(given: Any) -> Argument:
    """An argument of the launch, without its memory."""
    value = given["value"]
    if isinstance(value, dict):
        value = Shown(of(str, value["shown"]))
    hold(value is None or isinstance(value, bool | int | float | str | Shown), "an argument's value")
    numbers: dict[str, Any] = {name: of(int, given[name]) for name in _NUMBERS}
    shape, strides = ints(given["shape"]), ints(given["strides"])
    hold(len(shape) == len(strides) <= _AXES and min(shape, default=0) >= 0, "a tensor's shape")
    texts: dict[str, Any] = {name: of(str, given[name]) for name in ("name", "kind", "dtype")}
    if texts["kind"] in ("tensor", "descriptor"):
        hold(numbers["itemsize"] == numpy_type(texts["dtype"]).itemsize, "an element's size")
        hold(math.prod(shape) * numbers["itemsize"] <= MAX_BYTES, "a tensor's size")
        hold(all(stride >= 0 for stride in strides), "a tensor's strides")
    return Argument(value=value, shape=shape, strides=strides, **texts, **numbers)


def dtype_of(name: Any) -> np.dtype[Any]:
    """The type of a number, by its name."""
    found = np.dtype(getattr(ml_dtypes, name, name) if isinstance(name, str) else "V")
    hold(not found.hasobject and found.kind in "biufV" and 0 < found.itemsize <= 8, "a dtype")
    return found
