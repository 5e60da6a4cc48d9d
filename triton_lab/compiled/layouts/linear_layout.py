"""Linear layouts: the common form of all kinds, a matrix over GF(2).

Inputs are places in the hardware (register, lane, warp, block; or offset and block); outputs are coordinates of a
tensor. The bits of a place choose basis vectors, and their XOR is the coordinate: so one vector per bit determines
where all elements are. (Zhou et al., "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using
F2", 2025.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from triton_lab.compiled.layouts import gf2
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.localization import N_, _, translated
from triton_lab.messages import count

Basis: TypeAlias = tuple[int, ...]
Ints: TypeAlias = npt.NDArray[np.int64]

# What the parts of the hardware are called. Triton's layouts call a thread ``lane``, and a CTA of a cluster ``block``.
_NAMES = {"register": N_("register"), "lane": N_("thread"), "warp": N_("warp"), "block": "CTA", "row": N_("row"),
          "column": N_("column"), "offset": N_("offset"), "bank": N_("bank")}  # fmt: skip


def part_name(part: str) -> str:
    """The name of a part of the hardware, in English."""
    return _NAMES.get(part, part)


def counted_part(size: int, part: str) -> str:
    """``4 registers``: so many of a part of the hardware."""
    if part == "register":
        return count(size, "register")
    if part in ("row", "column", "bank"):
        return {"row": count(size, "row"), "column": count(size, "column"), "bank": count(size, "bank")}[part]
    return count(size, part_name(part))


@dataclass(frozen=True)
class Linear:
    """A linear map from places to coordinates.

    ``ins`` has the basis vectors of each input, the lowest bit first; ``outs`` has the outputs with their sizes, all
    powers of two. Two maps are equal if their inputs, bases and outputs are.
    """

    ins: tuple[tuple[str, tuple[Basis, ...]], ...]
    outs: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, bases: Mapping[str, Sequence[Sequence[int]]], shape: Mapping[str, int] | Sequence[int]) -> Linear:
        """A map from lists; a plain shape names its outputs dim0, dim1, and so on."""
        outs = shape if isinstance(shape, Mapping) else {f"dim{axis}": size for axis, size in enumerate(shape)}
        ins = tuple((name, tuple(tuple(basis) for basis in each)) for name, each in bases.items())
        for name, size in outs.items():
            if size < 1 or size & (size - 1):
                raise LayoutError(
                    _("{name} has size {size}, but a linear layout has sizes that are powers of two").format(
                        name=name, size=size
                    )
                )
        for name, each in ins:
            for bit, basis in enumerate(each):
                _fits(basis, tuple(outs.items()), f"{name} {1 << bit}")
        return cls(ins, tuple(outs.items()))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(size for _unused, size in self.outs)

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs' names."""
        return tuple(name for name, _unused in self.ins)

    def bases(self, name: str) -> tuple[Basis, ...]:
        """The basis vectors of an input; empty for an unknown input."""
        return next((each for own, each in self.ins if own == name), ())

    def size(self, name: str) -> int:
        """How many numbers an input has."""
        return 1 << len(self.bases(name))

    @cached_property
    def sizes(self) -> dict[str, int]:
        return {name: 1 << len(each) for name, each in self.ins}

    # Vectors as integers. Outputs are packed with the last one in the lowest bits, so that the number is the
    # element's row-major position; inputs with the first one in the lowest bits.

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The matrix's columns, a packed output for each bit of the inputs."""
        return tuple(self.pack(basis) for _unused, each in self.ins for basis in each)

    @cached_property
    def echelon(self) -> gf2.Echelon:
        return gf2.echelon(self.columns)

    def pack(self, coordinate: Sequence[int]) -> int:
        """The row-major position of a coordinate."""
        number = 0
        for value, size in zip(coordinate, self.shape, strict=True):
            number = number * size + value
        return number

    def unpack(self, number: int) -> Basis:
        """The coordinate at a row-major position."""
        found = []
        for size in reversed(self.shape):
            found.append(number % size)
            number //= size
        return tuple(reversed(found))

    def place(self, inputs: int) -> dict[str, int]:
        """The numbers of the inputs, from packed bits."""
        found = {}
        for name, size in self.sizes.items():
            found[name] = inputs % size
            inputs //= size
        return found

    def inputs(self, place: Mapping[str, int]) -> int:
        """A place as packed bits; inputs that it does not name are 0."""
        number = 0
        for name, size in reversed(list(self.sizes.items())):
            number = number * size + place.get(name, 0)
        return number

    # Queries.

    def at(self, **place: int) -> Basis:
        """The coordinate at a place; an input that is not named is 0."""
        for name, value in place.items():
            if not 0 <= value < self.size(name):
                raise LayoutError(
                    _("there is no {name} {value}: this layout has {size}, counted from 0").format(
                        name=name, value=value, size=self.size(name)
                    )
                )
        return self.unpack(gf2.combine(self.columns, self.inputs(place)))

    def places(self, coordinate: Sequence[int]) -> list[dict[str, int]]:
        """All places that lead to a coordinate, the lowest first."""
        return [self.place(inputs) for inputs in self.packed_places(coordinate)]

    def packed_places(self, coordinate: Sequence[int]) -> list[int]:
        """As `places`, each place as packed bits."""
        found = self.echelon.solve(self.pack(coordinate))
        return [] if found is None else sorted(found ^ other for other in gf2.span(self.echelon.kernel))

    def table(self) -> Ints:
        """The row-major position of the element at each place, by packed input: ``(2**bits,)``."""
        found = np.zeros(1, np.int64)
        for column in self.columns:
            found = np.concatenate([found, found ^ column])
        return found

    def table_of(self, output: str) -> Ints:
        """One output's number for each packed input: ``(2**bits,)``.

        Here the last input is in the lowest bits, so that a map from coordinates can be reshaped to the tensor.
        """
        axis = [name for name, _unused in self.outs].index(output)
        found = np.zeros(1, np.int64)
        for _unused, each in reversed(self.ins):
            for basis in each:
                found = np.concatenate([found, found ^ basis[axis]])
        return found

    @property
    def matrix(self) -> npt.NDArray[np.uint8]:
        """The bit matrix: a row for each output bit, a column for each input bit.

        Outputs and inputs come in order, each with its lowest bit first.
        """
        rows = [(axis, bit) for axis, size in enumerate(self.shape) for bit in range(size.bit_length() - 1)]
        every = [basis for _unused, each in self.ins for basis in each]
        return np.array([[basis[axis] >> bit & 1 for basis in every] for axis, bit in rows], np.uint8).reshape(
            len(rows), len(every)
        )

    @property
    def surjective(self) -> bool:
        """Whether each element has a place."""
        return self.echelon.rank == math.prod(self.shape).bit_length() - 1

    @property
    def injective(self) -> bool:
        """Whether no element has two places."""
        return not self.echelon.kernel

    # Composition.

    def then(self, after: Linear) -> Linear:
        """The composition: first this map, then ``after``, whose inputs are this one's outputs."""
        if dict(self.outs) != after.sizes:
            raise LayoutError(
                _("these do not compose: the first maps to {sizes}, the second starts from {sizes2}").format(
                    sizes=_sizes(dict(self.outs)), sizes2=_sizes(after.sizes)
                )
            )
        names = [name for name, _unused in self.outs]
        ins = tuple(
            (name, tuple(after.at(**dict(zip(names, basis, strict=True))) for basis in each)) for name, each in self.ins
        )
        return Linear(ins, after.outs)

    def inverse(self) -> Linear:
        """The map from coordinates back to places; of an element's several places, the one with the lowest bits."""
        if not self.surjective:
            raise LayoutError(_("this layout has no inverse: some elements of the tensor have no place in it"))
        ins = []
        for axis, (name, size) in enumerate(self.outs):
            bases = []
            for bit in range(size.bit_length() - 1):
                unit = tuple(1 << bit if other == axis else 0 for other in range(len(self.outs)))
                found = self.echelon.solve(self.pack(unit))
                assert found is not None
                bases.append(tuple(self.place(found).values()))
            ins.append((name, tuple(bases)))
        return Linear(tuple(ins), tuple(self.sizes.items()))

    def into(self, other: Linear) -> Linear:
        """The map from this one's places to the other's places that hold the same elements."""
        return self.then(other.inverse())

    def __str__(self) -> str:
        lines = [f"{name}: {' '.join(str(list(basis)) for basis in each) or '-'}" for name, each in self.ins]
        return "\n".join(lines)


