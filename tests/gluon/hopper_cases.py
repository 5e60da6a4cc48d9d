"""Launches of the kernels of `elements` and the modules for Hopper: what each writes, and what it should write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from tests.gluon import elements, hopper_copies, hopper_partitions, hopper_products
from tests.gluon.cases import Case, Result, attended, described, given, normal, wide

_TYPES = {
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "tf32": torch.float32,
}


def numbers(*shape: int, low: int = -100, high: int = 100) -> torch.Tensor:
    return given(torch.randint(low, high, shape, dtype=torch.int32, device="cpu"))


def like_torch(
    right: Callable[[torch.Tensor], torch.Tensor],
    x: Callable[[], torch.Tensor],
    grid: int = 1,
    options: tuple[Any, ...] = (),
) -> Callable[[Any, Any], Result]:
    """A launch of ``kernel[(grid,)](x, y, *options)`` that should write what ``right`` says of ``x``."""

    def run(kernel: Any, choice: Any) -> Result:
        inputs = x()
        with torch.device("cpu"):
            wanted = right(inputs.cpu())
        y = given(torch.zeros_like(wanted))
        kernel[(grid,)](inputs, y, *options, *(() if choice == "" else (choice,)))
        return y, wanted

    return run


def apart(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x[1::2], 2 * x[::2]])


def sliced(x: torch.Tensor) -> torch.Tensor:
    y = x.view(2, 32, 32).clone()
    y[1, 16:, 16:] *= 2
    y[0, 16:, 16:] *= 3
    return y.view(64, 32)


def eight_bits(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.float8_e4m3fn).float() + x.to(torch.float8_e5m2).float() + x.bfloat16().float()


def chosen(x: torch.Tensor) -> torch.Tensor:
    at = torch.arange(1024).view(32, 32)
    return x.gather(1, (at * 7 + at // 32) % 32)


def counters(x: torch.Tensor) -> torch.Tensor:
    columns = x.view(-1, 8)
    rows = [columns.sum(0), columns.amax(0).clamp(min=0), columns.amin(0).clamp(max=0)]
    found = {"or": torch.zeros(8, dtype=torch.int32), "xor": torch.zeros(8, dtype=torch.int32)}
    for row in columns:
        found["or"] |= row
        found["xor"] ^= row
    return torch.cat([*rows, found["or"], found["xor"], torch.zeros(8, dtype=torch.int32)]).int()


def tile() -> torch.Tensor:
    return normal(32, 32)


def turned(kernel: Any, choice: str) -> Result:
    x, y = tile(), given(torch.zeros(32, 32))
    kernel[(1,)](x, y, {"swizzled": elements.SWIZZLED, "padded": elements.PADDED}[choice])
    return y, x.T


def by_fma(kernel: Any, choice: Any) -> Result:
    a, b, c = tile(), tile(), given(torch.zeros(32, 32))
    kernel[(1,)](a, b, c)
    return c, wide(a) @ wide(b)


def by_mma(kernel: Any, depth: int) -> Result:
    a, b, c = normal(64, 192).half(), normal(192, 64).half(), given(torch.zeros(64, 64))
    kernel[(1,)](a, b, c, 192, depth)
    return c, wide(a) @ wide(b)


def reduced(kernel: Any, kind: str) -> Result:
    x = normal(96, 32) if kind == "FADD" else numbers(96, 32)
    y = given(torch.ones(32, 32, dtype=x.dtype, device="cpu"))
    kernel[(3,)](described(x, [32, 32]), described(y, [32, 32]), kind.removeprefix("F"))
    parts = [torch.ones(32, 32, dtype=x.dtype, device="cpu"), *x.cpu().view(3, 32, 32)]
    step = {
        "FADD": torch.add, "ADD": torch.add, "MAX": torch.maximum, "MIN": torch.minimum,
        "AND": torch.bitwise_and, "OR": torch.bitwise_or, "XOR": torch.bitwise_xor,
    }[kind]  # fmt: skip
    for part in parts[1:]:
        parts[0] = step(parts[0], part)
    return y, parts[0]


def boxed(kernel: Any, choice: Any) -> Result:
    x, y = normal(7, 6, 60), given(torch.zeros(7, 6, 60))
    kernel[(2,)](described(x, [4, 8, 32]), described(y, [4, 8, 32]))
    return y, x


def boxed_lines(kernel: Any, choice: Any) -> Result:
    x, y = normal(450), given(torch.zeros(450))
    kernel[(1,)](described(x, [128]), described(y, [128]))
    return y, x


def described_inside(kernel: Any, choice: Any) -> Result:
    x, y = normal(32, 96), given(torch.zeros(32, 96))
    kernel[(3,)](x, y, 96)
    return y, -x


def of_rows(kernel: Any, choice: str) -> Result:
    name, _, where = choice.partition(" in ")
    dtype = _TYPES[name]
    step = 64 // dtype.itemsize
    a, b, c = normal(64, 4 * step).to(dtype), normal(32, 4 * step).to(dtype), given(torch.zeros(64, 32))
    kernel[(1,)](described(a, [64, step]), described(b, [32, step]), c, 4 * step, where == "registers")
    return c, wide(a) @ wide(b).T


def of_halves(kernel: Any, choice: Any) -> Result:
    a, b, c = normal(128, 384).half(), normal(384, 128).half(), given(torch.zeros(128, 128)).half()
    kernel[(2, 2)](described(a, [64, 64]), described(b, [64, 64]), described(c, [64, 64]), 384)
    return c, (wide(a) @ wide(b)).half()


def twice(kernel: Any, choice: Any) -> Result:
    a, b, c = normal(64, 64).half(), normal(64, 64).half() / 8, given(torch.zeros(64, 64))
    kernel[(1,)](described(a, [64, 64]), described(b, [64, 64]), c)
    return c, (wide(a) @ wide(b)).half().float() @ wide(b)


def persisted(kernel: Any, programs: int) -> Result:
    a, b, c = normal(192, 128).half(), normal(128, 256).half(), given(torch.zeros(192, 256)).half()
    tensors = described(a, [64, 64]), described(b, [64, 64]), described(c, [64, 64])
    kernel[(programs,)](*tensors, 192, 256, 128)
    return c, (wide(a) @ wide(b)).half()


def by_two(kernel: Any, choice: Any) -> Result:
    a, b, c = normal(128, 384).half(), normal(384, 128).half(), given(torch.zeros(128, 128)).half()
    kernel[(1, 2)](described(a, [128, 64]), described(b, [64, 64]), described(c, [64, 64]), 384)
    return c, (wide(a) @ wide(b)).half()


def of_bytes(kernel: Any, choice: Any) -> Result:
    a, b = numbers(64, 128).to(torch.int8), numbers(64, 128).to(torch.int8)
    c = given(torch.zeros(64, 64, dtype=torch.int32, device="cpu"))
    kernel[(1,)](described(a, [64, 64]), described(b, [64, 64]), c, 128)
    return c, (wide(a) @ wide(b).T).int()


def by_scales(kernel: Any, choice: Any) -> Result:
    a, b = (normal(64, 256).to(torch.float8_e4m3fn) for _ in range(2))
    a_scales, b_scales = (normal(64, 4).abs() for _ in range(2))
    c = given(torch.zeros(64, 64))
    kernel[(1,)](described(a, [64, 64]), described(b, [64, 64]), a_scales, b_scales, c, 256)
    scaled = (wide(one) * wide(by).repeat_interleave(64, 1) for one, by in ((a, a_scales), (b, b_scales)))
    return c, next(scaled) @ next(scaled).T


def by_parts(kernel: Any, programs: int) -> Result:
    a, b, c = normal(64, 320).half(), normal(320, 64).half(), given(torch.ones(64, 64))
    kernel[(programs,)](described(a, [64, 64]), described(b, [64, 64]), described(c, [64, 64]), 320)
    return c, 1 + wide(a) @ wide(b)


def of_batch(kernel: Any, choice: Any) -> Result:
    a, b, c = normal(3, 64, 128).half(), normal(3, 128, 64).half(), given(torch.zeros(3, 64, 64)).half()
    kernel[(3,)](*(described(one, [1, 64, 64]) for one in (a, b, c)), 128)
    return c, (wide(a) @ wide(b)).half()


def of_copies(kernel: Any, choice: Any) -> Result:
    a, b, c = normal(64, 256).half(), normal(256, 64).half(), given(torch.zeros(64, 64))
    kernel[(1,)](a, b, c, 256)
    return c, wide(a) @ wide(b)


_ELEMENTS: tuple[tuple[str, tuple[Any, ...], Callable[[Any, Any], Result]], ...] = (
    ("swished", (256,), like_torch(lambda x: x * torch.sigmoid(x), lambda: normal(1000), 4, options=(1000,))),
    ("spread_out", ("",), like_torch(lambda x: x[None, :32] + x[32:, None], lambda: normal(64))),
    ("by_bases", ("",), like_torch(lambda x: x * x, tile)),
    ("taken_apart", ("",), like_torch(apart, lambda: normal(256))),
    ("narrowed", ("",), like_torch(eight_bits, lambda: normal(256))),
    ("softmax_of_rows", ("",), like_torch(lambda x: torch.softmax(x, 1), tile)),
    ("running_sums", ("",), like_torch(lambda x: x.flip(1).cumsum(1).flip(1), tile)),
    ("largest_of_columns", ("",), like_torch(lambda x: x.argmax(0).int(), tile)),
    ("picked", ("",), like_torch(chosen, tile)),
    ("counted_in_bins", ("",), like_torch(
        lambda x: torch.bincount(x, minlength=128).int(), lambda: numbers(256, low=0, high=128))),
    ("all_atomics", ("",), like_torch(counters, lambda: numbers(1024), 4)),
    ("swapped_once", ("",), like_torch(
        lambda x: torch.cat([x, torch.ones_like(x)]), lambda: numbers(256, low=1), 4)),
    ("turned_by", ("swizzled", "padded"), turned),
    ("seen_as_other_bytes", ("",), like_torch(
        lambda x: (x.view(torch.int32) ^ 0x40000000).view(8, 32), lambda: normal(256))),
    ("parts_of_parts", ("",), like_torch(sliced, lambda: normal(64, 32))),
    ("copied_by_rows", ("",), like_torch(lambda x: x + 1, tile)),
    ("product_by_fma", ("",), by_fma),
    ("product_by_mma", (1, 2, 3, 4), by_mma),
)  # fmt: skip
_COPIES: tuple[tuple[str, tuple[Any, ...], Callable[[Any, Any], Result]], ...] = (
    ("reduced", ("FADD", "ADD", "MAX", "MIN", "AND", "OR", "XOR"), reduced),
    ("boxes", ("",), boxed),
    ("line_boxes", ("",), boxed_lines),
    ("described_inside", ("",), described_inside),
)
_PRODUCTS: tuple[tuple[str, tuple[Any, ...], Callable[[Any, Any], Result]], ...] = (
    ("product_of_rows", (*_TYPES, *(f"{name} in registers" for name in _TYPES)), of_rows),
    ("product_in_flight", ("",), of_halves),
    ("two_products", ("",), twice),
    ("persistent", (1, 5), persisted),
    ("product_of_bytes", ("",), of_bytes),
    ("scaled_product", ("",), by_scales),
    ("split_product", (1, 3), by_parts),
    ("batched_product", ("",), of_batch),
    ("product_of_copies", ("",), of_copies),
)
_PARTITIONS: tuple[tuple[str, tuple[Any, ...], Callable[[Any, Any], Result]], ...] = (
    ("parted_attention", ("",), attended),
    ("two_consumers", ("",), by_two),
    ("persistent_partitions", (1, 5), persisted),
)


def hopper_cases() -> Iterator[Case]:
    """All cases of these modules."""
    for module, table in (
        (elements, _ELEMENTS),
        (hopper_copies, _COPIES),
        (hopper_products, _PRODUCTS),
        (hopper_partitions, _PARTITIONS),
    ):
        for kernel, choices, run in table:
            for choice in choices:
                yield Case(module, kernel, choice, run)
