"""A kernel that was read elsewhere is, to Triton's compiler for NVIDIA, the kernel that it would have read itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton_lab as lab
from tests.kernels import double
from triton_lab.compiled.architecture import architecture
from triton_lab.compiled.front_end import read
from triton_lab.examples import example
from triton_lab.remote.gpu_job import Travelled
from triton_lab.remote.job import Changed, CompiledJob
from triton_lab.remote.wire_data import packed, unpacked

HOPPER = GPUTarget("cuda", 90, 32)


@pytest.fixture(autouse=True)
def compile_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


def instructions(ptx: str) -> list[str]:
    """Without comments, lines of the source, and what is said of files."""
    lines = re.sub(r"//.*", "", ptx.split(".section")[0]).splitlines()
    kept = [line.strip() for line in lines if line.strip() and not line.strip().startswith((".loc", ".file"))]
    return [line for line in kept if not re.fullmatch(r"\$L__(tmp|func_begin|func_end)\d+:", line)]


@pytest.mark.parametrize("name", ["softmax", "matmul_float16"])
def test_what_has_travelled_compiles_to_the_same_instructions(name: str) -> None:
    each = example(name)
    with lab.record() as launches:
        each.run(**each.inputs("small", 0, "cpu"))
    source = launches[-1].compiled[0]
    options: dict[str, Any] = {"num_warps": 4, "enable_fp_fusion": False}
    here = triton.compile(source, target=HOPPER, options=options)
    request = read(source, architecture("sm_90"), options)
    work = CompiledJob(
        request.module, ("cuda", 90, 32), request.options, triton.__version__, tuple(source.signature.items()), (), 0.0
    )
    there = triton.compile(Travelled("kernel", unpacked(packed(work), 1 << 20)), target=HOPPER, options=options)
    assert there.metadata.name == here.metadata.name and there.metadata.shared == here.metadata.shared
    assert instructions(there.asm["ptx"]) == instructions(here.asm["ptx"])
    assert len(there.asm["cubin"]) > 1000


def test_two_kernels_of_one_name_are_kept_apart() -> None:
    works = []
    for block in (32, 64):
        source = ASTSource(double, {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": block})
        request = read(source, architecture("sm_90"), {})
        works.append(CompiledJob(request.module, ("cuda", 90, 32), "{}", "", tuple(source.signature.items()), (), 0.0))
    assert len({Travelled("double", work).hash() for work in works}) == 2


@pytest.mark.parametrize("size", [1, 7, 64, 1001])
def test_what_has_changed_is_put_where_it_was(size: int) -> None:
    rng = np.random.default_rng(size)
    before = rng.integers(0, 256, size, dtype=np.uint8)
    after = np.where(rng.random(size) < 0.3, rng.integers(0, 256, size), before).astype(np.uint8)
    after[-1] = before[-1] ^ 1
    changed = Changed.between(4096, before, after)
    assert changed is not None and len(changed.data) == (before != after).sum()
    before[changed.where(size)] = np.frombuffer(changed.data, np.uint8)
    assert np.array_equal(before, after)
    assert Changed.between(4096, after, after) is None
