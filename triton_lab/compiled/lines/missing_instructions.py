"""Why a line of the source has no instructions: other lines took over its work, or its result is unused."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.compiled.lines.source_trail import SourceLine, Trail
from triton_lab.compiled.stage_names import LABELS
from triton_lab.compiled.user_sources import Source
from triton_lab.localization import N_, _, translated

if TYPE_CHECKING:
    from triton_lab.compiled.lines.stage_lines import StageLines

CALLED = {"module": "what Triton reads", **LABELS}
FIXED = N_("computed at compile time; nothing is left to do at run time")
UNUSED = N_("removed, because its result is not used")
CONSTANT = N_("a constant, which is part of the instructions that use it")
UNTOLD = N_("the compiler does not record its instructions")
_MOST_TOLD = 3
_DEFINED = re.compile(r"^\s*(%[\w.$-]+(?::\d+)?(?:, %[\w.$-]+)*) = ")
_PTX_DEFINED = re.compile(r"^\s*(?:@!?%p\d+\s+)?[a-z][\w.:]*\s+\{?\s*(%\w+(?:[,|]\s*%\w+)*)")
_NAME = re.compile(r"%[\w.$-]+")
_CONSTANTS = ("arith.constant", "tt.make_range", "mov.b32", "mov.b64", "mov.u32")


def reasons(lines: StageLines, texts: Mapping[str, str]) -> dict[SourceLine, str]:
    """A reason for each source line that does something in Python and has no instruction in the last stage."""
    stages = list(texts)
    held = {stage: {line for _unused, found in lines.table(stage) for line in found} for stage in stages}
    last = stages[-1] if held[stages[-1]] else stages[-2] if len(stages) > 1 else stages[-1]
    found: dict[SourceLine, str] = {}
    for number, source in enumerate(lines.sources):
        for line in doing(source):
            at = SourceLine(number, line)
            if at in held[last]:
                continue
            there = [stage for stage in stages[: stages.index(last)] if at in held[stage]]
            found[at] = _reason(lines, texts, at, there[-1], held[last]) if there else translated(FIXED)
    return found


def doing(source: Source) -> Iterator[int]:
    """The lines on which a statement of a function begins, without its docstrings."""
    try:
        tree = ast.parse(textwrap.dedent(source.text))
    except SyntaxError:
        return
    function = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)
    if function is None:
        return
    found = set()
    for outer in function.body:
        for node in ast.walk(outer):
            told = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if isinstance(node, ast.stmt) and not told and not isinstance(node, ast.Pass | ast.Break | ast.Continue):
                found.add(node.lineno)
    yield from sorted(source.first + line - 1 for line in found)


def _reason(lines: StageLines, texts: Mapping[str, str], line: SourceLine, stage: str, alive: set[SourceLine]) -> str:
    """Why a line that is in ``stage`` is in no later one; ``alive`` are the lines of the last stage."""
    text = texts[stage].split("\n")
    trails = lines.trails(stage)
    own = [k for k, trail in enumerate(trails) if trail is not None and line in lines.written(trail)]
    takers = list(dict.fromkeys(_takers(lines, text, trails, own, line)))
    where = _("it last appears in {called}").format(called=CALLED[stage])
    for taken in (takers, [one for one in takers if one in alive]):
        if taken and all(one in alive for one in taken):
            told = [_called(lines, one, line) for one in taken[:_MOST_TOLD]]
            return _("folded into {noun} {told}: {where}").format(
                noun=messages.noun(len(taken), "line"), told=", ".join(told), where=where
            )
    if own and all(any(name in text[k] for name in _CONSTANTS) for k in own):
        return f"{translated(CONSTANT)}: {where}"
    return f"{translated(UNTOLD if takers else UNUSED)}: {where}"


def _called(lines: StageLines, one: SourceLine, beside: SourceLine) -> str:
    """A line by its number, and by its function where that differs."""
    if one.function == beside.function:
        return str(one.line)
    return _("{line} of {name}").format(line=one.line, name=lines.sources[one.function].name)


def _takers(
    lines: StageLines, text: list[str], trails: list[Trail | None], own: list[int], line: SourceLine
) -> Iterator[SourceLine]:
    """The other lines whose instructions use what these compute, also through instructions without a line."""
    defined = {name for k in own for name in _names_defined(text[k])}
    seen = set(own)
    for _unused in range(8):  # through at most so many instructions without a line
        passed: set[str] = set()
        for k, one in enumerate(text):
            if k in seen or one.startswith(("!", "#")) or not defined.intersection(_NAME.findall(one)):
                continue
            written = [other for other in lines.written(trails[k]) if other != line]
            if written:
                yield written[0]
            else:
                seen.add(k)
                passed.update(_names_defined(one))
        if not passed - defined:
            return
        defined |= passed


def _names_defined(line: str) -> list[str]:
    """The values that an instruction of MLIR, LLVM or PTX makes."""
    found = _DEFINED.match(line)
    if found:
        return [name.partition(":")[0] for name in found[1].split(", ")]
    found = _PTX_DEFINED.match(line)
    return _NAME.findall(found[1]) if found else []
