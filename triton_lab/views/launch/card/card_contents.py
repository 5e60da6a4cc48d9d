"""The contents of a launch's card: the data that its panels share."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from triton_lab.launch.checks.rule import rules
from triton_lab.views.launch.card.findings_text import ICONS
from triton_lab.views.missing_picture import attempt

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        """The stores whose values can be traced back."""
        return followable(self.launch, self.accesses) if self.replays else []

    @cached_property
    def touched(self) -> list[str]:
        """The tensor arguments that the kernel touches: those with errors first, then outputs, then inputs."""
        touched = {access.argument for access in self.accesses}
        stored = {access.argument for access in self.accesses if access.kind != "load"}
        told = [one for one in self.gravest if one.severity != "note" or rules()[one.kind].mark]
        wrong = [name for one in told for name in (one.argument, *(name for name, _ in one.ends))]
        names = [argument.name for argument in self.tensors if argument.name in touched]
        return sorted(names, key=lambda name: (wrong.index(name) if name in wrong else len(wrong), name not in stored))

    @cached_property
    def over_time(self) -> list[str]:
        """The touched arguments, those first that are touched most often; none if each is touched at one instant."""
        instants = Counter[str | None]()
        for access in self.accesses:
            instants[access.argument] += len(access.events)
        ordered = sorted(self.touched, key=lambda name: -instants[name])
        return ordered if ordered and instants[ordered[0]] > 1 else []

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

    @property
    def drawn(self) -> list[str]:
        """The touched arguments that get a picture."""
        return self.touched[: self.MOST_ARGUMENTS]

    def lines(self, argument: str) -> list[int]:
        """The lines that touch an argument."""
        touching = (one.line for one in self.accesses if one.argument == argument)
        return sorted({line for line in touching if line is not None})


def followable(launch: Launch, accesses: Sequence[Access]) -> list[Access]:
    """The stores among ``accesses`` to tensor arguments of the launch, in their order."""
    drawn = {argument.name for argument in launch.arguments if argument.kind in ("tensor", "descriptor")}
    return [one for one in accesses if one.kind == "store" and one.argument in drawn]
