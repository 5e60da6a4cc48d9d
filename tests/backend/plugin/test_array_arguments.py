"""Kernels take arrays of other libraries as arguments, and work in their memory."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.backend.plugin.kernel_arguments import ArgumentError


@triton.jit
def double(x_ptr, out_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out_ptr + i, tl.load(x_ptr + i, i < n) * 2, i < n)


@triton.jit
def first_of(pair, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(pair[1] + i, tl.load(pair[0] + i))


class Described:
    """An object that describes an array's memory, and has nothing else."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__


class Exported:
    """An object that exports an array's memory by DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class Pair(NamedTuple):
    source: Any
    result: Any


@pytest.mark.parametrize("wrapped", [lambda array: array, Described, Exported, torch.from_numpy])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.uint8])
def test_a_kernel_works_in_the_memory_of_an_array(wrapped, dtype) -> None:
    x, out = np.arange(40).astype(dtype), np.zeros(40, dtype)
    double[lambda meta: (triton.cdiv(40, meta["B"]),)](wrapped(x), wrapped(out), 40, B=16)
    np.testing.assert_array_equal(out, 2 * x)
    double[(3,)](x_ptr=wrapped(out), out_ptr=wrapped(out), n=40, B=16)
    np.testing.assert_array_equal(out, 4 * x)


@pytest.mark.parametrize("kind", [Pair, lambda *items: items])
def test_arrays_may_stand_in_a_tuple(kind) -> None:
    x, out = np.arange(16.0), np.zeros(16)
    first_of[(1,)](kind(x, out), B=16)
    np.testing.assert_array_equal(out, x)


def test_a_slice_is_known_with_its_place_and_strides() -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(16, np.float32)
    with lab.record() as launches:
        double[(1,)](x[8:40:2], out, 16, B=16)
    argument = launches[0].argument("x_ptr")
    assert (argument.shape, argument.strides, argument.dtype) == ((16,), (2,), "float32")
    with pytest.raises(Exception, match="element 4 of x_ptr"):
        double[(1,)](x[:4], out, 16, B=16)


def test_an_array_that_may_only_be_read_is_not_changed(recwarn: pytest.WarningsRecorder) -> None:
    x = np.arange(16, dtype=np.float32)
    x.flags.writeable = False
    out = np.zeros_like(x)
    double[(1,)](x, out, 16, B=16)
    with pytest.raises(Exception, match="read-only"):
        double[(1,)](out, x, 16, B=16)
    np.testing.assert_array_equal(x, np.arange(16))
    assert not recwarn.list


@pytest.mark.parametrize("array", [np.arange(16.0)[::-1], np.array(["a"]), np.zeros(3, ">f4"), np.zeros(2, object)])
def test_an_array_that_no_tensor_can_share_is_named(array: np.ndarray) -> None:
    with pytest.raises(ArgumentError) as refused:
        double[(1,)](array, np.zeros(16), 16, B=16)
    assert "'x_ptr'" in str(refused.value) and str(array.dtype) in str(refused.value)


def test_what_is_no_array_is_refused_by_triton() -> None:
    with pytest.raises(TypeError, match="int64"):
        double[(1,)](np.zeros(16), np.zeros(16), np.int64(16), B=16)


def test_the_first_launch_of_a_process_takes_arrays(tmp_path) -> None:
    script = tmp_path / "first.py"
    script.write_text(
        "import numpy as np, triton, triton.language as tl\n"
        "@triton.jit\n"
        "def fill(x, B: tl.constexpr):\n"
        "    tl.store(x + tl.arange(0, B), 7.0)\n"
        "x = np.zeros(8)\n"
        "fill[(1,)](x, B=8)\n"
        "assert (x == 7).all()\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


class Unversioned(Exported):
    """As JAX does: an exporter that cannot say whether its memory may be written."""

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__()


class Fixed(Exported):
    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(max_version=(1, 0))


def test_an_exporter_that_does_not_say_so_is_not_written() -> None:
    x = np.arange(16, dtype=np.float32)
    fixed = np.arange(16, dtype=np.float32)
    fixed.flags.writeable = False
    for source in (Unversioned(x), Fixed(fixed)):
        out = np.zeros(16, np.float32)
        double[(1,)](source, out, 16, B=16)
        np.testing.assert_array_equal(out, 2 * x)
        with pytest.raises(Exception, match=r"read-only memory: .* of out_ptr"):
            double[(1,)](out, source, 16, B=16)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_jaxs_arrays_are_read_in_place(dtype: str) -> None:
    jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed: pip install jax")
    x, out = jnp.arange(16, dtype=dtype), torch.zeros(16, dtype=getattr(torch, dtype))
    with lab.record() as launches:
        double[(1,)](x, out, 16, B=16)
    assert out.tolist() == [2 * n for n in range(16)]
    assert launches[0].argument("x_ptr").address == x.unsafe_buffer_pointer()
    with pytest.raises(Exception, match="read-only"):
        double[(1,)](out, x, 16, B=16)
    assert jnp.from_dlpack(out)[3] == 6
