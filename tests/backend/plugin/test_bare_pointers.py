"""Arguments that have only ``data_ptr()``: a kernel works in their memory, and bounds are those of who owns it."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import triton.language as tl

import triton_lab as lab
from tests.backend.plugin.test_array_arguments import double, first_of
from triton_lab.backend.plugin.kernel_arguments import ArgumentError
from triton_lab.interpreter.kernel_errors import KernelError


class Bare:
    """Knows an address and a type, and what it is told."""

    def __init__(self, address: int, dtype: Any = torch.float32, **more: Any) -> None:
        self.address, self.dtype = address, dtype
        self.__dict__.update(more)

    def data_ptr(self) -> int:
        return self.address


def of_libc(count: int) -> tuple[Any, int]:
    """Zeros of float32 that no tensor and no array owns, and their address."""
    calloc = ctypes.CDLL(None).calloc
    calloc.restype, calloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t, ctypes.c_size_t]
    address = calloc(count, 4)
    return (ctypes.c_float * count).from_address(address), address


def torchs() -> tuple[Any, Bare]:
    tensor = torch.arange(16.0)
    return tensor, Bare(tensor.data_ptr())


def numpys() -> tuple[Any, Bare]:
    array = np.arange(16, dtype=np.float32)
    return array, Bare(array.ctypes.data)


def keeps(make: Callable[[], Any]) -> Callable[[], tuple[Any, Bare]]:
    def made() -> tuple[Any, Bare]:
        buffer = make()
        view = np.frombuffer(buffer, np.float32)[:16]
        view[:] = np.arange(16)
        address = view.ctypes.data
        return buffer, Bare(address, deep={"inside": [buffer]})

    return made


def read(owner: Any) -> list[float]:
    return (owner if isinstance(owner, torch.Tensor) else torch.from_numpy(np.frombuffer(owner, np.float32))).tolist()


OWNED = {
    "torch": torchs,
    "NumPy": numpys,
    "a bytearray that the object keeps": keeps(lambda: bytearray(64)),
    "a ctypes array that the object keeps": keeps(lambda: (ctypes.c_float * 16)()),
}


@pytest.mark.parametrize("kind", OWNED)
def test_a_kernel_works_in_the_memory_of_its_owner_and_knows_where_it_ends(kind: str) -> None:
    owner, bare = OWNED[kind]()
    out = torch.zeros(16)
    with lab.record() as launches:
        double[(1,)](bare, out, 16, B=16)
        double[(1,)](out, bare, 16, B=16)
    assert out.tolist() == [2.0 * n for n in range(16)]
    assert read(owner) == [4.0 * n for n in range(16)]
    argument = launches[0].argument("x_ptr")
    assert (argument.shape, argument.dtype, argument.storage_bytes) == ((16,), "float32", 64)
    assert not launches[0].findings and not launches[1].findings
    with pytest.raises(KernelError, match="element 16 of x_ptr"):
        double[(1,)](bare, torch.zeros(32), 17, B=32)
    with pytest.raises(KernelError, match="element 16 of out_ptr"):
        double[(1,)](torch.zeros(32), bare, 17, B=32)


def test_an_address_within_a_tensor_counts_from_there() -> None:
    tensor = torch.arange(16.0)
    with lab.record() as launches:
        double[(1,)](Bare(tensor.data_ptr() + 16), torch.zeros(16), 12, B=16)
    argument = launches[0].argument("x_ptr")
    assert (argument.shape, argument.offset) == ((12,), 4)


@pytest.mark.parametrize(
    ("told", "shape", "strides"),
    [
        ({"shape": (2, 4)}, (2, 4), (4, 1)),
        ({"shape": (2, 4), "stride": lambda: (8, 2)}, (2, 4), (8, 2)),
        ({"shape": (2, 4), "strides": (16, 4)}, (2, 4), (4, 1)),
        ({"shape": (2, 4), "strides": (4, 1)}, (2, 4), (4, 1)),
        ({"shape": (2, 4), "strides": (8, 2)}, (16,), (1,)),  # of elements or of bytes: it does not tell
        ({"shape": (99, 4)}, (16,), (1,)),  # more than its owner has
        ({"numel": lambda: 5}, (5,), (1,)),
        ({"nbytes": 20}, (5,), (1,)),
    ],
)
def test_an_object_is_described_by_its_shape_if_that_fits(told: Any, shape: Any, strides: Any) -> None:
    tensor = torch.arange(16.0)
    with lab.record() as launches:
        double[(1,)](Bare(tensor.data_ptr(), **told), torch.zeros(16), 4, B=16)
    argument = launches[0].argument("x_ptr")
    assert (argument.shape, argument.strides) == (shape, strides)


def test_memory_that_nobody_owns_is_read_and_told_and_not_written() -> None:
    """A store could change any object of the process: its size must be known first."""
    seen, address = of_libc(1 << 15)
    seen[:] = range(1 << 15)
    out = torch.zeros(1 << 15)
    with lab.record() as launches:
        double[(32,)](Bare(address), out, 1 << 15, B=1024)
    assert torch.equal(out, 2 * torch.arange(float(1 << 15)))
    (found,) = launches[0].findings
    assert (found.kind, found.argument) == ("unverified", "x_ptr")
    with pytest.raises(KernelError, match="out_ptr"):
        double[(32,)](out, Bare(address), 1 << 15, B=1024)
    assert list(seen) == list(range(1 << 15))


def test_a_replay_leaves_memory_alone_that_nobody_owns() -> None:
    seen, address = of_libc(17)
    seen[:] = [7.0] * 17
    with lab.record() as launches:
        double[(1,)](Bare(address, shape=(17,)), Bare(address, shape=(17,)), 16, B=16)
    assert list(seen) == [14.0] * 16 + [7.0]
    seen[0] = 1.0
    (stored,) = (step.values for step in launches[0].trace().steps if step.kind == "store")
    assert stored.tolist() == [14.0] * 16, "the memory of before the launch was kept"
    assert list(seen) == [1.0] + [14.0] * 15 + [7.0]


def test_memory_that_nobody_owns_ends_where_the_object_says() -> None:
    seen, address = of_libc(64)
    with lab.record() as launches:
        double[(1,)](torch.ones(16), Bare(address, shape=(16,)), 16, B=16)
    assert not launches[0].findings and seen[:17] == [2] * 16 + [0]
    with pytest.raises(KernelError, match="element 16 of out_ptr"):
        double[(1,)](torch.ones(32), Bare(address, shape=(16,)), 17, B=32)
    assert seen[16] == 0


def test_memory_that_the_system_protects_is_read_and_not_written() -> None:
    with mmap.mmap(-1, 4096) as pages:
        address = np.frombuffer(pages, np.uint8).ctypes.data
        libc = ctypes.CDLL(None)
        assert not libc.mprotect(ctypes.c_void_p(address), 4096, 1)
        for told in ({}, {"shape": (16,)}):
            out = torch.ones(16)
            double[(1,)](Bare(address, **told), out, 16, B=16)
            assert not out.any()
            with pytest.raises(KernelError):
                double[(1,)](out, Bare(address, **told), 16, B=16)
        assert not libc.mprotect(ctypes.c_void_p(address), 4096, 3)


@pytest.mark.parametrize("address", [8, 0x4000_0000_0000_0000])
def test_memory_that_is_not_mapped_is_an_error_whatever_the_object_says(address: int) -> None:
    for told in ({}, {"shape": (16,)}):
        with pytest.raises(KernelError, match="to no tensor"):
            double[(1,)](torch.ones(16), Bare(address, **told), 16, B=16)


def test_bare_pointers_may_stand_in_a_tuple() -> None:
    x, out = torch.arange(16.0), np.zeros(16, np.float32)
    with lab.record() as launches:
        first_of[(1,)]((Bare(x.data_ptr()), Bare(out.ctypes.data)), B=16)
    np.testing.assert_array_equal(out, x)
    assert launches[0].argument("pair[1]").storage_bytes == 64


@pytest.mark.parametrize("dtype", ["fp32", "float32", "torch.float32", tl.float32, np.dtype("float32")])
def test_a_type_has_any_name_that_triton_knows(dtype: Any) -> None:
    x, out = torch.arange(16.0), torch.zeros(16)
    double[(1,)](Bare(x.data_ptr(), dtype), out, 16, B=16)
    assert torch.equal(out, 2 * x)


@pytest.mark.parametrize("dtype", ["<f4", "complex64"])
def test_a_type_that_triton_does_not_know_is_named(dtype: str) -> None:
    with pytest.raises(ArgumentError, match=f"'out_ptr' .*{dtype}"):
        double[(1,)](torch.zeros(16), Bare(0, dtype), 16, B=16)


def test_an_object_without_a_type_is_named() -> None:
    class Untyped:
        def data_ptr(self) -> int:
            return 0

    with pytest.raises(ArgumentError, match="'x_ptr' has data_ptr\\(\\) but no dtype"):
        double[(1,)](Untyped(), torch.zeros(16), 16, B=16)


def test_an_object_whose_description_fails_is_taken_by_its_address() -> None:
    class Broken(Bare):
        @property
        def shape(self) -> Any:
            raise RuntimeError("not yet known")

    x, out = torch.arange(16.0), torch.zeros(16)
    double[(1,)](Broken(x.data_ptr()), out, 16, B=16)
    assert torch.equal(out, 2 * x)
