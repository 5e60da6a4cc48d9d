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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a cache of the one kernel, compiled by a process that is over."""
    folder = tmp_path_factory.mktemp("broken")
    filled(folder)
    return folder


def filled(folder: Path) -> None:
    assert run(SCRIPT, folder=folder, TRITON_CACHE_DIR=str(folder / "cache")).strip() == "[3.0, 3.0, 3.0, 3.0]"


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_entry_is_compiled_anew_and_mended(how: str, folder: Path) -> None:
    cache = folder / "cache"
    (plan,) = cache.glob("*/*.plan")
    whole = plan.read_bytes()
    try:
        plan.write_bytes(DAMAGE[how](whole))
        filled(folder)
        assert plan.read_bytes() == whole, "the next process finds it whole"
        assert os.listdir(cache) == [plan.parent.name], "under the same key"
    finally:
        plan.write_bytes(whole)
