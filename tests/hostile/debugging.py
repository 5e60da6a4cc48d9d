"""Conditions of breakpoints, and requests to the debug adapter, as an editor that is broken or hostile sends them."""

from __future__ import annotations

import io
import json
import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.hostile.outcome import Outcome, Try
from triton_lab.command.debugging.debug_adapter import DebugAdapter
from triton_lab.launch.debugging.block_expression import ConditionError, read_expression
from triton_lab.launch.debugging.debugger import Debugger
from triton_lab.launch.debugging.stop_condition import read_condition

EXPRESSIONS, TEXTS, SESSIONS = 600, 600, 60
SECONDS = 5.0
KNOWN: dict[str, Any] = {
    "acc": np.array([[1.0, np.nan, -2.0], [3.0, 4.0, np.inf]], np.float32),
    "row": np.arange(3, dtype=np.int32),
    "k": np.int32(3),
    "mask": np.array([True, False, True]),
}
_ALPHABET = "acr.k[]()0123456789+-*/%<>=!&|^~,: 'nmaxbecomschangNaif\0\n\t\\é∞𝛼{}@;\"_"
_COMMANDS = (
    *("initialize", "launch", "attach", "setBreakpoints", "setExceptionBreakpoints", "threads", "stackTrace", "scopes"),
    *("variables", "evaluate", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "nothing", "_answer", ""),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2, 3, 1 << 40, 1.5, "", "acc", "x" * 5000, [], [1], {}, [[]], {"path": "x"}, {"path": 3}),
    *([{"line": 1}], [{"line": 34, "condition": "k == 1"}], [{"line": 34, "condition": "("}], [{"line": []}] * 3),
)
_NAMES = (
    *("threadId", "frameId", "variablesReference", "start", "count", "expression", "source", "breakpoints", "program"),
    *("args", "cwd", "levels", "startFrame", "module"),
)


def tries(seed: int) -> Iterator[Try]:
    chosen = random.Random(seed)
    for number in range(EXPRESSIONS):
        text = _expression(chosen, 3)
        yield _timed(f"expression {number} {text}", lambda text=text: _compared(text))
    for number in range(TEXTS):
        text = "".join(chosen.choices(_ALPHABET, k=chosen.randrange(1, 40)))
        yield _timed(f"text {number} {text!r}", lambda text=text: _read(text))
    for name, text in _large():
        yield _timed(name, lambda text=text: _read(text))
    from tests.launch.debugging.kernels import launched, summed

    launch = launched(summed, 2, 2)
    for number in range(SESSIONS):
        data = b"".join(_message(chosen) for _turn in range(12))
        yield _timed(f"session {number}", lambda data=data: _session(data, Debugger(launch)))


def _timed(name: str, tried: Any) -> Try:
    start = time.monotonic()
    try:
        outcome, seen = tried()
    except Exception as error:  # whatever comes here is a fault
        outcome, seen = "wrong", repr(error)
    late = time.monotonic() - start > SECONDS
    return Try(name, "hung" if late else outcome, seen)


def _expression(chosen: random.Random, depth: int) -> str:
    """An expression of the language, which may have no value."""
    if depth == 0 or chosen.random() < 0.15:
        return chosen.choice([*KNOWN, "2", "0.5", "row[1]", "acc[0, 1:3]", "acc[:, None]", "k", "missing", "acc[9]"])
    one, other = _expression(chosen, depth - 1), _expression(chosen, depth - 1)
    form = chosen.choice(["({} {} {})", "{}.{}()", "{}({})", "(-{})"])
    if form == "({} {} {})":
        signs = ["+", "-", "*", "/", "//", "%", "<", ">=", "==", "!=", "&", "|", "^"]
        return form.format(one, chosen.choice(signs), other)
    called = chosen.choice(["max", "min", "sum", "any", "all", "isnan", "abs", "mean"])
    if form == "{}.{}()":
        return f"np_({one}).{chosen.choice(['max', 'min', 'sum', 'any', 'all', 'mean'])}()"
    return form.format(called, one) if form == "{}({})" else form.format(one)


def _compared(text: str) -> tuple[Outcome, str]:
    """The value, compared with what NumPy computes when Python runs the text; ``np_`` makes numbers arrays for it."""
    functions = {name: getattr(np, name) for name in ("max", "min", "sum", "any", "all", "isnan", "abs", "mean")}
    functions["np_"] = lambda value: np.asarray(value)[()]
    try:
        found = read_expression(text.replace("np_(", "(")).value(KNOWN)
    except ConditionError as error:
        return ("refused", "") if str(error) else ("wrong", "an error without words")
    with np.errstate(all="ignore"):
        wanted = np.asarray(eval(text, {}, {**KNOWN, **functions}))  # our own text
    equal = found.shape == wanted.shape and np.array_equal(found.astype(float), wanted.astype(float), equal_nan=True)
    return ("survived", "") if equal else ("wrong", f"{found!r} instead of {wanted!r}")


def _read(text: str) -> tuple[Outcome, str]:
    try:
        read_condition(text).state(KNOWN)
    except ConditionError as error:
        return ("refused", "") if str(error) else ("wrong", "an error without words")
    return "survived", ""


def _large() -> Iterator[tuple[str, str]]:
    yield "deep", "(" * 200 + "k" + ")" * 200
    yield "long sum", "+".join(["k"] * 200)
    yield "large number", "9" * 400
    yield "wide", "acc" + "[:, None]" * 40
    yield "nested axes", " + ".join(f"row[{'None, ' * n}:]" for n in range(30))
    yield "becomes", "k becomes " * 40
    yield "spaces", " " * 499


def _message(chosen: random.Random) -> bytes:
    named = {name: chosen.choice(_VALUES) for name in chosen.sample(_NAMES, chosen.randrange(5))}
    request: Any = {"seq": chosen.choice([1, "x", None]), "type": "request", "command": chosen.choice(_COMMANDS)}
    request["arguments"] = chosen.choice([named, named, named, None, [], 3])
    body = json.dumps(request).encode()
    if chosen.random() < 0.03:
        body = chosen.choice([b"{", b"[]", b"\xff\xfe", b"{" * 3000])
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def _session(data: bytes, debugger: Debugger) -> tuple[Outcome, str]:
    """Requests to an adapter that is stopped: each is answered, in words if it is refused."""
    out = io.BytesIO()
    adapter = DebugAdapter(io.BytesIO(data), out)
    adapter.debugger = debugger
    adapter._read()
    answers = [json.loads(part.split(b"\r\n\r\n")[1]) for part in out.getvalue().split(b"Content-Length: ")[1:]]
    responses = [one for one in answers if one["type"] == "response"]
    silent = [one for one in responses if not one["success"] and not one["message"]]
    if silent or not answers:
        return "wrong", repr(silent[:1])
    return ("refused" if any(not one["success"] for one in responses) else "survived"), ""
