"""`Watcher`: the base class of observers of a launch or of its replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op

Array = NDArray[Any]


class Watcher:
    """An observer that ignores everything; subclasses override the methods that they need."""

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        """``op`` has run."""

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        """``op`` accesses memory."""

    def barrier(self, frame: Frame, op: Op) -> None:
        """The lanes of each program have waited for one another."""

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        """Values of ``frame`` are passed into a region or out of one."""

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        """``result`` was merged from parts of other values."""
