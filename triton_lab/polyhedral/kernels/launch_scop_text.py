"""A kernel's scop in words: accesses, footprints, reuse, races, and how much of it is certain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.messages import count as counted
from triton_lab.messages import span

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
        lines += ["", "Not affine:", *(f"  {gap}" for gap in scop.gaps)]
    if not scop.parameters:
        lines += ["", f"Verified: {scop.verification}.", "", *_footprints(scop)]
    lines += ["", *race_lines(scop.races)]
    return "\n".join(lines)


def _statement(statement: KernelStatement) -> Iterator[str]:
    places = ", ".join(dict.fromkeys(access.text for access in statement.accesses))
    yield f"{statement.name}  line {statement.line}, {statement.kind} {places}"
    for number, case in enumerate(statement.domain.pieces):
        head = "      for " if number == 0 else "      or  "
        yield head + ", ".join(_conditions(case, statement.iterators))


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
    kinds = {"load": "loads", "store": "stores", "atomic": "changes atomically"}
    for argument in dict.fromkeys(a.array for s in scop.statements for a in s.accesses):
        for kind, verb in kinds.items():
            if not any(s.kind == kind and any(a.array == argument for a in s.accesses) for s in scop.kernel_statements):
                continue
            found = scop.footprint(argument, kind)  # type: ignore[arg-type]
            low, high = int(found.counts.min()), int(found.counts.max())
            count = span(low, high, "element")
            most = "at most " if found.at_most else ""
            shared = scop.reuse(argument, kind)  # type: ignore[arg-type]
            again = (
                f"; {messages.number(int(shared.sharing[2:].sum()))} of {messages.number(shared.distinct)} by several, "
                f"on average by {shared.factor:.3g}"
                if shared.sharing[2:].any()
                else "; no element by two programs"
            )
            yield f"Each program {verb} {most}{count} of {argument}{again}."


def race_lines(races: RaceVerdict) -> Iterator[str]:
    """The verdict in words."""
    names = ", ".join(races.parameters)
    where = "exactly where" if races.exact else "at least where"
    given = f" (with {_values(races.fixed)} as here)" if races.fixed else ""
    if races.free and races.proof == "all sizes":
        yield f"Race free, proved for every {names}{given}, as long as no offset overflows."
    elif races.free and races.proof == "some sizes":
        yield f"Race free, proved for this launch, and in general {where} {condition_text(races)}{given}."
    elif races.free and races.proof == "this launch":
        yield "Race free, proved for the sizes of this launch, whatever the data."
    elif races.free and races.ordered:
        yield "Programs meet, but atomics order them: no race in the record of this launch. Where they meet:"
    elif races.free:
        yield "No race in the record of this launch; not proved, since something is open:"
    elif races.proof == "some sizes":
        what = "A race" if races.exact else "Perhaps a race"
        yield f"{what} at these sizes. Race free {where} {condition_text(races)}{given}."
    elif races.proof == "none":
        yield "Not decided in general:"
    else:
        how = "proved for the sizes of this launch" if races.proof == "this launch" else "seen in this launch"
        yield f"A race, {how}:"
    yield from (f"  {witness}" for witness in races.witnesses)
    yield from (f"  {reason}" for reason in races.open)


def condition_text(races: RaceVerdict) -> str:
    """The condition on the parameters in isl's notation, without the enclosing braces."""
    text = str(races.condition)
    inside = text[text.index("{") + 1 : text.rindex("}")].strip().removeprefix(":").strip()
    return inside or "nothing more is asked"


def _values(values: Mapping[str, int] | None) -> str:
    return ", ".join(f"{name} = {value}" for name, value in (values or {}).items())
