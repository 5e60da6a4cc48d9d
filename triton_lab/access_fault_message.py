"""The message of an access out of bounds, through a null pointer, or misaligned: what it touches, and what to do.

The error that stops a launch, findings and cards share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from triton_lab.localization import N_, _, translated
from triton_lab.messages import access_noun, address, count, in_all

# Each kind of fault in words.
WRONG = {
    "out-of-bounds": N_("out of bounds"),
    "null-pointer": N_("through a null pointer"),
    "misaligned": N_("misaligned"),
}


@dataclass(frozen=True)
class TensorText:
    """The facts about a tensor argument that messages use; ``offset`` counts elements, ``address`` is element 0's."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    itemsize: int
    address: int
    storage_address: int
    storage_bytes: int

    def __str__(self) -> str:
        text = _("{name}: {dtype}, shape {shape}, strides {strides}")
        if self.offset:
            text = _("{name}: {dtype}, shape {shape}, strides {strides}, storage offset {offset}")
        return text.format(name=self.name, dtype=self.dtype, shape=self.shape, strides=self.strides, offset=self.offset)

    def holds(self, address: int, size: int = 1) -> bool:
        """Whether the ``size`` bytes from ``address`` on lie in its storage."""
        return self.storage_address <= address and address + size <= self.storage_address + self.storage_bytes

    @property
    def dense(self) -> bool:
        """Whether its elements are contiguous in row-major order, so that an offset is an element's number."""
        steps = [prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        return all(
            size == 1 or stride == step for size, stride, step in zip(self.shape, self.strides, steps, strict=True)
        )

    def distance(self, address: int) -> int:
        """The distance of an address from its storage, in bytes."""
        return max(self.storage_address - address, address - self.storage_address - self.storage_bytes, 0)


def owner_of(address: int, origins: Iterable[TensorText], tensors: Iterable[TensorText]) -> TensorText | None:
    """The tensor that an access was intended for: the nearest of its pointer's ``origins``, else the one it touches."""
    nearest = min(origins, key=lambda tensor: tensor.distance(address), default=None)
    return nearest or next((tensor for tensor in tensors if tensor.holds(address)), None)


@dataclass(frozen=True)
class AccessGuard:
    """What guards the lanes of an access: ``kind`` is ``mask``, ``descriptor`` or "".

    The texts use the kernel's own names and are "" where these are not known. ``offset`` is added to the tensor,
    ``asked`` is the condition that the mask sets for that offset, and ``size`` is the argument that counts the tensor's
    elements. ``misread`` says which part of the mask Python reads differently from how it looks. ``remainder`` is a
    remainder in the offset, and ``divided`` its two sides, of which the left one may be negative.
    """

    kind: str
    offset: str = ""
    asked: str = ""
    size: str = ""
    misread: str = ""
    remainder: str = ""
    divided: tuple[str, str] = ("", "")


# Where an address lies that belongs to no argument: in another live tensor, in a live tensor that is read-only, or in
# memory that may not be read; "" is elsewhere.
Home = Literal["", "tensor", "fixed tensor", "unreadable"]


@dataclass(frozen=True)
class FaultingLane:
    """The first lane of an access that touches memory it may not touch, and how many such lanes there are.

    ``access`` is ``load``, ``store`` or ``atomic``, ``kind`` the kind of the fault, ``who`` a `program`, ``owner`` the
    tensor that the access was intended for (`owner_of`), ``tensors`` all tensor arguments. ``guard`` is the mask or
    descriptor that let the lane pass. Without an owner, ``home`` says where the address lies.
    """

    access: str
    kind: str
    itemsize: int
    address: int
    who: str
    lane: str
    count: int
    owner: TensorText | None
    tensors: Sequence[TensorText]
    guard: AccessGuard
    home: Home = ""

    def __str__(self) -> str:
        """``load out of bounds: lane 3 of program (1, 0, 0) touches element 11 of x, ...; 42 lanes in all``."""
        lane = _("{lane} of {program}").format(lane=self.lane, program=self.who) if self.lane else self.who
        fixed = self.read_only or (self.home == "fixed tensor" and self.access != "load")
        wrong = _("to read-only memory") if fixed else translated(WRONG[self.kind])
        text = _("{access} {wrong}: {lane} touches {place}").format(
            access=access_noun(self.access), wrong=wrong, lane=lane, place=self._touches()
        )
        return text + in_all(self.count, "lane")

    @property
    def read_only(self) -> bool:
        """Whether the lane writes to read-only memory: its address is in the tensor, yet it was stopped."""
        owned = self.owner is not None and self.owner.holds(self.address, self.itemsize)
        return owned and self.access != "load" and self.kind == "out-of-bounds"

    @property
    def hint(self) -> str:
        """What to do about the fault."""
        if self.kind == "misaligned":
            return _("Addresses must be multiples of the element's size. Check the pointer's type and the offsets.")
        if self.owner is None:
            return self._of_no_tensor()
        if self.read_only:
            return _("Pass a copy of {name} (.clone()), or map its file for writing.").format(name=self.owner.name)
        if self.guard.kind == "descriptor":
            return _("The descriptor's shape and strides extend past its tensor.")
        if self.guard.remainder and self.address < self.owner.address:
            return _(
                "{remainder} is negative where {left} is: % of a negative number is negative in Triton. Write "
                "({left} + {right}) % {right}."
            ).format(remainder=self.guard.remainder, left=self.guard.divided[0], right=self.guard.divided[1])
        return self._of_the_mask(self.owner) if self.guard.kind == "mask" else self._of_no_mask(self.owner)

    def _of_no_tensor(self) -> str:
        """The advice where the access was intended for no argument that is known."""
        if self.kind == "null-pointer":
            return _("The pointer is null. Check the table of pointers, or pass a tensor for it.")
        if self.home == "fixed tensor" and self.access != "load":
            return _("Pass a copy of that tensor (.clone()), or map its file for writing.")
        if self.home in ("tensor", "fixed tensor"):
            return _("The access leaves the tensor that its pointer points into. Check the offsets.")
        if self.home == "unreadable":
            return _("The operating system forbids reads there. Check where the pointer comes from.")
        if self.address < 0:
            return _("The address is negative. Check the pointer and the offsets.")
        return _("The pointer points into no tensor that is alive. Check where it comes from.")

    def _of_no_mask(self, owner: TensorText) -> str:
        """The advice where no mask guards the access."""
        guard, before = self.guard, self.address < owner.address
        condition = f"{guard.offset} >= 0" if before else f"{guard.offset} < {guard.size}" if guard.size else ""
        if condition and guard.offset:
            text = _("The access has no mask. Add one (mask={condition}), or correct the offsets.")
        elif before:
            text = _("The access has no mask. Mask off the lanes before {name}, or correct the offsets.")
        else:
            text = _("The access has no mask. Mask off the lanes beyond {name}, or correct the offsets.")
        return text.format(name=owner.name, condition=condition)

    def _of_the_mask(self, owner: TensorText) -> str:
        """The advice where these lanes pass the mask: its bound is wrong, or it tests something else."""
        guard, before = self.guard, self.address < owner.address
        if guard.misread:
            return _("The mask is not what it looks like: {why}").format(why=guard.misread)
        if guard.asked and before:
            text = _("The mask tests only {condition}. Test {offset} >= 0 too, or correct the offsets.")
        elif guard.asked and owner.dense:
            text = _("The mask is too wide: it tests {condition}, but {name} has {elements}.")
            if guard.size:
                text = _("The mask is too wide: it tests {condition}, but {name} has {elements} ({size}).")
        elif guard.offset and not guard.asked:
            text = _("The mask does not test {offset}. Compare it with the extent of {name} too.")
        else:
            text = _("The mask does not exclude these lanes. Compare the offsets with the extents of {name}.")
        elements = count(prod(owner.shape), "element")
        return text.format(
            condition=guard.asked, offset=guard.offset, name=owner.name, elements=elements, size=guard.size
        )

    def _without_owner(self) -> str:
        """The address, which no argument owns, and what is wrong with it."""
        at, size = address(self.address), count(self.itemsize, "byte")
        if self.kind == "misaligned":
            text = _("{address}, which is not a multiple of {size}")
            if self.home:
                text = _("{address}, which lies in a tensor that is not an argument, and is not a multiple of {size}")
        elif self.address < 0:
            text = _("{address}, which belongs to no tensor: it is negative")
        elif self.home == "fixed tensor" and self.access != "load":
            text = _("{address}, which lies in a tensor that is not an argument")
        elif self.home in ("tensor", "fixed tensor"):
            text = _("{address}, which lies in a tensor that is not an argument, and extends past its end")
        elif self.home == "unreadable":
            text = _("{address}, which lies in memory that may not be read")
        else:
            text = _("{address}, which belongs to no tensor")
        return text.format(address=at, size=size)

    def _touches(self) -> str:
        owner = self.owner
        if owner is None:
            return self._without_owner()
        distance = self.address - owner.address
        other = next((each for each in self.tensors if each != owner and each.holds(self.address)), None)
        last = owner.storage_bytes // owner.itemsize - owner.offset - 1
        if self.kind == "misaligned":
            text = _("byte {byte} of {name}, which is not a multiple of {size}")
        elif not owner.address:
            text = _("element {element} of {name}, which has no elements")
        elif self.read_only:
            text = _("element {element} of {name}")
        elif distance < 0:
            text = _("element {element} of {name}, whose storage begins at element {first}")
            if other is not None:
                text = _("element {element} of {name}, whose storage begins at element {first} ({other} lies there)")
        else:
            text = _("element {element} of {name}, whose storage ends after element {last}")
            if other is not None:
                text = _("element {element} of {name}, whose storage ends after element {last} ({other} lies there)")
        return text.format(
            byte=distance,
            element=distance // owner.itemsize,
            name=owner.name,
            size=count(self.itemsize, "byte"),
            first=-owner.offset,
            last=last,
            other="" if other is None else other.name,
        )
