"""Types of the values in a kernel: scalars, pointers, descriptors, and blocks of them."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Type:
    """The type of one value.

    ``element`` is the MLIR spelling of the scalar (``i32``, ``f16``, ``bf16``, ``f8E4M3FN``), or ``ptr`` or ``desc``.
    Integers have no sign, except the ``ui32`` in a descriptor's block. ``shape`` is the block's shape, ``()`` for a
    scalar. ``pointee`` is what a pointer points at, the block that a descriptor describes, or the block in a part of
    shared memory (``memdesc``). ``layout`` is TTGIR's text for the layout of a block or of a part of shared memory, ""
    where there is none; types that differ only in it are equal. ``token`` stands for asynchronous work.
    """

    element: str
    shape: tuple[int, ...] = ()
    pointee: Type | None = None
    layout: str = field(default="", compare=False)

    @property
    def is_pointer(self) -> bool:
        return self.element == "ptr"

    @property
    def is_descriptor(self) -> bool:
        return self.element == "desc"

    @property
    def is_shared(self) -> bool:
        """Whether it is a part of shared memory."""
        return self.element == "memdesc"

    @property
    def is_opaque(self) -> bool:
        """Whether it has no elements: a descriptor, a part of shared memory, a token."""
        return self.element in ("desc", "memdesc", "token")

    @property
    def is_integer(self) -> bool:
        return self.element[0] in "iu"

    @property
    def is_float(self) -> bool:
        return self.element[0] in "fb"

    @property
    def bits(self) -> int:
        """Width of one element in bits; pointers and MLIR's ``index`` count as 64."""
        return _bits(self.element)

    @property
    def size(self) -> int:
        """Elements in the block."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    def __str__(self) -> str:
        inner = f"{self.element}<{self.pointee}>" if self.pointee else self.element
        return "x".join([*map(str, self.shape), inner]) if self.shape else inner


# May follow a pointee: `!tt.ptr<f32, 3>`, or by name from Triton 3.9 on, `!tt.ptr<f32, "constant">`. It is dropped,
# since programs see one memory. The front end checks that nothing is stored through `tl.const`.
_ADDRESS_SPACE = re.compile(r""",\s*(?:\d+|"\w+")$""")


def _bits(element: str) -> int:
    if element in ("ptr", "desc", "index", "memdesc", "token"):
        return 64
    found = re.match(r"[a-z]+(\d+)", element)
    if found is None:
        raise ValueError(f"no width is known for the element type {element!r}")
    return int(found.group(1))


@functools.lru_cache(maxsize=4096)  # a plan has some ten types, many times each: reading it takes a sixth less
def parse_type(text: str) -> Type:
    """Read a type in MLIR's spelling: ``i32``, ``tensor<16x!tt.ptr<f16>>``, ...

    Raises ValueError for a type that no Triton front end emits.
    """
    text = text.strip()
    if text.startswith("tensor<"):
        inside = text[len("tensor<") : -1]
        shape, inner = _split_shape(inside)
        scalar = parse_type(inner)
        # TTIR has no layouts, so that most types need no second look.
        layout = _parts(inside)[1:2] if ", #" in inside else []
        return Type(scalar.element, shape, scalar.pointee, "".join(layout))
    if text.startswith("!tt.ptr<"):
        inside = text[len("!tt.ptr<") : -1]
        return Type("ptr", (), parse_type(_ADDRESS_SPACE.sub("", inside)))
    if text == "!ttg.async.token":
        return Type("token")
    if text.startswith("!ttg.memdesc<"):
        return _shared(text[len("!ttg.memdesc<") : -1])
    if text.startswith(("!tt.tensordesc<", "!ttng.tensordesc_im2col<")):
        inside = text[text.index("<") + 1 : -1]
        return Type("desc", (), parse_type(inside if inside.startswith("tensor<") else f"tensor<{inside}>"))
    if text in ("index", "none") or re.fullmatch(r"(?:[su]?i|f|bf)\d+|f(?:8|6|4)E\w+|tf32", text):
        return Type(text.removeprefix("s"))
    raise ValueError(f"unknown type {text!r}")


def _shared(inside: str) -> Type:
    """A part of shared memory: shape and element, layout, memory space, whether it may be written, the allocation."""
    parts = _parts(inside)
    if len(parts) < 3:
        raise ValueError(f"unknown type '!ttg.memdesc<{inside}>'")
    shape, element = _split_shape(parts[0])
    return Type("memdesc", (), Type(parse_type(element).element, shape), parts[1])


def _parts(text: str) -> list[str]:
    """What commas outside of brackets separate."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<[{(") - (character in ">]})")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _split_shape(text: str) -> tuple[tuple[int, ...], str]:
    """Split ``"4x8xf32"`` into ``((4, 8), "f32")``; an encoding after a comma is dropped."""
    shape: list[int] = []
    while (found := re.match(r"(\d+)x", text)) is not None:
        shape.append(int(found.group(1)))
        text = text[found.end() :]
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "<") - (character == ">")
        if character == "," and depth == 0:
            return tuple(shape), text[:position]
    return tuple(shape), text
