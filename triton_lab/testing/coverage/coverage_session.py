"""Coverage of kernels during a session."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from triton_lab.backend.plugin.recorders import recorders
from triton_lab.localization import _
from triton_lab.testing.coverage.coverage_data import Coverage, Covered, covered
from triton_lab.testing.coverage.mark_insertion import marked
from triton_lab.testing.coverage.mark_tracing import Arc, Tracer, Traces


class Following(contextlib.ExitStack):
    """While entered, kernels are compiled with marks and each launch is traced.

    >>> from triton_lab.testing.coverage.coverage_session import Following
    >>> with Following() as following:
    ...     out = add(x, y, block=64)
    """

    def __init__(self) -> None:
        super().__init__()
        self._traces = Traces()
        self._others = Coverage()
        self._where = ""

    def __enter__(self) -> Following:
        super().__enter__()
        self.enter_context(marked())
        self.enter_context(recorders.listening(Tracer(self._traces)))
        return self

    def write(self, worker: str = "") -> None:
        """Write the coverage of this process into coverage.py's data."""
        functions = covered(self._traces)
        if functions:
            try:
                self._where = f"written {write(functions.values(), worker)}"
            except ImportError:
                self._where = _(
                    "not written for coverage.py, which is not installed: pip install 'triton-lab[testing]'"
                )

    def merge(self, told: Mapping[str, Any]) -> None:
        """Add the coverage of another process."""
        self._others.merge(told)
        self._where = self._where or told["written"]

    @property
    def coverage(self) -> Coverage:
        """The coverage of this process and of the other processes merged so far."""
        result = Coverage.of(self._traces)
        result.merge(self._others.as_data())
        return result

    def as_data(self) -> dict[str, Any]:
        """`coverage` as numbers, text, lists and dictionaries."""
        return {**self.coverage.as_data(), "written": self._where}

    def lines(self, relative: Callable[[str], str]) -> Iterable[str]:
        """The lines for a terminal."""
        yield from self.coverage.summary(relative)
        if self._where:
            yield self._where


# The suffix of a file beside coverage.py's own, if nothing measures this process: `coverage combine` joins them.
_SUFFIX = "triton-lab"


def write(functions: Iterable[Covered], worker: str = "") -> str:
    """Add coverage to the data of the coverage.py that measures this process, or write a file of its own.

    Returns which it was, in words. In the first case only measured files count, by coverage.py's options. Raises
    ImportError if coverage.py is not installed.
    """
    import coverage

    arcs: dict[str, set[Arc]] = defaultdict(set)
    for each in functions:
        if each.arcs and Path(each.file).exists():
            arcs[each.file] |= each.arcs
    running = coverage.Coverage.current()
    if running is not None:
        data = running.get_data()
        measured = data.measured_files()
        _add(data, {file: found for file, found in arcs.items() if file in measured}, data.has_arcs())
        return _("in the data of coverage.py")
    settings = coverage.Coverage()
    suffix = f"{_SUFFIX}.{worker}" if worker else _SUFFIX
    data = coverage.CoverageData(str(settings.get_option("run:data_file")), suffix)
    data.erase()
    _add(data, arcs, bool(settings.get_option("run:branch")))
    data.write()
    return _("in {name}: `coverage combine` joins it with others").format(name=Path(data.data_filename()).name)


def _add(data: object, arcs: dict[str, set[Arc]], branches: bool) -> None:
    import coverage

    assert isinstance(data, coverage.CoverageData)
    if branches:
        data.add_arcs(arcs)
    else:
        data.add_lines({file: {line for arc in found for line in arc if line > 0} for file, found in arcs.items()})
