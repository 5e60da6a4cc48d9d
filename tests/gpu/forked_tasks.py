"""Tasks in processes of their own, some at once, each with a time limit: a failed assertion ends a GPU's context."""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton

_ASSERTION = re.compile(r":(\d+):.*Assertion `(.*?)` failed")
NOT_BEGUN = "not begun"
HANGS = "hangs"


@dataclass(frozen=True)
class Task:
    """What one process does: ``do`` returns what it has found, as JSON, within ``limit`` seconds."""

    label: tuple[str, str]
    do: Callable[[], Any]
    consan: bool = False
    limit: float = 120


def _started(task: Task, place: Path) -> int:
    """The id of a process that does it, with what it prints in a file."""
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
        print("\nFAILED " + f"{type(error).__name__}: {error}"[:600].replace("\n", " "), flush=True)
    finally:
        os._exit(0)


def _answer(text: str) -> Any:
    """What a process has found; of one that failed, the assertion or the error."""
    asserted = Counter(match.groups() for match in _ASSERTION.finditer(text))
    if asserted:
        (line, words), _count = asserted.most_common(1)[0]
        return f"asserts {line}: {words}"
    answers = [line for line in text.splitlines() if line.startswith(("FOUND ", "FAILED "))]
    if not answers:
        return "no answer: " + text[-200:]
    return json.loads(answers[-1][6:]) if answers[-1].startswith("FOUND ") else answers[-1]


def answers(tasks: Sequence[Task], seconds: float, at_once: int) -> Iterator[tuple[Task, Any]]:
    """Each task with its answer, as they end. What is not begun or done after ``seconds`` is told as such."""
    end = time.monotonic() + seconds
    todo = list(tasks)[::-1]
    running: dict[int, tuple[Task, Path, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        while (todo or running) and time.monotonic() < end:
            while todo and len(running) < at_once:
                task, place = todo.pop(), Path(folder) / str(len(todo))
                running[_started(task, place)] = task, place, time.monotonic() + task.limit
            for child, (task, place, limit) in list(running.items()):
                late = time.monotonic() > limit
                if late:  # one that a driver still holds is asked for again in the next round
                    os.killpg(child, signal.SIGKILL)
                if os.waitpid(child, os.WNOHANG)[0]:
                    del running[child]
                    yield task, HANGS if late else _answer(place.read_text(errors="replace"))
            time.sleep(0.05)
        for child, (task, _place, _limit) in running.items():
            os.killpg(child, signal.SIGKILL)
            yield task, HANGS
    for task in todo:
        yield task, NOT_BEGUN
