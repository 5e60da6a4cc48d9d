"""The notebook's connection to a scheduler: all that comes over it is read as data, and no byte of it reaches a pickle.

Dask's own client unpickles what a scheduler sends, in more places than its ``deserializers`` cover: whole messages
(``__Pickled__``), types of results, exceptions, tracebacks, warnings. Here messages are decoded by this module instead:
MessagePack's numbers, texts, lists and maps as they are, and every string of bytes, and every object that was
serialized, as `Sealed`, which Dask's client can only hand on. `opened` gives the plain value of a sealed result.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from typing import Any

from triton_lab import messages

SCHEMES = {"tls": "triton-lab-tls", "tcp": "triton-lab-tcp"}
"""How an address's scheme is named for Dask, so that it connects by this module."""
_MESSAGE = 8 << 30  # bytes of a message, whatever it claims
_FRAMES = 1 << 20
_TEXT = 2000  # characters of an exception that is told
_made = False
_patience = 10.0  # seconds that a scheduler may take to greet; Dask would wait for ever


class Refused(ValueError):
    """A scheduler, or a worker through it, sends what this notebook does not read; the message says what."""


class FailedTask(Exception):
    """A task has failed: what the scheduler says of it, if anything, is text."""


class Sealed:
    """Bytes, or a serialized object with its ``header``, of which nothing has been read yet."""

    __slots__ = ("frames", "header")

    def __init__(self, frames: list[Any], header: dict[str, Any] | None = None) -> None:
        self.frames = frames
        self.header = header

    def __repr__(self) -> str:
        return f"<{len(self.frames)} sealed pieces>"


def client(address: str, security: Any, timeout: float) -> Any:
    """A client of the scheduler which reads data alone. Raises what `distributed.Client` does."""
    import distributed

    global _patience
    _patience = timeout
    _make_backends()

    class Client(distributed.Client):
        # Events that others raise would be printed, or warned of, here.
        _default_event_handlers: dict[str, Any] = {}  # noqa: RUF012

    scheme, _, rest = address.partition("://")
    return Client(
        f"{SCHEMES[scheme]}://{rest}",
        security=security,
        timeout=timeout,
        set_as_default=False,
        deserializers=["msgpack"],
        direct_to_workers=False,
        extensions={},
    )


def opened(result: Any, most: int) -> Any:
    """The plain value of a result: None, numbers, texts, bytes, tuples and dicts of these. Raises Refused."""
    if not isinstance(result, Sealed) or result.header is None:
        raise Refused("a result came in no form that Dask sends")
    header = result.header
    if header.get("serializer") == "error":
        raise Refused(f"what was sent could not be packed: {_joined(result.frames, _TEXT * 4)[:_TEXT]!r}")
    if header.get("serializer") != "msgpack" or "is-collection" in header:
        raise Refused(f"a result was packed by {header.get('serializer')!s:.40}, and data alone is read")
    if sum(map(len, result.frames)) > most:
        raise Refused(f"a result has more than {most >> 20} MB")
    frames = _decompressed(header, result.frames, most)
    try:
        return _unpacked(_joined(frames, most), sealed=False)
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"a result is no MessagePack ({type(error).__name__})") from None


def decoded(frames: list[Any]) -> Any:
    """A message. Raises Refused for anything that would have to be unpickled, or is none."""
    if not frames:
        raise Refused("a message is empty")

    def hook(pairs: dict[Any, Any]) -> Any:
        if "__Pickled__" in pairs:
            raise Refused("the scheduler sends a pickle, which this notebook does not read")
        if "__Serialized__" in pairs:
            return _sealed(pairs["__Serialized__"], frames)
        return _plain(pairs)

    try:
        found = _unpacked(frames[0], sealed=True, hook=hook)
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"a message is no MessagePack ({type(error).__name__})") from None
    return found


def _sealed(offset: Any, frames: list[Any]) -> Sealed:
    if type(offset) is not int or not 0 < offset < len(frames):
        raise Refused("a message refers to what it does not have")
    header = _unpacked(frames[offset], sealed=False)
    count = header.get("num-sub-frames") if isinstance(header, dict) else None
    if type(count) is not int or not 0 <= count < len(frames) - offset:
        raise Refused("a message refers to what it does not have")
    return Sealed(frames[offset + 1 : offset + 1 + count], header)


def _plain(pairs: dict[Any, Any]) -> Any:
    """A map of a message: enumerations by their names, and failures as ours."""
    if any(isinstance(key, bytes) for key in pairs):
        raise Refused("a message has bytes for a name")
    if "__Enum__" in pairs:
        return str(pairs.get("name"))
    if "__Set__" in pairs:
        return set(pairs["as-list"])
    found = {key: _without_bytes(value) for key, value in pairs.items()}
    if "exception" in found:
        found["exception"] = FailedTask(str(found.get("exception_text", ""))[:_TEXT])
        found["traceback"] = None
    return found


def _without_bytes(value: Any) -> Any:
    return Sealed([value]) if isinstance(value, bytes | bytearray | memoryview) else value


