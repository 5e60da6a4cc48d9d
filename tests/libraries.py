"""Mistakes in published libraries of kernels, each run anew: ``python -m tests.libraries [FOLDER]``.

The libraries lie in FOLDER, or where Python finds them; `make libraries` puts them there. Each case runs in a process
of its own. The page of the documentation is written if all of them show their mistakes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "libraries.md"
SECONDS = 300
# Runs the case, and prints the places of all findings that are no notes, and what the case measured.
_FRAME = """
import json, sys
sys.path.append({folder!r})
import torch, triton_lab as lab
torch.manual_seed(0)
measured = ""
with lab.record() as launches:
    try:
{script}
    except lab.KernelError:
        pass
found = [(one.kind, one.file or launch.file, one.line) for launch in launches for one in launch.findings
         if one.severity != "note"]
print(json.dumps([found, measured]))
"""
# FlagGems asks for a GPU when it is imported.
_GPU = """\
import contextlib, types
torch.cuda.device_count, torch.cuda.current_device = (lambda: 1), (lambda: 0)
torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(multi_processor_count=132, major=9, minor=0)
torch.cuda.get_device_capability, torch.cuda.device = (lambda *_: (9, 0)), (lambda *_: contextlib.nullcontext())
"""


@dataclass(frozen=True)
class Case:
    """A mistake: ``kind`` and ``line`` of its finding in ``file``, or no kind if a result differs by ``measured``."""

    package: str
    version: str
    mistake: str
    file: str
    line: int
    kind: str
    script: str
    setup: str = ""
    environment: tuple[tuple[str, str], ...] = ()


CASES = (
    Case(
        "moe-ops",
        "0.1.0",
        "The backward pass of `fused_topk_softmax` takes the gradient for contiguous, whatever its strides.",
        "moe_ops/fused_topk_softmax_ops.py",
        104,
        "",
        """\
from moe_ops import fused_topk_softmax

x = torch.randn(37, 8, requires_grad=True)
g = torch.randn(2, 37).T
weights = fused_topk_softmax(x, 2)[0]
(strided,) = torch.autograd.grad(weights, x, g, retain_graph=True)
(dense,) = torch.autograd.grad(weights, x, g.contiguous())
measured = f"differs by {(strided - dense).abs().max():.2f}"
""",
    ),
    Case(
        "adasplash",
        "0.2.2",
        "The backward pass of `adasplash_no_block_mask` loads 128 rows of the output without a mask, also of 64.",
        "adasplash/adasplash_no_block_mask.py",
        440,
        "out-of-bounds",
        """\
from adasplash import adasplash_no_block_mask

q, k, v = (torch.randn(2, 2, 64, 32, requires_grad=True) for _ in range(3))
adasplash_no_block_mask(q, k, v).sum().backward()
""",
        environment=(("ADASPLASH_TEST_FAST_AUTOTUNE", "1"),),
    ),
    Case(
        "flag-gems",
        "5.0.2",
        "`argmin` along the last axis loads whole blocks with `mask=True`, beyond the rows and the end of the tensor.",
        "flag_gems/ops/argmin.py",
        88,
        "out-of-bounds",
        """\
from flag_gems.ops.argmin import argmin

argmin(torch.randn(5, 37), 1)
""",
        setup=_GPU,
        environment=(("GEMS_VENDOR", "nvidia"),),
    ),
    Case(
        "triton-submodular",
        "0.1.0a1",
        "The greedy optimizer swaps indices in memory that other threads of the program load, without a barrier.",
        "triton_submodular/optimizers/naive_greedy.py",
        74,
        "lane-order",
        """\
from triton_submodular.functions import GraphCut

GraphCut(torch.rand(20, 5)).maximize(4, "NaiveGreedyTriton")
""",
    ),
)


@dataclass(frozen=True)
class Seen:
    """What a run of a case showed: places as ``(kind, file, line)``, and what it measured."""

    places: tuple[tuple[str, str, int], ...]
    measured: str

    def shows(self, case: Case) -> bool:
        """Whether the mistake is there, at its line."""
        if not case.kind:
            return bool(self.measured) and self.measured != "differs by 0.00"
        return any(
            kind == case.kind and file.endswith(case.file) and line == case.line for kind, file, line in self.places
        )


def run(case: Case, folder: str = "") -> Seen:
    """Run a case in a process of its own. Raises AssertionError with what it complained of if it fails."""
    script = "\n".join(f"        {line}" for line in (case.setup + case.script).splitlines())
    environment = os.environ | dict(case.environment)
    done = subprocess.run(
        [sys.executable, "-c", _FRAME.format(folder=folder, script=script)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=environment,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    places, measured = json.loads(done.stdout.splitlines()[-1])
    return Seen(tuple((kind, file, line) for kind, file, line in places), measured)


def rendered() -> str:
    """The page."""
    head = "| library | version | what is wrong | where | how it shows |\n| --- | --- | --- | --- | --- |\n"
    rows = []
    for case in CASES:
        how = (
            f"[`{case.kind}`](findings/{case.kind}.md)"
            if case.kind
            else "the result differs from that of a contiguous one"
        )
        rows.append(f"| {case.package} | {case.version} | {case.mistake} | `{case.file}`, line {case.line} | {how} |\n")
    cells = [f"**{case.package}**\n\n```python\nimport torch\n\n{case.script}```\n" for case in CASES]
    return "\n".join([_TOP, head + "".join(rows), _MIDDLE, *cells])


_TOP = """# Mistakes found in libraries

`make libraries` installs these versions and runs each case again. This page has only what these runs showed.
"""
_MIDDLE = """## How to see them

Run one of these in `with lab.record() as launches:` and look at `launches[i].findings`. FlagGems wants to see a GPU
when it is imported; `tests/libraries.py` shows it one. The mistake in moe-ops is in bounds and in order: no finding
names it, and only the comparison shows it.
"""


def main() -> int:
    folder = sys.argv[1] if len(sys.argv) > 1 else ""
    missing = 0
    for case in CASES:
        seen = run(case, folder)
        missing += not seen.shows(case)
        print(case.package, case.version, "shown" if seen.shows(case) else "NOT SHOWN", seen.measured, *seen.places)
    if not missing:
        PAGE.write_text(rendered(), encoding="utf-8")
    return missing


if __name__ == "__main__":
    sys.exit(main())