def _fits(basis: Basis, outs: Sequence[tuple[str, int]], whose: str) -> None:
    if len(basis) != len(outs):
        raise LayoutError(
            _("the basis {basis} of {whose} has {numbers}, but the tensor has {dimensions}").format(
                basis=list(basis),
                whose=whose,
                numbers=count(len(basis), "number"),
                dimensions=count(len(outs), "dimension"),
            )
        )
    for value, (name, size) in zip(basis, outs, strict=True):
        if not 0 <= value < size:
            raise LayoutError(
                _("the basis {basis} of {whose} leads outside of {name}, which has {elements}").format(
                    basis=list(basis), whose=whose, name=name, elements=count(size, "element")
                )
            )


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({size})" for name, size in sizes.items())


@dataclass(frozen=True)
class HardwarePlace:
    """Where one copy of an element is: the numbers of the hardware's parts, by name, from 0.

    ``place.register``, ``place.lane``, ``place.warp`` and ``place.block`` in registers, ``place.offset`` (in
    elements) and ``place.block`` in shared memory, ``place.row`` and ``place.column`` in tensor memory.
    """

    parts: tuple[tuple[str, int], ...]

    def __getattr__(self, name: str) -> int:
        for part, number in self.__dict__.get("parts", ()):
            if part == name:
                return int(number)
        raise AttributeError(_("a place in this layout has no {name}").format(name=name))

    def __repr__(self) -> str:
        return _("Place({parts})").format(parts=", ".join(f"{part}={number}" for part, number in self.parts))

    def __str__(self) -> str:
        parts = [(part, number) for part, number in self.parts if part != "block"]
        return ", ".join(f"{translated(part_name(part))} {number}" for part, number in reversed(parts))
