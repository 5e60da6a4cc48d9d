"""Relations: each stored element comes from the element at its own place, or transposed, reversed, repeated; and
moves keep all elements.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir import traits
from triton_lab.launch.explanation.relation import Relation, judged, skipped
from triton_lab.localization import _
from triton_lab.messages import element

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.explanation.observed_run import ObservedRun

Array = NDArray[Any]
Shape = tuple[int, ...]

KIND, ROWS, KEEPS = "element order", "own rows", "same elements"
_HALF = 0.5  # an order counts if more than this share of the elements follow it
_MOST_RANK = 4  # axes whose permutations are tried


def relations(run: ObservedRun) -> Iterator[Relation]:
    """One relation for each store and argument whose elements it takes one by one, and one for each store of moves."""
    launch, values = run.launch, run.values
    if not run.sources.is_whole:
        yield skipped(KIND, _("each element comes from its own place"), _("the launch has too many lanes to follow"))
        return
    for stored in values.stores:
        out = launch.owner_of(stored.store.index)
        if out is None or values.decided_by_loads(stored.store):
            continue
        for load in stored.loads:
            source, pairs = launch.owner_of(load.index), run.sources.pairs.get((stored.store.index, load.index))
            if source is None or pairs is None or values.decided_by_loads(load):
                continue
            to, first, last = pairs.arrays()
            if not len(to):
                continue
            if np.array_equal(first, last):
                found = _order(out, source, to, first, values.line(stored.store))
            else:
                found = _rows(out, source, to, first, last, values.line(stored.store))
            if found is not None:
                yield found
        moved = _kept(run, stored, out)
        if moved is not None:
            yield moved


def _order(out: Argument, source: Argument, to: Array, origin: Array, line: int | None) -> Relation | None:
    """The order that most of the pairs follow, and those that do not; None if there is no such order."""
    best: tuple[float, str, Array] | None = None
    for name, wanted in _orders(out.shape, source.shape, to):
        share = float((wanted == origin).mean())
        if best is None or share > best[0]:
            best = share, name, wanted
        if share == 1.0:
            break
    if best is None or best[0] <= _HALF:
        return None
    share, name, wanted = best
    wrong = wanted != origin
    statement = _("each element of {out} comes from {source}: {order}").format(
        out=out.name, source=source.name, order=name
    )
    why = ""
    if wrong.any():
        first = int(wrong.argmax())
        why = _("{one} comes from {other}, where {wanted} was due").format(
            one=_place(out, int(to[first])),
            other=_place(source, int(origin[first])),
            wanted=_place(source, int(wanted[first])),
        )
    return judged(KIND, statement, wrong, to, argument=out.name, line=line, why=why)


def _rows(out: Argument, source: Argument, to: Array, first: Array, last: Array, line: int | None) -> Relation | None:
    """Whether each element depends on elements of its own row alone, if most do: a row has common first indices."""
    common = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(out.shape, source.shape, strict=False))))
    for axes in range(min(common, len(source.shape) - 1), 0, -1):
        of_out, of_source = math.prod(out.shape[axes:]), math.prod(source.shape[axes:])
        if math.prod(out.shape[:axes]) == 1 or not of_source:
            continue
        row = to // of_out
        wrong = (first // of_source != row) | (last // of_source != row)
        if wrong.mean() >= _HALF:
            continue
        what = _("the same first index") if axes == 1 else _("the same first {axes} indices").format(axes=axes)
        statement = _("each element of {out} depends on elements of {source} with {what} alone").format(
            out=out.name, source=source.name, what=what
        )
        why = ""
        if wrong.any():
            k = int(wrong.argmax())
            why = _("{one} depends on {first} to {last}").format(
                one=_place(out, int(to[k])), first=_place(source, int(first[k])), last=_place(source, int(last[k]))
            )
        return judged(ROWS, statement, wrong, to, argument=out.name, line=line, why=why)
    return None


def _place(argument: Argument, number: int) -> str:
    return element(argument.name, number, argument.shape)


def _orders(out: Shape, source: Shape, to: Array) -> Iterator[tuple[str, Array]]:
    """The orders that these shapes allow: a name, and the element that each stored one should come from."""
    count = math.prod(source)
    if count == math.prod(out):
        yield _("its own place"), to
    at = np.unravel_index(to, out or (1,))
    for axes in itertools.permutations(range(len(out))) if 2 <= len(out) <= _MOST_RANK else ():
        if axes != tuple(range(len(out))) and tuple(out[k] for k in axes) == source:
            yield _("transposed"), np.ravel_multi_index([at[k] for k in axes], source)
    if 0 < len(source) <= len(out) and source != out:
        last = list(zip(source, out[len(out) - len(source) :], at[len(out) - len(source) :], strict=True))
        if all(extent in (1, wide) for extent, wide, _unused in last):
            index = [np.zeros_like(to) if extent == 1 else k for extent, _unused, k in last]
            yield _("repeated along the first axes"), np.ravel_multi_index(index, source)
        if out[: len(source)] == source:
            yield _("repeated along the last axes"), np.ravel_multi_index(at[: len(source)], source)
    if source == out and out:
        for axis in range(len(out)):
            turned = [out[k] - 1 - at[k] if k == axis else at[k] for k in range(len(out))]
            yield _("reversed along axis {axis}").format(axis=axis), np.ravel_multi_index(turned, out)


def _kept(run: ObservedRun, stored: Any, out: Argument) -> Relation | None:
    """If a store only moves elements of one argument of the same size: whether none is lost and another doubled."""
    launch = run.launch
    sources = {owner.name: owner for owner in map(launch.owner_of, (op.index for op in stored.loads)) if owner}
    keeps = all(traits.of(op.name).keeps for op in stored.ops)
    others = [one for one in run.values.stores if launch.owner_of(one.store.index) is out]
    if len(sources) != 1 or not keeps or len(others) != 1 or any(map(run.values.decided_by_loads, stored.loads)):
        return None
    (source,) = sources.values()
    size = math.prod(source.shape)
    pairs = [run.sources.pairs.get((stored.store.index, load.index)) for load in stored.loads]
    if source.name == out.name or size != math.prod(out.shape) or not all(pairs):
        return None
    parts = [one.arrays() for one in pairs if one is not None]
    origin = np.concatenate([first for _unused, first, _unused in parts])
    single = all(np.array_equal(first, last) for _unused, first, last in parts)
    if not single or len(origin) != run.sources.stored.get(stored.store.index):
        return None
    times = np.bincount(origin, minlength=size)
    doubled = (times > 1).any()
    statement = _("{out} has the elements of {source}, each once").format(out=out.name, source=source.name)
    wrong = (times != 1) if doubled and (times == 0).any() else np.zeros(size, np.bool_)
    first = int(wrong.argmax())
    why = _("{place} is stored {times} times").format(place=_place(source, first), times=int(times[first]))
    return judged(
        KEEPS, statement, wrong, np.arange(size), found=times, expected=np.ones(size), argument=source.name,
        line=run.values.line(stored.store), why=why,
    )  # fmt: skip
