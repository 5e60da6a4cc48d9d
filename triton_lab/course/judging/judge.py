"""``python -m triton_lab.course.judging.judge``: judges one notebook, whose cells run in a process that it starts.

Standard input is one object: the ``cells``, each with its ``text`` and the exercise that it ``checks`` (or ""), the
``folder`` for the other process, its ``seconds`` and the ``memory`` of both. Standard output has a line for each check,
and for each remark on the whole.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from triton_lab.course.exercise_answer import Unanswered
from triton_lab.course.exercise_kinds import Exercise
from triton_lab.course.exercise_registry import exercises
from triton_lab.course.judging import sandbox
from triton_lab.course.judging.judge_wire import Channel
from triton_lab.course.judging.remote_answer import Asked, Ended, There
from triton_lab.course.run_answer import MOST_STEPS
from triton_lab.localization import _
from triton_lab.processes import linux

MESSAGE = 2000  # characters of a message about an answer


def main() -> None:
    """Judge, and end at once, whatever threads there are."""
    linux.end_with_parent()
    asked = json.load(sys.stdin)
    known = {one.name: one for one in exercises()}
    _get_ready()
    out = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_least(asked["memory"] * 2, most), most))
    for told in judged(asked, known):
        out.write(json.dumps(told) + "\n")
    out.flush()
    os._exit(0)


def _least(one: int, most: int) -> int:
    return one if most == resource.RLIM_INFINITY else min(one, most)


def _get_ready() -> None:
    """Import what both processes need before the fork. No threads may start here."""
    import torch

    import triton_lab.course.judging.answering_process
    import triton_lab.interpreter.machine
    import triton_lab.notebook.cell.internal_error  # noqa: F401

    torch.set_num_threads(1)


def _work(end: socket.socket) -> None:
    from triton_lab.course.judging.answering_process import serve

    serve(end)


def judged(asked: Mapping[str, Any], known: Mapping[str, Exercise]) -> Iterator[dict[str, Any]]:
    """The lines of the output, each as soon as it is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside idle threads
        box = sandbox.start(_work, asked["folder"], asked["memory"])
    linux.hide_memory()
    try:
        if box.limits:
            yield {"limits": box.limits}
        process = Asked(Channel(box.end), asked["seconds"], box.why)
        try:
            yield from _cells(asked["cells"], process, known)
        except Ended as error:
            yield {"ended": str(error)}
    finally:
        box.close()


def _cells(cells: list[Mapping[str, str]], process: Asked, known: Mapping[str, Exercise]) -> Iterator[dict[str, Any]]:
    for cell in cells:
        one = known.get(cell["checks"])
        if one is None:
            head, _ = process.ask({"do": "run", "text": cell["text"]})
            if head.get("memory") is True:
                yield {"memory": True}
            continue
        message = _message(lambda one=one: one.judged(There(process, one.name, MOST_STEPS)))  # type: ignore[misc]
        yield {"exercise": one.name, "solved": not message, "message": message[:MESSAGE]}


def _message(judge: Callable[[], Any]) -> str:
    """The message about an answer, "" if it is right. Raises Ended."""
    try:
        fault = judge()
    except Unanswered as error:
        fault = error.fault
    except (Ended, KeyboardInterrupt):
        raise
    except MemoryError:
        return _("Its launches need more memory than there is.")
    except Exception as error:  # an error in data from the process: other answers must still be judged
        return _("It cannot be judged: {name}: {error}").format(name=type(error).__name__, error=error)
    return "" if fault is None else str(fault) or _("It is wrong.")


if __name__ == "__main__":
    main()
