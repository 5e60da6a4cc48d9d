"""Parses C's expressions and types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from pycparser import c_ast

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.polyhedral.core.loop_nest import (
    BITWISE,
    MATHEMATICS,
    Binary,
    Call,
    Choose,
    Compare,
    Expr,
    Load,
    Logic,
    Name,
    Number,
    Unary,
)
from triton_lab.polyhedral.core.source_text import NotAScop, Span
from triton_lab.polyhedral.frontends.c_parser import Parsed
from triton_lab.polyhedral.frontends.c_structs import Fields, array_name, fields_of, reached, unwrapped
from triton_lab.polyhedral.frontends.c_types import dtype, number

# C's name -> our name.
FUNCTIONS = {
    "min": "min", "max": "max", "fmin": "min", "fmax": "max", "fminf": "min", "fmaxf": "max",
    "fabs": "abs", "fabsf": "abs", "abs": "abs", "labs": "abs", "floord": "floord", "ceild": "ceild",
    "intFloor": "floord", "intCeil": "ceild",
    **{spelled: name for name in MATHEMATICS for spelled in (name, f"{name}f")},
}  # fmt: skip


@dataclass
class Declared:
    """What the text declares around its nest.

    ``types`` by names of variables, ``typedefs`` by names of types, ``constants`` (of enumerations, and ``const``
    numbers), the ``functions`` that only take numbers, ``structs`` by names of types, and ``records``: the variables
    that are structs, with their fields; ``fields`` are the arrays that stand for these,
    and ``used`` the other names that were read.
    """

    types: dict[str, str] = field(default_factory=dict)
    typedefs: dict[str, str] = field(default_factory=dict)
    constants: dict[str, Expr] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    structs: dict[str, Fields] = field(default_factory=dict)
    records: dict[str, Fields] = field(default_factory=dict)
    fields: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)


class ExpressionReader:
    """Reads pycparser's expressions as ours. Raises `NotAScop` at what a nest may not have."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.declared = Declared()

    # Declarations.

    def note(self, node: Any) -> None:
        """Note what a declaration around the nest says; what cannot be read matters only where it is used."""
        for enumeration in _enumerations(node):
            self._enumeration(enumeration)
        kind = node.type
        if self.note_struct(node):
            return
        if isinstance(kind, c_ast.FuncDecl):
            arguments = kind.args.params if kind.args else []
            plain = (getattr(a, "type", None) for a in arguments)
            if all(isinstance(k, c_ast.TypeDecl) for k in plain):
                self.declared.functions.add(node.name)
            return
        try:
            found = self.element_type(node)
        except NotAScop:
            return
        if isinstance(node, c_ast.Typedef):
            if isinstance(kind, c_ast.TypeDecl):
                self.declared.typedefs[node.name] = found
            return
        self.declared.types[node.name] = found
        if "const" in node.quals and isinstance(kind, c_ast.TypeDecl) and node.init is not None:
            try:
                value = self.expression(node.init)
            except NotAScop:
                return
            if isinstance(value, Number | Unary):
                self.declared.constants[node.name] = value

    def note_struct(self, node: Any) -> Fields | None:
        """Note a struct, a name for one, or a variable that is one; its fields, or None for all else."""
        kind, ndim = unwrapped(node.type)
        kind = kind.type if isinstance(kind, c_ast.TypeDecl) else kind
        found = fields_of(kind, self.declared.structs, self._number_type)
        if found is None:
            return None
        if isinstance(kind, c_ast.Struct) and kind.name and kind.decls:
            self.declared.structs[f"struct {kind.name}"] = found
        if isinstance(node, c_ast.Typedef):
            if not ndim:
                self.declared.structs[node.name] = found
        elif node.name is not None:
            found = tuple(replace(one, ndim=one.ndim + ndim) for one in found)
            self.declared.records[node.name] = found
            for one in found:
                name = array_name(node.name, one.path)
                if name in self.declared.used or name in self.declared.types.keys() - self.declared.fields:
                    self.refuse(
                        _("{name} stands for the field of a struct: rename this variable").format(name=name), node
                    )
                self.declared.types[name] = one.type
                self.declared.fields.add(name)
        return found

    def _number_type(self, kind: Any) -> str:
        """The type of a number. Raises ValueError."""
        if not isinstance(kind, c_ast.IdentifierType):
            raise ValueError
        return dtype(kind.names, self.declared.typedefs)

    def _enumeration(self, node: Any) -> None:
        before: Expr = Number(-1)
        for one in node.values.enumerators if node.values else ():
            if one.value is None:
                step = before.value + 1 if isinstance(before, Number) else 1
                before = Number(step) if isinstance(before, Number) else Binary("+", before, Number(1))
            else:
                before = self.expression(one.value)
            self.declared.constants[one.name] = before

    def element_type(self, declaration: Any) -> str:
        """NumPy's name of the type of a variable, or of the elements of an array."""
        kind = declaration.type
        while isinstance(kind, (c_ast.ArrayDecl, c_ast.PtrDecl)):
            kind = kind.type
        if not isinstance(kind, c_ast.TypeDecl):
            self.refuse(_("this type is not read: declare a number or an array of numbers"), declaration)
        return self.dtype(kind.type, declaration)

    def dtype(self, kind: Any, where: Any) -> str:
        """NumPy's name of a type."""
        if isinstance(kind, c_ast.Enum):
            return "int32"
        if isinstance(kind, (c_ast.Struct, c_ast.Union)):
            self.refuse(_("a struct is not read: write one array for each of its fields"), where)
        try:
            return dtype(getattr(kind, "names", ()), self.declared.typedefs)
        except ValueError as refused:
            self.refuse(str(refused), where)

    # Expressions.

    def expression(self, node: Any) -> Expr:
        """``node`` as our expression."""
        if isinstance(node, c_ast.BinaryOp):
            return self._operations(node)
        span = self.span(node)
        match node:
            case c_ast.Constant():
                return self._number(node, span)
            case c_ast.ID(name=name) if name in self.declared.constants:
                return self.declared.constants[name]
            case c_ast.ID():
                self.refuse_record(node.name, node)
                return Name(node.name, span)
            case c_ast.ArrayRef() | c_ast.StructRef():
                return self._load(node)
            case c_ast.UnaryOp(op="-"):
                return Unary("-", self.expression(node.expr), span)
            case c_ast.UnaryOp(op="+"):
                return self.expression(node.expr)
            case c_ast.UnaryOp(op="!"):
                return Unary("not", self.expression(node.expr), span)
            case c_ast.UnaryOp(op="~"):
                return Unary("~", self.expression(node.expr), span)
            case c_ast.TernaryOp():
                condition, yes, no = (self.expression(e) for e in (node.cond, node.iftrue, node.iffalse))
                return Choose(condition, yes, no, span)
            case c_ast.FuncCall(name=c_ast.ID(name=name)):
                return self._call(node, name, span)
            case c_ast.Cast():
                if not isinstance(node.to_type.type, c_ast.TypeDecl):
                    self.refuse(_("pointers may alias: use array subscripts"), node)
                return Call(self.dtype(node.to_type.type.type, node), (self.expression(node.expr),), span)
            case c_ast.UnaryOp(op=("*" | "&")):
                self.refuse(_("pointers may alias: use array subscripts"), node)
            case c_ast.UnaryOp(op=("p++" | "++" | "p--" | "--")) | c_ast.Assignment():
                self.refuse(_("an expression must not change a variable: write this as its own statement"), node)
        self.refuse(_("this expression is not allowed in a loop nest"), node)

    def _call(self, node: Any, name: str, span: Span) -> Expr:
        function = FUNCTIONS.get(name)
        if function is None and name not in self.declared.functions:
            self.refuse(_("a call of an unknown function may change anything"), node)
        arguments = tuple(self.expression(e) for e in (node.args.exprs if node.args else ()))
        if function is None:
            return Call(name, arguments, span)
        wanted = MATHEMATICS.get(function, len(arguments))
        if len(arguments) != wanted or not arguments:
            takes = counted(wanted, "argument") if wanted else "some arguments"
            self.refuse(f"{name} takes {takes}", node)
        return Call(function, arguments, span)

    def _operations(self, node: Any) -> Expr:
        """A chain of operations of any length: ``a + b + c``."""
        chain: list[Any] = []
        while isinstance(node, c_ast.BinaryOp):
            chain.append(node)
            node = node.left
        value = self.expression(node)
        spans = self.parsed.spans([node, *reversed(chain)])[1:]
        for part, span in zip(reversed(chain), spans, strict=True):
            value = self._binary(part, value, self.expression(part.right), span)
        return value

    def _binary(self, node: Any, left: Expr, right: Expr, span: Span) -> Expr:
        if node.op in ("<", "<=", ">", ">=", "==", "!="):
            return Compare(node.op, left, right, span)
        if node.op in ("&&", "||"):
            return Logic({"&&": "and", "||": "or"}[node.op], (left, right), span)
        if node.op in ("+", "-", "*", "/", "%") or node.op in BITWISE:
            return Binary(node.op, left, right, span)
        self.refuse(_("the operator {op} is not supported; + - * / % and comparisons are").format(op=node.op), node)

    def refuse_record(self, name: str, node: Any) -> None:
        """Refuse a struct that is used as a whole, and a variable that has the name of an array for a field."""
        if name in self.declared.records:
            self.refuse(_("a struct is read field by field: write one assignment for each field"), node)
        self.declared.used.add(name)
        if name in self.declared.fields:
            self.refuse(_("{name} stands for the field of a struct: rename this variable").format(name=name), node)

    def _field(self, node: Any) -> Load | Name | None:
        """An element of the array that stands for a field, or the scalar; None for what is no field of a struct that is
        known."""
        found = reached(node)
        if found is None or found[0] not in self.declared.records:
            return None
        variable, path, subscripts = found
        ndim = next((one.ndim for one in self.declared.records[variable] if one.path == path), None)
        if ndim != len(subscripts):
            return None
        name, span = array_name(variable, path), self.span(node)
        return Load(name, tuple(self.expression(e) for e in subscripts), span) if subscripts else Name(name, span)

    def _load(self, node: Any) -> Load | Name:
        inside = self._field(node)
        if inside is not None:
            return inside
        indices: list[Expr] = []
        base = node
        while isinstance(base, c_ast.ArrayRef):
            # A[i, j] means two subscripts here.
            subscripts = base.subscript.exprs if isinstance(base.subscript, c_ast.ExprList) else [base.subscript]
            indices = [self.expression(e) for e in subscripts] + indices
            base = base.name
        if isinstance(base, c_ast.StructRef):
            self.refuse(_("a struct is not read: write one array for each of its fields"), node)
        if not isinstance(base, c_ast.ID):
            self.refuse(_("pointers may alias: subscript an array by its name"), node)
        self.refuse_record(base.name, node)
        return Load(base.name, tuple(indices), self.span(node))

    def _number(self, node: Any, span: Span) -> Expr:
        try:
            value = Number(number(node.type, node.value), span)
        except ValueError as refused:
            self.refuse(str(refused), node)
        if "unsigned" not in node.type:
            return value
        return Call("uint64" if "long" in node.type else "uint32", (value,), span)

    def span(self, node: Any) -> Span:
        """The place of ``node`` in the user's text."""
        return self.parsed.span(node)

    def refuse(self, reason: str, node: Any) -> NoReturn:
        """Raise `NotAScop` at ``node``."""
        raise NotAScop(reason, self.parsed.source, self.span(node))


def _enumerations(node: Any) -> Iterator[Any]:
    """The enumerations that a declaration defines."""
    while node is not None:
        if isinstance(node, c_ast.Enum):
            yield node
        node = getattr(node, "type", None)
        if isinstance(node, str):
            return
