"""Reads MLIR's generic form as a `Plan`.

In the generic form every operation, of whatever dialect and Triton version, is spelled the same way::

    %r:2 = "dialect.op"(%a, %b)[^bb1] <{properties}> ({ regions }) {attributes} : types loc(...)

So one small grammar covers everything. Versions differ only in the names of operations and attributes.
"""

from __future__ import annotations

import os
import re
from typing import Any

from triton_lab.ir.attributes import read_dictionary
from triton_lab.ir.locations import Locations
from triton_lab.ir.plan import Block, Function, Location, Op, Plan, Region, Successor
from triton_lab.ir.symmetric_clamp import marked
from triton_lab.ir.text_cursor import Cursor
from triton_lab.ir.types import Type
from triton_lab.ir.verify import verify

# If this environment variable is set, every plan is verified after reading.
VERIFY = "TRITON_LAB_VERIFY"
_VALUE = re.compile(r"%([\w$.-]+)(?:#(\d+))?")
_RESULT = re.compile(r"%([\w$.-]+)(?::(\d+))?")
_BLOCK_LABEL = re.compile(r"\^bb(\d+)")
_LAYOUT_ALIAS = re.compile(r"^(#\w+) = (#ttn?g\.\w+.*)$", re.MULTILINE)
_USED_ALIAS = re.compile(r"#[a-z_]\w*\b(?![.(])")
_NAME_SUFFIX = re.compile(r"_\d+$")


class ParseError(ValueError):
    """The text is not the generic form of a module."""


def parse_plan(text: str) -> Plan:
    """Read a module in MLIR's generic form.

    Raises ParseError with the line of the text where reading stopped. If the environment has ``TRITON_LAB_VERIFY``, as
    in tests, the plan is also held to the rules of the IR; a plan that breaks one raises InvalidPlan.
    """
    spelled = _without_aliases(text)
    cursor = Cursor(spelled)
    try:
        locations = Locations(spelled)
        cursor.position = spelled.index('"builtin.module"')
        functions = {name: marked(one) for name, one in _Parser(cursor, locations).module().items()}
        plan = Plan(functions, text)
    except (ValueError, KeyError, IndexError) as error:
        raise ParseError(f"line {cursor.line()} of the module: {error}") from error
    if os.environ.get(VERIFY):
        verify(plan)
    return plan


def _without_aliases(text: str) -> str:
    """The module with the layouts of shared memory in place of their aliases; line numbers stay."""
    if "!ttg.memdesc<" not in text:
        return text
    known: dict[str, str] = {}

    def expanded(part: str) -> str:
        return _USED_ALIAS.sub(lambda found: known.get(found[0], found[0]), part)

    for found in _LAYOUT_ALIAS.finditer(text):
        known[found[1]] = expanded(found[2])
    head, name, body = text.partition('"builtin.module"')
    return head + name + expanded(body)


