"""What torch refuses is refused at the call, for the same dtypes and shapes; what it accepts is accepted."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch

from tests.lazy.test_operations import EVERY
from tests.wordings import Wording
from triton_lab import lazy

Function = Callable[..., Any]

UNARY: dict[str, Function] = {
    **{
        name: operator.methodcaller(name)
        for name in [
            "abs", "exp", "log", "sin", "cos", "tanh", "sqrt", "rsqrt", "sigmoid", "relu", "sum", "mean", "amax",
            "amin", "any", "all", "argmax", "argmin", "std", "var", "clone", "exp_", "neg_", "abs_", "log_",
            "sin_", "cos_", "tanh_", "sqrt_", "rsqrt_", "sigmoid_", "relu_", "bitwise_not_", "zero_",
        ]
    },
    "neg": operator.neg,
    "not": operator.invert,
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(-1),
    "cumsum": lambda x: x.cumsum(0),
    "clamp": lambda x: x.clamp(0, 2),
    "mean over no such dim": lambda x: x.mean(5),
    "softmax over no such dim": lambda x: x.softmax(5),
    "argmax over no such dim": lambda x: x.argmax(5),
    "cumsum over no such dim": lambda x: x.cumsum(5),
    "split over no such dim": lambda x: x.split(1, 5),
    "split into too few": lambda x: x.split([1], 0),
    "size of no such dim": lambda x: x.size(5),
    **{f"** {exponent}": lambda x, e=exponent: x**e for exponent in (1, 2, 3, -1, 0.5, 2.0, -1.0)},
    "fill with 300": lambda x: x.fill_(300),
    "fill with -1": lambda x: x.fill_(-1),
    "fill with 0.5": lambda x: x.fill_(0.5),
    "// 0": lambda x: x // 0,
    "% 0": lambda x: x % 0,
}  # fmt: skip

OPERATORS = [
    "add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor", "lt", "le", "gt", "ge", "eq", "ne",
    "matmul", "iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "iand", "ior", "ixor",
]  # fmt: skip
BINARY: dict[str, Function] = {
    **{name: getattr(operator, name) for name in OPERATORS},
    "copy_": lambda x, y: x.copy_(y),
    "cat": lambda x, y: torch.cat([x, y]),
    "stack": lambda x, y: torch.stack([x, y]),
    "gather": lambda x, y: x.gather(0, y),
    "where": lambda x, y: torch.where(x, y, y),
    "choice": lambda x, y: torch.where(x == x, x, y),
}
NUMBERS = [True, 2, 0.5, -3, 300, 2**40]


def refuses(function: Function, *operands: Any) -> str:
    """The error of a call, none if it is accepted."""
    try:
        function(*operands)
    except (RuntimeError, TypeError, NotImplementedError, IndexError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def held(dtype: torch.dtype, shape: tuple[int, ...] = (2, 2)) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype) if dtype != torch.int64 else torch.zeros(shape, dtype=dtype)


def agree(function: Function, *operands: Any, zeros: bool = False) -> None:
    """Both refuse, or none does; nothing is run. `zeros`: torch may meet a zero to divide by while it computes."""
    mine = [lazy.tensor(each) if isinstance(each, torch.Tensor) else each for each in operands]
    theirs = refuses(function, *(each.clone() if isinstance(each, torch.Tensor) else each for each in operands))
    here = refuses(function, *mine)
    if zeros and "ZeroDivisionError" in theirs:
        return
    assert bool(here) == bool(theirs), f"lazy: {here or 'accepted'}; torch: {theirs or 'accepted'}"


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.filterwarnings("ignore:(std|var)")
def test_functions_of_one_tensor(name: str) -> None:
    for dtype, shape in product(EVERY, [(2, 2), (), (0,), (3, 0)]):
        if name == "log_softmax" and dtype == torch.bool and 0 in shape:
            continue  # torch is of two minds: on "meta" it refuses
        agree(UNARY[name], held(dtype, shape))


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_tensors(name: str) -> None:
    for first, second in product(EVERY, EVERY):
        if name == "where" and first == torch.uint8:
            continue  # deprecated in torch, and never known here
        agree(BINARY[name], held(first), held(second), zeros=True)
    for first, second in product([(2, 2), (), (3,), (0,), (2, 0)], repeat=2):
        if name == "cat" and ((first == (0,)) != (second == (0,))):
            continue  # torch lets flat empty tensors pass, an old habit of its own
        kind = torch.bool if name in ("and_", "or_", "xor", "iand", "ior", "ixor", "where") else torch.float32
        last = torch.int64 if name == "gather" else kind
        agree(BINARY[name], held(kind, first), held(last, second))


@pytest.mark.parametrize("name", [name for name in OPERATORS if name != "matmul"])
def test_functions_of_a_tensor_and_a_number(name: str) -> None:
    for dtype, number in product(EVERY, NUMBERS):
        agree(BINARY[name], held(dtype), number)
        if not name.startswith("i"):
            agree(lambda x, n, f=BINARY[name]: f(n, x), held(dtype), number, zeros=True)


def test_a_refused_operation_leaves_nothing_behind() -> None:
    first, second = lazy.tensor([1.0]), lazy.tensor([2.0])
    pending = first + second
    with pytest.raises(NotImplementedError, match=r"and of float32 \(1,\) and float32 \(1,\)"):
        first & second  # refused
    with pytest.raises(RuntimeError, match=r"matmul of float32 \(1,\) and int64 \(1,\)"):
        first @ lazy.tensor([2])
    assert pending.tolist() == [3.0]
    assert lazy.mark_step() is None


def test_operands_on_two_devices_are_refused(wording: Wording) -> None:
    there = lazy.zeros(2)
    there.storage.device = torch.device("meta")
    for call in (lambda: lazy.ones(2) + there, lambda: lazy.cat([lazy.ones(2), there])):
        with wording.raises(RuntimeError):
            call()
    there.storage.device = torch.device("cpu")
