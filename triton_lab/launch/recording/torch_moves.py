"""Torch's operations that only move elements: run on flags, they show where each element came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Flags = npt.NDArray[np.bool_]

_ATEN = torch.ops.aten
# Operation -> the positions of the arguments whose elements it moves. Its other arguments (indices, conditions) say
# where to.
_MOVED = {
    _ATEN.clone: (0,),
    _ATEN._to_copy: (0,),
    _ATEN.copy_: (1,),
    _ATEN.cat: (0,),
    _ATEN.stack: (0,),
    _ATEN.repeat: (0,),
    _ATEN.index: (0,),
    _ATEN.index_select: (0,),
    _ATEN.gather: (0,),
    _ATEN.take: (0,),
    _ATEN.masked_select: (0,),
    _ATEN.flip: (0,),
    _ATEN.roll: (0,),
    _ATEN.tril: (0,),
    _ATEN.triu: (0,),
    _ATEN.where: (1, 2),
    _ATEN.constant_pad_nd: (0,),
    _ATEN.masked_fill: (0,),
}
# Operation -> the position of a fill value, whose elements have no flag.
_PUT_IN = {_ATEN.constant_pad_nd: 2, _ATEN.masked_fill: 2}


def copied(
    func: Any, args: tuple[Any, ...], named: dict[str, Any], flagged: Callable[[Any], Flags | None]
) -> Flags | None:
    """Which elements of ``func``'s result come from elements that are ``flagged``; None if no element does.

    ``flagged`` returns the flags of a tensor's elements, or None. For an in-place operation the result is the tensor
    that it writes.
    """
    positions = _MOVED.get(func.overloadpacket)
    if positions is None or len(args) <= positions[-1]:
        return None
    moved = [args[position] for position in positions]
    sources = [each for one in moved for each in (one if isinstance(one, (list, tuple)) else [one])]
    flags = {id(source): found for source in sources if (found := flagged(source)) is not None}
    if not flags:
        return None

    def stand_in(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [stand_in(each) for each in value]
        if not isinstance(value, torch.Tensor):
            return value
        its = flags.get(id(value))
        return torch.zeros(value.shape, dtype=torch.bool) if its is None else torch.from_numpy(its)

    if func.overloadpacket is _ATEN.copy_:
        everywhere: Flags = np.broadcast_to(flags[id(args[1])], tuple(args[0].shape))
        return everywhere
    if func.overloadpacket in (_ATEN.clone, _ATEN._to_copy):
        return flags[id(args[0])]
    given = [stand_in(arg) if position in positions else _on_the_cpu(arg) for position, arg in enumerate(args)]
    put_in = _PUT_IN.get(func.overloadpacket)
    if put_in is not None:
        given[put_in:] = [False]
    result = func.overloadpacket(*given, **{name: value for name, value in named.items() if name == "dim"})
    there: Flags = result.numpy()
    return there if bool(there.any()) else None


def _on_the_cpu(value: Any) -> Any:
    """``value`` with its tensors moved to the CPU, where the flags are."""
    if isinstance(value, torch.Tensor):
        return value.cpu()
    return [_on_the_cpu(each) for each in value] if isinstance(value, (list, tuple)) else value
