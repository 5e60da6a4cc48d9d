"""Random chains of partitions, each handing tiles to the next through a ring of buffers: right by construction.

``python -m tests.gluon.random_pipelines 20 200`` runs 20 of them, each under 200 schedules, and counts the results.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import torch

import triton_lab as lab
from tests.gluon.cases import Result, described
from tests.gluon.plant import module_of

_HEAD = """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global
TILE = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))
WARP = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [1, 1], [1, 0]))
"""
_PARAMETERS = "x_desc, y_desc, x, y, rings, fulls, empties, n"
_PLACE = (
    "gl.arange(0, 32, gl.SliceLayout(1, {layout}))[:, None] * (32 * n) + k * 32 "
    "+ gl.arange(0, 32, gl.SliceLayout(0, {layout}))[None, :]"
)


def _slot(ring: int, depth: int, waits_for: str) -> str:
    phase = f"k // {depth} & 1" + (" ^ 1" if waits_for == "empties" else "")
    return f"        mbarrier.wait({waits_for}[{ring}].index(k % {depth}), {phase})\n"


def _stage(number: int, last: int, depths: list[int], by_tma: tuple[bool, bool]) -> str:
    """One partition: takes a tile from ring ``number - 1``, or from memory, adds 1 and hands it on."""
    layout = "TILE" if number == 0 else "WARP"
    text = f"\n\n@gluon.jit\ndef stage{number}({_PARAMETERS}):\n    for k in range(n):\n"
    if number > 0:
        depth = depths[number - 1]
        text += _slot(number - 1, depth, "fulls")
        text += f"        value = rings[{number - 1}].index(k % {depth}).load({layout}) + 1\n"
        text += "        fence_async_shared()\n"
        text += f"        mbarrier.arrive(empties[{number - 1}].index(k % {depth}), count=1)\n"
    if number == last:
        return text + f"        gl.store(y + {_PLACE.format(layout=layout)}, value)\n"
    depth = depths[number]
    text += _slot(number, depth, "empties")
    if number == 0 and by_tma[0]:
        text += f"        mbarrier.expect(fulls[0].index(k % {depth}), x_desc.block_type.nbytes)\n"
        return text + f"        load(x_desc, [0, k * 32], fulls[0].index(k % {depth}), rings[0].index(k % {depth}))\n"
    if number == 0:
        text += f"        value = gl.load(x + {_PLACE.format(layout=layout)})\n"
    text += f"        rings[{number}].index(k % {depth}).store(value)\n        fence_async_shared()\n"
    return text + f"        mbarrier.arrive(fulls[{number}].index(k % {depth}), count=1)\n"


def source(seed: int) -> tuple[str, int]:
    """A random pipeline as a module's text, and how many of its partitions add 1."""
    chosen = random.Random(seed)
    last = chosen.randint(1, 3)
    depths = [chosen.randint(1, 4) for _ in range(last)]
    by_tma = (chosen.random() < 0.5, False)
    text = _HEAD + "".join(_stage(number, last, depths, by_tma) for number in range(last + 1))
    text += "\n\n@gluon.jit\ndef kernel(x_desc, y_desc, x, y, n):\n"
    for ring, depth in enumerate(depths):
        text += f"    ring{ring} = gl.allocate_shared_memory(gl.float32, [{depth}, 32, 32], x_desc.layout)\n"
        for kind in ("full", "empty"):
            name = f"{kind}{ring}"
            text += f"    {name} = gl.allocate_shared_memory(gl.int64, [{depth}, 1], mbarrier.MBarrierLayout())\n"
            text += f"    for k in gl.static_range({depth}):\n        mbarrier.init({name}.index(k), count=1)\n"
    packs = (f"({', '.join(f'{kind}{ring}' for ring in range(last))},)" for kind in ("ring", "full", "empty"))
    text += f"    given = (x_desc, y_desc, x, y, {', '.join(packs)}, n)\n"
    stages = ", ".join(f"(stage{number}, given)" for number in range(last + 1))
    ones, registers = [1] * last, [24] * last
    return text + f"    gl.warp_specialize([{stages}], {ones}, {registers})\n", last


def launched(seed: int, folder: Path, module: object | None = None) -> Result:
    """Run a random pipeline: what it writes, and what it should."""
    text, added = source(seed)
    module = module or module_of(text, folder, seed)
    torch.manual_seed(seed)
    n = 7
    x, y = torch.randn(32, 32 * n), torch.zeros(32, 32 * n)
    module.kernel[(1,)](described(x, [32, 32]), described(y, [32, 32]), x, y, n)  # type: ignore[attr-defined]
    for _ in range(added):
        x = x + 1
    return y, x


def main(pipelines: str = "20", schedules: str = "200") -> None:
    """Print how many runs of how many pipelines were right."""
    right = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(pipelines)):
            module = module_of(source(seed)[0], Path(folder), seed)
            for number in range(int(schedules)):
                runs += 1
                try:
                    with lab.limits(schedule=f"random:{number}"):
                        found, wanted = launched(seed, Path(folder), module)
                except Exception as error:
                    print(seed, number, str(error)[:600])
                    continue
                right += torch.equal(found, wanted)
    print(f"{right} of {runs} runs of {pipelines} pipelines are right")


if __name__ == "__main__":
    main(*sys.argv[1:])
