"""Messages of the Debug Adapter Protocol: JSON behind a ``Content-Length``. What comes in is data, and bounded."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

from triton_lab.localization import _

MOST_BYTES = 1 << 20
_MOST_HEADER = 1 << 12
CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsStepBack": True,
    "supportsTerminateRequest": True,
}
"""What the adapter can do, as the protocol names it."""


class BadMessage(ValueError):
    """What came in is no message of the protocol; the text says why."""


class RequestRefused(Exception):
    """A request cannot be answered; the message is for the user."""


def read_message(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message; None at the end of the stream. Raises BadMessage."""
    length: int | None = None
    read = 0
    while True:
        line = stream.readline(_MOST_HEADER)
        read += len(line)
        if not line:
            return None
        if read > _MOST_HEADER or not line.endswith(b"\n"):
            raise BadMessage(_("the header of a message is too long"))
        if not line.strip():
            break
        name, _unused, value = line.decode("ascii", "replace").partition(":")
        if name.strip().lower() == "content-length":
            if not value.strip().isdecimal() or len(value.strip()) > 9:
                raise BadMessage(_("Content-Length must be a number of bytes"))
            length = int(value)
    if length is None:
        raise BadMessage(_("a message needs Content-Length"))
    if length > MOST_BYTES:
        raise BadMessage(_("a message has at most {most} bytes").format(most=MOST_BYTES))
    body = stream.read(length)
    if len(body) < length:
        return None
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise BadMessage(_("a message must be JSON")) from None
    if not isinstance(found, dict):
        raise BadMessage(_("a message must be a JSON object"))
    return found


class MessageWriter:
    """Writes messages, from any thread, with numbers that grow by one."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self._number = 0
        self._lock = threading.Lock()

    def write(self, kind: str, **fields: Any) -> None:
        """Write a message of type ``kind``. A reader that is gone is ignored: its next request will not come."""
        with self._lock:
            self._number += 1
            body = json.dumps({"seq": self._number, "type": kind, **fields}).encode()
            try:
                self.stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                self.stream.flush()
            except (OSError, ValueError):
                pass

    def event(self, name: str, **body: Any) -> None:
        """Write an event."""
        self.write("event", event=name, body=body)


def text_of(arguments: Mapping[str, Any], name: str, most: int = 4096, default: str = "") -> str:
    """A text among a request's arguments. Raises RequestRefused."""
    found = arguments.get(name, default)
    if not isinstance(found, str) or len(found) > most:
        raise RequestRefused(_("{name} must be a text of at most {most} characters").format(name=name, most=most))
    return found


def number_of(arguments: Mapping[str, Any], name: str, default: int = 0) -> int:
    """A whole number from 0 among a request's arguments. Raises RequestRefused."""
    found = arguments.get(name, default)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < 1 << 31:
        raise RequestRefused(_("{name} must be a whole number from 0").format(name=name))
    return found


def list_of(arguments: Mapping[str, Any], name: str, most: int) -> list[Any]:
    """A list among a request's arguments. Raises RequestRefused."""
    found = arguments.get(name, [])
    if not isinstance(found, list) or len(found) > most:
        raise RequestRefused(_("{name} must be a list of at most {most}").format(name=name, most=most))
    return found
