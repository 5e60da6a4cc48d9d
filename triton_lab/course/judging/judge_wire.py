"""Messages between the judge and the process that answers: a JSON object and pieces of bytes; no pickles.

A message has the length of the JSON text, the number of pieces, the length of each, the text, and the pieces. All
lengths are checked against bounds before anything is read.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

from triton_lab.localization import _

HEAD = 16 << 20  # bytes of the text
PIECES = 4096
MOST = 1 << 30  # bytes of all pieces


class Broken(Exception):
    """The data is no message: the other process has ended, or sends anything. ``late``: nothing came in time."""

    def __init__(self, why: str, late: bool = False) -> None:
        super().__init__(why)
        self.late = late


class Channel:
    """One end of the connection."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end

    def send(self, head: dict[str, Any], pieces: Sequence[bytes] = (), seconds: float | None = None) -> None:
        """Send a message. Raises Broken."""
        text = json.dumps(head).encode("ascii")
        sizes = struct.pack(f"<II{len(pieces)}Q", len(text), len(pieces), *map(len, pieces))
        self.end.settimeout(seconds)
        try:
            for one in (sizes, text, *pieces):
                self.end.sendall(one)
        except TimeoutError:
            raise Broken(_("it takes no message"), late=True) from None
        except OSError as error:
            raise Broken(_("it takes no message ({error})").format(error=error)) from None

    def receive(self, seconds: float | None = None) -> tuple[dict[str, Any], list[bytes]]:
        """The next message, within so many seconds. Raises Broken."""
        until = None if seconds is None else time.monotonic() + seconds
        size, count = struct.unpack("<II", self._read(8, until))
        if size > HEAD or count > PIECES:
            raise Broken(_("its message is too long"))
        sizes = struct.unpack(f"<{count}Q", self._read(8 * count, until))
        if sum(sizes) > MOST:
            raise Broken(_("its message is too long"))
        text = self._read(size, until)
        pieces = [self._read(one, until) for one in sizes]
        try:
            head = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Broken(_("it sends no JSON ({error})").format(error=type(error).__name__)) from None
        if not isinstance(head, dict):
            raise Broken(_("it sends no object"))
        return head, pieces

    def _read(self, size: int, until: float | None) -> bytes:
        found = bytearray()
        while len(found) < size:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise Broken(_("no message came in time"), late=True)
            self.end.settimeout(left)
            try:
                part = self.end.recv(min(size - len(found), 1 << 20))
            except TimeoutError:
                raise Broken(_("no message came in time"), late=True) from None
            except OSError as error:
                raise Broken(_("it sends nothing ({error})").format(error=error)) from None
            if not part:
                raise Broken(_("it has ended"))
            found += part
        return bytes(found)
