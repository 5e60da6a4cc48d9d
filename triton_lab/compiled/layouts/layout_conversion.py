"""Conversions from one layout of a tensor to another: what moves, how far, and the least cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from triton_lab.compiled.layouts import gf2
from triton_lab.compiled.layouts.bank_use import BankUse, bank_use
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import LayoutKind
from triton_lab.compiled.layouts.layout_tile import HARDWARE
from triton_lab.compiled.layouts.linear_layout import Ints, Linear, part_name
from triton_lab.localization import N_, _
from triton_lab.messages import count, number
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triton_lab.views.layouts.conversion_view import ConversionView

Way: TypeAlias = Literal["nothing", "registers", "shuffles", "shared memory", "cluster"]
NEAREST = (N_("same register"), N_("same lane"), N_("same warp"), N_("same block"), N_("other block"))
_WAYS: tuple[Way, ...] = ("registers", "shuffles", "shared memory", "cluster")


@dataclass(frozen=True)
class Conversion(RichDisplay):
    """The moves from one layout to another, and their costs.

    ``way`` is the shortest that suffices: ``nothing``; ``registers`` of the same lane change names; ``shuffles``
    between lanes of a warp; a round trip through ``shared memory``; or through the shared memory of other blocks of
    the ``cluster``. A compiler may choose a longer way: Triton prefers shared memory to many shuffles.

    ``registers`` counts the destination's registers that at least one lane must get from elsewhere. Costs are lower
    bounds, per program. ``shuffles``, per warp, counts one for each 32 bits of those registers (one instruction moves
    one register of all lanes; narrower elements are assumed to be packed). ``stored`` and ``loaded`` are bytes
    through shared memory: each element is stored once, and loaded once per thread that needs it. ``transactions`` are
    of 128 bytes, for warps' stores and loads without bank conflicts, at 16 bytes a lane at most. ``bits`` is an
    element's width; ``kinds`` are the kinds of both layouts.

    >>> warps = {"size_per_thread": [1, 1], "threads_per_warp": [1, 32]}
    >>> one = lab.layout("blocked", (32, 32), **warps, warps_per_cta=[4, 1])
    >>> moved = one.to(lab.layout("blocked", (32, 32), **warps, warps_per_cta=[4, 1], order=[0, 1]))
    >>> moved.way, moved.counts()["same register"]
    ('nothing', 1024)
    """

    source: Linear
    destination: Linear
    bits: int
    way: Way
    moves: Linear
    registers: int
    shuffles: int
    stored: int
    loaded: int
    transactions: int
    kinds: tuple[LayoutKind, LayoutKind]

    def __str__(self) -> str:
        """The way, and its costs."""
        if self.way == "nothing":
            return _("Nothing moves: both layouts put each element in the same place.")
        if self.way == "registers":
            return _("Nothing moves between threads: each thread has its elements, and only its registers are renamed.")
        if self.way == "shuffles":
            return _(
                "Elements move between threads of a warp: {registers} registers of each thread move, in at "
                "least {shuffles} shuffles per warp. No element moves between warps."
            ).format(registers=self.registers, shuffles=self.shuffles)
        where = "shared memory" if self.way == "shared memory" else _("the shared memory of the cluster's blocks")
        return _(
            "Elements move between warps, through {where}: {bytes} are stored, after a barrier "
            "{loaded} are loaded, at least {transactions} transactions of 128 bytes."
        ).format(
            where=where,
            bytes=count(self.stored, "byte"),
            loaded=number(self.loaded),
            transactions=number(self.transactions),
        )

    def source_of(self, **place: int) -> dict[str, int]:
        """The nearest place of the source that holds the element of a place of the destination.

        >>> warps = {"threads_per_warp": [1, 32], "warps_per_cta": [4, 1]}
        >>> one = lab.layout("blocked", (32, 32), size_per_thread=[1, 1], **warps)
        >>> one.to(lab.layout("blocked", (32, 32), size_per_thread=[8, 1], **warps)).source_of(register=1, lane=5)
        {'register': 0, 'lane': 5, 'warp': 1, 'block': 0}
        """
        for name, value in place.items():
            if not 0 <= value < self.moves.size(name):
                raise LayoutError(
                    _("there is no {name} {value}: this layout has {size}, from 0").format(
                        name=name, value=value, size=self.moves.size(name)
                    )
                )
        return dict(zip((name for name, _unused in self.moves.outs), self.moves.at(**place), strict=True))

    def counts(self) -> dict[str, int]:
        """How many of the destination's registers, over all threads, get their element from how far.

        The keys are those of ``moves``: ``same register``, ``same lane``, ``same warp``, ``same block``,
        ``other block``.
        """
        levels = self.levels()
        return {name: int((levels == level).sum()) for level, name in enumerate(NEAREST)}

    def levels(self) -> Ints:
        """How far each destination place's element comes, by packed place, ``(places,)``.

        0: it is there already; 1: from another register; 2: another lane; 3: another warp; 4: another block.

        >>> warps = {"threads_per_warp": [1, 32], "warps_per_cta": [4, 1]}
        >>> one = lab.layout("blocked", (32, 32), size_per_thread=[1, 1], **warps)
        >>> one.to(lab.layout("blocked", (32, 32), size_per_thread=[8, 1], **warps)).levels().max().item()
        3
        """
        table = self.moves.table()
        here = np.arange(len(table))
        levels = np.zeros(len(table), np.int64)
        there = _unpacked(table, [size for _, size in self.moves.outs])
        for level, name in enumerate(HARDWARE, 1):
            wanted = _part(here, self.moves.sizes, name)
            found = there[[each for each, _ in self.moves.outs].index(name)]
            levels = np.where(wanted != found, level, levels)
        return levels

    def in_order(self) -> tuple[BankUse, BankUse] | None:
        """The bank conflicts of storing and of loading if shared memory held the elements in plain row-major order.

        No compiler does that: the numbers show what a swizzle or padding saves. None where nothing goes through
        shared memory, or the rule for banks is not known: it is NVIDIA's, for elements of whole bytes.

        >>> warps = {"threads_per_warp": [1, 32], "warps_per_cta": [4, 1]}
        >>> one = lab.layout("blocked", (32, 32), size_per_thread=[1, 1], **warps)
        >>> stored, loaded = one.to(lab.layout("blocked", (32, 32), size_per_thread=[8, 1], **warps)).in_order()
        >>> stored.conflicts, loaded.conflicts
        (0, 0)
        """
        known = self.source.size("lane") == 32 and self.bits % 8 == 0
        if self.way != "shared memory" or not known or self.source.size("block") > 1:
            return None
        memory = np.arange(math.prod(self.source.shape)).reshape(self.source.shape) * self.bits // 8
        return bank_use(memory, self.bits, self.source), bank_use(memory, self.bits, self.destination)

    def plot(self, element: Sequence[int] | None = None) -> ConversionView:
        """Both layouts as pictures of the tensor, and how far each register's element moves.

        ``element``, ``(1, 5)``, picks an element and shows its way. Raises LayoutError for an element that does not
        exist.

        >>> rows = {"threads_per_warp": [1, 32], "warps_per_cta": [4, 1], "order": [1, 0]}
        >>> one = lab.layout("blocked", (32, 32), size_per_thread=[1, 1], **rows)
        >>> other = lab.layout("blocked", (32, 32), size_per_thread=[8, 1], **rows)
        >>> one.to(other).plot(element=(1, 5)).text().splitlines()[-1]
        'element [1, 5]: from warp 1, thread 5, register 0 to warp 0, thread 5, register 1, from warp to warp'
        """
        view: ConversionView = provided("Conversion.plot")(self, element)
        return view


def conversion(before: Linear, after: Linear, bits: int, kinds: tuple[LayoutKind, LayoutKind]) -> Conversion:
    """The conversion from one register layout to another of the same tensor, with elements of ``bits`` bits.

    Raises LayoutError unless both belong to one program's tensor.
    """
    if before.shape != after.shape:
        raise LayoutError(
            _("a conversion keeps the tensor's shape, but these have {shape} and {shape2}").format(
                shape=before.shape, shape2=after.shape
            )
        )
    for name in ("lane", "warp", "block"):
        if before.size(name) != after.size(name):
            raise LayoutError(
                _("the layouts are for programs of different size: {size} and {size2} {name}s").format(
                    size=before.size(name), size2=after.size(name), name=part_name(name)
                )
            )
    moves, way = _nearest(before, after)
    wanted = _registers_from_elsewhere(before, after)
    far = way in ("shared memory", "cluster")
    stored = math.prod(before.shape) * bits // 8 if far else 0
    loaded = len(moves.table()) * bits // 8 if far else 0
    return Conversion(
        source=before,
        destination=after,
        bits=bits,
        way=way,
        moves=moves,
        registers=wanted,
        shuffles=math.ceil(wanted * bits / 32) if way == "shuffles" else 0,
        stored=stored,
        loaded=loaded,
        transactions=math.ceil(stored / 128) + math.ceil(loaded / 128),
        kinds=kinds,
    )


def _nearest(before: Linear, after: Linear) -> tuple[Linear, Way]:
    """For each place of the destination, the nearest place of the source with the same element.

    One linear map gives all places: in the same lane if such a map exists, else in the same warp, else the same
    block.
    """
    if before == after:
        return _identity(before.sizes), "nothing"
    for level, way in enumerate(_WAYS, 1):
        moves = _within(before, after, HARDWARE[:level], HARDWARE[level:])
        if moves is not None:
            return moves, way
    raise LayoutError(_("the destination holds elements that the source does not"))


def _within(before: Linear, after: Linear, free: tuple[str, ...], kept: tuple[str, ...]) -> Linear | None:
    """The map that changes only the parts ``free``, or None where there is none."""
    columns = [before.pack(basis) for name in free for basis in before.bases(name)]
    solver = gf2.echelon(columns)
    ins = []
    for name in HARDWARE:
        bases = []
        for bit, basis in enumerate(after.bases(name)):
            own = before.pack(before.bases(name)[bit]) if name in kept else 0
            found = solver.solve(after.pack(basis) ^ own)
            if found is None:
                return None
            place = dict.fromkeys(HARDWARE, 0)
            for part in free:
                place[part] = found % before.size(part)
                found //= before.size(part)
            if name in kept:
                place[name] = 1 << bit
            bases.append(tuple(place[part] for part in HARDWARE))
        ins.append((name, tuple(bases)))
    return Linear(tuple(ins), tuple((name, before.size(name)) for name in HARDWARE))


def _registers_from_elsewhere(before: Linear, after: Linear) -> int:
    """How many registers of the destination hold, in some lane, an element that the lane lacks in the source."""
    own = gf2.echelon([before.pack(basis) for basis in before.bases("register")])
    apart = [
        own.reduce(after.pack(basis) ^ before.pack(before.bases(name)[bit]))[0]
        for name in ("lane", "warp", "block")
        for bit, basis in enumerate(after.bases(name))
    ]
    if any(apart):  # in some lane, this register's element differs by more than the lane holds
        return after.size("register")
    rest = [own.reduce(after.pack(basis))[0] for basis in after.bases("register")]
    return sum(1 for vector in gf2.span(rest) if vector)


def _identity(sizes: dict[str, int]) -> Linear:
    ins = []
    for at, (name, size) in enumerate(sizes.items()):
        bits = range(size.bit_length() - 1)
        ins.append((name, tuple(tuple(1 << bit if at == other else 0 for other in range(len(sizes))) for bit in bits)))
    return Linear(tuple(ins), tuple(sizes.items()))


def _part(packed: Ints, sizes: dict[str, int], wanted: str) -> Ints:
    for name, size in sizes.items():
        if name == wanted:
            return packed % size
        packed = packed // size
    raise KeyError(wanted)


def _unpacked(packed: Ints, sizes: list[int]) -> list[Ints]:
    found = []
    for size in reversed(sizes):
        found.append(packed % size)
        packed = packed // size
    return found[::-1]
