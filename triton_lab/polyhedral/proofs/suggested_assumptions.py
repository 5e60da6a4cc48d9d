"""The assumptions that launches of a kernel suggest: tensors as large as arguments say, strides, and the grid."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from triton_lab.launch.argument import Argument
from triton_lab.launch.assumption import holds, parsed
from triton_lab.launch.recording.argument_contents import SIGNED
from triton_lab.localization import _
from triton_lab.polyhedral.proofs.index_contents import bounds_of, divisors, indexed
from triton_lab.polyhedral.proofs.launch_grid import grid_texts, passed_sizes
from triton_lab.polyhedral.proofs.proof import Assumption
from triton_lab.polyhedral.proofs.size_fit import SizeFit, Values, is_stride

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# The most expressions that are tried for the size of a tensor that no launch shows.
_MOST_WAYS = 8
# So many sizes are compared with each other.
_MOST_ORDERED = 8
# A grid is seldom a size rounded up or down.
_ROUNDED = re.compile(r", (\w+)\) \* \1$|//")


@dataclass(frozen=True)
class Suggestion:
    """What may be assumed of one size: one of ``options``, the likeliest first. None: it is free.

    The first ``plain`` of them are more than a guess: the size is that of an argument. ``helps`` are the accesses that
    what a tensor holds may prove. ``order`` are the two sizes of which one is at most the other: that is assumed only
    where both are in an address that is not proved without it.
    """

    options: tuple[str | None, ...]
    origin: Literal["launch", "kernel", "grid", "compiler"]
    plain: int = 1
    helps: frozenset[int] = frozenset()
    order: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The tensor, ``grid`` or number that it is about."""
        text = next(one for one in self.options if one is not None)
        return re.split(r"[.\[ ]", text)[0]

    def chosen(self, number: int) -> Assumption | None:
        """Option ``number`` as an assumption."""
        text = self.options[number]
        return None if text is None else Assumption(text, self.origin)


def without_removed(suggestions: Sequence[Suggestion], given: Sequence[str]) -> tuple[list[Suggestion], list[str]]:
    """The suggestions without what the user leaves out, and the assumptions that the user adds.

    A given text that begins with "not" leaves out what follows it: of what a tensor holds, nothing else is assumed.
    Raises ValueError where that is not suggested.
    """
    removed = {parsed(text.strip()[4:]).text for text in given if text.strip().startswith("not ")}
    known = {text: parsed(text).text for s in suggestions for text in s.options if text is not None}
    for text in sorted(removed - set(known.values())):
        names = ", ".join(sorted(parsed(s.options[0]).text for s in suggestions if s.options[0] is not None))
        raise ValueError(
            _("{text} is no assumption of this proof, so it cannot be left out; there are {names}").format(
                text=repr(text), names=names or "none"
            )
        )
    kept = [
        replace(s, options=tuple(None if text is None or known[text] in removed else text for text in s.options))
        for s in suggestions
        if not (s.helps and any(text is not None and known[text] in removed for text in s.options))
    ]
    left = [s for s in kept if any(text is not None for text in s.options)]
    return left, [text for text in given if not text.strip().startswith("not ")]


def other_options(suggestions: Sequence[Suggestion], options: Sequence[int]) -> Iterator[list[int]]:
    """The options with one changed, the likely ones of all first; then those of one tensor as numbers, all at once.

    ``options`` may change meanwhile.
    """
    most = max((len(s.options) for s in suggestions), default=0)
    for number in range(most):
        for position in sorted(range(len(suggestions)), key=lambda k: _rank(suggestions[k])):
            if suggestions[position].order:
                continue
            if number < len(suggestions[position].options) and number != options[position]:
                yield [number if k == position else one for k, one in enumerate(options)]
    for subject in dict.fromkeys(s.subject for s in suggestions if s.origin == "launch" and not s.order):
        yield [
            len(s.options) - 1 if s.subject == subject and not s.order else one
            for s, one in zip(suggestions, options, strict=True)
        ]


def _rank(suggestion: Suggestion) -> int:
    """What tensors hold is tried first, the grid last."""
    return 0 if suggestion.helps else 2 if suggestion.origin == "grid" else 1


def suggested(launches: Sequence[Launch], written: frozenset[str], sized: bool) -> list[Suggestion]:
    """The suggestions, in the order in which they define sizes.

    ``launches`` are of one kernel with the same constants; ``written`` are the tensors that it stores to. Without
    ``sized``, shapes and the grid are not known.
    """
    return [one for one in _suggested(launches, written, sized) if any(one.options)]  # some sizes are free in each way


