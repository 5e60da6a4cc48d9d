"""Coverage of kernels during a session."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from triton_lab.backend.plugin.recorders import recorders
from triton_lab.testing.coverage.coverage_data import Coverage, covered
from triton_lab.testing.coverage.coverage_py import write
from triton_lab.testing.coverage.mark_insertion import marked
from triton_lab.testing.coverage.mark_tracing import Tracer, Traces


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
        """Write the coverage of this process into coverage.py's data; see `coverage_py`."""
        functions = covered(self._traces)
        if functions:
            try:
                self._where = f"written {write(functions.values(), worker)}"
            except ImportError:
                self._where = "not written for coverage.py, which is not installed: pip install 'triton-lab[testing]'"

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
