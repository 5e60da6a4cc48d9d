"""`Proof`: what is proved of a kernel for every size, access by access, and under which assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from triton_lab.localization import _
from triton_lab.messages import access_noun, count
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.views.proofs.proof_view import ProofView

Outcome = Literal["proved", "refuted", "unknown"]
PROVED: Outcome = "proved"
REFUTED: Outcome = "refuted"
UNKNOWN: Outcome = "unknown"

Property = Literal["races", "overflow", "writes", "masked lanes"]


@dataclass(frozen=True)
class Assumption:
    """A condition under which a proof holds, as ``text``: ``x_ptr.numel() == n``.

    ``origin``: a ``launch`` suggests it, or the ``kernel`` does, which no launch was given for; it is the ``grid`` that
    launches use; the ``compiler`` made the kernel for it; or the ``user`` gave it. Each can be given as
    ``assume=[text]``, and left out as ``assume=["not " + text]``.
    """

    text: str
    origin: Literal["launch", "kernel", "grid", "compiler", "user"]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class AccessProof:
    """The verdict on one load, store or atomic: ``proved`` in bounds for every size, ``refuted``, or ``unknown``.

    ``line`` counts as the editor does, ``column`` from 0; ``op`` is the operation's number in the plan. ``reason`` says
    what is not known, or for which sizes the access is out of bounds. For a refuted access, ``sizes`` has the smallest
    sizes that go wrong, ``program`` its program in the grid and ``lane`` its lane in the block, and ``launch`` is the
    launch with these sizes, which was run and failed there. ``code`` is the line as it is written.
    """

    op: int
    line: int | None
    column: int | None
    kind: str
    argument: str | None
    outcome: Outcome
    reason: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    program: tuple[int, int, int] | None = None
    lane: tuple[int, ...] | None = None
    launch: Launch | None = field(default=None, repr=False, compare=False)
    file: str = ""
    code: str = ""

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        return {
            PROVED: _("in bounds for every size"),
            REFUTED: _("out of bounds"),
            UNKNOWN: _("not known"),
        }[self.outcome]

    def __str__(self) -> str:
        where = _("line {line}").format(line=self.line)
        reason = f": {self.reason}" if self.reason else ""
        text = _("{where}: {kind} {argument}: {verdict}{reason}")
        return text.format(
            where=where, kind=access_noun(self.kind), argument=self.argument or "?", verdict=self.verdict, reason=reason
        )


@dataclass(frozen=True)
class PropertyProof:
    """The verdict on the kernel as a whole.

    ``name`` is ``races`` (programs keep apart), ``overflow`` (no address overflows), ``writes`` (each element of the
    ``argument`` is written) or ``masked lanes`` (no result depends on a lane that a mask turns off). ``reason`` has the
    sizes for which it holds, or what is not known, or how it fails: for the smallest ``sizes`` that go wrong, which
    ``launch`` was run with.
    """

    name: Property
    outcome: Outcome
    reason: str = ""
    argument: str | None = None
    line: int | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    launch: Launch | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{property_text(self)}{f': {self.reason}' if self.reason else ''}"


def property_text(found: PropertyProof) -> str:
    """The property and its verdict, in words."""
    subject = {
        "races": _("programs keep apart"),
        "overflow": _("addresses do not overflow"),
        "writes": _("each element of {argument} is written").format(argument=found.argument),
        "masked lanes": _("no result depends on masked-off lanes"),
    }[found.name]
    verdict = {PROVED: _("proved"), REFUTED: _("wrong"), UNKNOWN: _("not known")}[found.outcome]
    return f"{subject}: {verdict}"


@dataclass(frozen=True, repr=False)
class Proof(RichDisplay):
    """What is proved of ``kernel`` for all values of its ``parameters``, as long as its ``assumptions`` hold.

    ``accesses`` are in the order of the text. ``grid`` has the extents as text: numbers, sizes, or ``cdiv(n, BLOCK)``.
    ``constants`` are the constexprs, and what else is no parameter. ``seconds`` is what the proof took.
    """

    kernel: str
    file: str
    first_line: int
    accesses: tuple[AccessProof, ...]
    properties: tuple[PropertyProof, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    parameters: tuple[str, ...] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)
    grid: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """``refuted`` if an access or a property is, ``proved`` if all are, else ``unknown``."""
        found = {one.outcome for one in self.accesses} | {one.outcome for one in self.properties}
        return REFUTED if REFUTED in found else UNKNOWN if UNKNOWN in found else PROVED

    def at(self, line: int) -> tuple[AccessProof, ...]:
        """The accesses on a line of the source.

        >>> [one.outcome for one in lab.prove(launch).at(launch.accesses[0].line)]
        ['proved']
        """
        return tuple(one for one in self.accesses if one.line == line)

    def property(self, name: Property) -> tuple[PropertyProof, ...]:
        """The verdicts on one property; for ``writes`` one for each output.

        >>> [one.outcome for one in lab.prove(launch).property("races")]
        ['proved']
        """
        return tuple(one for one in self.properties if one.name == name)

    def number(self, outcome: Outcome) -> int:
        """How many accesses have this outcome.

        >>> lab.prove(launch).number("proved")
        3
        """
        return sum(one.outcome == outcome for one in self.accesses)

    def __repr__(self) -> str:
        parts = [
            f"{self.number(outcome)} {text}"
            for outcome, text in ((PROVED, _("in bounds")), (REFUTED, _("out of bounds")), (UNKNOWN, _("not known")))
            if self.number(outcome)
        ]
        return _("Proof {kernel}: {accesses}, {outcomes}").format(
            kernel=self.kernel, accesses=count(len(self.accesses), "access", "accesses"), outcomes=", ".join(parts)
        )

    def __str__(self) -> str:
        lines = [_("{kernel}, grid ({grid})").format(kernel=self.kernel, grid=", ".join(self.grid))]
        lines += [f"  {one}" for one in (*self.accesses, *self.properties)]
        if self.assumptions:
            lines += [_("as long as"), *(f"  {one}" for one in self.assumptions)]
        return "\n".join(lines)

    def plot(self) -> ProofView:
        """The picture: each access with its verdict, and the smallest launch that refutes it with the lane that leaves.

        >>> lab.prove(launch).plot().title()
        'Proof add_kernel: 3 accesses, 3 in bounds'
        """
        view: ProofView = provided("Proof.plot")(self)
        return view