def _suggested(launches: Sequence[Launch], written: frozenset[str], sized: bool) -> Iterator[Suggestion]:
    first = launches[0]
    declared = declared_constants(first)
    sizes: dict[str, Values] = {}
    for argument in first.arguments:
        if argument.kind == "scalar" and type(argument.value) is int:
            sizes[argument.name] = tuple(int(one.argument(argument.name).value) for one in launches)
    divide = divisors(first)
    for name, values in sizes.items():
        if min(values) >= 0:
            yield Suggestion((f"{name} >= {int(name in divide and min(values) >= 1)}",), "launch")
    for argument in first.arguments:
        if argument.kind == "constexpr" and argument.name not in declared and type(argument.value) is int:
            yield Suggestion((f"{argument.name} == {argument.value}",), "compiler")
    if not sized:
        names = list(sizes)
        products = [f"{one} * {other}" for k, one in enumerate(names) for other in names[k + 1 :]]
        for argument in first.arguments:
            if argument.kind == "tensor":
                counts = [f"{argument.name}.numel() == {one}" for one in [*names, *products][:_MOST_WAYS]]
                yield Suggestion((None, *counts), "kernel", 0)
        return
    constants = {a.name: a.value for a in first.arguments if a.kind == "constexpr" and type(a.value) is int}
    fit = SizeFit(sizes, {name: value for name, value in constants.items() if name in declared and value > 1})
    tensors = [a.name for a in first.arguments if a.kind in ("tensor", "descriptor")]
    every = [[one.argument(name) for one in launches] for name in tensors]
    alike = {name: [arguments[0].shape, arguments[0].strides] for name, arguments in zip(tensors, every, strict=True)}
    fit.passed = passed_sizes(first)
    fit.twins = {name: [one for one in tensors if alike[one] == alike[name] and one != name] for name in tensors}
    for arguments in every:  # which sizes are free; later ones explain earlier ones, too
        list(_tensor(arguments, fit, False))
    fit.used.clear()
    for name, arguments in zip(tensors, every, strict=True):
        yield from _tensor(arguments, fit, name in written)
    for name, ops, touched in indexed(first):
        bounds = bounds_of(launches, name, touched)
        if bounds:
            yield Suggestion((*bounds, None), "launch", len(bounds) + 1, ops)
    yield from _orders(fit)
    for axis, text in enumerate(grid_texts(first)):
        extents = tuple(one.grid[axis] for one in launches)
        quantity = f"grid[{axis}]"
        plain, derived = fit.plain(quantity, extents), fit.derived(quantity, extents)
        named = [one for one in plain if one in fit.sizes]
        likely = [one for one in derived if not _ROUNDED.search(one)]
        ways: list[str | None] = [*named, *likely, *plain, *derived]
        ways = list(dict.fromkeys([*ways, *fit.tilings(extents), None]))
        if plain == ["1"]:
            texts = dict.fromkeys([text, "1"] if _computes(launches, text, axis) else ["1"])
            yield Suggestion(tuple(f"grid[{axis}] == {one}" for one in texts), "grid", len(texts))
            continue
        if _computes(launches, text, axis):
            ways = list(dict.fromkeys([text, *ways]))
        ways.append(str(extents[0]) if len(set(extents)) == 1 else None)
        yield Suggestion(
            tuple(None if one is None else f"grid[{axis}] == {one}" for one in ways), "grid", len(ways) - 2
        )


def _orders(fit: SizeFit) -> Iterator[Suggestion]:
    """Of each two sizes, that one is at most the other, where that is so in all launches."""
    sizes = [(name, values) for name, values in fit.sizes.items() if not is_stride(name)][:_MOST_ORDERED]
    for (one, first), (other, second) in itertools.permutations(sizes, 2):
        if all(a <= b for a, b in zip(first, second, strict=True)):
            yield Suggestion((None, f"{one} <= {other}"), "launch", 2, order=(one, other))


def _computes(launches: Sequence[Launch], text: str | None, axis: int) -> bool:
    """Whether the text gives the grid of each launch."""
    if text is None:
        return False
    try:
        condition = parsed(f"grid[{axis}] == {text}")
    except ValueError:  # more than assumptions say
        return False
    return all(holds(condition, one.arguments, one.grid) for one in launches)


