"""Strategies for hypothesis: tensors as kernels get them.

Examples shrink to a contiguous float32 tensor of zeros with one element, and from there by what the test needs: one
more element, one special value, one unusual stride.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import hypothesis
import torch
from hypothesis import strategies as st

from triton_lab.localization import _

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INTEGERS = (torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8)
# The arrangements of elements in storage, the plain ones first.
LAYOUTS = ("contiguous", "offset", "transposed", "stepped", "expanded", "overlapping")
_MOST_SPECIAL = 4


def dtypes(*kinds: str) -> st.SearchStrategy[torch.dtype]:
    """Torch dtypes of the ``kinds`` ``"float"``, ``"int"`` and ``"bool"``, by default all of them.

    >>> lab.testing.dtypes("float")
    sampled_from([torch.float32, torch.float16, torch.bfloat16, torch.float64])
    """
    named = {"float": FLOATS, "int": INTEGERS, "bool": (torch.bool,)}
    unknown = [kind for kind in kinds if kind not in named]
    if unknown:
        raise ValueError(
            _("there are no dtypes of the kind {unknown}: choose {named}").format(
                unknown=repr(unknown[0]), named=", ".join(named)
            )
        )
    return st.sampled_from([dtype for kind in (kinds or named) for dtype in named[kind]])


@st.composite
def shapes(
    draw: st.DrawFn,
    *,
    min_dims: int = 1,
    max_dims: int = 2,
    blocks: Sequence[int] = (16, 32),
    max_side: int = 70,
    empty: bool = True,
) -> tuple[int, ...]:
    """Shapes around the sizes where kernels go wrong: 1, one less and one more than a block, several blocks, 0.

    ``blocks`` are the block sizes for which the kernel has masks. No side is longer than ``max_side``, and none is 0 if
    ``empty`` is false.

    >>> from hypothesis import find
    >>> find(lab.testing.shapes(blocks=[8]), lambda shape: shape[0] > 8)
    (9,)
    """
    edges = {1, 2, 3, *(side for block in blocks for side in (block - 1, block, block + 1, 2 * block, 2 * block + 1))}
    near = sorted(side for side in edges if 0 < side <= max_side)
    side = st.sampled_from(near) | st.integers(1, max_side)
    sides = draw(st.lists(side, min_size=min_dims, max_size=max_dims))
    if empty and sides and draw(st.integers(0, 15)) == 15:
        sides[draw(st.integers(0, len(sides) - 1))] = 0
    return tuple(sides)


def elements(dtype: torch.dtype, *, special: bool = True) -> st.SearchStrategy[float | int | bool]:
    """Numbers that ``dtype`` holds: small ones, and with ``special`` zeros of both signs, NaN, infinities, the
    smallest subnormal and normal numbers, and the extremes.

    >>> from hypothesis import find
    >>> find(lab.testing.elements(torch.float16), lambda value: value > 60000)
    65504.0
    """
    if dtype is torch.bool:
        return st.booleans()
    if not dtype.is_floating_point:
        whole = torch.iinfo(dtype)
        plain = st.integers(max(-8, whole.min), 8)
        return plain | st.sampled_from([whole.max, whole.min, whole.max - 1, whole.min + 1]) if special else plain
    small = st.integers(-32, 32).map(lambda eighths: eighths / 8)  # exact in every dtype
    if not special:
        return small
    held = torch.finfo(dtype)
    subnormal = float(held.tiny) * float(held.eps)
    sizes = [-0.0, float(held.max), -float(held.max), math.inf, -math.inf, math.nan]
    return small | st.sampled_from([*sizes, float(held.tiny), subnormal, -subnormal, 1 + float(held.eps)])


@st.composite
def tensors(
    draw: st.DrawFn,
    dtype: torch.dtype | st.SearchStrategy[torch.dtype] = torch.float32,
    shape: Sequence[int] | st.SearchStrategy[tuple[int, ...]] | None = None,
    *,
    layouts: Sequence[str] = LAYOUTS,
    special: bool = True,
    device: str = "cpu",
) -> torch.Tensor:
    """Tensors with the shapes, strides, offsets and values that kernels get wrong.

    ``layouts``: ``"contiguous"``; ``"offset"``, which begins in the middle of its storage; ``"transposed"``;
    ``"stepped"``, every other element of its rows; ``"expanded"``, whose first axis has stride 0; ``"overlapping"``,
    whose rows share elements. Leave out the last two for tensors that a kernel writes. Between the elements and around
    them lie NaNs, or the largest integers, which reveal a kernel that ignores the strides. A description of the tensor
    is noted with the falsifying example.

    >>> from hypothesis import find
    >>> bad = find(lab.testing.tensors(torch.float16), lambda x: not x.is_contiguous())
    >>> bad.shape, bad.stride(), bad.dtype
    (torch.Size([2]), (2,), torch.float16)
    """
    unknown = [layout for layout in layouts if layout not in LAYOUTS]
    if unknown:
        raise ValueError(
            _("there is no layout {unknown}: choose one of {layouts}").format(
                unknown=repr(unknown[0]), layouts=", ".join(LAYOUTS)
            )
        )
    kind = dtype if isinstance(dtype, torch.dtype) else draw(dtype)
    wanted = shapes() if shape is None else shape
    sides: tuple[int, ...] = draw(wanted) if isinstance(wanted, st.SearchStrategy) else tuple(wanted)
    layout = draw(st.sampled_from(list(layouts)))
    room = _room(sides, layout)
    count = torch.Size(room).numel()
    numbers = _filled(draw, kind, count, special).reshape(room)
    result = _laid(numbers.to(device), sides, layout)  # on the device: moving a tensor may change its strides
    if hypothesis.currently_in_test_context():
        strides = _("strides {stride}, offset {storage_offset}").format(
            stride=tuple(result.stride()), storage_offset=result.storage_offset()
        )
        hypothesis.note(
            _("{layout} tensor: {kind}, shape {sides}, {strides}").format(
                layout=layout, kind=kind, sides=sides, strides=strides
            )
        )
    return result


def _room(sides: tuple[int, ...], layout: str) -> tuple[int, ...]:
    """The shape of the tensor's own elements in storage."""
    if layout == "expanded" and sides:
        return (min(1, sides[0]), *sides[1:])
    if layout == "overlapping" and len(sides) > 1 and torch.Size(sides).numel():
        return (sum(sides) - len(sides) + 1,)
    return sides


