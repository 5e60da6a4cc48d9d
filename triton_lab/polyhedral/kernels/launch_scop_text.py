"""A kernel's scop in words: accesses, footprints, reuse, races, and how much of it is certain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.localization import _
from triton_lab.messages import access_noun, span
from triton_lab.messages import count as counted

if TYPE_CHECKING:
    from triton_lab.polyhedral.core.affine_conditions import Constraint
    from triton_lab.polyhedral.kernels.access_statement import KernelStatement
    from triton_lab.polyhedral.kernels.launch_scop import KernelScop
    from triton_lab.polyhedral.kernels.races.race_verdict import RaceVerdict


def explain(scop: KernelScop) -> str:
    """The whole text of `KernelScop.explain`."""
    assert scop.launch is not None
    launch = scop.launch
    grid = " × ".join(map(str, launch.grid[: max(1, len(scop.programs))]))
    shape = f" ({grid})" if "×" in grid else ""
    lines = [f"{launch.kernel}: {counted(launch.programs, 'program')}{shape}", ""]
    lines += [line for statement in scop.kernel_statements for line in _statement(statement)]
    if scop.gaps:
        lines += ["", _("Not affine:"), *(f"  {gap}" for gap in scop.gaps)]
    if not scop.parameters:
        lines += ["", _("Verified: {what}.").format(what=scop.verification), "", *_footprints(scop)]
    lines += ["", *race_lines(scop.races)]
    return "\n".join(lines)


def _statement(statement: KernelStatement) -> Iterator[str]:
    places = ", ".join(dict.fromkeys(access.text for access in statement.accesses))
    yield _("{name}  line {line}, {kind} {places}").format(
        name=statement.name, line=statement.line, kind=access_noun(statement.kind), places=places
    )
    for number, case in enumerate(statement.domain.pieces):
        head = _("for {conditions}") if number == 0 else _("or  {conditions}")
        yield "      " + head.format(conditions=", ".join(_conditions(case, statement.iterators)))


def _conditions(case: tuple[Constraint, ...], iterators: tuple[str, ...]) -> Iterator[str]:
    """The constraints in words; numeric bounds of an iterator become one range."""
    lower: dict[str, int] = {}
    upper: dict[str, int] = {}
    rest = []
    for constraint in case:
        match constraint.expression.terms:
            case ((str() as name, 1 | -1 as sign),) if name in iterators and not constraint.equality:
                bound = -sign * constraint.expression.constant
                if sign > 0:
                    lower[name] = max(bound, lower.get(name, bound))
                else:
                    upper[name] = min(bound, upper.get(name, bound))
            case _:
                rest.append(constraint)
    for name in iterators:
        if name in lower or name in upper:
            yield (f"{lower[name]} ≤ " if name in lower else "") + name + (f" ≤ {upper[name]}" if name in upper else "")
    yield from map(str, rest)


def _footprints(scop: KernelScop) -> Iterator[str]:
    assert scop.launch is not None
    kinds = {
        "load": _("Each program loads {count} of {argument}{again}."),
        "store": _("Each program stores {count} of {argument}{again}."),
        "atomic": _("Each program changes atomically {count} of {argument}{again}."),
    }
    for argument in dict.fromkeys(a.array for s in scop.statements for a in s.accesses):
        for kind, sentence in kinds.items():
            if not any(s.kind == kind and any(a.array == argument for a in s.accesses) for s in scop.kernel_statements):
                continue
            found = scop.footprint(argument, kind)  # type: ignore[arg-type]
            low, high = int(found.counts.min()), int(found.counts.max())
            count = span(low, high, "element")
            count = _("at most {count}").format(count=count) if found.at_most else count
            shared = scop.reuse(argument, kind)  # type: ignore[arg-type]
            again = (
                _(
                    "; several programs share {several} of {distinct} elements ({mean} programs an element on average)"
                ).format(
                    several=messages.number(int(shared.sharing[2:].sum())),
                    distinct=messages.number(shared.distinct),
                    mean=f"{shared.factor:.3g}",
                )
                if shared.sharing[2:].any()
                else _("; no element by two programs")
            )
            yield sentence.format(count=count, argument=argument, again=again)


def race_lines(races: RaceVerdict) -> Iterator[str]:
    """The verdict in words."""
    names = ", ".join(races.parameters)
    where = _("exactly where {condition}") if races.exact else _("at least where {condition}")
    given = _(" (with {values} as here)").format(values=_values(races.fixed)) if races.fixed else ""
    if races.free and races.proof == "all sizes":
        yield _("Race-free, proved for every {names}{given}, if no offset overflows.").format(names=names, given=given)
    elif races.free and races.proof == "some sizes":
        yield _("Race-free, proved for this launch, and in general {where}{given}.").format(
            where=where.format(condition=condition_text(races)), given=given
        )
    elif races.free and races.proof == "this launch":
        yield _("Race-free, proved for the sizes of this launch and any data.")
    elif races.free and races.ordered:
        yield (
            _(
                "Programs access the same elements, but atomics order the accesses. This launch has no race. The "
                "accesses:"
            )
        )
    elif races.free:
        yield _("No race in the record of this launch. It is not proved, because:")
    elif races.proof == "some sizes":
        what = _("A race at these sizes.") if races.exact else _("Perhaps a race at these sizes.")
        yield _("{what} Race-free {where}{given}.").format(
            what=what, where=where.format(condition=condition_text(races)), given=given
        )
    elif races.proof == "none":
        yield _("Not decided in general, because:")
    else:
        how = _("proved for the sizes of this launch") if races.proof == "this launch" else _("seen in this launch")
        yield _("A race, {how}:").format(how=how)
    yield from (f"  {witness}" for witness in races.witnesses)
    yield from (f"  {reason}" for reason in races.open)


def condition_text(races: RaceVerdict) -> str:
    """The condition on the parameters in isl's notation, without the enclosing braces."""
    text = str(races.condition)
    inside = text[text.index("{") + 1 : text.rindex("}")].strip().removeprefix(":").strip()
    return inside or _("no other condition is required")


def _values(values: Mapping[str, int] | None) -> str:
    return ", ".join(f"{name} = {value}" for name, value in (values or {}).items())
