"""Gluon kernels on a GPU beside the CPU target: ``python -m tests.gpu.gluon_cases OUT [KERNEL ...]``.

Writes OUT/gluon.json: for each case how the GPU's result compares with the CPU target's, by the rules for all kernels,
and whether it is right. `tests.gpu.consan` has the kernels with bugs.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import torch
import triton

import triton_lab as lab
from tests.gluon.cases import Case, cases, launch, right
from tests.gluon.hopper_cases import hopper_cases
from tests.gpu.forked_tasks import Task, answers
from triton_lab.launch.comparison.argument_difference import DIFFERENT, Compared
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.launch_results import of_launch

AT_ONCE = 14
SECONDS = 285  # for all
BLACKWELL = ("rows", "in_tensor_memory")  # kernels with instructions that Hopper has not


def hopper() -> list[Case]:
    """The cases that Hopper runs."""
    return [case for case in [*cases(), *hopper_cases()] if case.kernel not in BLACKWELL]


def on_gpu(case: Case, module: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
    """The GPU's result, and the right one."""
    torch.set_default_device("cuda")
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    result = launch(case, module)
    torch.cuda.synchronize()
    torch.set_default_device("cpu")
    return result


def valued(case: Case) -> dict[str, Any]:
    """How the GPU's result of a case compares with the CPU target's."""
    gpu, wanted = on_gpu(case)
    with lab.target("cpu"), lab.record() as launches:
        launch(case)
    found = of_launch(launches[0], "cpu")
    (name,) = found.written
    other = gpu.cpu().reshape(found.arrays[name].shape)
    given = other.float().numpy() if other.dtype == torch.bfloat16 else other.numpy()
    one = Compared(name, found.arrays[name], given, bound=bounds(launches[0])[name])
    return {"verdict": one.verdict, "differ": int(one.count), "of": other.numel(), "right": right((gpu, wanted))}


def main(out: str, *kernels: str) -> None:
    """Compare all cases, or those of some kernels. The file is written after each."""
    Path(out).mkdir(parents=True, exist_ok=True)
    chosen = [case for case in hopper() if not kernels or case.kernel in kernels]
    found: dict[str, Any] = {}
    tasks = [Task(("values", str(case)), lambda case=case: valued(case)) for case in chosen]  # type: ignore[misc]
    for task, answer in answers(tasks, SECONDS, AT_ONCE):
        found[task.label[1]] = answer
        (Path(out) / "gluon.json").write_text(json.dumps(found, indent=1) + "\n")
    values = [one for one in found.values() if isinstance(one, dict)]
    print(f"{len({case.kernel for case in chosen})} kernels, {len(chosen)} cases")
    print(Counter(one["verdict"] for one in values), Counter(one["right"] for one in values))
    print({name: one for name, one in found.items() if one not in values or one["verdict"] == DIFFERENT})


if __name__ == "__main__":
    os.environ.pop("TRITON_DEFAULT_BACKEND", None)
    main(*sys.argv[1:])
