"""`Experiment`: one change of a launch, run again, and its effect on a difference, in numbers and words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.localization import N_, _, ngettext, translated

if TYPE_CHECKING:
    from triton_lab.launch.comparison.numerics import Switch

# The effect of an experiment on the difference.
REMOVES, ROUNDING = N_("removes the difference"), N_("yes, up to rounding")
EXPLAINS, MOSTLY, NO = N_("explains the rest"), N_("most of it"), N_("no")
TELLING = (REMOVES, ROUNDING, EXPLAINS, MOSTLY)
# By which factor an error must shrink for a change to have removed most of it.
_MOST = 4.0
# An error of more units in the last place is no smaller one: nothing is right of such a number.
_FEW = 1 << 20


@dataclass(frozen=True)
class Experiment:
    """One change on one ``side``, and its effect on the difference.

    Of the ``total`` elements that were written, ``before`` were bit-equal without the change and ``equal`` with it;
    ``rows`` is ``(equal, of)`` in rows, if the argument has several. ``ulps`` is the largest remaining error.
    ``failed`` says why the change could not be tried. ``within`` is how many elements are within the allowed error:
    that of rounding, or if ``documented``, the documented error of a function. It is None if that was not tested.
    """

    name: str
    cause: str = field(repr=False)
    side: str
    before: int
    equal: int
    total: int
    rows: tuple[int, int] | None
    ulps: float
    ulps_before: float = field(repr=False)
    failed: str = ""
    within: int | None = None
    documented: bool = False
    # Whether the elements that become equal have more than a few different values: zeros may be equal by chance.
    telling: bool = True
    place: str = ""  # its lines, if the name does not give them
    of_memory: bool = False  # it changes what memory holds before the launch, and not the kernel
    doubtful: bool = False  # the kernel would be unusual with the change: another one may be meant
    rivals: tuple[Experiment, ...] = ()  # those at other lines that explain as much, and are as likely
    switch: Switch | None = field(default=None, repr=False)  # the change itself, None if it is one of memory

    @property
    def tried(self) -> str:
        """The name with its lines, for a list of all experiments."""
        return f"{self.name}{self.place}"

    @property
    def explains(self) -> bool:
        """Whether all remaining differences are within the allowed error."""
        return not self.failed and self.within == self.total

    @property
    def removes(self) -> bool:
        """Whether no difference remains."""
        return not self.failed and self.equal == self.total

    @property
    def names_it(self) -> bool:
        """Whether no difference beyond the allowed error remains."""
        return self.removes or self.explains

    @property
    def helps(self) -> bool:
        """Whether most of the difference is removed."""
        nearer = self.ulps < min(self.ulps_before, _FEW) and self.ulps * _MOST <= self.ulps_before  # or infinite: NaN
        lesser = nearer or (self.total - self.equal) * _MOST <= self.total - self.before
        return not self.failed and self.equal > self.before and lesser and self.telling

    @property
    def answer(self) -> str:
        """Whether it removes the difference, in a few words."""
        if self.removes:
            return translated(REMOVES)
        if self.within is not None:
            return translated((EXPLAINS if self.documented else ROUNDING) if self.explains else NO)
        return translated(MOSTLY if self.helps else NO)

    def told(self, name: str = "") -> str:
        """``with tf32 on the CPU 64 of 64 rows are bit-equal``; under another ``name``, if one is given."""
        name = name or self.name
        if self.failed:
            return _("{name} on {side} could not be tried: {failed}").format(
                name=name, side=self.side, failed=self.failed
            )
        if self.within is not None:
            every = _("{some} of {every}").format(
                some=messages.number(self.within), every=messages.count(self.total, "element")
            )
            bits = ngettext("{count} is bit-equal", "{count} are bit-equal", self.equal).format(
                count=messages.number(self.equal)
            )
            if self.documented:
                return _("{name} covers {every} on {side}, of which {bits}").format(
                    name=name, every=every, side=self.side, bits=bits
                )
            return _("with {name} on {side} {every} are equal up to rounding, of which {bits}").format(
                name=name, side=self.side, every=every, bits=bits
            )
        in_rows = self.rows is not None and (self.rows[0] or not self.equal)
        equal, of, what = (*self.rows, "row") if self.rows and in_rows else (self.equal, self.total, "element")
        left = "" if self.removes else _(", and {ulps} ulp are left").format(ulps=messages.significant(self.ulps))
        return _("with {name} on {side} {equal} of {count} {is_} bit-equal{left}").format(
            name=name,
            side=self.side,
            equal=messages.number(equal),
            count=messages.count(of, what),
            is_=messages.noun(equal, "is", "are"),
            left=left,
        )
