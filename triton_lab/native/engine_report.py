"""Describes in words which engine is chosen, and which one ran what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.interpreter.machine import Engine
from triton_lab.localization import _
from triton_lab.messages import count, number
from triton_lab.native import engine
from triton_lab.native.engine import EngineRun
from triton_lab.native.llvm import jit


def choice(chosen: Engine) -> str:
    """One line that says what runs launches on the CPU target."""
    lacking = jit.missing()
    if chosen == "numpy":
        other = "" if lacking else _('; lab.limits(engine="native") compiles kernels to machine code')
        return _("{chosen}: NumPy runs all launches{other}").format(chosen=chosen, other=other)
    if lacking:
        return _("{chosen}: NumPy runs all launches, since {lacking}: pip install 'triton-lab[native]'").format(
            chosen=chosen, lacking=lacking
        )
    if chosen == "auto":
        return _("auto: costly kernels are compiled to machine code; NumPy runs the others")
    return _("native: kernels are compiled to machine code; NumPy runs kernels that cannot be compiled")


@dataclass(frozen=True)
class Engines:
    """The latest ``launches``, the oldest first; printed as a table by kernel."""

    launches: Sequence[EngineRun]

    def __str__(self) -> str:
        if not self.launches:
            return _("no launch so far")
        rows = [("kernel", "native", "NumPy", "why NumPy")]
        for kernel in dict.fromkeys(ran.kernel for ran in self.launches):
            own = [ran for ran in self.launches if ran.kernel == kernel]
            reasons = Counter(ran.why for ran in own if ran.why)
            handed = sum(ran.handed for ran in own)
            if handed:
                reasons[
                    _("{number} of {count} failed a check").format(
                        number=number(handed), count=count(sum(ran.programs for ran in own), "program")
                    )
                ] = 0
            native = sum(ran.engine == "native" for ran in own)
            told = [reason + (f" ({count(times, 'time')})" if times > 1 else "") for reason, times in reasons.items()]
            rows.append((kernel, str(native), str(len(own) - native), "; ".join(told)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__


def engines() -> Engines:
    """What ran the launches that had a choice between NumPy and machine code, and why it was NumPy.

    The process's last 1000 launches are stored; under ``engine="numpy"`` (see `limits`) none is.

    >>> with lab.limits(engine="native"):
    ...     out = add(x, y)
    >>> lab.engines().launches[-1].programs
    1
    """
    return Engines(tuple(engine.lately))
