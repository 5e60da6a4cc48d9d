"""`InlineCode`: the PTX in a kernel's own source, run on arrays of raw bits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.variants.ptx.instruction_table import known
from triton_lab.interpreter.variants.ptx.ptx_machine import PtxRun
from triton_lab.interpreter.variants.ptx.ptx_program import (
    MAX_BYTES,
    NotEmulated,
    PtxProgram,
    code_of,
    without_comments,
)
from triton_lab.localization import _

Array = NDArray[Any]

_BYTES = {"h": 2, "r": 4, "f": 4, "l": 8, "d": 8}  # the registers of LLVM's constraints
_OPERAND = re.compile(r"\$(?:(?P<number>\d+)|\{(?P<braced>\d+)(?::\w+)?\}|(?P<dollar>\$))")
_NAME = re.compile(r"^[A-Za-z_%$][\w$.]*$")
# Their results may be subnormal, which is not told here from an exact result.
_DIRECTED = re.compile(r"^(mul|div|fma)\.r[zmp]\.f64$")
_MEMORY = ("ld.", "st.", "call", "cvta.", "ret", "exit")


class InlineCode:
    """A piece of PTX with numbered operands: first those that it writes, then those that it reads.

    ``constraints`` are LLVM's, ``=f,f,f``. Raises NotEmulated for what cannot be run element by element.
    """

    def __init__(self, text: str, constraints: str) -> None:
        if len(text) > MAX_BYTES:
            raise NotEmulated(_("the PTX is too long"))
        every = [one for one in constraints.replace(" ", "").split(",") if one and not one.startswith("~")]
        results = [one.lstrip("=&") for one in every if one.startswith("=")]
        operands = [one for one in every if not one.startswith("=")]
        self.tied = [int(one) if one.isdigit() else None for one in operands]
        kinds = [
            *results,
            *(results[int(one)] if one.isdigit() and int(one) < len(results) else one for one in operands),
        ]
        unknown = [kind for kind in kinds if kind not in _BYTES]
        if unknown:
            raise NotEmulated(_("the constraint {name}").format(name=unknown[0]))
        self.widths = [_BYTES[kind] for kind in kinds]
        self.results = len(results)
        self.code = code_of(_OPERAND.sub(self._named, without_comments(text)), "", "")
        self.names = [f"%op{number}" for number in range(len(kinds))]
        self._check()

    @staticmethod
    def _named(found: re.Match[str]) -> str:
        number = found["number"] or found["braced"]
        return "$" if number is None else f"%op{number}"

    def _check(self) -> None:
        written = {name for one in self.code.instructions for name in _names(one.operands[:1])}
        readable = {*self.names[self.results :], *written}
        for one in self.code.instructions:
            if one.name.startswith(_MEMORY) or _DIRECTED.match(one.name):
                raise NotEmulated(_("the instruction {name}").format(name=one.name))
            known(one)
            branch = one.name.startswith("bra")
            for name in () if branch else (*_names(one.operands[1:]), *([one.guard] if one.guard else ())):
                if name not in readable:
                    raise NotEmulated(_("the operand {name}").format(name=name))
        for name in self.names[: self.results]:
            if name not in written:
                raise NotEmulated(_("no instruction that writes {name}").format(name=name.replace("%op", "$")))

    def __call__(self, values: Sequence[Array]) -> list[Array]:
        """The registers that are written, of those that are read; each (lanes,), unsigned of its width."""
        run = PtxRun(PtxProgram({"": self.code}, "", {}), {}, len(values[0]))
        registers = dict(zip(self.names[self.results :], values, strict=True))
        registers |= {
            self.names[tied]: value for tied, value in zip(self.tied, values, strict=True) if tied is not None
        }
        with np.errstate(all="ignore"):
            found = run.registers(registers)
        return [
            found[name].astype(f"u{width}")
            for name, width in zip(self.names, self.widths[: self.results], strict=False)
        ]


def _names(operands: Sequence[str]) -> Iterator[str]:
    """The registers among operands; numbers are none."""
    for operand in operands:
        for part in operand.strip("{} ").split(","):
            text = part.strip()
            if _NAME.match(text):
                yield text
            elif not re.match(r"^[-+]?\d[\w.+-]*$", text):
                raise NotEmulated(_("the operand {name}").format(name=text[:40]))
