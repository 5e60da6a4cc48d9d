"""The contents of a launch's card: the data that its panels share."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from triton_lab.launch.checks.rule import rules
from triton_lab.localization import _
from triton_lab.views.launch.card.findings_text import ICONS
from triton_lab.views.missing_picture import attempt

if TYPE_CHECKING:
    from triton_lab.compiled.compiled import Compiled
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.diagnosis.finding import Finding
    from triton_lab.launch.launch import Launch


class Contents:
    """The contents of a card: ``launch``; its compilations ``compiled``; ``troubles`` say why something is missing."""

    MOST_ARGUMENTS: ClassVar[int] = 12  # tensor arguments that get a picture

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.compiled: tuple[Compiled, ...] = tuple(getattr(launch, "compilations", ()))
        self.troubles: list[str] = []

    @cached_property
    def tensors(self) -> list[Argument]:
        """The arguments that are tensors."""
        return [argument for argument in self.launch.arguments if argument.kind in ("tensor", "descriptor")]

    @cached_property
    def accesses(self) -> list[Access]:
        """The accesses of the launch."""
        return attempt(lambda: self.launch.accesses, self._without)

    def _without(self, reason: str) -> list[Any]:
        """Continue with an empty list if something could not be made, and note the reason."""
        self.troubles.append(reason)
        return []

    # --- Conditions of tabs ---------------------------------------------------------------------------

    @property
    def ran(self) -> bool:
        """Whether the launch has programs."""
        return self.launch.programs > 0

    @property
    def replays(self) -> bool:
        """Whether its programs can be replayed."""
        return self.ran and hasattr(self.launch, "trace")

    @property
    def both_ran(self) -> bool:
        """Whether a GPU ran the launch as well."""
        return bool(getattr(self.launch, "outputs", ()))

    @property
    def tuned(self) -> bool:
        """Whether an autotuner made the launch."""
        return getattr(self.launch, "tuning", None) is not None

    @property
    def has_film(self) -> bool:
        """Whether its programs can be replayed, and work on shared memory."""
        from triton_lab.launch.maps.pipeline_film import has_film

        return self.replays and has_film(self.launch)

    @property
    def followable(self) -> list[Access]:
        """The stores to tensor arguments, whose values can be traced back."""
        drawn = {argument.name for argument in self.tensors}
        return [one for one in self.accesses if one.kind == "store" and one.argument in drawn] if self.replays else []

    @cached_property
    def touched(self) -> list[str]:
        """The tensor arguments that the kernel touches: those with errors first, then outputs, then inputs."""
        touched = {access.argument for access in self.accesses}
        stored = {access.argument for access in self.accesses if access.kind != "load"}
        told = [one for one in self.gravest if one.severity != "note" or rules()[one.kind].mark]
        wrong = [name for one in told for name in _concerned(one)]
        names = [argument.name for argument in self.tensors if argument.name in touched]
        return sorted(names, key=lambda name: (wrong.index(name) if name in wrong else len(wrong), name not in stored))

    @cached_property
    def over_time(self) -> list[str]:
        """The touched arguments: those of the foremost finding first, then those touched in most iterations.

        There are none if each is touched at one instant.
        """
        instants = Counter[str | None]()
        for access in self.accesses:
            instants[access.argument] += access.iterations
        wrong = [] if self.foremost is None else _concerned(self.foremost)
        several = [name for name in self.touched if instants[name] > 1]
        first = sorted(several, key=lambda name: (name not in wrong, -instants[name]))
        return [*first, *(name for name in self.touched if name not in several)] if several else []

    @cached_property
    def gravest(self) -> list[Finding]:
        """The findings: the one that stopped the launch, then errors, then the rest; among equals, drawn ones first."""
        order = list(ICONS)
        return sorted(
            self.launch.findings,
            key=lambda one: (
                order.index(one.severity),
                not one.stopped,
                not rules()[one.kind].explains,
                not rules()[one.kind].mark,
            ),
        )

    @cached_property
    def foremost(self) -> Finding | None:
        """The finding on which pictures open: the gravest, unless it is a note."""
        return next((one for one in self.gravest if one.severity != "note"), None)

    @cached_property
    def wrong_program(self) -> int | None:
        """A program that an error or a warning concerns."""
        told = (one.programs for one in self.gravest if one.severity != "note")
        return next((int(programs[0]) for programs in told if len(programs)), None)

    @property
    def program(self) -> int:
        """The program that pictures of one program show first."""
        return self.wrong_program or 0

    @property
    def line(self) -> int | None:
        """The kernel's line at which pictures of steps stand first: that of the foremost finding."""
        return None if self.foremost is None else self.foremost.line

    @cached_property
    def traced(self) -> Access | None:
        """The store whose origins are shown first: the last to an argument of the foremost finding, else the last."""
        stores = self.followable
        wrong = [] if self.foremost is None else _concerned(self.foremost)
        return next((one for one in reversed(stores) if one.argument in wrong), stores[-1] if stores else None)

    @property
    def drawn(self) -> list[str]:
        """The touched arguments that get a picture."""
        return self.touched[: self.MOST_ARGUMENTS]

    def first_argument(self, over_time: bool = False) -> str:
        """The argument of a picture that was requested without one: what a finding concerns, then an output.

        A picture over time shows the one with most iterations instead of an output. Raises ValueError if there is no
        tensor argument.
        """
        names: list[str] = [*(self.over_time if over_time else ()), *self.touched, *(one.name for one in self.tensors)]
        if not names:
            raise ValueError(_("{kernel} has no tensor argument").format(kernel=self.launch.kernel))
        return names[0]

    def lines(self, argument: str) -> list[int]:
        """The lines that touch an argument."""
        touching = (one.line for one in self.accesses if one.argument == argument)
        return sorted({line for line in touching if line is not None})


def _concerned(found: Finding) -> list[str | None]:
    """The arguments that a finding concerns: its own, and those to which a wrong value came."""
    return [found.argument, *(name for name, _elements in found.ends)]
