"""An entry of Triton's cache that was emptied or cut is dropped, and the kernel compiled anew."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

from tests.backend.process import run

SCRIPT = textwrap.dedent(
    """
    import torch, triton, triton.language as tl

    @triton.jit
    def fill(x, value):
        tl.store(x + tl.arange(0, 4), value)

    x = torch.zeros(4)
    fill[(1,)](x, 3.0)
    print(x.tolist())
    """
)

DAMAGE = {
    "emptied": lambda data: b"",
    "zeros": lambda data: bytes(len(data)),
    "cut before the module": lambda data: data[: data.index(b'"builtin.module"')],
    "cut inside the module": lambda data: data[: data.index(b'"tt.store"') + 4],
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_entry_is_compiled_anew_and_mended(how: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    environment = {"TRITON_CACHE_DIR": str(cache)}
    assert run(SCRIPT, folder=tmp_path, **environment).strip() == "[3.0, 3.0, 3.0, 3.0]"
    (plan,) = cache.glob("*/*.plan")
    whole = plan.read_bytes()
    plan.write_bytes(DAMAGE[how](whole))
    assert run(SCRIPT, folder=tmp_path, **environment).strip() == "[3.0, 3.0, 3.0, 3.0]"
    assert plan.read_bytes() == whole, "the next process finds it whole"
    assert os.listdir(cache) == [plan.parent.name], "under the same key"
