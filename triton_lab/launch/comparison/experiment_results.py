"""`Causes`: why two results differ: the experiments and their outcomes, in numbers and words."""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab import messages
from triton_lab.launch.comparison.experiment import NO, Experiment
from triton_lab.localization import N_, _, translated

HEADINGS = (N_("tried"), N_("on"), N_("bit-equal"), N_("ulp left"), N_("removes the difference?"))


@dataclass(frozen=True)
class Half:
    """One of two changes that are needed together.

    ``mends`` is how many elements it mends alone, and ``where`` gives them as slices if possible.
    """

    name: str
    cause: str
    mends: int = 0
    where: str = ""

    def told(self) -> str:
        """``out[:, 96:]``, ``7 elements`` or ``nothing``."""
        return self.where or (messages.count(self.mends, "element") if self.mends else "nothing")


def _of_two(which: int, half: Half) -> str:
    return _("mistake {which}, {cause}: {name}; alone it corrects {told}").format(
        which=which, cause=half.cause, name=half.name, told=half.told()
    )


@dataclass(frozen=True)
class Pairs:
    """Two changes at once: ``tried`` of ``of`` pairs within ``seconds``, and any pair ``found``, as ``halves``."""

    side: str
    tried: int
    of: int
    seconds: float
    found: Experiment | None
    halves: tuple[Half, ...]

    @property
    def cause(self) -> str:
        """Both changes, and what each does alone, in a sentence."""
        assert self.found is not None
        first, second = self.halves
        alone = _("neither corrects anything alone")
        if first.mends or second.mends:
            alone = _("alone the first corrects {told}, the second {told_2}").format(
                told=first.told(), told_2=second.told()
            )
        return _("two mistakes at once, {cause}, and {cause_2}: {told}; {alone}").format(
            cause=first.cause, cause_2=second.cause, told=self.found.told(), alone=alone
        )

    def lines(self) -> list[str]:
        """The cause in lines: what both changes do together, then each on a line of its own."""
        assert self.found is not None
        right = self.found.equal if self.found.removes else self.found.within or 0
        how = _("bit-equal") if self.found.removes else _("equal up to rounding")
        every = _("{some} of {every}").format(
            some=messages.number(right), every=messages.count(self.found.total, "element")
        )
        return [
            _("two mistakes at once: with both corrected, {every} are {how}").format(every=every, how=how),
            *map(_of_two, (1, 2), self.halves),
        ]

    def told(self) -> str:
        """The outcome, and how many pairs were tried."""
        if self.found is not None:
            return self.found.told()
        return _("with two of these at once on {side} nothing removes the difference: {tried}{more}").format(
            side=self.side, tried=self._tried, more=self._more
        )

    def row(self) -> tuple[str, ...]:
        """A row of `Causes.table`."""
        return (_("two of these at once: {tried}").format(tried=self._tried), self.side, "", "", translated(NO))

    @property
    def _tried(self) -> str:
        return _("{tried} of {pairs} tried").format(
            tried=messages.number(self.tried), pairs=messages.count(self.of, "pair")
        )

    @property
    def _more(self) -> str:
        if self.tried == self.of:
            return ""
        return _(" in {seconds} s, and causes(seconds=60) would try more").format(
            seconds=messages.significant(self.seconds)
        )


