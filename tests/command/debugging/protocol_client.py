"""A client of the Debug Adapter Protocol, which speaks over the wire: what an editor does."""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import subprocess
import sys
import threading
from typing import Any, BinaryIO

SECONDS = 90.0


class ProtocolClient:
    """Speaks with an adapter over two streams."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self.reader, self.writer = reader, writer
        self.number = 0
        self.streams: list[Any] = [reader, writer]
        self.events: list[dict[str, Any]] = []
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        while header := self.reader.readline():
            length = int(header.split(b":")[1])
            assert self.reader.readline() == b"\r\n"
            self._messages.put(json.loads(self.reader.read(length)))
        self._messages.put(None)

    def _next(self) -> dict[str, Any] | None:
        return self._messages.get(timeout=SECONDS)

    def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(data)
        self.writer.flush()

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request; returns its response. Events that come before are kept."""
        self.number += 1
        message = {"seq": self.number, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        while (found := self._next()) is not None:
            if found["type"] == "response":
                assert found["request_seq"] == self.number and found["command"] == command
                return found
            self.events.append(found)
        raise AssertionError(f"no response to {command}")

    def done(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The body of a response that must say success."""
        found = self.ask(command, **arguments)
        assert found["success"], found
        return found["body"]

    def wait(self, name: str) -> dict[str, Any]:
        """The body of the next event of this name, and forget those before it."""
        while True:
            while self.events:
                event = self.events.pop(0)
                if event["event"] == name:
                    return event["body"]
            found = self._next()
            assert found is not None, f"the adapter ended before {name}"
            self.events.append(found)

    def close(self) -> None:
        """Leave without a word."""
        for stream in self.streams:
            with contextlib.suppress(OSError):
                stream.close()

    def printed(self) -> str:
        """What the script printed until the adapter ended."""
        while (found := self._next()) is not None:
            self.events.append(found)
        return "".join(e["body"]["output"] for e in self.events if e["event"] == "output")


def started(*arguments: str) -> tuple[ProtocolClient, subprocess.Popen[bytes]]:
    """An adapter on standard input and output."""
    command = [sys.executable, "-m", "triton_lab", "debug", "--dap", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    return ProtocolClient(process.stdout, process.stdin), process


def connected(*arguments: str) -> tuple[ProtocolClient, subprocess.Popen[bytes]]:
    """An adapter that waits on a port, and a connection to it."""
    command = [sys.executable, "-m", "triton_lab", "debug", "--dap", "--port", "0", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stderr is not None
    port = int(process.stderr.readline().rsplit(b":", 1)[1])
    stream = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
    stream.settimeout(None)
    process.stderr.close()
    client = ProtocolClient(stream.makefile("rb"), stream.makefile("wb"))
    client.streams.append(stream)
    return client, process
