"""Small projects of somebody else's, with tests that ask for a GPU: pytest is run on them as their authors would."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

# What pytester takes out of sys.modules behind a run would be loaded anew, and known twice.
import torch.distributed.tensor  # noqa: F401

from triton_lab.interpreter import ops

ops.load_all()

KERNELS = """\
import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def racy_kernel(out_ptr):
    tl.store(out_ptr, tl.program_id(0))


@triton.jit
def far_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


def race(programs=4):
    racy_kernel[(programs,)](torch.zeros(1, dtype=torch.int32, device="cuda"))
"""


@dataclass(frozen=True)
class Ran:
    """What pytest said, and ``outcomes`` by the name of the test."""

    code: int
    text: str
    outcomes: dict[str, str]


def run(pytester: pytest.Pytester, tests: str, *options: str) -> Ran:
    """Run pytest on a project with `KERNELS` and these tests, with the plugin and as their author would."""
    pytester.makepyfile(test_project=KERNELS + tests)
    pytester.makeini("[pytest]\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "200")
        # So that workers of xdist find it.
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
        plugins = plugin()
        done = pytester.runpytest_inprocess(*plugins, "-p", "no:cacheprovider", "-rA", "-W", "ignore", *options)
    text = f"{done.stdout.str()}\n{done.stderr.str()}"
    outcomes = {}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL") and "::" in rest:
            outcomes[rest.split("::")[1].split(" ")[0]] = word.lower()
    return Ran(int(done.ret), text, outcomes)


def plugin() -> list[str]:
    """What pytest is told to load the plugin, where it does not find it by itself: an environment from before it was
    there."""
    found = any(point.value == "triton_lab.testing.plugin" for point in metadata.entry_points(group="pytest11"))
    return [] if found else ["-p", "triton_lab.testing.plugin"]
