"""`LaunchDifferences`: what is not the same in two launches, from their records alone: nothing is run again."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from triton_lab.backend.compiler import options_of
from triton_lab.launch.argument import Argument
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.launch_results import before, inputs_differ
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _, ngettext

# How many differences a sentence tells, and the longest line of a source in it.
_TOLD, _LONGEST = 3, 60
# These decide what programs compute. Of the others a GPU's speed depends.
_NUMBERS = frozenset({"source", "global", "scalar", "constexpr", "dtype", "shape", "strides", "grid", "contents"})


@dataclass(frozen=True)
class LaunchDifference:
    """One thing that is not the same in the launches ``a`` and ``b``.

    ``kind`` is ``source`` (a line of the kernel; ``line`` is its number in each launch, 0 where it is missing),
    ``global``, ``scalar``, ``constexpr``, ``dtype``, ``shape``, ``strides``, ``contents`` (of a tensor that is read,
    before the launch; both values are None), ``option`` of the compiler, ``grid``, ``target``, or ``kind`` (of an
    argument). ``name`` is that of the argument, the global or the option; of the kernel for its source.
    """

    kind: str
    name: str
    a: Any
    b: Any
    line: tuple[int, int] = (0, 0)

    @property
    def decides(self) -> bool:
        """Whether the results may depend on it, whatever the machine."""
        return self.kind in _NUMBERS

    def told(self, titles: tuple[str, str] = ("a", "b")) -> str:
        """A clause: ``s is 0.5 in a and 0.25 in b``."""
        if self.kind == "contents":
            return inputs_differ(self.name)
        if self.kind == "source":
            return self._line(titles)
        text = {
            "dtype": _("{name} has the dtype {one} in {here} and {other} in {there}"),
            "shape": _("{name} has the shape {one} in {here} and {other} in {there}"),
            "strides": _("{name} has the strides {one} in {here} and {other} in {there}"),
        }.get(self.kind, _("{name} is {one} in {here} and {other} in {there}"))
        return text.format(name=self.name, one=_value(self.a), other=_value(self.b), here=titles[0], there=titles[1])

    def _line(self, titles: tuple[str, str]) -> str:
        one, other = (_cut(text) for text in (self.a, self.b))
        if not self.a or not self.b:
            which = 0 if self.a else 1
            return _("line {line} of {title} is {text}, which {other} lacks").format(
                line=self.line[which], title=titles[which], text=one or other, other=titles[1 - which]
            )
        return _("line {line} is {one} in {here} and {other} in {there}").format(
            line=self.line[0], one=one, other=other, here=titles[0], there=titles[1]
        )


def _cut(text: str) -> str:
    text = text.strip()
    return text and f"`{text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'}`"


def _value(value: Any) -> str:
    """A value as the user writes it: ``bfloat16`` for a dtype of Triton's."""
    if type(value).__name__ == "dtype":
        return repr(value).rpartition(".")[2]
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


class LaunchDifferences(tuple[LaunchDifference, ...]):
    """What differs between two launches, what decides the results first; empty if nothing does.

    >>> launch.diff(launch)
    no difference
    """

    def told(self, titles: tuple[str, str] = ("a", "b")) -> str:
        """The first differences in one clause, and how many others there are; "" without any."""
        parts = [one.told(titles) for one in self[:_TOLD]]
        if len(self) > _TOLD:
            more = len(self) - _TOLD
            parts.append(ngettext("{count} more difference", "{count} more differences", more).format(count=more))
        return ", ".join(parts[:-1]) + (_(" and ") if parts[1:] else "") + parts[-1] if parts else ""

    @property
    def deciding(self) -> LaunchDifferences:
        """Those on which the results may depend, whatever the machine."""
        return LaunchDifferences(one for one in self if one.decides)

    def __repr__(self) -> str:
        return "\n".join(one.told() for one in self) or _("no difference")


def differences(a: Recorded, b: Recorded, contents: bool = True) -> LaunchDifferences:
    """What is not the same in two launches. ``contents``: what tensors held before is compared, too."""
    found = [*_sources(a, b), *_arguments(a, b)]
    if contents:
        found += _contents(a, b)
    if a.grid != b.grid:
        found.append(LaunchDifference("grid", _("the grid"), a.grid, b.grid))
    found += [LaunchDifference("option", name, one, other) for name, one, other in _unequal(_options(a), _options(b))]
    if a.target != b.target:
        found.append(LaunchDifference("target", _("the target"), a.target, b.target))
    return LaunchDifferences(sorted(found, key=lambda one: not one.decides))


def _sources(a: Recorded, b: Recorded) -> Iterator[LaunchDifference]:
    """The lines of one kernel that were edited, and the globals that it uses with other values."""
    if a.kernel != b.kernel:
        return
    one, other = (launch.source.splitlines() for launch in (a, b))
    for tag, i, i_end, j, j_end in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for k in range(max(i_end - i, j_end - j)):
            here, there = i + k < i_end, j + k < j_end
            texts = one[i + k] if here else "", other[j + k] if there else ""
            if texts[0].strip() or texts[1].strip():
                lines = a.first_line + i + k if here else 0, b.first_line + j + k if there else 0
                yield LaunchDifference("source", a.kernel, *texts, line=lines)
    mine, theirs = (_globals(launch) for launch in (a, b))
    for name, value, instead in _unequal(mine, theirs):
        yield LaunchDifference("global", name, value, instead)


def _globals(launch: Recorded) -> dict[str, Any]:
    """The numbers, texts and dtypes among the globals that the kernel uses."""
    scope = getattr(launch.surroundings, "scope", None) or {}
    held = {name: getattr(value, "value", value) for name, value in scope.items()}
    return {name: value for name, value in held.items() if isinstance(value, (int, float, str))}


def _arguments(a: Recorded, b: Recorded) -> Iterator[LaunchDifference]:
    theirs = {argument.name: argument for argument in b.arguments}
    for one in a.arguments:
        other = theirs.get(one.name)
        if other is None:
            continue
        kinds = {one.kind, other.kind}
        if kinds <= {"scalar", "constexpr"}:  # a scalar of 1 counts as constant
            if not _same(one.value, other.value):
                yield LaunchDifference(min(kinds, key="scalar".__ne__), one.name, one.value, other.value)
        elif one.kind != other.kind:
            yield LaunchDifference("kind", one.name, _kind(one), _kind(other))
        else:
            for kind in ("dtype", "shape", "strides"):
                if getattr(one, kind) != getattr(other, kind):
                    yield LaunchDifference(kind, one.name, getattr(one, kind), getattr(other, kind))
                    break


def _kind(argument: Argument) -> Any:
    if argument.kind in ("scalar", "constexpr"):
        return argument.value
    return _("a tensor of {dtype}").format(dtype=argument.dtype)


def _contents(a: Recorded, b: Recorded) -> Iterator[LaunchDifference]:
    """The tensors of one shape that are read and held other numbers before the launches."""
    try:
        mine, theirs = before(a), before(b)
    except CannotReplay:
        return
    read = {
        owner.name
        for op, (kind, _dtype, _size) in a.kinds.items()
        if kind != "store" and (owner := a.owner_of(op)) is not None
    }
    for name in mine:
        alike = name in read and name in theirs and mine[name].shape == theirs[name].shape
        if alike and Compared(name, mine[name], theirs[name]).count:
            yield LaunchDifference("contents", name, None, None)


def _options(launch: Recorded) -> Mapping[str, Any]:
    return options_of(launch.compiled[1]) if launch.compiled[1] is not None else {}


def _unequal(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in a:
        if name in b and not _same(a[name], b[name]):
            yield name, a[name], b[name]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)
