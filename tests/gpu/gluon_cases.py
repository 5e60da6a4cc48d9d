"""Gluon kernels on a GPU beside the CPU target, and under Triton's ConSan: ``python -m tests.gpu.gluon_cases OUT``.

Writes OUT/gluon.json. "values": for each case how the GPU's result compares with the CPU target's, by the rules for all
kernels, and whether it is right. "right": what ConSan says of right kernels. "bugs": for each planted bug what the CPU
target and what ConSan say. Each run is a process of its own, since a failed assertion ends the context of a GPU.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import triton

import triton_lab as lab
from tests.gluon.cases import Case, cases, launch, right
from tests.gluon.hopper_cases import hopper_cases
from tests.gluon.plant import Bug, bugs, module_of, outcome
from triton_lab.launch.comparison.argument_difference import DIFFERENT, Compared
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.launch_results import of_launch

AT_ONCE = 14
SECONDS = 285  # for all
EACH = 35
BLACKWELL = ("rows", "in_tensor_memory")  # kernels with instructions that Hopper has not
# Kinds of bugs for which ConSan has a check. It has none for fences, and a barrier that counts to 2 makes a GPU hang.
TRIED = ("wait", "commit", "count", "phase")
_ASSERTION = re.compile(r":(\d+):.*Assertion `(.*?)` failed")


@dataclass
class Task:
    """What one process does: ``do`` returns what it has found, as JSON."""

    label: tuple[str, str]
    do: Callable[[], Any]
    consan: bool = False


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


def checked(case: Case, bug: Bug | None, folder: Path, number: int) -> str:
    """What a GPU says of a kernel, with a bug or without."""
    module = None if bug is None else module_of(bug.source, folder, number)
    return "right" if right(on_gpu(case, module)) else "wrong"


def here(case: Case, planted: list[tuple[int, Bug]], folder: Path) -> dict[str, list[Any]]:
    """What the CPU target says of bugs."""
    with lab.target("cpu"):
        found = {f"{bug.line} {bug.change}": outcome(case, bug, folder, number) for number, bug in planted}
    return {change: [one.rule, one.line] for change, one in found.items()}


def tasks(folder: Path) -> Iterator[Task]:
    """All that is to be done, the most important first."""
    everything = [case for case in [*cases(), *hopper_cases()] if case.kernel not in BLACKWELL]
    for case in everything:
        yield Task(("values", str(case)), lambda case=case: valued(case))  # type: ignore[misc]
    planted: list[tuple[Case, int, Bug]] = []
    for case in {case.kernel: case for case in everything}.values():
        each = [bug for bug in bugs(Path(str(case.module.__file__)), case.kernel) if bug.kind in TRIED]
        each = [bug for bug in each if not bug.change.endswith("counts 2")]
        if not each:
            continue
        yield Task(("right", str(case)), lambda case=case: checked(case, None, folder, 0), True)  # type: ignore[misc]
        numbered = [(1000 + len(planted) + k, bug) for k, bug in enumerate(each)]
        planted += [(case, number, bug) for number, bug in numbered]
        yield Task(("here", str(case)), lambda case=case, some=numbered: here(case, some, folder))  # type: ignore[misc]
    for case, number, bug in sorted(planted, key=lambda one: TRIED.index(one[2].kind)):
        label = f"{case} {bug.line} {bug.change}"

        def one(case: Case = case, bug: Bug = bug, number: int = number) -> str:
            return checked(case, bug, folder, number)

        yield Task(("bugs", label), one, True)


def started(task: Task, place: Path) -> int:
    """The id of a process that does it, with what it says in a file."""
    child = os.fork()
    if child:
        return child
    descriptor = os.open(place, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.setsid()
    if task.consan:
        triton.knobs.compilation.instrumentation_mode = "consan"  # the variable is read when Triton is imported
    try:
        print("\nFOUND " + json.dumps(task.do()), flush=True)
    except BaseException as error:
        print(f"\nFAILED {type(error).__name__}: {error}"[:600], flush=True)
    finally:
        os._exit(0)


def found_in(text: str) -> Any:
    """What a process has found; of one that failed, the assertion or the error."""
    asserted = Counter(match.groups() for match in _ASSERTION.finditer(text))
    if asserted:
        (line, said), _count = asserted.most_common(1)[0]
        return f"asserts {line}: {said}"
    answers = [line for line in text.splitlines() if line.startswith(("FOUND ", "FAILED "))]
    if not answers:
        return "no answer: " + text[-200:]
    return json.loads(answers[-1][6:]) if answers[-1].startswith("FOUND ") else answers[-1]


def main(out: str) -> None:
    """Do all tasks, some at once. The file is written after each, so that a run that is cut short leaves some."""
    Path(out).mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + SECONDS
    found: dict[str, dict[str, Any]] = {"values": {}, "right": {}, "here": {}, "bugs": {}}
    with tempfile.TemporaryDirectory() as folder:
        todo = list(tasks(Path(folder)))[::-1]
        running: dict[int, tuple[Task, Path, float]] = {}
        while (todo or running) and time.monotonic() < end:
            while todo and len(running) < AT_ONCE:
                task, place = todo.pop(), Path(folder) / f"said_{len(todo)}"
                limit = EACH if task.consan else 120
                running[started(task, place)] = task, place, time.monotonic() + limit
            for child, (task, place, limit) in list(running.items()):
                late = time.monotonic() > limit
                if late:
                    os.killpg(child, signal.SIGKILL)
                if late or os.waitpid(child, os.WNOHANG)[0]:
                    if late:
                        os.waitpid(child, 0)
                    kind, name = task.label
                    found[kind][name] = "hangs" if late else found_in(place.read_text(errors="replace"))
                    del running[child]
                    (Path(out) / "gluon.json").write_text(json.dumps(found, indent=1) + "\n")
            time.sleep(0.05)
        for child in running:
            os.killpg(child, signal.SIGKILL)
    values = [one for one in found["values"].values() if isinstance(one, dict)]
    print(Counter(one["verdict"] for one in values), Counter(one["right"] for one in values), f"{len(todo)} not begun")
    print({name: one for name, one in found["values"].items() if one not in values or one["verdict"] == DIFFERENT})


if __name__ == "__main__":
    os.environ.pop("TRITON_DEFAULT_BACKEND", None)
    main(*sys.argv[1:])
