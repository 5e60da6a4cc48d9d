"""`Comparison`: two results side by side, in numbers and words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR, UNKNOWN, VERDICTS, Compared
from triton_lab.launch.comparison.first_divergence import FirstStore, first_store
from triton_lab.launch.comparison.launch_difference import LaunchDifferences
from triton_lab.launch.comparison.launch_results import before
from triton_lab.launch.comparison.mutations.ir_query import unused
from triton_lab.launch.comparison.relations import relations
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.launch.comparison.experiment_results import Causes
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.reference.parting import Parting
    from triton_lab.launch.reference.wrong_condition import WrongCondition
    from triton_lab.launch.reference.wrong_dependence import Dependence
    from triton_lab.views.launch.comparison.comparison_view import ComparisonView


@dataclass(frozen=True, eq=False)
class Comparison(RichDisplay):
    """The result of `compare`: ``arguments``, the written ones first, each a `Compared`.

    ``launch`` is the first side, and ``other`` the second if that is a launch. ``titles`` are the names of the sides,
    and ``remarks`` say what was not compared, and why.

    >>> comparison = lab.compare(launch, lambda x_ptr, y_ptr, **_: x_ptr + y_ptr)
    >>> comparison.verdict
    'bit-equal'
    >>> comparison["out_ptr"].largest_ulps
    Worst(value=0.0, index=(0,))
    """

    launch: Launch = field(repr=False)
    other: Launch | None = field(repr=False)
    titles: tuple[str, str]
    arguments: tuple[Compared, ...]
    remarks: tuple[str, ...] = ()
    # Whether both ran the same kernel: see `error_bounds`.
    same: bool = True
    # The names of the arguments on the second side, in order.
    names: tuple[str, ...] = ()
    # What is not the same in two launches.
    differences: LaunchDifferences = field(default_factory=LaunchDifferences)
    # The function that gave the expected result, if one did.
    reference: Callable[..., Any] | None = field(repr=False, default=None)

    @property
    def verdict(self) -> str:
        """``bit-equal``, ``equal up to rounding``, ``not known`` or ``different``, that of the worst written
        argument. Launches that have nothing to compare do not differ.
        """
        asked = [one for one in self.arguments if one.written] or self.arguments
        return max((one.verdict for one in asked), key=VERDICTS.index, default=EQUAL)

    @property
    def sentence(self) -> str:
        """The verdict in a sentence, and of two launches what is not the same in them.

        >>> lab.compare(launch, lambda x_ptr, y_ptr, **_: x_ptr + y_ptr).sentence
        'add_kernel (CPU) and expected are bit-equal'
        """
        text = {
            EQUAL: _("{one} and {other} are bit-equal"),
            NEAR: _("{one} and {other} are equal up to rounding"),
            UNKNOWN: _("whether {one} and {other} agree up to rounding is not known"),
            DIFFERENT: _("{one} and {other} differ"),
        }[self.verdict]
        verdict = text.format(one=self.titles[0], other=self.titles[1])
        return f"{verdict}: {self.differences.told(self.letters)}" if self.differences else verdict

    @property
    def letters(self) -> tuple[str, str]:
        """Short names of the two sides: ``a`` and ``b`` if their titles end with these, else the titles."""
        here, there = self.titles
        return ("a", "b") if here.endswith(", a)") and there.endswith(", b)") else self.titles

    def __getitem__(self, name: str) -> Compared:
        """The argument called ``name``; otherwise KeyError, which lists the arguments."""
        for one in self.arguments:
            if one.name == name:
                return one
        raise KeyError(
            _("no argument {name} was compared; these were: {names}").format(
                name=name, names=", ".join(one.name for one in self.arguments)
            )
        )

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.arguments)

    @cached_property
    def first(self) -> FirstStore | None:
        """The first store that differs, in execution order; None if there is none."""
        if self.verdict == EQUAL:
            return None
        return first_store(self.launch, [one for one in self.arguments if one.written], self.other)

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """How the differing results relate to the other side, in sentences.

        They say which part of an argument differs, if slices describe it, and how: a multiple of what was expected,
        transposed, shifted by some elements, or unchanged since before the launch. Each sentence holds for every
        element that it covers, up to rounding; there may be none. Arguments that the kernel does not use are named too.

        >>> lab.compare(launch, lambda x_ptr, y_ptr, **_: 2 * (x_ptr + y_ptr)).relations
        ('out_ptr is the expected result times 0.5',)
        """
        if self.verdict in (EQUAL, NEAR):
            return ()
        try:
            held = before(self.launch)
        except CannotReplay:
            held = {}
        found = [
            text for one in self.arguments if one.written for text in relations(one, self.launch, held.get(one.name))
        ]
        idle = unused(self.launch)
        if idle:
            found.append(_("{kernel} does not use {names}").format(kernel=self.launch.kernel, names=", ".join(idle)))
        return tuple(found)

    @cached_property
    def parting(self) -> Parting | None:
        """The first step at which the kernel and the function that was compared with part; None if there is none.

        >>> comparison = lab.compare(launch, lambda x_ptr, y_ptr, **_: (x_ptr + y_ptr) * 2)
        >>> comparison.parting.line, comparison.parting.factor
        (23, 0.5)
        """
        from triton_lab.launch.reference.parting_search import parting

        if self.reference is None or self.verdict in (EQUAL, NEAR):
            return None
        return parting(self.launch, self.reference)

    @cached_property
    def dependence(self) -> Dependence | None:
        """Input elements on which the first wrong element depends and must not, or does not depend and must.

        Or an element that it has times another number than it must. All of it is tried: an element of an input is
        changed, and the function that was compared with and the launch run again. None without such a function, or if
        nothing is found in time.

        >>> print(lab.compare(launch, lambda x_ptr, y_ptr, **_: x_ptr.roll(1) + y_ptr).dependence)
        out_ptr[0] depends on x_ptr[0] (load in line 21), but must depend on x_ptr[999]
        """
        from triton_lab.launch.reference.dependence_search import of_comparison

        return of_comparison(self)

    @cached_property
    def wrong_where(self) -> WrongCondition | None:
        """The condition on values of the kernel that holds where the first wrong result is wrong, and nowhere else.

        It fits all elements that up to 48 programs store; if the expected result came from a function, it fits for
        three other orders of the numbers in the inputs, too. None if no condition fits, or if one may fit by chance.

        >>> print(lab.compare(launch, lambda x_ptr, y_ptr, **_: x_ptr.clamp(max=500) + y_ptr).wrong_where)
        out_ptr is wrong where x >= 501, and right elsewhere (1,981 of 3,985 elements in 4 runs)
        """
        from triton_lab.launch.reference.condition_search import of_comparison

        return of_comparison(self)

    @cached_property
    def _causes(self) -> Causes:
        from triton_lab.launch.comparison.root_cause import causes

        return causes(self)

    def causes(self, seconds: float | None = None) -> Causes:
        """Find by experiment why the two differ: the launches are replayed with one change each time.

        The usual changes are run for 5 s. Changes that follow from the kernel are tried on a few programs first, for
        8 s: each operation with its siblings, other values in scope, other constants and the order of steps; and
        factors, terms and loads whose numbers are what is missing. If no program has stored the wrong elements, only
        what decides where programs store is changed, the grid first. If no single change explains the difference, pairs
        are tried, the most promising first, for 2 s. With ``seconds``, all of it takes no longer than that, and the
        result says so if not everything was tried.

        The changes are what a GPU does differently (tf32, fused multiply-add, approximate functions, dots as on tensor
        cores), other orders of summation, float64, and on a machine with a GPU its options. If rounding does not
        explain the difference, slips are tried first: other masks and strides, other values in masked-off lanes,
        another axis, exchanged program ids, one more iteration, ``<=`` for ``<``, ``-`` for ``+``, another grid and the
        like. If it does, casts and narrow types are tried first: one of them may be where the error comes from. Races,
        reads of uninitialised memory and float atomics are named if they were found.

        >>> lab.compare(launch, lambda x_ptr, y_ptr, **_: x_ptr - y_ptr).causes().cause
        'an operator: with - instead of + (line 23) on add_kernel (CPU) 1,000 of 1,000 elements are bit-equal'
        >>> print(lab.compare(launch, lambda x_ptr, **_: x_ptr.sin().cos()).causes())
        no cause was found: nothing that was tried removes the difference
          <= instead of < (line 20) on add_kernel (CPU) could not be tried: a load on line 21 would be out of bounds
          ...
          with two of these at once on add_kernel (CPU) nothing removes the difference: ...
        """
        if seconds is not None:
            from triton_lab.launch.comparison.root_cause import causes

            vars(self)["_causes"] = causes(self, seconds)
        return self._causes

    @property
    def cause(self) -> str:
        """The result of `causes` in a sentence.

        >>> lab.compare(launch, launch).cause
        'there is no difference'
        """
        return self._causes.cause

    def plot(self, argument: str | None = None, *, tries: bool = True) -> ComparisonView:
        """The picture: both results and the error, over elements and over programs, with the verdict.

        It shows the worst argument by default. With ``tries``, causes are searched at once if that is quick; otherwise
        on request.

        >>> comparison = lab.compare(launch, lambda x_ptr, y_ptr, **_: x_ptr * 2 + y_ptr)
        >>> comparison.plot("out_ptr").title()
        'add_kernel (CPU) and expected differ'
        """
        view: ComparisonView = provided("Comparison.plot")(self, argument, tries=tries)
        return view

    def text(self) -> str:
        """The comparison in words, with a line for each argument that was written or differs.

        >>> print(lab.compare(launch, lambda x_ptr, y_ptr, **_: x_ptr + y_ptr).text())
        add_kernel (CPU) and expected are bit-equal
          out_ptr: bit-equal
        """
        lines = [self.sentence]
        lines += [f"  {one.told()}" for one in self.arguments if one.written or one.count]
        lines += [f"  {text}" for text in self.relations]
        if self.first is not None:
            lines.append(f"  {self.first.told(self.titles)}")
        reasons = {one.reason for one in self.arguments if one.count and one.reason}
        return "\n".join([*lines, *(f"  {text}" for text in (*sorted(reasons), *self.remarks))])

    def __repr__(self) -> str:
        return self.text()

    def __bool__(self) -> Any:
        raise TypeError(_("a comparison has no truth value: use comparison.verdict"))
