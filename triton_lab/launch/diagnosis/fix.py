"""Simple fixes of an access out of bounds, as edits of the source: a missing mask, or a bound that is too wide.

These are guesses from the source alone; `tried_fixes` tries them before one is offered.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from triton_lab.backend.source.access_source import (
    access_at,
    accesses,
    first_line,
    kind,
    mask_of,
    offset_of,
    side,
    text_of,
    written,
)
from triton_lab.launch.diagnosis.finding import Edit

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.diagnosis.finding import Finding
    from triton_lab.launch.recording.launch_record import Recorded


# How many edits are tried for one access.
_MOST = 8
# How many loads are tried with an ``other=``.
_LOADS = 3


def edited(launch: Recorded, finding: Finding, text: str) -> Iterator[tuple[str, str]]:
    """Edits of ``text`` (the kernel's source, perhaps edited before) that may mend ``finding``.

    Yields the new text and the condition that the edit adds or mends.
    """
    tree = ast.parse(text)
    access = access_at(tree, launch.compiled[0].fn, finding.line, finding.column)
    argument = None if finding.argument is None else launch.argument(finding.argument)
    if access is None or argument is None:
        return
    made = _masked(launch, tree, text, access, argument) if mask_of(access) else _bare(launch, tree, access, argument)
    seen: set[str] = set()
    for change, condition in made:
        after = _changed(text, change)
        if after not in seen and len(seen) < _MOST:
            seen.add(after)
            yield after, condition


def edits(kernel: Any, after: str) -> tuple[Edit, ...]:
    """The lines in which ``after`` differs from the kernel's source, with the indentation of the user's file."""
    first = first_line(kernel)
    raw = kernel.raw_src[first - kernel.starting_line_number :]
    found = []
    for number, (old, new) in enumerate(zip(kernel.src.split("\n"), after.split("\n"), strict=True)):
        if old != new:
            before = raw[number].rstrip("\n")
            indent = before[: len(before) - len(old)]
            found.append(Edit(first + number, before, indent + new))
    return tuple(found)


def filled(text: str) -> Iterator[str]:
    """The kernel's source with an ``other=`` for one of the loads that have a mask but no ``other``.

    The values tried make a quotient 0, then a logarithm 0, then an exponential 0, so that the lane adds nothing.
    """
    tree = ast.parse(text)
    loads = [one for one in accesses(tree) if kind(one) == "load" and mask_of(one) is not None and _says_no_other(one)]
    for load in loads[:_LOADS]:
        for value in ('float("inf")', "1.0", 'float("-inf")'):
            yield _changed(text, _appended(load, f"other={value}"))


# --- Edits ----------------------------------------------------------------------------------------

# The start and end of a stretch of the text (line from 1, column in bytes), and its replacement.
_Change = tuple[tuple[int, int], tuple[int, int], str]


def _bare(launch: Recorded, tree: ast.Module, access: ast.Call, argument: Argument) -> Iterator[tuple[_Change, str]]:
    """A mask for an access without one: that of an access with the same offsets, or one from the argument's size."""
    offset = offset_of(access.args[0], argument.name)
    others = [one for one in accesses(tree) if mask_of(one) is not None and _known_at(mask_of(one), tree, access)]
    same = [one for one in others if offset is not None and text_of(offset_of(one.args[0])) == text_of(offset)]
    conditions = [ast.unparse(mask) for one in same if (mask := mask_of(one)) is not None]
    if offset is not None:
        conditions += [f"{side(offset)} < {name}" for name in _sizes(launch, argument)]
    conditions += [ast.unparse(mask) for one in others if (mask := mask_of(one)) is not None]
    for condition in conditions:
        yield _appended(access, f"mask={condition}{_other(access, argument)}"), condition


def _masked(
    launch: Recorded, tree: ast.Module, text: str, access: ast.Call, argument: Argument
) -> Iterator[tuple[_Change, str]]:
    """A tighter bound in the access's mask, or one more condition in it."""
    mask = mask_of(access)
    assert mask is not None
    for compare in [one for one in ast.walk(written(tree, mask, access)) if isinstance(one, ast.Compare)]:
        if len(compare.ops) != 1 or not isinstance(compare.ops[0], (ast.Lt, ast.LtE)):
            continue
        left, bound = side(compare.left), compare.comparators[0]
        names = [one.id for one in ast.walk(bound) if isinstance(one, ast.Name)]
        exact = [ast.unparse(bound)] if isinstance(compare.ops[0], ast.LtE) else []
        for name in dict.fromkeys([*exact, *(n for n in names if n in _scalars(launch)), *_sizes(launch, argument)]):
            yield (_start(compare), _end(compare), f"{left} < {name}"), f"{left} < {name}"
    offset = offset_of(access.args[0], argument.name)
    if offset is None:
        return
    shifted, old = side(offset), ast.get_source_segment(text, mask) or ast.unparse(mask)
    kept = old if isinstance(mask, ast.Name) else f"({old})"
    for condition in (f"{shifted} >= 0", *(f"{shifted} < {name}" for name in _sizes(launch, argument))):
        yield (_start(mask), _end(mask), f"{kept} & ({condition})"), condition


def _sizes(launch: Recorded, argument: Argument) -> list[str]:
    """The names of the launch's integer arguments that equal the number of elements of ``argument``."""
    count = math.prod(argument.shape)
    return [name for name, value in _scalars(launch).items() if value == count]


def _scalars(launch: Recorded) -> dict[str, int]:
    """The launch's integer arguments by name, constexprs last."""
    ordered = sorted(launch.arguments, key=lambda one: one.kind == "constexpr")
    found = [one for one in ordered if one.kind in ("scalar", "constexpr") and one.name.isidentifier()]
    return {one.name: one.value for one in found if isinstance(one.value, int) and not isinstance(one.value, bool)}


def _other(access: ast.Call, argument: Argument) -> str:
    """The text of an ``other=`` for a load that has none; "" for other accesses."""
    if kind(access) != "load" or not _says_no_other(access):
        return ""
    return ", other=0.0" if "float" in argument.dtype else ", other=0"


def _says_no_other(load: ast.Call) -> bool:
    return len(load.args) < 3 and not any(one.arg == "other" for one in load.keywords)


# --- The source -----------------------------------------------------------------------------------


def _known_at(mask: ast.expr | None, tree: ast.Module, access: ast.Call) -> bool:
    """Whether all names in the mask are assigned above the access."""
    assert mask is not None
    used = {one.id for one in ast.walk(mask) if isinstance(one, ast.Name)}
    stored = [one for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    return all(
        any(one.lineno < access.lineno for one in stored if one.id == name)
        for name in used & {one.id for one in stored}
    )


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def _appended(call: ast.Call, words: str) -> _Change:
    """The change that adds an argument at the end of a call."""
    line, column = _end(call)
    return (line, column - 1), (line, column - 1), f", {words}"


def _changed(text: str, change: _Change) -> str:
    """The text with a stretch replaced; unchanged if the stretch spans several lines."""
    (first, start), (last, stop), words = change
    lines = [line.encode() for line in text.split("\n")]
    if first == last:
        line = lines[first - 1]
        lines[first - 1] = line[:start] + words.encode() + line[stop:]
    return "\n".join(line.decode() for line in lines)