def declared_constants(launch: Launch) -> frozenset[str]:
    """The parameters that the kernel declares as tl.constexpr."""
    source = launch.compiled[0]
    if source is None:
        return frozenset(a.name for a in launch.arguments if a.kind == "constexpr")
    return frozenset(one.name for one in source.fn.params if one.is_constexpr)


def _tensor(every: Sequence[Argument], fit: SizeFit, written: bool) -> Iterator[Suggestion]:
    """What may define the extents and strides of one tensor, by its arguments in the launches."""
    one = every[0]
    rank, name = len(one.shape), one.name
    if any(len(other.shape) != rank for other in every):
        return
    contiguous = all(each.is_contiguous for each in every)
    counts = tuple(_elements(each) for each in every)
    extents = [tuple(each.shape[axis] for each in every) for axis in range(rank)]
    if contiguous and rank <= 1:
        plain = fit.plain(f"{name}.numel()", counts)
        total = f"{name}.numel()"
        starts = fit.next(total, counts) if one.dtype in SIGNED else []
        options = list(dict.fromkeys([*plain, *starts, *fit.derived(total, counts)]))
        if options:
            yield _equal(total, [*options, *_number(counts)], len(plain))
            return
    ways = [fit.plain(f"{name}.shape[{axis}]", values) for axis, values in enumerate(extents)]
    whole = ""
    if contiguous and rank > 1 and not all(ways) and (plain := fit.plain(f"{name}.numel()", counts)):
        if not fit.plain(f"{name}.stride(0)", tuple(each.strides[0] for each in every), strides=True):
            yield _equal(f"{name}.numel()", plain, len(plain))
            return
        whole = f"{plain[0]} == {' * '.join(f'{name}.shape[{axis}]' for axis in range(rank))}"
    own: set[str] = set()
    for axis, plain in enumerate(ways):
        quantity = f"{name}.shape[{axis}]"
        plain.sort(key=lambda text: text in own)  # a size is seldom that of two axes
        twice = bool(plain) and plain[0] in own
        own.update(plain[:1])
        if not plain:
            fit.sizes[quantity] = extents[axis]
        more = [] if plain == ["1"] else [None, *fit.derived(quantity, extents[axis]), *_number(extents[axis])]
        if twice and plain != ["1"]:  # the likelier one then is the number
            more = [*_number(extents[axis]), *more]
        yield _equal(quantity, [*plain, *more], len(plain))
    if whole:
        yield Suggestion((whole,), "launch")
    for axis in range(rank):
        yield from _stride(every, axis, fit)
    if written and rank > 1:
        yield from _apart(every)


def _equal(quantity: str, options: Sequence[str | None], plain: int) -> Suggestion:
    texts = (None if one is None or quantity == one else f"{quantity} == {one}" for one in options)
    return Suggestion(tuple(dict.fromkeys(texts)), "launch", plain)


def _number(values: Values) -> list[str]:
    """The value, if it is the same in all launches."""
    return [str(values[0])] if len(set(values)) == 1 else []


def _stride(every: Sequence[Argument], axis: int, fit: SizeFit) -> Iterator[Suggestion]:
    one = every[0]
    strides = tuple(each.strides[axis] for each in every)
    quantity = f"{one.name}.stride({axis})"
    if set(strides) == {1}:
        yield _equal(quantity, ["1"], 1)
        return
    options: list[str | None] = [*fit.plain(quantity, strides, strides=True)]
    if all(each.is_contiguous for each in every):
        options.append(" * ".join(f"{one.name}.shape[{k}]" for k in range(axis + 1, len(one.shape))) or "1")
    options += fit.plain(quantity, strides)
    if not options:
        fit.sizes[quantity] = strides
    yield _equal(quantity, [*options, None, *_number(strides)], len(options))


def _apart(every: Sequence[Argument]) -> Iterator[Suggestion]:
    """That rows do not overlap, where that is so in all launches."""
    one = every[0]
    order = sorted(range(len(one.shape)), key=lambda axis: -one.strides[axis])
    for outer, inner in itertools.pairwise(order):
        if all(each.strides[outer] >= each.shape[inner] * each.strides[inner] for each in every):
            name = one.name
            text = f"{name}.stride({outer}) >= {name}.shape[{inner}] * {name}.stride({inner})"
            yield Suggestion((text,), "launch")


def _elements(argument: Argument) -> int:
    total = 1
    for extent in argument.shape:
        total *= extent
    return total
