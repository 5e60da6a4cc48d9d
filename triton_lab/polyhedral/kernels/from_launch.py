"""Turns a recorded launch into a scop, whose dimensions are program ids, loop variables and lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from triton_lab.ir import effects
from triton_lab.localization import _
from triton_lab.polyhedral.core.access_function import Access
from triton_lab.polyhedral.core.affine_conditions import Constraint, Formula, conjunction
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.isl_effort import SECONDS, series
from triton_lab.polyhedral.core.iteration_domain import Domain
from triton_lab.polyhedral.core.loop_tree import Leaf, Loop, Mark, Tree, sequence, statements
from triton_lab.polyhedral.core.source_text import SourceText, Span
from triton_lab.polyhedral.core.statement import Array
from triton_lab.polyhedral.kernels.access_domain import path_of, symbol_domain
from triton_lab.polyhedral.kernels.access_statement import AccessKind, Gap, KernelStatement
from triton_lab.polyhedral.kernels.element_coordinates import coordinates, elements
from triton_lab.polyhedral.kernels.launch_model import Model, numbers, symbols
from triton_lab.polyhedral.kernels.launch_scop import KernelScop
from triton_lab.polyhedral.kernels.reader_names import Naming
from triton_lab.polyhedral.kernels.symbolic.control_path import Round
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicCase, SymbolicNumber, Unknown

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch

# Questions of full length that the accesses of a kernel may come to.
_MANY = 5


def scop_from_launch(launch: Launch, **values: int) -> KernelScop:
    """The scop of a recorded launch. With ``values``, the scop of its kernel at other sizes (`KernelScop.general`)."""
    if values:
        return general_scop(launch).bind(**values)
    with series(_("the memory that this launch touches"), _MANY * SECONDS):
        return _Builder(numbers(launch)).scop()


def general_scop(launch: Launch) -> KernelScop:
    """The scop with names for sizes and grid."""
    with series(_("the memory that this kernel touches"), _MANY * SECONDS):
        return _Builder(symbols(launch)).scop()


class _Builder:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.launch = model.launch
        self.naming = Naming(model)
        self.linear = self._linear()

    def scop(self) -> KernelScop:
        gaps: list[Gap] = []
        found: list[KernelStatement] = []
        for touch in self.model.touches:
            own = self._gaps(touch)
            gaps += own
            if isinstance(touch.pointer, SymbolicNumber) and all(p.root is not None for p in touch.pointer.pieces):
                found.append(self._statement(f"S{len(found)}", touch, tuple(own)))
        launch, programs = self.launch, tuple(self.naming.programs.values())
        arrays = {
            a.array: Array(a.array, len(a.subscripts), launch.argument(a.array).dtype)
            for s in found
            for a in s.accesses
        }
        return KernelScop(
            tuple(found),
            self.naming.parameters,
            tuple(arrays.values()),
            kernel_tree(found, programs, self.naming.loops),
            SourceText(launch.source, launch.first_line),
            "python",
            dict(self.model.parameters),
            launch=launch,
            model=self.model,
            gaps=tuple(gaps),
            programs=programs,
            context=tuple(self._context()),
            generalized=general_scop,
        )

    def _context(self) -> list[Constraint]:
        grids = {name for extent in self.model.grid for name in extent.names}
        return [
            Constraint(AffineExpr.of(name) - (1 if name in grids else 0))
            for name, value in self.model.parameters.items()
            if value >= 0
        ]

    def _line(self, op: int | None) -> int | None:
        found = None if op is None else self.launch.lines.get(op)
        return None if found is None else found.line

    def _owner(self, touch: SymbolicAccess) -> str | None:
        if isinstance(touch.pointer, SymbolicNumber):
            roots = {p.root for p in touch.pointer.pieces}
            if len(roots) == 1 and None not in roots:
                return self._argument(touch.pointer.pieces[0]).name
            return None
        owner = self.launch.owner_of(touch.op.index)
        return None if owner is None else owner.name

    def _argument(self, piece: SymbolicCase) -> Argument:
        assert piece.root is not None
        return self.launch.plan_arguments[piece.root]

    def _gaps(self, touch: SymbolicAccess) -> list[Gap]:
        path = path_of(touch)
        address = touch.pointer if isinstance(touch.pointer, Unknown) else None
        if (
            address is None
            and isinstance(touch.pointer, SymbolicNumber)
            and any(p.root is None for p in touch.pointer.pieces)
        ):
            address = Unknown(_("its pointer belongs to no argument"), touch.op.index)
        reasons: list[tuple[Literal["address", "mask", "whether", "often"], Unknown | None]] = [
            ("address", address),
            ("mask", touch.mask.unknown),
            ("whether", path.unknown),
            ("often", path.repeats),
        ]
        return [
            Gap(
                self._line(touch.op.index),
                _kind(touch),
                self._owner(touch),
                what,
                reason.reason,
                self._line(reason.op),
            )
            for what, reason in reasons
            if reason is not None
        ]

    def _statement(self, name: str, touch: SymbolicAccess, gaps: tuple[Gap, ...]) -> KernelStatement:
        names = self.naming.of(touch)
        whole = names.formula(self._domain(touch))
        domain = Domain(name, names.iterators, self.naming.parameters, whole)
        line = self._line(touch.op.index)
        text = SourceText(self.launch.source, self.launch.first_line).line(line or 0)
        indent = len(text) - len(text.lstrip())
        span = Span(line or 0, indent + 1, len(text.rstrip()) + 1)
        accesses: list[Access] = []
        assert isinstance(touch.pointer, SymbolicNumber)
        for piece in touch.pointer.pieces:
            where = conjunction(self._domain(touch), (piece.when,))
            own = Domain(name, names.iterators, self.naming.parameters, names.formula(where))
            argument = self._argument(piece)
            places = self._places(touch, piece)
            subscripts = tuple(names.expression(e) for e in places)
            shown = f"{argument.name}[{', '.join(map(str, subscripts))}]"
            for kind in _effects(touch):
                accesses.append(Access(kind, argument.name, subscripts, own, shown, span))
        return KernelStatement(
            name,
            domain,
            tuple(dict.fromkeys(accesses)),
            text.strip(),
            span,
            op=touch.op.index,
            line=line,
            kind=_kind(touch),
            argument=self._owner(touch),
            block=touch.shape,
            gaps=gaps,
            touch=touch,
        )

    def _domain(self, touch: SymbolicAccess) -> Formula:
        return symbol_domain(touch, self.model.grid_formula())

    def _places(self, touch: SymbolicAccess, piece: SymbolicCase) -> tuple[AffineExpr, ...]:
        argument = self._argument(piece)
        if argument.name not in self.linear:
            found = self._coordinates(touch, piece)
            if found is not None:
                return found
        offset = elements(piece.value, max(1, argument.itemsize))
        return (piece.value if offset is None else offset,)

    def _coordinates(self, touch: SymbolicAccess, piece: SymbolicCase) -> tuple[AffineExpr, ...] | None:
        argument = self._argument(piece)
        offset = elements(piece.value, max(1, argument.itemsize))
        if offset is None or touch.itemsize != argument.itemsize:
            return None
        if len(touch.mask.cases) > 1:
            return coordinates(offset, argument, touch.facts, piece.when)
        mask = touch.mask.cases[0] if touch.mask.cases else ()
        return coordinates(offset, argument, touch.facts, (*piece.when, *mask))

    def _linear(self) -> frozenset[str]:
        """The arguments indexed by element number alone, because some address does not determine coordinates."""
        return frozenset(
            self._argument(piece).name
            for touch in self.model.touches
            if isinstance(touch.pointer, SymbolicNumber)
            for piece in touch.pointer.pieces
            if piece.root is not None and self._coordinates(touch, piece) is None
        )


def _kind(touch: SymbolicAccess) -> AccessKind:
    return touch.kind  # type: ignore[return-value]


def _effects(touch: SymbolicAccess) -> tuple[Literal["read", "write"], ...]:
    reads: tuple[Literal["read"], ...] = ("read",) if effects.reads(touch.op) else ()
    writes: tuple[Literal["write"], ...] = ("write",) if effects.writes(touch.op) else ()
    return (*reads, *writes)


def kernel_tree(found: Sequence[KernelStatement], programs: Sequence[str], loops: Mapping[str, str]) -> Tree:
    """The order of one program's accesses, inside loops over ``programs`` in any order.

    ``loops`` names loops by the symbol of their iterations.
    """
    body: Tree = _level(found, 0, loops)
    for name in reversed(programs):
        body = _around(name, body, "parallel")
    return body


def _level(found: Sequence[KernelStatement], depth: int, loops: Mapping[str, str]) -> Tree:
    children: list[Tree] = []
    position = 0
    while position < len(found):
        rounds = _rounds(found[position])
        if len(rounds) == depth:
            tree: Tree = Leaf((found[position].name,))
            for name in reversed(found[position].lanes):
                tree = _around(name, tree, "vectorize")
            children.append(tree)
            position += 1
            continue
        loop = rounds[depth].op
        end = position
        while end < len(found) and len(_rounds(found[end])) > depth and _rounds(found[end])[depth].op == loop:
            end += 1
        name = loops[rounds[depth].symbol]
        children.append(_around(name, _level(found[position:end], depth + 1, loops), ""))
        position = end
    return sequence(tuple(children)) if children else Leaf(())


def _around(name: str, body: Tree, mark: Mark) -> Tree:
    return Loop(name, dict.fromkeys(statements(body), AffineExpr.of(name)), body, mark)


def _rounds(statement: KernelStatement) -> tuple[Round, ...]:
    assert statement.touch is not None
    return path_of(statement.touch).rounds