def _filled(draw: st.DrawFn, dtype: torch.dtype, count: int, special: bool) -> torch.Tensor:
    """Numbers that shrink: zeros, or a pattern of distinct elements, and special values in a few places."""
    base = draw(st.sampled_from(["zeros", "ramp", "drawn"]))
    if base == "ramp":
        numbers = (torch.arange(count) % 61 - 30).to(dtype)
    elif base == "drawn":
        generator = torch.Generator().manual_seed(draw(st.integers(0, 1 << 16)))
        numbers = torch.randint(-30, 31, (count,), generator=generator).to(dtype)
    else:
        numbers = torch.zeros(count, dtype=dtype)
    if count:
        placed = st.tuples(st.integers(0, count - 1), elements(dtype, special=special))
        for at, value in draw(st.lists(placed, max_size=_MOST_SPECIAL)):
            numbers[at] = value
    return numbers


def _guarded(shape: tuple[int, ...], numbers: torch.Tensor) -> torch.Tensor:
    """A storage for ``numbers`` and for the values between them."""
    dtype = numbers.dtype
    between = math.nan if dtype.is_floating_point else True if dtype is torch.bool else torch.iinfo(dtype).max
    return torch.full(shape, between, dtype=dtype, device=numbers.device)


def _laid(numbers: torch.Tensor, sides: tuple[int, ...], layout: str) -> torch.Tensor:
    """A tensor of ``sides`` with these numbers in this layout; contiguous if it has too few axes for the layout."""
    if layout == "offset":
        view = _guarded((numbers.numel() + 8,), numbers)[5 : 5 + numbers.numel()].view(sides)
    elif layout == "transposed" and len(sides) > 1:
        view = torch.empty(sides[::-1], dtype=numbers.dtype, device=numbers.device)
        view = view.permute(list(range(len(sides)))[::-1])
    elif layout == "stepped" and sides:
        view = _guarded((*sides[:-1], 2 * sides[-1]), numbers)[..., ::2]
    elif layout == "expanded" and sides:
        return numbers.expand(sides)
    elif layout == "overlapping" and numbers.shape != sides:
        return numbers.as_strided(sides, (1,) * len(sides))
    else:
        return numbers
    view.copy_(numbers)
    return view