@dataclass(frozen=True)
class Causes:
    """The ``experiments`` in order, and the causes ``named`` by findings and by the first store.

    ``seconds`` is the time limit if it was reached before all experiments were tried.

    >>> comparison = lab.compare(launch, lambda x_ptr, **_: x_ptr.sin().cos())
    >>> print(comparison.causes())
    no cause was found: nothing that was tried removes the difference
    """

    experiments: tuple[Experiment, ...]
    named: tuple[str, ...]
    equal: bool = False
    pairs: tuple[Pairs, ...] = ()
    seconds: float | None = None
    # How many changes that follow from the kernel were run on a few programs, where they did not mend the difference.
    probed: int = 0
    # Whether rounding explains the whole difference.
    is_rounding: bool = False

    @property
    def pair(self) -> Pairs | None:
        """Two changes that are the cause together, if no single one is."""
        return next((one for one in self.pairs if one.found is not None), None)

    @property
    def known(self) -> bool:
        """Whether `cause` names a cause, or the main part of one.

        >>> lab.compare(launch, lambda x_ptr, **_: x_ptr.sin().cos()).causes().known
        False
        """
        if self._best:
            return not self.equal
        found = any(one.helps and one.within is None for one in self.experiments)
        return not self.equal and (found or self.pair is not None or bool(self.named))

    @property
    def _best(self) -> list[Experiment]:
        """The experiments that explain the difference, those that remove it first."""
        return sorted((one for one in self.experiments if one.names_it), key=lambda one: not one.removes)

    @property
    def cause(self) -> str:
        """The cause in a sentence, or that none was found."""
        if self.equal:
            return _("there is no difference")
        partly = [one for one in self.experiments if one.helps and not one.removes and one.within is None]
        parts = list(self.named)
        if self._best:
            first, *alike = self._best
            parts.append(f"{first.cause}: {first.told()}")
            if first.rivals:
                rival, *more = first.rivals
                parts[-1] = _("either {one}, or {other}").format(one=parts[-1], other=f"{rival.cause}: {rival.told()}")
                changes = messages.count(len(more), "other change")
                parts += [_("{changes} on other lines would do the same").format(changes=changes)] if more else []
            parts += [_("{name} does the same").format(name=one.tried) for one in alike[:1] if one.doubtful]
        elif self.pair is not None:
            parts.append(self.pair.cause)
        elif partly:
            nearest = min(partly, key=lambda one: (one.ulps, one.total - one.equal))
            parts.append(_("for the most part {cause}: {told}").format(cause=nearest.cause, told=nearest.told()))
        if self.is_rounding and not parts:
            return _("rounding explains the difference: nothing is wrong")
        ran = self.probed or not all(one.failed for one in self.experiments)
        nothing = _("nothing that was tried removes the difference") if ran else _("nothing could be tried")
        return "; ".join(parts) or _("no cause was found{cut}: {nothing}").format(cut=self._cut, nothing=nothing)

    @property
    def _cut(self) -> str:
        return "" if self.seconds is None else _(" in {seconds} s").format(seconds=messages.significant(self.seconds))

    def table(self) -> list[tuple[str, ...]]:
        """A row for each experiment, with the columns of `HEADINGS`."""
        pairs = (one.found for one in self.pairs if one.found is not None)
        rows: list[tuple[str, ...]] = [
            (
                one.tried,
                one.side,
                "" if one.failed else messages.of_all(one.equal, one.total),
                "" if one.failed else messages.significant(one.ulps),
                one.failed or one.answer,
            )
            for one in (*self.experiments, *pairs)
        ]
        if self.probed:
            rows.append((_("{changes} on some programs").format(changes=self._changes), "", "", "", translated(NO)))
        return rows + [one.row() for one in self.pairs if one.of and one.found is None]

    @property
    def _changes(self) -> str:
        return messages.count(self.probed, "other change")

    def text(self) -> str:
        """The cause in a sentence, and how many experiments were made; ``print`` of the causes lists them.

        >>> print(lab.compare(launch, lambda x_ptr, y_ptr, **_: x_ptr - y_ptr).causes().text())
        an operator: with - instead of + (line 23) on add_kernel (CPU) 1,000 of 1,000 elements are bit-equal
        What was tried: ... experiments (comparison.causes() lists them)
        """
        lines = [self.cause]
        if self.experiments:
            tried = messages.count(len(self.experiments), "experiment")
            lines.append(_("What was tried: {experiments} (comparison.causes() lists them)").format(experiments=tried))
        return "\n".join(lines)

    def __repr__(self) -> str:
        tried = [one.told(one.tried) for one in self.experiments]
        if self.probed:
            tried.append(_("{changes} on some programs had no effect").format(changes=self._changes))
        tried += [one.told() for one in self.pairs if one.of]
        if self._cut:
            tried.append(
                _("other experiments did not finish{cut}: causes(seconds=...) allows more time").format(cut=self._cut)
            )
        return "\n".join([self.cause, *(f"  {one}" for one in tried)])
