"""Whether each element of an output is written, for every size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from triton_lab.ir import effects
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import Constraint, conjunction
from triton_lab.polyhedral.core.affine_expr import AffineExpr, Term, isl_name, source_name
from triton_lab.polyhedral.core.isl_effort import TooHard, effort
from triton_lab.polyhedral.core.iteration_domain import formula_text
from triton_lab.polyhedral.kernels.access_domain import path_of, symbol_domain
from triton_lab.polyhedral.kernels.element_coordinates import elements
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import ProductTerm, factors_of, terms_in
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Case, lane
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicCase, Unknown
from triton_lab.polyhedral.proofs.proof import PROVED, UNKNOWN, PropertyProof
from triton_lab.polyhedral.proofs.proof_model import ProofModel
from triton_lab.polyhedral.proofs.refutation import with_numbers
from triton_lab.polyhedral.proofs.sizes import Extents

_COORDINATE = "e"


def written_proofs(model: ProofModel, written: frozenset[str]) -> Iterator[PropertyProof]:
    """The verdict on each tensor that the kernel stores to and does not load from."""
    loaded = {
        model.launch.plan_arguments[root].name
        for touch in model.touches
        if effects.reads(touch.op) and (root := touch.root) is not None
    }
    for argument in model.launch.arguments:
        if argument.name in written and argument.name not in loaded:
            try:
                reason = _open(model, argument.name)
            except TooHard:
                reason = _("it took too long")
            yield PropertyProof("writes", UNKNOWN if reason else PROVED, reason, argument.name)


def _open(model: ProofModel, name: str) -> str:
    """Why it is not known that each element is written; "" if it is. Raises TooHard."""
    extents = model.sizes.extents(name)
    if extents is None:
        return _("how many elements {name} has").format(name=name)
    names, every, parts = _elements(model, name, extents)
    if any(_has_terms(c) for case in [every, *parts] for c in case):
        return _("which elements are written is not affine in the sizes")
    if not parts:
        return _("which elements its stores write")
    parameters = sorted(model.sizes.free)
    with effort(_("the elements that are written")):
        whole = _set(model, (every,), names, parameters)
        covered = _set(model, tuple(parts), names, parameters)
        if whole.is_subset(covered):
            return ""
        return _("whether each element is written: {example}").format(example=_example(model, whole.subtract(covered)))


def may_leave_elements(model: ProofModel, name: str, numbers: Mapping[str, AffineExpr]) -> bool:
    """Whether an element of a tensor may not be written for these sizes; False if that is not affine.

    Raises TooHard.
    """
    extents = model.sizes.extents(name)
    if extents is None:
        return False
    names, every, parts = _elements(model, name, extents)
    every, parts = with_numbers(every, numbers), [with_numbers(case, numbers) for case in parts]
    if not parts or any(_has_terms(c) for case in [every, *parts] for c in case):
        return False
    with effort(_("the elements that are written")):
        return not _set(model, (every,), names, ()).is_subset(_set(model, parts, names, ()))


def _elements(model: ProofModel, name: str, extents: Extents) -> tuple[list[str], Case, list[Case]]:
    """The names of a tensor's coordinates, their bounds, and the cases in which an element is written."""
    names = [f"{_COORDINATE}{axis}_" for axis in range(len(extents.shape))]
    every: list[Constraint] = []
    for coordinate, extent in zip(names, extents.shape, strict=True):
        every += [Constraint(AffineExpr.of(coordinate)), Constraint(extent - AffineExpr.of(coordinate) - 1)]
    parts: list[Case] = []
    for touch in model.touches:
        if isinstance(touch.pointer, Unknown) or (touch.root is None and len(touch.pointer.pieces) > 1):
            continue
        for piece in touch.pointer.pieces:
            if piece.root is not None and model.launch.plan_arguments[piece.root].name == name:
                parts += _written(model, touch, piece, extents, names)
    return names, tuple(every), parts


