"""Kernels made from an expression, and NumPy arrays in and out of them.

The number formats that NumPy lacks are those of ml_dtypes; torch carries them to the kernel.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import types
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
import triton

from triton_lab.backend.plugin import launcher

bf16 = np.dtype(ml_dtypes.bfloat16)
e4m3 = np.dtype(ml_dtypes.float8_e4m3fn)
e5m2 = np.dtype(ml_dtypes.float8_e5m2)
_TORCH = {bf16: torch.bfloat16, e4m3: torch.float8_e4m3fn, e5m2: torch.float8_e5m2}
_numbers = itertools.count()


def tensor(array: np.ndarray) -> torch.Tensor:
    """A torch tensor over a copy of ``array``."""
    if array.dtype in _TORCH:
        return torch.from_numpy(np.array(array).view(f"i{array.itemsize}")).view(_TORCH[array.dtype])
    return torch.from_numpy(np.array(array))


def array(tensor: torch.Tensor, dtype: np.dtype) -> np.ndarray:
    """What `tensor` made of an array of ``dtype``, back."""
    if dtype in _TORCH:
        return tensor.view({1: torch.int8, 2: torch.int16}[dtype.itemsize]).numpy().view(dtype)
    return tensor.numpy()


@functools.cache
def kernel_from(source: str) -> Any:
    """The JIT function that ``source`` defines last; it may use ``tl``, ``libdevice`` and ``triton``."""
    file = f"<kernel {next(_numbers)}>"
    text = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n" + source
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = types.ModuleType(f"kernel_{next(_numbers)}")
    module.__file__ = file
    exec(compile(text, file, "exec"), module.__dict__)
    return [value for value in vars(module).values() if isinstance(value, triton.runtime.JITFunction)][-1]


def evaluate(
    expression: str, *arrays: np.ndarray, out: Any, block: int = 1024, device: str = "cpu", **options: Any
) -> np.ndarray:
    """``expression`` of ``a``, ``b``, ``c`` (one for each array, lane by lane), stored as ``out``.

    The arrays have one dimension and one length; a block of lanes is a program.
    """
    names = "abcd"[: len(arrays)]
    loads = "".join(f"    {name} = tl.load({name.upper()} + i, mask=i < n)\n" for name in names)
    kernel = kernel_from(
        "@triton.jit\n"
        f"def kernel(OUT, {''.join(f'{name.upper()}, ' for name in names)}n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        f"{loads}"
        f"    tl.store(OUT + i, {expression}, mask=i < n)\n"
    )
    count = len(arrays[0])
    dtype = np.dtype(out)
    result = tensor(np.zeros(count, dtype)).to(device)
    inputs = [tensor(each).to(device) for each in arrays]
    kernel[(triton.cdiv(count, block),)](result, *inputs, count, BLOCK=block, **options)
    return array(result.cpu(), dtype)


def same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Assert equality bit for bit, but for the many forms of NaN."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    bits = f"u{actual.itemsize}"
    differs = np.ascontiguousarray(actual).view(bits) != np.ascontiguousarray(expected).view(bits)
    if actual.dtype.kind not in "iub":
        differs &= ~(np.isnan(actual) & np.isnan(expected))
    where = np.flatnonzero(differs)
    assert not len(where), f"{len(where)} differ: " + ", ".join(
        f"[{k}] {actual.reshape(-1)[k]!r} for {expected.reshape(-1)[k]!r}" for k in where[:5]
    )


def all_bits(dtype: Any) -> np.ndarray:
    """Every value of an 8- or 16-bit format, in the order of their bits."""
    dtype = np.dtype(dtype)
    return np.arange(1 << (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}").view(dtype)


def pairs(values: Sequence[Any] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays that hold every pair of ``values``."""
    left, right = np.meshgrid(values, values, indexing="ij")
    return left.reshape(-1), right.reshape(-1)


SIZES = (1, 7, None)


def bit_equal(run: Callable[[], torch.Tensor | tuple[torch.Tensor, ...]]) -> None:
    """Assert that ``run``, which launches kernels on fresh tensors, gives the same bits for every batch size."""
    seen: list[list[bytes]] = []
    for size in SIZES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(launcher.limits, "batch", size)
            # Left to choose, a kernel that other tests have made hot would be native where no size is asked for.
            patch.setattr(launcher.limits, "engine", "numpy")
            outputs = run()
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        seen.append([o.detach().contiguous().view(torch.uint8).numpy().tobytes() for o in outputs])
    for size, bits in zip(SIZES[1:], seen[1:], strict=True):
        assert bits == seen[0], f"batches of {size} and of 1 differ"
