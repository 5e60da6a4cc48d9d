"""From a recorded launch to a scop: dimensions are program ids, loop variables and lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .access import Access
from .affine import Affine
from .conditions import Constraint, Formula, conjunction
from .domain import Domain
from .kernel_domain import path_of, start_of, symbol_domain
from .kernel_facts import lane, program
from .kernel_model import Model, numbers, symbols
from .kernel_places import coordinates, elements
from .kernel_scop import AccessKind, Gap, KernelScop, KernelStatement
from .kernel_touch import Round, Touch
from .kernel_values import Number, Piece, Unknown
from .loop_tree import Leaf, Loop, Mark, Tree, sequence, statements
from .scop import Array
from .source import SourceText, Span

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch


def scop_from_launch(launch: Launch, **values: int) -> KernelScop:
    """The scop of a recorded launch. With ``values``: of its kernel at other sizes (`KernelScop.general`)."""
    if values:
        return general_scop(launch).bind(**values)
    return _Builder(numbers(launch)).scop()


def general_scop(launch: Launch) -> KernelScop:
    """The scop with names for sizes and grid."""
    return _Builder(symbols(launch)).scop()


@dataclass(frozen=True)
class _Names:
    """How symbols are called outside: each as an expression of the names that the reader sees."""

    iterators: tuple[str, ...]
    values: Mapping[str, Affine]
    # A counter of rounds -> the loop's variable less its start, and by how much the variable advances.
    steps: Mapping[str, tuple[Affine, int]]

    def expression(self, expression: Affine) -> Affine:
        total = Affine((), expression.constant)
        for symbol, coefficient in expression.terms:
            if not isinstance(symbol, str):
                total += (self.expression(symbol.numerator) // symbol.divisor) * coefficient
            elif symbol in self.steps:
                distance, step = self.steps[symbol]
                whole = coefficient % step == 0
                total += distance * (coefficient // step) if whole else (distance // step) * coefficient
            else:
                total += self.values.get(symbol, Affine.of(symbol)) * coefficient
        return total

    def formula(self, formula: Formula) -> Formula:
        """``formula`` in these names; loops that advance by more than 1 skip what lies between."""
        whole = tuple(Constraint(distance % step, equality=True) for distance, step in self.steps.values() if step > 1)
        return tuple((*(self._constraint(c) for c in case), *whole) for case in formula)

    def _constraint(self, constraint: Constraint) -> Constraint:
        """A bound of the rounds alone is one of the variable."""
        match constraint.expression.terms:
            case ((str() as symbol, 1 | -1 as sign),) if symbol in self.steps:
                distance, step = self.steps[symbol]
                return Constraint(distance * sign + constraint.expression.constant * step, constraint.equality)
        return Constraint(self.expression(constraint.expression), constraint.equality)


class _Builder:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.launch = model.launch
        self.parameters = tuple(model.parameters)
        taken = {*self.parameters}
        axes = model.axes
        self.programs = {program(k): _free("pid" if axes == (0,) else f"pid_{k}", taken) for k in axes}
        self.loops: dict[str, str] = {}
        for touch in model.touches:
            for round_ in path_of(touch).rounds:
                if round_.symbol not in self.loops:
                    self.loops[round_.symbol] = _free(round_.name, taken | set(self.programs.values()))
        self.linear = self._linear()

    def scop(self) -> KernelScop:
        gaps: list[Gap] = []
        found: list[KernelStatement] = []
        for touch in self.model.touches:
            own = self._gaps(touch)
            gaps += own
            if isinstance(touch.pointer, Number) and all(p.root is not None for p in touch.pointer.pieces):
                found.append(self._statement(f"S{len(found)}", touch, tuple(own)))
        launch = self.launch
        arrays = {
            a.array: Array(a.array, len(a.subscripts), launch.argument(a.array).dtype)
            for s in found
            for a in s.accesses
        }
        return KernelScop(
            tuple(found),
            self.parameters,
            tuple(arrays.values()),
            self._tree(found),
            SourceText(launch.source, launch.first_line),
            "python",
            dict(self.model.parameters),
            launch=launch,
            model=self.model,
            gaps=tuple(gaps),
            programs=tuple(self.programs.values()),
            context=tuple(self._context()),
        )

    def _context(self) -> list[Constraint]:
        grids = {name for extent in self.model.grid for name in extent.names}
        return [
            Constraint(Affine.of(name) - (1 if name in grids else 0))
            for name, value in self.model.parameters.items()
            if value >= 0
        ]

    def _line(self, op: int | None) -> int | None:
        found = None if op is None else self.launch.lines.get(op)
        return None if found is None else found.line

    def _owner(self, touch: Touch) -> str | None:
        if isinstance(touch.pointer, Number):
            roots = {p.root for p in touch.pointer.pieces}
            if len(roots) == 1 and None not in roots:
                return self._argument(touch.pointer.pieces[0]).name
            return None
        owner = self.launch.owner_of(touch.op.index)
        return None if owner is None else owner.name

    def _argument(self, piece: Piece) -> Argument:
        assert piece.root is not None
        return self.launch.plan_arguments[piece.root]

    def _gaps(self, touch: Touch) -> list[Gap]:
        path = path_of(touch)
        address = touch.pointer if isinstance(touch.pointer, Unknown) else None
        if address is None and isinstance(touch.pointer, Number) and any(p.root is None for p in touch.pointer.pieces):
            address = Unknown("it is no argument's pointer", touch.op.index)
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

    def _statement(self, name: str, touch: Touch, gaps: tuple[Gap, ...]) -> KernelStatement:
        names = self._names(touch)
        whole = names.formula(self._domain(touch))
        domain = Domain(name, names.iterators, self.parameters, whole)
        line = self._line(touch.op.index)
        text = SourceText(self.launch.source, self.launch.first_line).line(line or 0)
        indent = len(text) - len(text.lstrip())
        span = Span(line or 0, indent + 1, len(text.rstrip()) + 1)
        accesses: list[Access] = []
        assert isinstance(touch.pointer, Number)
        for piece in touch.pointer.pieces:
            where = conjunction(self._domain(touch), (piece.when,))
            own = Domain(name, names.iterators, self.parameters, names.formula(where))
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

    def _domain(self, touch: Touch) -> Formula:
        return symbol_domain(touch, self.model.grid_formula())

    def _names(self, touch: Touch) -> _Names:
        values = {symbol: Affine.of(name) for symbol, name in self.programs.items()}
        iterators = [*self.programs.values()]
        steps: dict[str, tuple[Affine, int]] = {}
        for round_ in path_of(touch).rounds:
            name = self.loops[round_.symbol]
            iterators.append(name)
            start = start_of(round_)
            if start is None:
                values[round_.symbol] = Affine.of(name)
            else:
                names = _Names((), values, steps)
                steps[round_.symbol] = (Affine.of(name) - names.expression(start), round_.step)
        rank = len(touch.shape)
        taken = {*iterators, *self.parameters}
        own = ("lane",) if rank == 1 else ("i", "j", "k")[:rank] if rank <= 3 else tuple(f"l{k}" for k in range(rank))
        for axis, name in enumerate(own):
            free = _free(name, taken)
            values[lane(axis)] = Affine.of(free)
            iterators.append(free)
        return _Names(tuple(iterators), values, steps)

    def _places(self, touch: Touch, piece: Piece) -> tuple[Affine, ...]:
        argument = self._argument(piece)
        if argument.name not in self.linear:
            found = self._coordinates(touch, piece)
            if found is not None:
                return found
        offset = elements(piece.value, max(1, argument.itemsize))
        return (piece.value if offset is None else offset,)

    def _coordinates(self, touch: Touch, piece: Piece) -> tuple[Affine, ...] | None:
        argument = self._argument(piece)
        offset = elements(piece.value, max(1, argument.itemsize))
        if offset is None or touch.itemsize != argument.itemsize:
            return None
        if len(touch.mask.cases) > 1:
            return coordinates(offset, argument, touch.facts, piece.when)
        mask = touch.mask.cases[0] if touch.mask.cases else ()
        return coordinates(offset, argument, touch.facts, (*piece.when, *mask))

    def _linear(self) -> frozenset[str]:
        """The arguments whose elements are only counted: their coordinates do not follow from every address."""
        return frozenset(
            self._argument(piece).name
            for touch in self.model.touches
            if isinstance(touch.pointer, Number)
            for piece in touch.pointer.pieces
            if piece.root is not None and self._coordinates(touch, piece) is None
        )

    def _tree(self, found: Sequence[KernelStatement]) -> Tree:
        """The order of one program's accesses, inside loops over programs that run in any order."""
        body: Tree = self._level(found, 0)
        for name in reversed(self.programs.values()):
            body = _around(name, body, "parallel")
        return body

    def _level(self, found: Sequence[KernelStatement], depth: int) -> Tree:
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
            name = self.loops[rounds[depth].symbol]
            children.append(_around(name, self._level(found[position:end], depth + 1), ""))
            position = end
        return sequence(tuple(children)) if children else Leaf(())


def _around(name: str, body: Tree, mark: Mark) -> Tree:
    return Loop(name, dict.fromkeys(statements(body), Affine.of(name)), body, mark)


def _rounds(statement: KernelStatement) -> tuple[Round, ...]:
    assert statement.touch is not None
    return path_of(statement.touch).rounds


def _kind(touch: Touch) -> AccessKind:
    return touch.kind  # type: ignore[return-value]


def _effects(touch: Touch) -> tuple[Literal["read", "write"], ...]:
    return {"load": ("read",), "store": ("write",), "atomic": ("read", "write")}[touch.kind]  # type: ignore[return-value]


def _free(name: str, taken: set[str]) -> str:
    """``name``, or with underscores so that it is not taken."""
    while name in taken:
        name += "_"
    return name
