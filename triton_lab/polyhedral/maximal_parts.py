"""The maximal affine parts of a program: each is a scop of its own, and the rest has a reason why it is none.

What surrounds a part is not affine, or not known, but it does not change while the part runs: iterators of loops
around it are parameters in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.polyhedral.core.loop_nest import Assign, For, If, Nest, Node, Opaque
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText
from triton_lab.polyhedral.display_mixin import Pictured
from triton_lab.polyhedral.scop import Scop
from triton_lab.polyhedral.scop_builder import build
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.views.polyhedral.maximal_view import MaximalView


@dataclass(frozen=True)
class Part:
    """Lines ``first`` to ``last`` form ``scop``; ``around``: the iterators of loops around it, its parameters."""

    first: int
    last: int
    scop: Scop
    around: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Maximal(Pictured):
    """The ``parts`` in the order of the program; ``refusals``: what separates them, each with its place."""

    source: SourceText
    parts: tuple[Part, ...]
    refusals: tuple[NotAScop, ...]

    @property
    def scops(self) -> tuple[Scop, ...]:
        """The scop of each part."""
        return tuple(part.scop for part in self.parts)

    @property
    def whole(self) -> bool:
        """Whether the whole program is one scop."""
        return len(self.parts) == 1 and not self.refusals

    def bind(self, **values: int) -> Maximal:
        """A copy with numbers for the parameters, in every part that has them.

        >>> parts = lab.polyhedral.scop("for (int i = 0; i < n; i++) A[i] = 0;", maximal=True).bind(n=4)
        >>> parts.scops[0].count()
        4
        """
        known = {name for part in self.parts for name in part.scop.parameters}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ValueError(
                _("{unknown} is not a parameter of any part ({known})").format(
                    unknown=", ".join(unknown), known=", ".join(sorted(known)) or "none"
                )
            )
        parts = (replace(part, scop=part.scop.bind(**_only(values, part.scop))) for part in self.parts)
        return replace(self, parts=tuple(parts))

    def marks(self) -> tuple[tuple[str, int | None, tuple[str, ...]], ...]:
        """For each line: its text, the number of its part, and what is refused there.

        >>> parts = lab.polyhedral.scop("A[0] = 0; while (x) x = f(x);", maximal=True)
        >>> for text, part, reasons in parts.marks():
        ...     part, reasons[0]
        (0, 'the bounds of while are not known before it runs: write a for with affine bounds')
        """
        found = []
        for offset, text in enumerate(self.source.text.rstrip("\n").split("\n")):
            number = offset + self.source.first_line
            inside = next((k for k, part in enumerate(self.parts) if part.first <= number <= part.last), None)
            reasons = tuple(r.reason for r in self.refusals if r.line == number)
            found.append((text, inside, reasons))
        return tuple(found)

    def plot(self) -> MaximalView:
        """The program's lines with a bar for each part, the reasons for the rest, and the domains of the parts.

        >>> lab.polyhedral.scop("for (int i = 0; i < 4; i++) A[i] = 0;", maximal=True).plot().title()
        'The whole program is affine'
        """
        view: MaximalView = provided("Maximal.plot")(self)
        return view

    def _refuse_many(self) -> None:
        for part in self.parts:
            if set(part.scop.parameters) <= set(part.scop.values):
                part.scop._refuse_many()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = []
        for text, part, reasons in self.marks():
            lines.append(f"{'' if part is None else part:>3} | {text}")
            lines += [f"      ^ {reason}" for reason in reasons]
        for k, one in enumerate(self.parts):
            count = len(one.scop.statements)
            around = _(", with fixed {names}").format(names=", ".join(one.around)) if one.around else ""
            told = _("part {number}: {statements}{around}")
            lines.append(told.format(number=k, statements=counted(count, "statement"), around=around))
        return "\n".join(lines)


def maximal(nest: Nest, source: SourceText) -> Maximal:
    """The maximal parts of ``nest``, which holds an `Opaque` node for each refusal."""
    parts: list[Part] = []
    refusals: list[NotAScop] = []
    _split(nest, source, nest.body, (), parts, refusals)
    told = {(r.line, r.column, r.reason): r for r in refusals}
    return Maximal(source, tuple(parts), tuple(told[key] for key in sorted(told)))


def _split(
    nest: Nest,
    source: SourceText,
    nodes: tuple[Node, ...],
    around: tuple[str, ...],
    parts: list[Part],
    refusals: list[NotAScop],
) -> None:
    """Find the longest runs of ``nodes`` that are scops; repeat inside the nodes that are none."""
    run: tuple[Node, ...] = ()
    found: Scop | None = None

    def close() -> None:
        nonlocal run, found
        if found is not None:
            lines = list(_lines(run))
            parts.append(Part(min(lines), max(lines), found, tuple(n for n in around if n in found.parameters)))
        run, found = (), None

    for node in nodes:
        together = _tried(nest, source, (*run, node))
        if not isinstance(together, NotAScop):
            run, found = (*run, node), together
            continue
        alone = _tried(nest, source, (node,)) if run else together
        close()
        if not isinstance(alone, NotAScop):
            refusals.append(together)
            run, found = (node,), alone
            continue
        refusals.append(alone)
        match node:
            case For():
                _split(nest, source, node.body, (*around, node.iterator), parts, refusals)
            case If():
                _split(nest, source, node.body, around, parts, refusals)
                _split(nest, source, node.orelse, around, parts, refusals)
            case Opaque():
                _split(nest, source, node.body, (*around, *node.iterators), parts, refusals)
    close()


def _tried(nest: Nest, source: SourceText, nodes: tuple[Node, ...]) -> Scop | NotAScop | None:
    """The scop of ``nodes``; None without a statement; or the reason why they are no scop."""
    opaque = next(_opaque(nodes), None)
    if opaque is not None:
        return opaque.refused
    if not any(isinstance(node, (Assign, For, If)) for node in nodes):
        return None
    try:
        return build(replace(nest, body=nodes), source)
    except NotAScop as refused:
        return None if refused.empty else refused


def _opaque(nodes: tuple[Node, ...]) -> Iterator[Opaque]:
    for node in nodes:
        match node:
            case Opaque():
                yield node
            case For():
                yield from _opaque(node.body)
            case If():
                yield from _opaque((*node.body, *node.orelse))


def _lines(nodes: tuple[Node, ...]) -> Iterator[int]:
    for node in nodes:
        match node:
            case For():
                yield node.span.line
                yield from _lines(node.body)
            case If():
                yield node.span.line
                yield from _lines((*node.body, *node.orelse))
            case Opaque() | Assign():
                yield node.span.line


def _only(values: Mapping[str, int], scop: Scop) -> dict[str, int]:
    return {name: value for name, value in values.items() if name in scop.parameters}
