"""Random programs, run twice: by lazy tensors and by torch eager.

An instruction is a kind and three numbers; the numbers choose among what is there when it runs, so that any list
of instructions is a program and hypothesis can shorten it. What differs from torch by design is evened out on
torch's side: results are contiguous, and an operand that overlaps its target is copied first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from hypothesis import strategies as st

from triton_lab import lazy

SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (3, 3), (1, 3), (2, 1, 3)]
DTYPES = [torch.float32, torch.float32, torch.int32, torch.int64, torch.float64]
KINDS = [
    "new", "unary", "binary", "scalar", "compare_where", "reduce", "matmul",
    "view", "view", "clone", "drop", "inplace", "inplace", "inplace", "inplace_scalar",
    "assign", "copy", "fill", "rebind", "step", "step", "look",
    "join", "along", "look_up", "divide", "divide_inplace", "range",
]  # fmt: skip
UNARY = ["neg", "abs", "relu", "sigmoid", "tanh"]
BINARY = ["add", "sub", "mul"]
ALONG = ["softmax", "cumsum", "argmax", "argmin", "std"]
DIVISORS = [2, 3, -2]
SCALARS = [0, 1, 2, -1.5, 0.5, 3]

numbers = st.integers(0, 11)
programs = st.lists(st.tuples(st.sampled_from(KINDS), numbers, numbers, numbers), min_size=4, max_size=14)

# Few tensors, few operations, many steps: programs in which the same operation comes twice, in place and not.
few = st.integers(0, 2)
repetitive = st.lists(
    st.tuples(st.sampled_from(["binary", "inplace", "step", "look"]), few, few, few), min_size=6, max_size=16
)


class Wrong(AssertionError):
    """A lazy tensor holds what torch does not."""


@dataclass
class Machine:
    """Pairs of tensors that must be equal: pairs[i] = (lazy, torch)."""

    pairs: list[tuple[lazy.Tensor, torch.Tensor]] = field(default_factory=list)
    made: int = 0

    def run(self, program: list[tuple[str, int, int, int]]) -> None:
        """Run all instructions, then compare everything that is left."""
        self.new(3, 0, 0)
        self.new(3, 0, 0)
        for kind, *choices in program:
            getattr(self, kind)(*choices)
        lazy.mark_step()
        for pair in self.pairs:
            check(*pair)

    def pick(self, choice: int) -> tuple[lazy.Tensor, torch.Tensor]:
        return self.pairs[choice % len(self.pairs)]

    def add(self, mine: lazy.Tensor, theirs: torch.Tensor) -> None:
        self.pairs.append((mine, theirs))
        assert mine.dtype == theirs.dtype and mine.shape == tuple(theirs.shape)

    def partner(self, shape: torch.Size, choice: int) -> tuple[lazy.Tensor, torch.Tensor] | None:
        """Some tensor that broadcasts with this shape."""
        fitting = [pair for pair in self.pairs if broadcasts(pair[1].shape, shape)]
        return fitting[choice % len(fitting)] if fitting else None

    def new(self, shape: int, dtype: int, _: int) -> None:
        size = SHAPES[shape % len(SHAPES)]
        self.made += 1
        data = (torch.arange(torch.Size(size).numel()).reshape(size) % 5 - self.made % 3).to(
            DTYPES[dtype % len(DTYPES)]
        )
        if shape > 8 and data.dim() == 2:
            data = data.t()
        self.add(lazy.tensor(data), data.clone())

    def unary(self, a: int, op: int, _: int) -> None:
        mine, theirs = self.pick(a)
        name = UNARY[op % len(UNARY)]
        self.add(getattr(mine, name)() if name != "neg" else -mine, own(getattr(torch, name)(theirs)))

    def binary(self, a: int, b: int, op: int) -> None:
        mine, theirs = self.pick(a)
        other = self.partner(theirs.shape, b)
        if other:
            name = f"__{BINARY[op % len(BINARY)]}__"
            self.add(getattr(mine, name)(other[0]), own(getattr(theirs, name)(other[1])))

    def scalar(self, a: int, op: int, number: int) -> None:
        mine, theirs = self.pick(a)
        name, value = f"__{BINARY[op % len(BINARY)]}__", SCALARS[number % len(SCALARS)]
        self.add(getattr(mine, name)(value), own(getattr(theirs, name)(value)))

    def compare_where(self, a: int, b: int, number: int) -> None:
        mine, theirs = self.pick(a)
        other = self.partner(theirs.shape, b)
        if other:
            value = SCALARS[number % len(SCALARS)]
            self.add(lazy.where(mine < other[0], other[0], value), own(torch.where(theirs < other[1], other[1], value)))

    def reduce(self, a: int, dim: int, op: int) -> None:
        mine, theirs = self.pick(a)
        if theirs.dim():
            name, keep = ["sum", "amax", "amin"][op % 3], bool(dim % 2)
            at = dim % theirs.dim()
            self.add(getattr(mine, name)(at, keep), getattr(theirs, name)(at, keep))

    def matmul(self, a: int, b: int, _: int) -> None:
        mine, theirs = self.pick(a)
        fitting = [
            pair
            for pair in self.pairs
            if pair[1].dtype == theirs.dtype
            and 1 <= pair[1].dim() <= 2
            and pair[1].shape[0] == theirs.shape[-1:].numel()
        ]
        if theirs.dim() in (1, 2) and fitting:
            other = fitting[b % len(fitting)]
            self.add(mine @ other[0], own(theirs @ other[1]))

    def view(self, a: int, how: int, at: int) -> None:
        mine, theirs = self.pick(a)
        pair = seen(mine, theirs, how, at)
        if pair:
            self.add(*pair)

    def clone(self, a: int, _: int, __: int) -> None:
        mine, theirs = self.pick(a)
        self.add(mine.clone(), own(theirs))

    def drop(self, a: int, _: int, __: int) -> None:
        if len(self.pairs) > 1:
            del self.pairs[a % len(self.pairs)]

    def inplace(self, a: int, b: int, op: int) -> None:
        mine, theirs = self.pick(a)
        other = self.partner(theirs.shape, b)
        if other and writable(theirs) and fits(theirs, other[1]):
            name = BINARY[op % len(BINARY)] + "_"
            getattr(theirs, name)(other[1].clone())
            getattr(mine, name)(other[0])

    def inplace_scalar(self, a: int, op: int, number: int) -> None:
        mine, theirs = self.pick(a)
        value = SCALARS[number % len(SCALARS)]
        if writable(theirs) and (theirs.dtype.is_floating_point or isinstance(value, int)):
            name = BINARY[op % len(BINARY)] + "_"
            getattr(theirs, name)(value)
            getattr(mine, name)(value)

    def assign(self, a: int, b: int, how: int) -> None:
        mine, theirs = self.pick(a)
        if not theirs.dim() or not theirs.shape[0] or not writable(theirs):
            return
        part = slice(how % theirs.shape[0], None, 1 + how % 2)
        other = self.partner(theirs[part].shape, b)
        if other and torch.broadcast_shapes(other[1].shape, theirs[part].shape) == theirs[part].shape:
            theirs[part] = other[1].clone()
            mine[part] = other[0]

    def copy(self, a: int, b: int, _: int) -> None:
        mine, theirs = self.pick(a)
        other = self.partner(theirs.shape, b)
        if other and writable(theirs) and torch.broadcast_shapes(other[1].shape, theirs.shape) == theirs.shape:
            theirs.copy_(other[1].clone())
            mine.copy_(other[0])

    def fill(self, a: int, number: int, _: int) -> None:
        mine, theirs = self.pick(a)
        if writable(theirs):
            theirs.fill_(SCALARS[number % len(SCALARS)])
            mine.fill_(SCALARS[number % len(SCALARS)])

    def rebind(self, a: int, number: int, _: int) -> None:
        mine, theirs = self.pick(a)
        self.pairs[a % len(self.pairs)] = (mine + SCALARS[number % 3], own(theirs + SCALARS[number % 3]))

    def join(self, a: int, b: int, how: int) -> None:
        mine, theirs = self.pick(a)
        if theirs.numel() > 200:  # joined again and again, a program would outgrow its test
            return
        if how % 3 == 0 and theirs.dim():
            dim = b % theirs.dim()
            parts = [part + 1 for part in reversed(mine.split(1 + b % 2, dim))]
            others = [part + 1 for part in reversed(theirs.split(1 + b % 2, dim))]
            self.add(torch.cat(parts, dim), torch.cat(others, dim))
            return
        other = self.pick(b)
        if other[1].shape == theirs.shape:
            dim = how % (theirs.dim() + 1)
            self.add(lazy.stack([mine, other[0], mine], dim), torch.stack([theirs, other[1], theirs], dim))

    def along(self, a: int, op: int, at: int) -> None:
        mine, theirs = self.pick(a)
        name = ALONG[op % len(ALONG)]
        if not theirs.dim() or not theirs.numel() or (name in ("softmax", "std") and not theirs.is_floating_point()):
            return
        dim, options = at % theirs.dim(), {"correction": 0} if name == "std" else {}
        if name.startswith("arg"):  # sums of floats may tie here and differ there by rounding
            mine, theirs = mine.to(torch.int32), theirs.to(torch.int32)
        if name in ("softmax", "std"):  # overflowed values are infinite minus infinite, by another rounding
            mine, theirs = mine.clamp(-9, 9), theirs.clamp(-9, 9)
        self.add(getattr(mine, name)(dim, **options), own(getattr(theirs, name)(dim, **options)))

    def look_up(self, a: int, b: int, at: int) -> None:
        mine, theirs = self.pick(a)
        if theirs.dim() and theirs.numel():
            dim = at % theirs.dim()
            size = theirs.shape[dim]
            index = (torch.arange(theirs.numel()).reshape(theirs.shape) * (b + 1)) % size
            places = (lazy.arange(theirs.numel()).reshape(tuple(theirs.shape)) * (b + 1)) % size
            self.add(mine.gather(dim, places), theirs.gather(dim, index))

    def divide(self, a: int, op: int, number: int) -> None:
        mine, theirs = self.pick(a)
        value = DIVISORS[number % len(DIVISORS)]
        if not theirs.is_floating_point():  # a quotient near a whole number may round either way
            self.add(mine // value, own(theirs // value)) if op % 2 else self.add(mine % value, own(theirs % value))

    def divide_inplace(self, a: int, op: int, number: int) -> None:
        mine, theirs = self.pick(a)
        value = DIVISORS[number % len(DIVISORS)]
        if not theirs.is_floating_point() and writable(theirs):
            name = "floor_divide_" if op % 2 else "remainder_"
            getattr(theirs, name)(value)
            getattr(mine, name)(value)

    def range(self, start: int, size: int, step: int) -> None:
        step = 1 + step % 3
        self.add(lazy.arange(start, start + size, step), torch.arange(start, start + size, step))

    def step(self, _: int, __: int, ___: int) -> None:
        lazy.mark_step()

    def look(self, a: int, _: int, __: int) -> None:
        check(*self.pick(a))


def seen(mine: lazy.Tensor, theirs: torch.Tensor, how: int, at: int) -> tuple[lazy.Tensor, torch.Tensor] | None:
    """The same view of both."""
    if theirs.dim() == 0:
        return mine.unsqueeze(0), theirs.unsqueeze(0)
    dim = at % theirs.dim()
    if how % 6 == 0:
        return mine.transpose(0, dim), theirs.transpose(0, dim)
    if how % 6 == 1 and theirs.shape[0]:
        return mine[at % theirs.shape[0]], theirs[at % theirs.shape[0]]
    if how % 6 == 2:
        return mine[..., at % 3 :], theirs[..., at % 3 :]
    if how % 6 == 3:
        return mine[:: 1 + at % 2], theirs[:: 1 + at % 2]
    if how % 6 == 4:
        return mine.reshape(-1), theirs.reshape(-1)
    if how % 6 == 5:
        return mine.expand(2, *theirs.shape), theirs.expand(2, *theirs.shape)
    return None


def own(result: torch.Tensor) -> torch.Tensor:
    """A result in contiguous memory of its own."""
    return result.clone(memory_format=torch.contiguous_format)


def broadcasts(first: torch.Size, second: torch.Size) -> bool:
    try:
        torch.broadcast_shapes(first, second)
    except RuntimeError:
        return False
    return True


def writable(target: torch.Tensor) -> bool:
    return all(stride or size <= 1 for size, stride in zip(target.shape, target.stride(), strict=True))


def fits(target: torch.Tensor, other: torch.Tensor) -> bool:
    """True if target.add_(other) is allowed."""
    return torch.broadcast_shapes(target.shape, other.shape) == target.shape and torch.can_cast(
        torch.result_type(target, other), target.dtype
    )


def check(mine: lazy.Tensor, theirs: torch.Tensor) -> None:
    """Raise Wrong unless both hold the same."""
    got = mine.torch().cpu()
    exact = not theirs.dtype.is_floating_point
    same = torch.equal(got, theirs) if exact else torch.allclose(got, theirs, rtol=1e-4, atol=1e-5, equal_nan=True)
    if not same:
        raise Wrong(f"lazy {got.tolist()}, torch {theirs.tolist()}")