class _Parser:
    def __init__(self, cursor: Cursor, locations: Locations) -> None:
        self.cursor = cursor
        self.locations = locations
        self.count = 0

    def module(self) -> dict[str, Function]:
        cursor = self.cursor
        cursor.expect('"builtin.module"()')
        if cursor.peek("<{"):
            read_dictionary(cursor, "<{", "}>")
        cursor.expect("({")
        functions: dict[str, Function] = {}
        while not cursor.peek("}"):
            function = self.function()
            if function is not None:
                functions[function.name] = function
        return functions

    def function(self) -> Function | None:
        cursor = self.cursor
        name = cursor.string()
        if name != "tt.func":
            raise ValueError(f"expected a function, found {name}")
        cursor.expect("()")
        properties = read_dictionary(cursor, "<{", "}>") if cursor.peek("<{") else {}
        scope = _Scope()
        regions = self.regions(scope)
        if cursor.peek("{"):
            properties |= read_dictionary(cursor, "{", "}")
        cursor.expect(":")
        self.signature()
        location = self.location()
        body = regions[0]
        if not body.blocks or (len(body.blocks) == 1 and not body.blocks[0].ops):
            return None  # a declaration, or the marker that forces the generic form
        return Function(
            properties["sym_name"],
            body,
            tuple(scope.types),
            tuple(scope.names),
            location,
            properties.get("sym_visibility") == "public",
        )

    def regions(self, scope: _Scope) -> tuple[Region, ...]:
        cursor = self.cursor
        if not cursor.accept("("):
            return ()
        regions = []
        while True:
            cursor.expect("{")
            regions.append(self.region(scope))
            cursor.expect("}")
            if not cursor.accept(","):
                break
        cursor.expect(")")
        return tuple(regions)

    def region(self, scope: _Scope) -> Region:
        cursor = self.cursor
        blocks: list[Block] = []
        while not cursor.peek("}"):
            if cursor.peek("^"):
                # MLIR numbers the blocks of a region in order, so a label is a position.
                if int(cursor.match(_BLOCK_LABEL).group(1)) != len(blocks):
                    raise ValueError("blocks are not numbered in order")
                arguments = self.block_arguments(scope)
                cursor.expect(":")
            else:
                arguments = ()
            ops = []
            while not cursor.peek("}") and not cursor.peek("^"):
                ops.append(self.op(scope))
            blocks.append(Block(arguments, tuple(ops)))
        return Region(tuple(blocks))

    def block_arguments(self, scope: _Scope) -> tuple[int, ...]:
        cursor = self.cursor
        if not cursor.accept("("):
            return ()
        arguments = []
        while not cursor.accept(")"):
            name = cursor.match(_VALUE).group(1)
            cursor.expect(":")
            arguments.append(scope.define(name, 0, cursor.type()))
            self.location()
            cursor.accept(",")
        return tuple(arguments)

    def op(self, scope: _Scope) -> Op:
        cursor = self.cursor
        index, self.count = self.count, self.count + 1
        results: list[tuple[str, int]] = []
        if cursor.peek("%"):
            while True:
                found = cursor.match(_RESULT)
                results.append((found.group(1), int(found.group(2) or 1)))
                if not cursor.accept(","):
                    break
            cursor.expect("=")
        name = cursor.string()
        operands = self.operands(scope)
        blocks = self.successors()
        attributes: dict[str, Any] = read_dictionary(cursor, "<{", "}>") if cursor.peek("<{") else {}
        regions = self.regions(scope)
        if cursor.peek("{"):
            attributes |= read_dictionary(cursor, "{", "}")
        cursor.expect(":")
        types = self.signature()
        location = self.location()
        numbers: list[int] = []
        for result, count in results:
            for position in range(count):
                numbers.append(scope.define(result, position, types[len(numbers)]))
        own, successors = _branches(blocks, operands, attributes)
        return Op(name, own, tuple(numbers), attributes, regions, successors, location, index)

    def operands(self, scope: _Scope) -> tuple[int, ...]:
        cursor = self.cursor
        cursor.expect("(")
        operands = []
        while not cursor.accept(")"):
            found = cursor.match(_VALUE)
            operands.append(scope.use(found.group(1), int(found.group(2) or 0)))
            cursor.accept(",")
        return tuple(operands)

    def successors(self) -> list[int]:
        cursor = self.cursor
        blocks: list[int] = []
        if cursor.accept("["):
            while not cursor.accept("]"):
                blocks.append(int(cursor.match(_BLOCK_LABEL).group(1)))
                cursor.accept(",")
        return blocks

    def signature(self) -> list[Type]:
        """``(operand types) -> result types``; only the results matter here."""
        cursor = self.cursor
        cursor.balanced("(", ")")
        cursor.expect("->")
        if not cursor.accept("("):
            return [cursor.type()]
        types = []
        while not cursor.accept(")"):
            types.append(cursor.type())
            cursor.accept(",")
        return types

    def location(self) -> Location | None:
        cursor = self.cursor
        return self.locations.read(cursor.balanced("(", ")")) if cursor.accept("loc") else None


class _Scope:
    """The values and block labels of one function while it is read."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, int], int] = {}
        self.types: list[Type] = []
        self.names: list[str] = []

    def define(self, name: str, position: int, type: Type) -> int:
        number = len(self.types)
        self.numbers[name, position] = number
        self.types.append(type)
        self.names.append("" if name.isdigit() else _NAME_SUFFIX.sub("", name))
        return number

    def use(self, name: str, position: int) -> int:
        return self.numbers[name, position]


def _branches(
    blocks: list[int], operands: tuple[int, ...], attributes: dict[str, Any]
) -> tuple[tuple[int, ...], tuple[Successor, ...]]:
    """Divide a branch's operands into its own and those that it passes to each target block."""
    if not blocks:
        return operands, ()
    sizes = attributes.get("operandSegmentSizes", [0, len(operands)])
    own, position = operands[: sizes[0]], sizes[0]
    successors = []
    for block, size in zip(blocks, sizes[1:], strict=True):
        successors.append(Successor(block, operands[position : position + size]))
        position += size
    return own, tuple(successors)
