"""What torch's operations move: the flags of a result are those of the elements that it was made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from triton_lab.launch.recording.torch_moves import _MOVED, copied

# Torch's functions of two tensors of 3 by 4, by the operation that they are.
CALLS: dict[str, Any] = {
    "clone": lambda x, y: x.clone(),
    "_to_copy": lambda x, y: x.to(torch.float64),
    "copy_": lambda x, y: y.copy_(x),
    "copy_ of a row": lambda x, y: y.copy_(x[1]),
    "cat": lambda x, y: torch.cat([x, y, x], 1),
    "cat of rows": lambda x, y: torch.cat([x, y]),
    "stack": lambda x, y: torch.stack([y, x], dim=2),
    "repeat": lambda x, y: x.repeat(2, 3),
    "index": lambda x, y: x[torch.tensor([2, 0, 2])],
    "index of columns": lambda x, y: x[:, torch.tensor([3, 1])],
    "index_select": lambda x, y: x.index_select(1, torch.tensor([3, 0])),
    "gather": lambda x, y: x.gather(1, torch.tensor([[3], [0], [2]])),
    "take": lambda x, y: x.take(torch.tensor([11, 0, 5])),
    "masked_select": lambda x, y: x.masked_select(torch.arange(12).reshape(3, 4) % 2 == 0),
    "flip": lambda x, y: x.flip(0),
    "flip of both": lambda x, y: x.flip(0, 1),
    "roll": lambda x, y: torch.roll(x, 1, 1),
    "roll of all": lambda x, y: torch.roll(x, 5),
    "tril": lambda x, y: x.tril(),
    "triu": lambda x, y: x.triu(1),
    "where": lambda x, y: torch.where(torch.arange(12).reshape(3, 4) % 3 == 0, x, y),
    "constant_pad_nd": lambda x, y: torch.constant_pad_nd(x, [1, 2], 7.0),
    "masked_fill": lambda x, y: x.masked_fill(torch.arange(12).reshape(3, 4) % 4 == 1, 5.0),
}
# Where these put in what nobody flagged.
PUT_IN = {
    "constant_pad_nd": np.broadcast_to(np.isin(np.arange(7), (0, 5, 6)), (3, 7)),
    "masked_fill": np.arange(12).reshape(3, 4) % 4 == 1,
}


class Heard(TorchDispatchMode):
    """The last operation of those that move elements, and what `copied` makes of it."""

    def __init__(self, flags: dict[int, np.ndarray]) -> None:
        super().__init__()
        self.flags = flags
        self.names: list[str] = []
        self.found: np.ndarray | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Sequence[Any] = (), named: Any = None) -> Any:
        if func.overloadpacket in _MOVED:
            self.names.append(str(func.overloadpacket).removeprefix("aten."))
            self.found = copied(func, tuple(args), named or {}, self.flagged)
        return func(*args, **(named or {}))

    def flagged(self, tensor: torch.Tensor) -> np.ndarray | None:
        """Of a view, too: it says by its numbers which elements it has."""
        known = self.flags.get(tensor.data_ptr() - 4 * tensor.storage_offset())
        if known is None:
            return None
        return np.array(known.reshape(-1)[tensor.long().numpy() % 100]).reshape(tensor.shape)


flags_of = st.lists(st.booleans(), min_size=12, max_size=12).map(lambda found: np.array(found).reshape(3, 4))


@pytest.mark.parametrize("call", CALLS)
@given(first=flags_of, second=flags_of)
@settings(deadline=None, max_examples=20)
def test_flags_are_moved_as_the_elements_are(call: str, first: np.ndarray, second: np.ndarray) -> None:
    # Each element is its number; those of the other tensor are a hundred more.
    x = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    y = x + 100
    heard = Heard({x.data_ptr(): first, y.data_ptr(): second})
    numbers = CALLS[call](x.clone(), y.clone()).long().numpy()
    with heard:
        CALLS[call](x, y)
    assert heard.names[-1] == call.partition(" ")[0]
    both = np.concatenate([first.reshape(-1), second.reshape(-1)])
    expected = both[numbers % 100 + 12 * (numbers // 100)]
    if call in PUT_IN:
        expected = expected & ~PUT_IN[call]
    if call in ("tril", "triu"):
        kept = np.tril(np.ones((3, 4), bool)) if call == "tril" else np.triu(np.ones((3, 4), bool), 1)
        expected = expected & kept
    if heard.found is None:
        assert not expected.any()
    else:
        assert heard.found.tolist() == expected.tolist()


def test_what_is_computed_is_no_copy() -> None:
    x = torch.ones(3)
    flags = {x.data_ptr(): np.ones(3, bool)}
    for func, args in ((torch.ops.aten.add.Tensor, (x, x)), (torch.ops.aten.roll.default, ())):
        assert copied(func, args, {}, lambda tensor: flags.get(tensor.data_ptr())) is None
