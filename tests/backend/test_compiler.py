"""Kernels are compiled by Triton's own front end, held to what a GPU of sm_90 accepts."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from triton.backends import backends
from triton.runtime import driver

from triton_lab.backend.compiler import CPUBackend, _sources_hash


@triton.jit
def add_one(x, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


@triton.jit
def product(x, y, N: tl.constexpr, dtype: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    block = tl.load(x + rows * N + columns).to(dtype)
    tl.store(y + rows * N + columns, tl.dot(block, block))


@triton.jit
def wrong_types(x):
    tl.store(x, tl.load(x) << 1.5)


@triton.jit
def too_odd(x):
    tl.store(x + tl.arange(0, 3), 0.0)


@pytest.mark.parametrize(
    "options",
    [
        {"num_warps": 8},
        {"num_stages": 1},
        {"num_warps": 1, "num_stages": 5, "num_ctas": 1},
        {"maxnreg": 64},
        {"enable_fp_fusion": False},
        {"debug": True},
        {"sanitize_overflow": False},
        {"launch_cooperative_grid": True},
    ],
    ids=str,
)
def test_options_of_the_gpu_are_taken(options):
    x = torch.zeros(4)
    kernel = add_one[(1,)](x, 4, BLOCK=4, **options)
    assert x.tolist() == [1] * 4
    assert all(getattr(kernel.metadata, name, value) == value for name, value in options.items())


def test_options_of_amds_backend_are_hints():
    x = torch.zeros(4)
    add_one[(1,)](x, 4, BLOCK=4, waves_per_eu=2, matrix_instr_nonkdim=16, kpack=2, num_warps=2)
    add_one[(1,)](x, 4, BLOCK=4)
    assert x.tolist() == [2] * 4


def test_an_option_that_no_gpu_has_is_tritons_error():
    with pytest.raises(KeyError, match="num_wraps was specified"):
        add_one[(1,)](torch.zeros(4), 4, BLOCK=4, num_wraps=4)


def test_products_smaller_than_a_gpu_multiplies_are_refused():
    x = torch.eye(16)
    y = torch.zeros(16, 16)
    product[(1,)](x, y, N=16, dtype=tl.float16)
    assert torch.equal(y, x)
    with pytest.raises(triton.CompilationError, match=r"K >= 32|at least|should have"):
        product[(1,)](x, y, N=16, dtype=tl.int8)


@pytest.mark.parametrize("kernel", [wrong_types, too_odd])
def test_what_triton_refuses_is_refused_in_its_own_words(kernel):
    with pytest.raises(triton.CompilationError) as caught:
        kernel[(1,)](torch.zeros(4))
    assert f"def {kernel.__name__}(x):" in str(caught.value)


def test_a_compiled_kernel_shows_its_ir():
    kernel = add_one.warmup(torch.float32, 4, BLOCK=4, grid=(1,))
    assert "tt.load" in kernel.asm["ttir"] and '"tt.load"' in kernel.asm["plan"].decode()


def test_the_target_is_no_device_of_torchs_by_accident():
    target = driver.active.get_current_target()
    assert (target.backend, target.warp_size) == ("cpu", 32)
    assert hasattr(torch, target.backend)
    assert "cpu" not in backends, "torch takes a backend of that name for one that it can compile with"
    assert driver.active.get_active_torch_device() == torch.device("cpu")


def test_kernels_compiled_by_other_versions_of_us_are_not_reused(monkeypatch):
    backend = CPUBackend(driver.active.get_current_target())
    before = backend.hash()
    assert triton.__version__ in before
    monkeypatch.setattr("triton_lab.backend.compiler._sources_hash", lambda: "another")
    assert backend.hash() != before
    assert _sources_hash() == _sources_hash()
