"""A layout of a tensor: which thread holds which element, or where it lies in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from triton_lab.compiled.layouts import attribute_rules
from triton_lab.compiled.layouts.bank_use import BankUse, bank_use
from triton_lab.compiled.layouts.layout_conversion import Conversion, conversion
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import Distributed, LayoutKind, SharedLayout, TensorMemory
from triton_lab.compiled.layouts.layout_spelling import bits_of, kind_of, shape_of, spelling_of
from triton_lab.compiled.layouts.linear_layout import Basis, HardwarePlace, Linear, counted_part
from triton_lab.localization import _
from triton_lab.messages import count
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.views.layouts.bank_view import BankView
    from triton_lab.views.layouts.layout_view import LayoutView


@dataclass(frozen=True)
class Layout(RichDisplay):
    """A layout of a tensor of known shape; ``bits`` is the width of an element, if known.

    Two layouts are equal if they put every element in the same places, however they are spelled.

    >>> rows = lab.layout("blocked", (32, 16), size_per_thread=[1, 4], threads_per_warp=[8, 4], warps_per_cta=[4, 1])
    >>> rows.owner(1, 5)
    [Place(register=1, lane=5, warp=0, block=0)]
    >>> rows.elements(warp=0, lane=5)
    [(1, 4), (1, 5), (1, 6), (1, 7)]
    >>> print(rows.to(lab.layout("blocked", (32, 16), size_per_thread=[4, 1], threads_per_warp=[2, 16],
    ...                          warps_per_cta=[4, 1])))
    Elements move between threads of a warp: 4 registers of each thread move, in at least 4 shuffles per ...
    """

    kind: LayoutKind
    shape: tuple[int, ...]
    bits: int = 32

    @cached_property
    def linear(self) -> Linear:
        """The layout as basis vectors."""
        self.kind.holds(self.bits)
        return self.kind.linear(self.shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self.linear == other.linear and self.kind.padding == other.kind.padding

    def __hash__(self) -> int:
        return hash((self.linear, self.kind.padding))

    @property
    def where(self) -> str:
        """Where the elements are: registers, shared memory or tensor memory."""
        if isinstance(self.kind, Distributed):
            return "registers"
        return "tensor memory" if isinstance(self.kind, TensorMemory) else "shared memory"

    @property
    def bases(self) -> dict[str, tuple[Basis, ...]]:
        """The basis vectors of each part of the hardware: where each bit of its number moves, the lowest bit first."""
        return dict(self.linear.ins)

    @property
    def matrix(self) -> npt.NDArray[np.uint8]:
        """The bit matrix: rows are the coordinates' bits, columns the bits of register, lane, warp and block."""
        return self.linear.matrix

    @property
    def copies(self) -> int:
        """How many places each element has."""
        return 1 << len(self.linear.echelon.kernel) - self._empty.bit_count()

    def kept(self) -> npt.NDArray[np.bool_]:
        """Whether each place holds an element, by packed number, as in ``linear.table()``.

        Only rows and columns of tensor memory can stay empty.

        >>> half = lab.layout("tensor_memory_encoding", (64, 32), block_m=64, block_n=32, col_stride=1)
        >>> half.kept().mean().item()
        0.5
        """
        return np.asarray(np.arange(1 << len(self.linear.columns)) & self._empty == 0)

    def owner(self, *coordinate: int) -> list[HardwarePlace]:
        """All places of an element, ``layout.owner(i, j)``: several where the layout holds copies."""
        attribute_rules.inside(coordinate, self.shape)
        return [
            HardwarePlace(tuple(self._padded(self.linear.place(packed)).items()))
            for packed in self.linear.packed_places(coordinate)
            if not packed & self._empty
        ]

    def elements(self, **parts: int) -> list[Basis]:
        """The elements in a part of the hardware: ``layout.elements(warp=0, lane=3)``, in the order of its registers.

        Parts that are not named take all their numbers; an element with several places among them is listed that
        often. Raises LayoutError for a part that the layout does not have, and for a number out of range.
        """
        for name, number in parts.items():
            if name not in self.linear.names:
                raise LayoutError(
                    _("a layout in {where} has no {name}, only {names}").format(
                        where=self.where, name=name, names=", ".join(self.linear.names)
                    )
                )
            if not 0 <= number < self.linear.size(name):
                raise LayoutError(
                    _("there is no {name} {number}: this layout has {size}, from 0").format(
                        name=name, number=number, size=self.linear.size(name)
                    )
                )
        kept = self.kept()
        table, index = self.linear.table()[kept], np.flatnonzero(kept)
        for name, size in self.linear.sizes.items():
            if name in parts:
                keep = index % size == parts[name]
                table, index = table[keep], index[keep]
            index = index // size
        return [self.linear.unpack(int(number)) for number in table]

    def address(self, *coordinate: int) -> int:
        """The byte in shared memory at which an element begins, from the tensor's first byte, with padding.

        >>> padded = lab.layout("padded_shared", (32, 32), pairs=[(32, 1)])
        >>> padded.address(1, 0), padded.bank(1, 0)
        (132, 1)
        """
        self._has_addresses()
        return self.owner(*coordinate)[0].offset * self.bits // 8

    def bank(self, *coordinate: int) -> int:
        """Which of the 32 banks of 4 bytes holds an element's first byte in shared memory."""
        return self.address(*coordinate) // 4 % 32

    def addresses(self) -> npt.NDArray[np.int64]:
        """The byte at which each element begins, in the tensor's shape.

        >>> lab.layout("padded_shared", (32, 32), pairs=[(32, 1)]).addresses()[:3, 0]
        array([  0, 132, 264])
        """
        self._has_addresses()
        offsets = self.linear.inverse().table_of("offset").reshape(self.shape)
        return self.padded(offsets) * self.bits // 8

    def _has_addresses(self) -> None:
        if not isinstance(self.kind, SharedLayout):
            raise LayoutError(
                _("only elements in shared memory have an address; these are in {where}").format(where=self.where)
            )

    def to(self, other: Layout) -> Conversion:
        """The conversion to another layout of the same tensor: what moves, and what that costs."""
        for each in (self, other):
            if not isinstance(each.kind, Distributed):
                raise LayoutError(
                    _(
                        "a conversion is between layouts in registers, but {name} is in {where}. To see the cost "
                        "of reading or writing it, use shared.access(registers)"
                    ).format(name=each.kind.name, where=each.where)
                )
        return conversion(self.linear, other.linear, self.bits, (self.kind, other.kind))

    def access(self, registers: Layout) -> BankUse:
        """The bank conflicts when threads with a register layout read or write this shared memory.

        >>> down = lab.layout("blocked", (32, 32), size_per_thread=[1, 1], threads_per_warp=[32, 1],
        ...                   warps_per_cta=[1, 1], order=[0, 1])
        >>> lab.layout("padded_shared", (32, 32), pairs=[(32, 1)]).access(down).conflicts
        0
        """
        if not isinstance(self.kind, SharedLayout) or not isinstance(registers.kind, Distributed):
            raise LayoutError(
                _("an access goes from a layout in registers to a layout in shared memory: shared.access(registers)")
            )
        return bank_use(self.addresses(), self.bits, registers.linear)

    def plot_access(self, registers: Layout, warp: int = 0) -> BankView:
        """This shared memory bank by bank, with what one warp accesses at once, by a layout in registers.

        Raises LayoutError for other layouts than one in shared memory and one in registers, and for a warp that does
        not exist.

        >>> down = lab.layout("blocked", (32, 32), size_per_thread=[1, 1], threads_per_warp=[32, 1],
        ...                   warps_per_cta=[1, 1], order=[0, 1])
        >>> plain = lab.layout("swizzled_shared", (32, 32), vec=1, per_phase=1, max_phase=1, order=[1, 0])
        >>> print(plain.plot_access(down).text().splitlines()[-1])
        Bank 0 has to give 8 different words: 8 threads are served in 8 turns.
        """
        self.access(registers)  # raises for what is no access
        view: BankView = provided("Layout.plot_access")(self, registers, warp)
        return view

    @cached_property
    def _empty(self) -> int:
        return self.kind.empty(self.linear)

    def _padded(self, place: dict[str, int]) -> dict[str, int]:
        if not self.kind.padding:
            return place
        return {**place, "offset": int(self.padded(np.array(place["offset"])))}

    def padded(self, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The positions of elements in shared memory, in elements, with a padded layout's gaps.

        >>> lab.layout("padded_shared", (32, 32), pairs=[(32, 1)]).padded(np.array([31, 32]))
        array([31, 33])
        """
        found = offsets.copy()
        for interval, padding in self.kind.padding:
            found += offsets // interval * padding
        return found

    def __str__(self) -> str:
        sizes = ", ".join(
            counted_part(size, name) for name, size in self.linear.sizes.items() if name != "block" or size > 1
        )
        copies = _("; each element {times}").format(times=count(self.copies, "time")) if self.copies > 1 else ""
        shape = " x ".join(map(str, self.shape))
        return _("{kind}, shape {shape}, {bits} an element: {sizes}{copies}\n{linear}").format(
            kind=self.kind, shape=shape, bits=count(self.bits, "bit"), sizes=sizes, copies=copies, linear=self.linear
        )

    def __repr__(self) -> str:
        return str(self)

    def plot(self, element: Sequence[int] | None = None, **parts: int) -> LayoutView:
        """The layout as linked pictures: the tensor with each element's holder, the hardware, and the bit matrix.

        ``element``, ``(1, 5)``, highlights the places of an element; ``warp=0, lane=3`` highlights the elements of
        places. Raises LayoutError for an element or place that does not exist.

        >>> blocked = lab.layout("blocked", (32, 16), size_per_thread=[1, 4], threads_per_warp=[8, 4],
        ...                      warps_per_cta=[4, 1], order=[1, 0])
        >>> blocked.plot(element=(1, 5)).text().splitlines()[-1]
        'element [1, 5] is held by warp 0, thread 5, register 1'
        """
        view: LayoutView = provided("Layout.plot")(self, element, **parts)
        return view


def layout(spelled: Any, shape: Sequence[int] | int = (), *, bits: int | None = None, **parameters: Any) -> Layout:
    """The layout of a tensor, from TTGIR's text, a layout of Gluon, or a kind's name and its parameters.

    ``spelled`` is ``#ttg.blocked<{...}>``, after the lines of the aliases that it uses; or a layout object of Gluon,
    ``gl.BlockedLayout(...)``; or a kind (``blocked``,
    ``slice``, ``dot_op``, ``nvidia_mma``, ``amd_mfma``, ``swizzled_shared``, ...) whose parameters follow by keyword,
    spelled as in TTGIR or as in Python; a parent is a Layout or a text. For one dimension, a number may replace a
    list of one. Without ``order`` the last dimension is the fastest. A linear layout needs no shape. ``bits`` is the
    width of an element, 32 unless known. Raises LayoutError with the reason.

    >>> blocked = lab.layout("#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1],"
    ...                      " order = [1, 0]}>", shape=(32, 16))
    >>> blocked.owner(1, 5)
    [Place(register=1, lane=5, warp=0, block=0)]
    >>> same = {"size_per_thread": [1, 4], "threads_per_warp": [8, 4], "warps_per_cta": [4, 1]}
    >>> lab.layout("blocked", (32, 16), **same) == blocked
    True
    >>> lab.layout("slice", 32, dim=1, parent=blocked).copies
    4
    >>> from triton.experimental.gluon import language as gl
    >>> lab.layout(gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0]), (32, 16)) == blocked
    True
    """
    spelled = spelling_of(spelled)
    sizes, width_ = shape_of(shape), bits_of(bits)
    if isinstance(parent := parameters.get("parent"), Layout):
        parameters["parent"] = parent.kind
    kind = kind_of(spelled, parameters, sizes)
    own = getattr(kind, "own_shape", None)
    if not sizes and own is None:
        raise LayoutError(
            _("a {name} layout needs the tensor's shape: lab.layout(..., shape=(128, 64))").format(name=kind.name)
        )
    own_width: int = getattr(kind, "element_bit_width", 32)
    found = Layout(kind, sizes or own or (), width_ or own_width)
    assert found.linear.shape == found.shape  # a wrong shape raises here, not at the first use
    return found
