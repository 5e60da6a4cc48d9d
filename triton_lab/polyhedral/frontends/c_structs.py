"""C's structs as arrays: each field that holds numbers is an array of its own, with all subscripts on the way to it.

``s[i].f[j].a`` is the element ``[i][j]`` of the array ``s_f_a``. Fields of one struct never overlap, so nothing is lost
as long as the struct is only used field by field. Unions overlap, and pointers may: both are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast


@dataclass(frozen=True)
class StructField:
    """A field that holds numbers: its ``path`` from the struct, its type, and the number of its subscripts."""

    path: tuple[str, ...]
    type: str
    ndim: int


Fields = tuple[StructField, ...]


def fields_of(kind: Any, known: Mapping[str, Fields], dtype: Callable[[Any], str]) -> Fields | None:
    """The fields of the type ``kind``; None if it is no struct, or has a field that is not read.

    ``known`` are the structs that were declared, by ``struct s`` or the name of their typedef; ``dtype`` gives the type
    of a number, and raises ValueError for what is none.
    """
    if isinstance(kind, c_ast.IdentifierType) and len(kind.names) == 1:
        return known.get(kind.names[0])
    if not isinstance(kind, c_ast.Struct):
        return None
    if kind.decls is None:
        return known.get(f"struct {kind.name}")
    try:
        return tuple(field for one in kind.decls for field in _fields(one, known, dtype))
    except ValueError:
        return None


def _fields(declared: Any, known: Mapping[str, Fields], dtype: Callable[[Any], str]) -> Iterator[StructField]:
    kind, ndim = unwrapped(declared.type)
    if isinstance(kind, c_ast.TypeDecl):
        kind = kind.type
    own = () if declared.name is None else (declared.name,)
    inner = fields_of(kind, known, dtype)
    if inner is None:
        yield StructField(own, dtype(kind), ndim)
        return
    for field in inner:
        yield StructField((*own, *field.path), field.type, ndim + field.ndim)


def unwrapped(kind: Any) -> tuple[Any, int]:
    """The type of the elements of an array, and its number of subscripts."""
    ndim = 0
    while isinstance(kind, c_ast.ArrayDecl):
        kind, ndim = kind.type, ndim + 1
    return kind, ndim


def array_name(variable: str, path: tuple[str, ...]) -> str:
    """The array that holds a field of ``variable``."""
    return "_".join((variable, *path))


def reached(node: Any) -> tuple[str, tuple[str, ...], list[Any]] | None:
    """The variable, the path of fields and the subscripts of ``s[i].f[j].a``; None for anything but fields of one."""
    path: list[str] = []
    subscripts: list[Any] = []
    while not isinstance(node, c_ast.ID):
        if isinstance(node, c_ast.ArrayRef):
            found = node.subscript
            subscripts[:0] = found.exprs if isinstance(found, c_ast.ExprList) else [found]
        elif isinstance(node, c_ast.StructRef) and node.type == ".":
            path.insert(0, node.field.name)
        else:
            return None
        node = node.name
    return (node.name, tuple(path), subscripts) if path else None
