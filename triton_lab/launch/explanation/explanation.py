"""`explain`: is anything odd about a launch? One page, without an expected value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_lab.launch.diagnosis.finding import FindingList
from triton_lab.launch.explanation import (
    element_order,
    idle_arguments,
    masked_terms,
    normalisation,
    tensor_relations,
)
from triton_lab.launch.explanation.observed_run import ObservedRun
from triton_lab.launch.explanation.relation import BROKEN, HELD, SKIPPED, Relation, skipped
from triton_lab.launch.explanation.stored_values import KernelValues
from triton_lab.launch.recording.launch_list import Launches
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.reference.parting import Parting
from triton_lab.launch.reference.parting_search import parting
from triton_lab.localization import _
from triton_lab.messages import count, number
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.views.launch.comparison.explanation_view import ExplanationView


@dataclass(frozen=True, eq=False)
class Explanation(RichDisplay):
    """What is odd about ``launch``: its ``relations``, the broken ones first, and its ``findings``.

    >>> explanation = lab.explain(launch)
    >>> explanation.is_odd, [one.status for one in explanation.relations]
    (False, ['held', 'held', 'held'])
    >>> print(explanation)
    add_kernel[8, 1, 1]: nothing odd in 3 relations, no findings
      held: each tensor is written, or the result depends on it (3 tensors)
      held: each element of out_ptr comes from x_ptr: its own place (1,000 elements)
      held: each element of out_ptr comes from y_ptr: its own place (1,000 elements)
    """

    launch: Launch = field(repr=False)
    relations: tuple[Relation, ...]
    # Where the launch and the reference part, if one was given and they do.
    parting: Parting | None = None

    @property
    def findings(self) -> FindingList:
        """The findings of the launch."""
        return self.launch.findings

    @property
    def broken(self) -> tuple[Relation, ...]:
        """The relations that do not hold."""
        return tuple(one for one in self.relations if one.status == BROKEN)

    @property
    def is_odd(self) -> bool:
        """Whether a relation is broken, a finding is an error or a warning, or the result is not the reference's."""
        return (
            bool(self.broken)
            or self.parting is not None
            or any(one.severity in ("error", "warning") for one in self.findings)
        )

    def title(self) -> str:
        """The answer on one line.

        >>> lab.explain(launch).title()
        'add_kernel[8, 1, 1]: nothing odd in 3 relations, no findings'
        """
        from triton_lab.messages import launched

        found = count(len(self.findings), "finding") if self.findings else _("no findings")
        tested = [one for one in self.relations if one.status != SKIPPED]
        relations = count(len(tested), "relation")
        odd = (
            _("{broken} of {relations} broken").format(broken=len(self.broken), relations=relations)
            if self.broken
            else _("nothing odd in {relations}").format(relations=relations)
        )
        return f"{launched(self.launch.kernel, self.launch.grid)}: {odd}, {found}"

    def lines(self) -> list[str]:
        """A line for each relation, and one for the reason where it is broken or was not looked at.

        >>> lab.explain(launch).lines()[0]
        'held: each tensor is written, or the result depends on it (3 tensors)'
        """
        found = []
        for one in self.relations:
            found.append(told(one))
            if one.why:
                found.append(f"  {one.why}")
        return found

    def text(self) -> str:
        """The page in words.

        >>> len(lab.explain(launch).text().splitlines())
        4
        """
        lines = [self.title(), *(f"  {line}" for line in self.lines())]
        if self.parting is not None:
            lines += [f"  {line}" for line in self.parting.text().splitlines()]
        if self.findings:
            lines += [f"  {line}" for line in str(self.findings).splitlines()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.text()

    def plot(self) -> ExplanationView:
        """The page as a picture.

        >>> lab.explain(launch).plot().title()
        'add_kernel[8, 1, 1]: nothing odd in 3 relations, no findings'
        """
        view: ExplanationView = provided("Explanation.plot")(self)
        return view


def told(one: Relation) -> str:
    """A relation on one line: its status, the statement, and numbers."""
    status = {HELD: _("held"), BROKEN: _("broken"), SKIPPED: _("not looked at")}[one.status]
    if one.status == SKIPPED:
        return f"{status}: {one.statement}"
    units = count(one.checked, one.unit)
    if one.status == HELD:
        return f"{status}: {one.statement} ({units})"
    numbers = ""
    if one.found is not None and one.expected is not None:
        numbers = _("; the first is {found}, not {expected}").format(
            found=f"{one.found:.6g}", expected=f"{one.expected:.6g}"
        )
    return _("{status}: {statement}, but not in {broken} of {units}{numbers}").format(
        status=status, statement=one.statement, broken=number(one.broken), units=units, numbers=numbers
    )


def explain(launch: Launch | Launches, reference: Callable[..., Any] | None = None) -> Explanation:
    """Whether anything is odd about a launch, without an expected value.

    The relations follow from the kernel's own operations: a softmax sums to 1, normalised values have mean 0 and
    variance 1, masked-off lanes change no sum, an output is the sum, the greatest or the product of its inputs that its
    operations say, moves keep all elements, and each element depends on its own place or row if most do. The launch is
    replayed once on the CPU. What could not be looked at says so. A record with one launch may be given for a launch.

    ``reference`` is a function in torch that gives the expected result, as for `compare`. If the launch's result is
    another one, `Explanation.parting` says at which step they part. Raises ValueError for a record with none or several
    launches and for a reference that does not fit, CannotReplay if the launch cannot be compared with it.

    >>> lab.explain(launch).title()
    'add_kernel[8, 1, 1]: nothing odd in 3 relations, no findings'
    """
    one = _single(launch)
    relations = list(_relations(one))
    order = [BROKEN, HELD, SKIPPED]
    found = tuple(sorted(relations, key=lambda relation: order.index(relation.status)))
    return Explanation(one, found, None if reference is None else parting(one, reference))


def _single(launch: Launch | Launches) -> Launch:
    if isinstance(launch, Launches):
        if len(launch) != 1:
            raise ValueError(
                _("the record has {launches}: pass one of them, as in launches[0]").format(
                    launches=count(len(launch), "launch", "launches")
                )
            )
        return launch[0]
    return launch


def _relations(launch: Launch) -> Iterator[Relation]:
    yield from idle_arguments.relations(launch)
    what = _("relations of values")
    if launch.error is not None:
        yield skipped("values", what, _("the launch was stopped by an error"))
        return
    values = KernelValues(launch)
    normalised = normalisation.found_in(values)
    wanted = {index for one in normalised for index in one.ops}
    try:
        run = ObservedRun.of(values, wanted)
    except CannotReplay as error:
        yield skipped("values", what, str(error))
        return
    yield from normalisation.relations(run, normalised)
    yield from masked_terms.relations(run)
    yield from tensor_relations.relations(run)
    yield from element_order.relations(run)