def _example(model: ProofModel, left: isl.Set) -> str:
    """Sizes for which an element is not written, as far as the model knows."""
    point = left.sample_point()
    shown = []
    for position in range(left.dim(isl.dim_type.param)):
        symbol = source_name(left.get_dim_name(isl.dim_type.param, position) or "")
        value = point.get_coordinate_val(isl.dim_type.param, position).to_python()
        if symbol in model.sizes.free:
            shown.append(f"{model.sizes.free[symbol]} = {value}")
    return _("perhaps not for {sizes}").format(sizes=", ".join(shown)) if shown else _("perhaps not")


def _has_terms(constraint: Constraint) -> bool:
    return bool(terms_in(constraint.expression))


def _set(model: ProofModel, formula: Sequence[Case], names: Sequence[str], parameters: Sequence[str]) -> isl.Set:
    """The elements for which ``formula`` holds, with all other symbols projected out."""
    context = tuple(c for c in model.context if not _has_terms(c)) if parameters else ()
    sizes = [Constraint(AffineExpr.of(p) - int(low)) for p in parameters if (low := model.ranges[p][0]) >= 0]
    found = isl.Set(f"[{', '.join(map(isl_name, parameters))}] -> {{ [{', '.join(names)}] : 1 = 0 }}")
    for case in formula:
        others = sorted(
            {
                n
                for c in case
                for n in c.expression.names
                if n not in names and n not in parameters and not isinstance(n, Term)
            }
        )
        text = formula_text(((*case, *context, *sizes),))
        inside = f"exists ({', '.join(map(isl_name, others))} : {text})" if others else text
        found = found.union(
            isl.Set(f"[{', '.join(map(isl_name, parameters))}] -> {{ [{', '.join(names)}] : {inside} }}")
        )
    return found


def _written(
    model: ProofModel, touch: SymbolicAccess, piece: SymbolicCase, extents: Extents, names: Sequence[str]
) -> Iterator[Case]:
    """The conditions under which a store writes the element with the coordinates ``names``."""
    exact = touch.mask.unknown is None and path_of(touch).unknown is None and path_of(touch).repeats is None
    if effects.ACCESSES[touch.op.name].kind != "store" or not exact or piece.root is None:
        return
    size = max(1, model.launch.plan_arguments[piece.root].itemsize)
    place = elements(piece.value, size)
    coordinates = None if place is None or touch.itemsize != size else _coordinates(place, extents)
    if coordinates is None:
        return
    where = [
        Constraint(found - AffineExpr.of(name), equality=True) for found, name in zip(coordinates, names, strict=True)
    ]
    lanes = [
        constraint
        for axis, extent in enumerate(touch.shape)
        for constraint in (Constraint(AffineExpr.of(lane(axis))), Constraint(-AffineExpr.of(lane(axis)) + (extent - 1)))
    ]
    yield from conjunction(symbol_domain(touch, model.grid_formula()), (piece.when,), ((*where, *lanes),))


def _coordinates(place: AffineExpr, extents: Extents) -> list[AffineExpr] | None:
    """The coordinates at a place: what stands beside the stride of each axis, which must be a symbol or 1."""
    found: list[AffineExpr] = []
    rest = place
    for stride in extents.strides:
        if stride == AffineExpr((), 1):
            found.append(AffineExpr())
            continue
        if len(stride.terms) != 1 or stride.constant or stride.terms[0][1] != 1:
            return None
        factors = factors_of(stride.terms[0][0])
        beside = AffineExpr()
        for symbol, coefficient in rest.terms:
            left = list(factors_of(symbol))
            if all(factor in left for factor in factors):
                for factor in factors:
                    left.remove(factor)
                inner = (
                    AffineExpr((), 1)
                    if not left
                    else AffineExpr.of(left[0] if len(left) == 1 else ProductTerm(tuple(left)))
                )
                beside += inner * coefficient
                rest -= AffineExpr.make({symbol: coefficient})
        found.append(beside)
    units = [axis for axis, stride in enumerate(extents.strides) if stride == AffineExpr((), 1)]
    if len(units) != 1:
        return found if not units and rest == AffineExpr() else None
    found[units[0]] = rest
    return found
