"""What a saved launch says beside its memory: lines of the source, times, what an autotuner tried."""

from __future__ import annotations

from typing import Any

from triton_lab.backend.stopwatch import Time
from triton_lab.backend.tuning import Tried, Tuning
from triton_lab.launch.lines import Line
from triton_lab.launch.saving.fields import hold, of, real


def lines_of(given: Any) -> dict[int, Line | None]:
    found: dict[int, Line | None] = {}
    for index, line, column, excerpt, file in given:
        shown = tuple(of(str, one) for one in excerpt)
        found[of(int, index)] = Line(of(int, line), of(int, column), shown, of(str, file))
    return found


def time_of(given: Any) -> Time | None:
    if given is None:
        return None
    median, low, high, runs, compiling, device = given
    compiled = None if compiling is None else real(compiling)
    return Time(real(median), real(low), real(high), of(int, runs), compiled, of(str, device)[:200])


def tuning_of(given: Any) -> Tuning | None:
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
    return Tuning(*names, tuple(tried), chose, key, of(bool, given["earlier"]), of(int, given["left_out"]))
