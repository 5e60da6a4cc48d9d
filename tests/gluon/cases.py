"""Launches of the right Gluon kernels: what each writes, and what it should write."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from tests.gluon import partitioned, pipelines

Result = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Case:
    """A kernel of ``module``, with the depth of its pipeline or another choice; ``run`` launches it and gives its
    result and the right one."""

    module: ModuleType
    kernel: str
    depth: Any
    run: Callable[[Any, Any], Result]

    def __str__(self) -> str:
        return self.kernel if self.depth == "" else f"{self.kernel}-{self.depth}"


def given(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor where kernels run, by torch's default device."""
    return tensor.to(torch.get_default_device())


def normal(*shape: int) -> torch.Tensor:
    """Random numbers that are the same for kernels of every device."""
    return given(torch.randn(*shape, device="cpu"))


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """As float32 on the CPU, where the right results are computed."""
    return tensor.cpu().float()


def described(tensor: torch.Tensor, block: list[int]) -> TensorDescriptor:
    name = str(tensor.dtype).split(".")[1]
    dtype = getattr(gl, {"float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5"}.get(name, name))
    return TensorDescriptor.from_tensor(tensor, block, gl.NVMMASharedLayout.get_default_for(block, dtype))


def lines(kernel: Any, depth: int) -> Result:
    x, y = normal(1000), torch.zeros(1000)
    kernel[(1,)](x, y, 1000, BLOCK=128, DEPTH=depth)
    return y, x + 1


def tiled(kernel: Any, depth: int) -> Result:
    x, y = normal(32, 288), torch.zeros(32, 288)
    kernel[(1,)](described(x, [32, 32]), described(y, [32, 32]), 9, depth)
    return y, x + 1


def summed(kernel: Any, depth: int) -> Result:
    x, y = normal(32, 160), torch.ones(32, 160)
    kernel[(3,)](described(x, [32, 32]), described(y, [32, 32]), 5, depth)
    return y, 1 + 3 * x


def reversed_rows(kernel: Any, depth: int) -> Result:
    x, y = normal(32, 32), torch.zeros(32, 32)
    kernel[(1,)](described(x, [1, 32]), described(y, [1, 32]), 1, depth, arch="sm100")
    return y, x.flip(0) + 1


def multiplied(kernel: Any, depth: int, m: int = 64, options: dict[str, Any] | None = None) -> Result:
    a, b, c = (normal(2 * m, 576).half(), normal(576, 128).half(), torch.zeros(2 * m, 128).half())
    tensors = described(a, [m, 64]), described(b, [64, 64]), described(c, [m, 64])
    kernel[(2, 2)](*tensors, 576, depth, **(options or {}))
    return c, (wide(a) @ wide(b)).half()


def by_pointers(kernel: Any, depth: int) -> Result:
    a, b, c = normal(128, 192).half(), normal(192, 128).half(), torch.zeros(128, 128).half()
    kernel[(2, 2)](a, b, described(c, [64, 64]), 192, depth)
    return c, (wide(a) @ wide(b)).half()


def on_blackwell(kernel: Any, depth: int) -> Result:
    return multiplied(kernel, depth, 128, {"arch": "sm100"})


def attended(kernel: Any, depth: int) -> Result:
    q, k, v = normal(128, 64).half(), normal(256, 64).half(), normal(256, 64).half()
    o = torch.zeros(128, 64).half()
    kernel[(2,)](*(described(one, [64, 64]) for one in (q, k, v, o)), 4, 1 / math.sqrt(64))
    right = torch.softmax(wide(q) @ wide(k).T / math.sqrt(64), 1) @ wide(v)
    return o, right.half()


def parted_lines(kernel: Any, depth: int) -> Result:
    x, y = normal(9 * 128), torch.zeros(9 * 128)
    kernel[(1,)](x, y, 9, BLOCK=128, DEPTH=depth)
    return y, x + 1


_TABLE = (
    (pipelines, "copies", (0, 1, 2, 3), lines),
    (pipelines, "copies_to_a_barrier", (1,), lines),
    (pipelines, "tiles", (0, 1, 2, 3), tiled),
    (pipelines, "in_place", (1,), tiled),
    (pipelines, "added_up", (1,), summed),
    (pipelines, "rows", (1,), reversed_rows),
    (pipelines, "product", (0, 1, 2, 3), multiplied),
    (pipelines, "product_from_registers", (1,), multiplied),
    (pipelines, "product_of_stored", (1,), by_pointers),
    (pipelines, "attention", (1,), attended),
    (partitioned, "handed_over", (1, 2, 3, 4), parted_lines),
    (partitioned, "three_partitions", (1, 2, 3, 4), tiled),
    (partitioned, "fed_product", (1, 2, 3, 4), multiplied),
    (partitioned, "in_tensor_memory", (1, 2, 3, 4), on_blackwell),
)


def cases(depths: int = 9) -> Iterator[Case]:
    """All cases, with at most so many depths of each kernel."""
    for module, kernel, each, run in _TABLE:
        for depth in each[-depths:]:
            if kernel != "added_up" or pipelines.add_to is not None:
                yield Case(module, kernel, depth, run)


def launch(case: Case, module: ModuleType | None = None, seed: int = 0) -> Result:
    """Run a case, perhaps with its kernel from another module."""
    torch.manual_seed(seed)
    return case.run(getattr(module or case.module, case.kernel), case.depth)


def right(result: Result) -> bool:
    """Whether what was written is what should be."""
    found, wanted = result
    return bool(torch.allclose(found.float().cpu(), wanted.float().cpu(), rtol=1e-2, atol=3e-2))
