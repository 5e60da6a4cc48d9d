"""Whether an access stays in its tensor for every size."""

from __future__ import annotations

from collections.abc import Iterator

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import Constraint, conjunction
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.isl_effort import TooHard
from triton_lab.polyhedral.kernels.access_domain import path_of, symbol_domain
from triton_lab.polyhedral.kernels.element_coordinates import elements
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import Interval, UnknownTerm, terms_in
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Case, lane
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicCase, Unknown
from triton_lab.polyhedral.proofs.proof_model import ProofModel
from triton_lab.polyhedral.proofs.sizes import Extents


def lanes_of(touch: SymbolicAccess) -> dict[str, Interval]:
    """The ranges of the symbols of an access that are no sizes: its lanes and the iterations around it."""
    found: dict[str, Interval] = {
        name: bounds for name, bounds in path_of(touch).facts.ranges.items() if name.startswith("_t")
    }
    return found | {lane(axis): (0, extent - 1) for axis, extent in enumerate(touch.shape)}


def unproved(model: ProofModel, touch: SymbolicAccess) -> str:
    """Why the access is not known to be in bounds; "" if it is, for every size. Raises TooHard."""
    if isinstance(touch.pointer, Unknown):
        return touch.pointer.reason
    for piece in touch.pointer.pieces:
        if piece.root is None:
            return _("its pointer belongs to no argument")
        argument = model.launch.plan_arguments[piece.root]
        extents = model.sizes.extents(argument.name)
        if extents is None:
            return _("how many elements {name} has. Assume it: '{name}.numel() == n', for example").format(
                name=argument.name
            )
        # The mask alone often is enough; conditions of branches have many cases.
        ways = (False, True) if len(path_of(touch).formula) > 1 else (True,)
        leaves = (violations(model, touch, piece, extents, branches) for branches in ways)
        if all(any(model.possible(case, lanes_of(touch)) for case in cases) for cases in leaves):
            return _reason(model, touch, piece)
    return ""


def violations(
    model: ProofModel, touch: SymbolicAccess, piece: SymbolicCase, extents: Extents, branches: bool = True
) -> Iterator[Case]:
    """The conditions under which the access leaves its tensor, one of which holds if it does.

    Without ``branches`` they hold more often: conditions of branches on the path are left out.
    """
    assert piece.root is not None
    size = max(1, model.launch.plan_arguments[piece.root].itemsize)
    place = elements(piece.value, size)
    if place is None or touch.itemsize != size:  # in bytes
        place, unit, width = piece.value, size, touch.itemsize
    else:
        unit, width = 1, 1
    beyond = place + (width - unit) - extents.last * unit - 1
    some = [Constraint(extent - 1) for extent in extents.shape if not extent.is_constant]
    held = tuple(_held(piece.value))
    for case in conjunction(symbol_domain(touch, model.grid_formula(), branches), (piece.when,), (held,)):
        yield (*case, *some, Constraint(beyond))
        yield (*case, Constraint(-place - 1))
        for extent in extents.shape:
            if not extent.is_constant:
                yield (*case, Constraint(-extent))


def _held(value: AffineExpr) -> Iterator[Constraint]:
    """What is assumed of numbers from memory that the value depends on."""
    for term in terms_in(value):
        if isinstance(term, UnknownTerm):
            if term.least is not None:
                yield Constraint(AffineExpr.of(term) - term.least)
            if term.most is not None:
                yield Constraint(term.most - AffineExpr.of(term))


def depends_on_memory(touch: SymbolicAccess) -> bool:
    """Whether the address depends on values of which nothing is assumed."""
    if isinstance(touch.pointer, Unknown):
        return True
    terms = {term for piece in touch.pointer.pieces for term in terms_in(piece.value)}
    return any(isinstance(term, UnknownTerm) and term.least is None for term in terms)


def _reason(model: ProofModel, touch: SymbolicAccess, piece: SymbolicCase) -> str:
    """What is not known of the address, in the user's words."""
    hidden = _opaque(piece.value)
    if hidden is not None:
        line = model.launch.lines.get(hidden.op) if hidden.op is not None else None
        where = "" if line is None else _(" (line {line})").format(line=line.line)
        return _("the address depends on {value}{where}").format(value=hidden.reason, where=where)
    sizes = sorted({model.sizes.free[name] for name in piece.value.names if name in model.sizes.free})
    if sizes:
        return _("whether it stays in bounds for all values of {names}").format(names=", ".join(sizes))
    return _("whether it stays in bounds")


def _opaque(value: AffineExpr) -> UnknownTerm | None:
    return next((term for term in sorted(terms_in(value)) if isinstance(term, UnknownTerm)), None)


def decided(model: ProofModel, touch: SymbolicAccess) -> str:
    """`unproved`, with the reason where it took too long."""
    try:
        return unproved(model, touch)
    except TooHard:
        return _("it took too long")
