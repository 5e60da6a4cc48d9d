from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command.debugging.protocol_client import ProtocolClient, connected, started

Start = Callable[..., "tuple[ProtocolClient, subprocess.Popen[bytes]]"]
SCRIPT = '''import torch, triton, triton.language as tl

@triton.jit
def doubled(v):
    w = v * 2
    return w

@triton.jit
def kernel(x, n, SIZE: tl.constexpr):
    """Doubles."""
    pid = tl.program_id(0)
    i = pid * SIZE + tl.arange(0, SIZE)
    v = tl.load(x + i)
    for k in range(n):
        v = doubled(v)
    tl.store(x + i, v)

x = torch.arange(12.0)
kernel[(3,)](x, 2, 4)
print("printed", x.sum().item())
'''
LOOP, CALL, STORE = 14, 15, 16


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts adapters, which are gone after the test."""
    made: list[tuple[ProtocolClient, subprocess.Popen[bytes]]] = []

    def one(over: Start, *arguments: str) -> tuple[ProtocolClient, subprocess.Popen[bytes]]:
        made.append(over(*arguments))
        return made[-1]

    yield one
    for client, process in made:
        process.kill()
        process.wait(30)
        client.thread.join(30)
        client.close()


def begun(client: ProtocolClient, script: Path, breakpoints: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    """Begin a session; returns the breakpoints as the adapter described them then."""
    assert client.done("initialize", adapterID="triton-lab")["supportsStepBack"] is True
    client.wait("initialized")
    client.done("launch", program=str(script), **more)
    found = client.done("setBreakpoints", source={"path": str(script)}, breakpoints=breakpoints)["breakpoints"]
    client.done("configurationDone")
    return found


def place(client: ProtocolClient, thread: int) -> list[tuple[str, int]]:
    """The stack of a thread."""
    return [(one["name"], one["line"]) for one in client.done("stackTrace", threadId=thread)["stackFrames"]]


@pytest.mark.parametrize("over", [started, connected])
def test_an_editor_stops_steps_back_and_reads_variables(start: Start, over: Start, script: Path) -> None:
    client, _process = start(over)
    told = begun(client, script, [{"line": CALL, "condition": "k == 1 and pid == 1"}, {"line": 10}])
    assert [one["verified"] for one in told] == [False, False]
    first = client.wait("breakpoint")["breakpoint"]
    second = client.wait("breakpoint")["breakpoint"]
    assert (first["line"], second["line"]) == (CALL, 11) and "message" in second
    stopped = client.wait("stopped")
    assert stopped["reason"] == "breakpoint" and stopped["hitBreakpointIds"] == [second["id"]]
    client.done(
        "setBreakpoints", source={"path": str(script)}, breakpoints=[{"line": CALL, "condition": "k == 1 and pid == 1"}]
    )
    client.done("continue", threadId=1)
    stopped = client.wait("stopped")
    thread = stopped["threadId"]
    assert thread == 2
    assert [one["name"] for one in client.done("threads")["threads"]] == [f"program ({n}, 0, 0)" for n in range(3)]
    assert place(client, thread) == [("kernel", CALL)]
    client.done("stepIn", threadId=thread)
    client.wait("stopped")
    assert place(client, thread) == [("doubled", 5), ("kernel", CALL)]
    client.done("stepOut", threadId=thread)
    client.wait("stopped")
    client.done("stepBack", threadId=thread)
    client.wait("stopped")
    assert place(client, thread) == [("kernel", CALL)]
    frame = client.done("stackTrace", threadId=thread)["stackFrames"][0]["id"]
    (scope,) = client.done("scopes", frameId=frame)["scopes"]
    variables = {
        one["name"]: one
        for one in client.done("variables", variablesReference=scope["variablesReference"])["variables"]
    }
    assert variables["k"]["value"] == "1" and variables["v"]["indexedVariables"] == 4
    elements = client.done("variables", variablesReference=variables["v"]["variablesReference"], start=1, count=2)
    assert [one["value"] for one in elements["variables"]] == ["10.0", "12.0"]
    assert client.done("evaluate", expression="v.sum()", frameId=frame)["result"] == "44.0"
    assert place(client, 3) == [("kernel", CALL)]  # another program, at the same place
    client.done("reverseContinue", threadId=thread)
    assert client.wait("stopped")["reason"] == "entry"
    client.done("setBreakpoints", source={"path": str(script)}, breakpoints=[])
    client.done("continue", threadId=thread)
    client.wait("terminated")


def test_hit_counts_and_the_end_of_a_script(start: Start, script: Path) -> None:
    client, process = start(started, str(script))
    client.done("initialize")
    client.done("attach")
    client.done("setBreakpoints", source={"path": str(script)}, breakpoints=[{"line": CALL, "hitCondition": "2"}])
    client.done("configurationDone")
    for thread in (1, 2, 3):
        assert client.wait("stopped")["threadId"] == thread
        assert client.done("evaluate", expression="k")["result"] == "1"
        client.done("continue", threadId=thread)
    assert "printed 264.0" in client.printed()
    assert [one["event"] for one in client.events[-2:]] == ["exited", "terminated"]
    assert process.wait(30) == 0


def test_it_stops_on_entry_and_ends_when_the_editor_leaves(start: Start, script: Path) -> None:
    client, process = start(started)
    begun(client, script, [], stopOnEntry=True)
    assert client.wait("stopped")["reason"] == "entry"
    for _turn in range(3):
        client.done("next", threadId=1)
        client.wait("stopped")
    assert place(client, 1) == [("kernel", LOOP)]
    client.done("disconnect")
    assert "printed" not in client.printed()
    process.wait(30)


def test_bad_requests_are_refused_and_the_session_goes_on(start: Start, script: Path) -> None:
    client, process = start(started)
    for command, arguments in [
        ("nothing", {}),
        ("__init__", {}),
        ("configurationDone", {}),
        ("attach", {}),
        ("launch", {"program": 3}),
        ("launch", {}),
        ("launch", {"program": "x", "args": [1]}),
        ("setBreakpoints", {}),
        ("setBreakpoints", {"source": {"path": "x"}, "breakpoints": [1]}),
        ("setBreakpoints", {"source": {"path": "x"}, "breakpoints": [{}] * 1001}),
        ("setBreakpoints", {"source": {"path": "x"}, "breakpoints": [{"line": -1}]}),
        ("stackTrace", {"threadId": 1}),
        ("evaluate", {"expression": "1"}),
    ]:
        found = client.ask(command, **arguments)
        assert found["success"] is False and found["message"], command
    begun(client, script, [{"line": STORE}, {"line": 1}, {"line": STORE, "condition": "missing > 3"}])
    client.wait("stopped")
    for command, arguments in [
        ("evaluate", {"expression": "__import__('os')"}),
        ("evaluate", {"expression": "v", "frameId": 99}),
        ("variables", {"variablesReference": 99}),
        ("stackTrace", {"threadId": 77}),
        ("next", {"threadId": 77}),
        ("scopes", {"frameId": "x"}),
    ]:
        found = client.ask(command, **arguments)
        assert found["success"] is False and found["message"], command
    client.done("disconnect")
    client.printed()
    process.wait(30)


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: 99999999\r\n\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: 5\r\n\r\n[1,2]",
        b"Content-Length: 4\r\n\r\n{{{{",
        b"x" * 5000,
        b"\r\n",
    ],
)
def test_what_is_no_message_ends_the_session(data: bytes) -> None:
    from io import BytesIO

    from triton_lab.command.debugging.adapter_messages import BadMessage, read_message

    with pytest.raises(BadMessage):
        read_message(BytesIO(data))


def test_a_stream_that_ends_in_a_message_is_an_end() -> None:
    from io import BytesIO

    from triton_lab.command.debugging.adapter_messages import read_message

    assert read_message(BytesIO(b"")) is None
    assert read_message(BytesIO(b"Content-Length: 9\r\n\r\n{}")) is None
