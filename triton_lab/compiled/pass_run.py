"""`PassRun`: what the module after one pass of the compiler computes, beside what the module before it does."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from triton_lab import messages
from triton_lab.compiled.passes import Pass
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.ir import Plan
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, Compared
from triton_lab.localization import N_, _, translated

NOT_RUN = N_("not run")


@dataclass(frozen=True, eq=False)
class PassModule:
    """The module after a pass: its ``text``, and the module ready to run and as it was read, or ``why`` it is not."""

    text: str
    runs: Executable | None
    plan: Plan | None
    why: str = ""


@dataclass(frozen=True)
class PassRun:
    """What the module after ``changed`` computes, beside what the module before it does.

    ``verdict`` is ``bit-equal``, ``equal up to rounding``, ``not known``, ``different`` or ``not run``. ``compared``
    has the written arguments, before and after the pass; ``stopped`` says why the module was not run to its end.
    ``unseen`` are the passes before it whose modules were not run: any of them may be what changes the result.
    """

    number: int
    changed: Pass
    verdict: str
    compared: tuple[Compared, ...] = field(repr=False, default=())
    stopped: str = ""
    unseen: tuple[str, ...] = ()

    @property
    def names(self) -> str:
        """The pass, and those before it whose modules were not run."""
        return _(" or ").join((*self.unseen, self.changed.name))

    @property
    def first(self) -> tuple[Compared, tuple[int, ...]] | None:
        """The first argument that differs, and the index of its first element that does; None if all agree."""
        for one in self.compared:
            wrong = one.a.size and ~(one.explained | one.unknown if self.verdict == DIFFERENT else one.same)
            if np.any(wrong):
                return one, messages.index(int(np.argmax(wrong)), one.a.shape)
        return None

    def told(self) -> str:
        """The verdict in a sentence: ``different: out_ptr[3] was 1.0 and is 2.0, and 63 more elements differ``."""
        if self.stopped:
            return f"{translated(self.verdict)}: {self.stopped}"
        if self.verdict == EQUAL or self.first is None:
            return _("same result")
        one, index = self.first
        count = sum(each.count for each in self.compared)
        return _("{verdict}: {element} was {before} and is {after}; {count} in all").format(
            verdict=translated(self.verdict),
            element=messages.element_at(one.name, index),
            before=str(one.a[index]),
            after=str(one.b[index]),
            count=messages.count(count, "element"),
        )