def _unpacked(data: Any, *, sealed: bool, hook: Any = None) -> Any:
    import msgpack  # comes with Dask

    size = len(data)
    found = msgpack.unpackb(
        data,
        raw=False,
        strict_map_key=False,
        use_list=True,
        object_hook=hook,
        list_hook=(lambda items: tuple(map(_without_bytes, items))) if sealed else tuple,
        ext_hook=_no_extension,
        max_str_len=size,
        max_bin_len=size,
        max_array_len=size,
        max_map_len=size,
        max_ext_len=size,
    )
    return _without_bytes(found) if sealed else found


def _no_extension(code: int, data: bytes) -> Any:
    raise Refused(f"a message has an extension ({code}), and data alone is read")


def _joined(frames: list[Any], most: int) -> bytes:
    if sum(map(len, frames)) > most:
        raise Refused(f"a result has more than {most >> 20} MB")
    return bytes(frames[0]) if len(frames) == 1 else b"".join(frames)


def _decompressed(header: dict[str, Any], frames: list[Any], most: int) -> list[Any]:
    """As the worker may have compressed them: only if what comes out is said beforehand, and not too much."""
    named = header.get("compression") or (None,) * len(frames)
    if not isinstance(named, tuple | list) or len(named) != len(frames):
        raise Refused("a result does not say how it is packed")
    left, found = most, []
    for name, frame in zip(named, frames, strict=True):
        size = len(frame) if name is None else _claimed(name, bytes(frame[:32]))
        if size > left:
            raise Refused(f"a result unpacks to more than {most >> 20} MB")
        left -= size
        found.append(frame if name is None else _inflated(name, frame))
    return found


def _claimed(name: Any, start: bytes) -> int:
    """How large a compressed frame says that it is: it is unpacked into so much memory."""
    if name == "lz4" and len(start) >= 4:
        return int.from_bytes(start[:4], "little")
    raise Refused(f"a result is compressed by {name!s:.20}, and lz4 is read: see Dask's distributed.comm.compression")


def _inflated(name: str, frame: Any) -> bytes:
    from distributed.protocol.compression import compressions

    try:
        return bytes(compressions[name].decompress(frame))
    except Exception as error:
        raise Refused(f"a result cannot be decompressed ({type(error).__name__})") from None


def _make_backends() -> None:
    """Tell Dask of the schemes: connections as its own, but for how a message is read."""
    global _made
    if _made:
        return
    from distributed.comm import registry, tcp

    class DataTCP(_Reading, tcp.TCP):
        pass

    class DataTLS(_Reading, tcp.TLS):
        pass

    class TCPConnector(tcp.TCPConnector):
        comm_class = DataTCP

    class TLSConnector(tcp.TLSConnector):
        comm_class = DataTLS

    class TCPBackend(tcp.TCPBackend):
        _connector_class = TCPConnector

    class TLSBackend(tcp.TLSBackend):
        _connector_class = TLSConnector

    registry.backends[SCHEMES["tcp"]] = TCPBackend()
    registry.backends[SCHEMES["tls"]] = TLSBackend()
    _made = True


class _Reading:
    """How a connection of Dask's reads a message, as data."""

    stream: Any
    deserialize: bool
    _greeted = False

    async def read(self, deserializers: Any = None) -> Any:
        from distributed.comm.core import CommClosedError
        from distributed.comm.tcp import convert_stream_closed_error
        from tornado.iostream import StreamClosedError

        stream = self.stream
        if stream is None:
            raise CommClosedError()
        # An error that a scheduler tells of is not to be unpickled: Dask asks this.
        self.deserialize = False
        try:
            frames = await asyncio.wait_for(_frames(stream), None if self._greeted else _patience)
            self._greeted = True
            return decoded(frames)
        except (StreamClosedError, ssl.SSLError) as error:
            self.stream = None
            self._closed = True
            convert_stream_closed_error(self, error)
        except (Refused, TimeoutError) as error:
            self.abort()  # type: ignore[attr-defined]
            raise CommClosedError(str(error) or "it did not greet in time") from error
        except BaseException:
            self.abort()  # type: ignore[attr-defined]
            raise


async def _frames(stream: Any) -> list[Any]:
    """One message: its size, then how many frames it has, the size of each, and these."""
    (size,) = struct.unpack("Q", await stream.read_bytes(8))
    if not 8 <= size <= _MESSAGE:
        raise Refused(f"a message claims to have {messages.count(size, 'byte')}")
    (count,) = struct.unpack("Q", await stream.read_bytes(8))
    if not 1 <= count <= min(_FRAMES, size // 8):
        raise Refused(f"a message claims to have {count} frames")
    sizes = struct.unpack(f"{count}Q", await stream.read_bytes(8 * count))
    if sum(sizes) > _MESSAGE:
        raise Refused(f"a message claims to have {messages.count(sum(sizes), 'byte')}")
    return [await _bytes(stream, one) for one in sizes]


async def _bytes(stream: Any, size: int) -> bytes | bytearray:
    """Grown as bytes come: what is claimed takes no memory."""
    found = bytearray()
    while len(found) < size:
        found += await stream.read_bytes(min(size - len(found), 1 << 24))
    return found
