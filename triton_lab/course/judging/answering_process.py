"""The process that answers: it runs the notebook's cells, and the judge's questions about the names that they define.

Cells can do anything to this process. So its judge is another process, which believes only what it can run again.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

from triton_lab.course.answer_fault import AnswerFault
from triton_lab.course.attempt import Attempt
from triton_lab.course.exercise_answer import LocalAnswer, Unanswered
from triton_lab.course.judging import judge_messages
from triton_lab.course.judging.answer_values import encoded, told_fault, told_tree
from triton_lab.course.judging.judge_wire import Broken, Channel
from triton_lab.course.run_notebook import Shell
from triton_lab.localization import _

_MEMORY = ("can't allocate memory", "Cannot allocate memory", "MemoryError", "bad_alloc")


def serve(end: socket.socket) -> None:
    """Answer until the judge needs no more."""
    channel = Channel(end)
    shell = Shell()
    kept: list[Attempt] = []  # as long as its results are there, other memory has other addresses
    while True:
        try:
            asked, pieces = channel.receive()
        except Broken:
            return
        found: list[bytes] = []
        try:
            told = _tested(shell, asked, channel) or _answered(shell, asked, pieces, found, kept)
        except Unanswered as error:
            told, found = {"fault": told_fault(_of_memory(error.fault))}, []
        except Exception as error:  # an answer may raise anything
            told, found = {"fault": told_fault(_of_memory(AnswerFault(f"{type(error).__name__}: {error}")))}, []
        channel.send(told, found)


def _tested(shell: Shell, asked: Mapping[str, Any], channel: Channel) -> dict[str, Any]:
    """What the answer, a test, says of a function of the judge's; {} for another request."""
    if asked["do"] != "tested":
        return {}

    def function(*inputs: Any) -> Any:
        pieces: list[bytes] = []
        told = judge_messages.told_inputs({str(place): one for place, one in enumerate(inputs)}, pieces)
        channel.send({"call": told}, pieces)
        back, found = channel.receive()
        if "error" in back:
            raise RuntimeError(back["error"])
        return judge_messages.inputs_of({"result": back["result"]}, found)["result"]

    return {"said": LocalAnswer(shell.names.get(asked["name"], ...)).tested(function)}


def _answered(
    shell: Shell, asked: Mapping[str, Any], pieces: list[bytes], found: list[bytes], kept: list[Attempt]
) -> dict[str, Any]:
    if asked["do"] == "run":
        kept.clear()
        error = shell.run(asked["text"])
        return {"memory": error is not None and _is_of_memory(f"{type(error).__name__}: {error}")}
    answer = LocalAnswer(shell.names.get(asked["name"], ...))
    match asked["do"]:
        case "value":
            return {"value": encoded(answer.value())}
        case "attempt":
            attempt = answer.attempt(judge_messages.inputs_of(asked["inputs"], pieces))
            kept.append(attempt)
            if attempt.fault is not None:
                return {"fault": told_fault(_of_memory(attempt.fault))}
            return judge_messages.told_attempt(attempt, found)
        case "stepped":
            inputs = judge_messages.inputs_of(asked["inputs"], pieces)
            return judge_messages.told_run(answer.stepped(inputs, donors_hashed=asked["hashed"]), found)
        case "scop":
            return _loops(answer)
        case "order":
            from triton_lab.polyhedral import schedule

            made = answer.order(schedule(asked["nest"], **asked["values"]), asked["on"])
            return {"tree": told_tree(made.tree), "steps": list(made.steps)}
    raise ValueError(f"unknown request {asked['do']!r}")


def _loops(answer: LocalAnswer) -> dict[str, Any]:
    """The text of the loops, and the numbers that a function's surroundings give its parameters."""
    from triton_lab.polyhedral.frontends.python_text import python_source

    loops = answer.loops()
    if isinstance(loops, str):
        return {"text": loops, "values": {}}
    return {"text": python_source(loops).text, "values": dict(answer.scop().values)}


def _is_of_memory(told: str) -> bool:
    return any(one in told for one in _MEMORY)


def _of_memory(fault: AnswerFault) -> AnswerFault:
    """The fault of an answer that ran out of memory, which says so."""
    if not _is_of_memory(str(fault)):
        return fault
    return AnswerFault(_("It takes more memory than it may have."), fault.on, lines=fault.lines)
