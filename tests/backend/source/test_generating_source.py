"""Lines of generated kernels are told with the lines that they were made from."""

from __future__ import annotations

import textwrap
from types import SimpleNamespace

import pytest

from tests.backend.process import run
from triton_lab.backend.source.generating_source import generating_lines
from triton_lab.views.launch.card.findings_text import excerpt_lines

# As Helion 1.5.1 writes it.
HELION = """\
@triton.jit
def _helion_matmul(x, y, out, m, n, k):
    # src[matmul.py:8]: for tile_m, tile_n in hl.tile([m, n]):
    pid_0 = tl.program_id(0) % tl.cdiv(m, 16)
    # src[matmul.py:9]: acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
    acc = tl.full([16, 16], 0.0, tl.float32)
    # src[matmul.py:10]: for tile_k in hl.tile(k):
    # src[matmul.py:11]:     acc = torch.addmm(
    # src[matmul.py:12]:         acc,
    # src[matmul.py:10-15]: ...
    for offset_2 in tl.range(0, k, 16):
        copy = acc
        # src[matmul.py:13]: x[tile_m, tile_k],
        load = tl.load(x)
        # src[matmul.py:11]: acc = torch.addmm(
        # src[matmul.py:12]:     acc,
        # src[matmul.py:11-15]: ...
        acc = tl.dot(load, load, acc=copy)
"""


@pytest.mark.parametrize(
    ("code", "line"),
    [("@triton", 0), ("pid_0", 8), ("acc = tl.full", 9), ("for", 10), ("load", 13), ("acc = tl.d", 11)],
)
def test_a_line_of_helions_is_that_of_the_comment_above_it(code: str, line: int) -> None:
    lines = HELION.splitlines(keepends=True)
    function = SimpleNamespace(raw_src=lines, starting_line_number=20)
    at = next(number for number, one in enumerate(lines) if one.strip().startswith(code))
    found = generating_lines(function, 20 + at)
    assert [(one.file, one.line) for one in found] == ([("matmul.py", line)] if line else [])


def test_a_line_that_is_in_no_text_has_no_origin() -> None:
    function = SimpleNamespace(raw_src=["@triton.jit\n", "def f(x):\n"], starting_line_number=20)
    assert [*generating_lines(function, 19), *generating_lines(function, 21), *generating_lines(function, 22)] == []


COMPILED = """
import torch, torch._inductor.config as config, triton, triton.language as tl, triton_lab as lab
from torch._inductor.runtime.benchmarking import Benchmarker
config.cpu_backend = "triton"

def once(self, called, *_, **__):
    called()
    return 1.0
Benchmarker.benchmark_cpu = once

@triton.jit
def doubled(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, i < n)
    tl.store(out_ptr + i, x * 2, i < n)

@torch.library.triton_op("places::double", mutates_args={})
def double(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.library.wrap_triton(doubled)[(triton.cdiv(x.numel(), 16),)](x, out, x.numel(), BLOCK=16)
    return out

def f(x, y):
    z = x * y
    w = torch.relu(z)
    return double(w).sum(-1)

for again in range(2):
    with lab.record() as launches:
        torch.compile(f)(torch.ones(33, 70), torch.ones(33, 70))
    for launch in {launch.kernel: launch for launch in launches}.values():
        below = {line for one in launch.lines.values() if one for line in one.excerpt[2:]}
        print(launch.kernel, *sorted(line.rsplit(", line ", 1)[1] for line in below), sep="; ")
    torch._dynamo.reset()
"""


def test_kernels_of_inductor_name_the_python_that_they_compute(tmp_path) -> None:  # type: ignore[no-untyped-def]
    caches = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"), "TRITON_CACHE_DIR": str(tmp_path / "triton")}
    done = run(COMPILED, folder=tmp_path, seconds=300, TORCHINDUCTOR_COMPILE_THREADS="1", **caches)
    lines = {number: text.strip() for number, text in enumerate(COMPILED.splitlines(), 1)}
    by_text = {text: f"{number}: {text}" for number, text in lines.items()}
    copied = ("i = ", "x = tl", "tl.store", "def doubled")  # Triton 3.6 lays no operation to the last one
    expected = [
        ("triton_poi_fused_mul_relu_0", ["z = x * y", "w = torch.relu(z)", "return double(w).sum(-1)"]),
        (
            "doubled",
            [text for start in copied for text in lines.values() if text.startswith(start)],
        ),
        ("triton_per_fused_sum_1", ["return double(w).sum(-1)"]),
    ]
    told = [textwrap.dedent(line).split("; ") for line in done.splitlines() if "; " in line]
    for (kernel, texts), (name, *found) in zip(expected * 2, told, strict=True):
        assert name == kernel
        assert set(found) <= {by_text[text] for text in texts} and by_text[texts[0]] in found


def test_a_static_card_shows_the_lines_that_a_finding_was_made_from() -> None:
    excerpt = ["    tl.store(out + at, v)", "    ^^^^^", "    made from a.py, line 12: bins[at] = bins[at] + 1"]
    assert excerpt_lines(excerpt, stopped=False) == excerpt[2:]
    assert excerpt_lines(excerpt, stopped=True) == excerpt
    assert excerpt_lines(excerpt[:2], stopped=False) == []
