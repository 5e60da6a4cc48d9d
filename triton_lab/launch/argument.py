"""`Argument`: a launch's arguments as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triton_lab.localization import _


@dataclass(frozen=True, repr=False)
class Argument:
    """One argument of a launch, with its name in the kernel.

    For a tensor, ``shape``, ``strides`` and ``offset`` count elements, ``dtype`` is torch's name for the type,
    ``address`` is the address of element 0, and ``storage_address`` and ``storage_bytes`` describe the storage.
    ``kind`` is ``tensor``, ``scalar``, ``constexpr`` or ``descriptor``.

    >>> argument = launch.argument("x_ptr")
    >>> argument.kind, argument.shape, argument.strides, argument.dtype, argument.offset, argument.itemsize
    ('tensor', (1000,), (1,), 'float32', 0, 4)
    >>> launch.argument("BLOCK").value
    128
    >>> launch.arguments[:2]
    (<x_ptr: tensor of float32, shape (1000,), strides (1,), offset 0>, ...
    """

    name: str
    kind: str
    value: Any = None
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    dtype: str = ""
    itemsize: int = 0
    offset: int = 0
    address: int = 0
    storage_address: int = 0
    storage_bytes: int = 0

    def __repr__(self) -> str:
        if self.kind in ("scalar", "constexpr"):
            return f"<{self.name}: {self.kind} {self.value!r}>"
        where = _("shape {shape}, strides {strides}, offset {offset}").format(
            shape=self.shape, strides=self.strides, offset=self.offset
        )
        return f"<{self.name}: {self.kind} of {self.dtype}, {where}>"

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie in storage in row-major order without gaps."""
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != expected:
                return False
            expected *= extent
        return True

    def distance(self, address: int) -> int:
        """The distance of an address from its storage, in bytes.

        >>> argument = launch.argument("x_ptr")
        >>> argument.distance(argument.storage_address), argument.distance(argument.storage_address - 8)
        (0, 8)
        """
        return max(self.storage_address - address, address - self.storage_address - self.storage_bytes, 0)


def arguments_of(signature: Mapping[str, Any], objects: Sequence[Any]) -> tuple[Argument, ...]:
    """All arguments, constexprs included; a tuple gives one argument for each item, named ``t[0]``."""
    result: list[Argument] = []
    for (name, type), value in zip(signature.items(), objects, strict=True):
        result.extend(_arguments(name, type, value))
    return tuple(result)


def _arguments(name: str, type: Any, value: Any) -> Iterator[Argument]:
    if isinstance(type, tuple):
        for position, (inner, item) in enumerate(zip(type, value, strict=True)):
            yield from _arguments(f"{name}[{position}]", inner, item)
        return
    kind = "descriptor" if str(type).startswith("tensordesc") else "tensor"
    tensor = value
    if not hasattr(tensor, "untyped_storage") and hasattr(tensor, "base"):
        tensor = tensor.base
    if hasattr(tensor, "untyped_storage") and type != "constexpr":
        yield tensor_argument(name, tensor, kind)
    elif type == "constexpr":
        yield Argument(name, "constexpr", value=value)
    else:
        # Of an object that knows an address alone, the address.
        address = getattr(value, "data_ptr", None)
        yield Argument(name, "scalar", value=value if address is None else int(address()), dtype=str(type))


def tensor_argument(name: str, tensor: Any, kind: str = "tensor") -> Argument:
    """The description of a torch tensor."""
    storage = tensor.untyped_storage()
    return Argument(
        name,
        kind,
        shape=tuple(tensor.shape),
        strides=tuple(tensor.stride()),
        dtype=str(tensor.dtype).removeprefix("torch."),
        itemsize=tensor.element_size(),
        offset=tensor.storage_offset(),
        address=tensor.data_ptr(),
        storage_address=storage.data_ptr(),
        storage_bytes=storage.nbytes(),
    )
