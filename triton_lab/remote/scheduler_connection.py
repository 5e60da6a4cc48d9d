"""The notebook's connection to a scheduler: everything it receives is read as data, and nothing is unpickled.

Dask's own client unpickles a scheduler's messages in more places than its ``deserializers`` cover: whole messages
(``__Pickled__``), types of results, exceptions, tracebacks, warnings. So this module decodes messages instead.
MessagePack's numbers, texts, lists and maps stay as they are; byte strings and serialized objects become `Sealed`,
which Dask's client can only pass on. `opened` returns the plain value of a sealed result.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from typing import Any

from triton_lab import messages
from triton_lab.localization import _

SCHEMES = {"tls": "triton-lab-tls", "tcp": "triton-lab-tcp"}
"""Our names for the schemes of addresses, with which Dask connects through this module."""
_MESSAGE = 8 << 30  # bytes of a message, whatever size it claims
_FRAMES = 1 << 20
_TEXT = 2000  # characters of a reported exception
_made = False
_patience = 10.0  # seconds for a scheduler's handshake; Dask would wait for ever


class Refused(ValueError):
    """A scheduler, or a worker through it, sent data that this notebook refuses; the message says what."""


class FailedTask(Exception):
    """A task failed; its text is the scheduler's report, if there is one."""


class Sealed:
    """Bytes, or a serialized object with its ``header``, still unread."""

    __slots__ = ("frames", "header")

    def __init__(self, frames: list[Any], header: dict[str, Any] | None = None) -> None:
        self.frames = frames
        self.header = header

    def __repr__(self) -> str:
        return f"<{len(self.frames)} sealed pieces>"


def client(address: str, security: Any, timeout: float) -> Any:
    """A client of the scheduler that reads only data. Raises what `distributed.Client` raises."""
    import distributed

    global _patience
    _patience = timeout
    _make_backends()

    class Client(distributed.Client):
        # Other users' events would be printed, or shown as warnings, here.
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
        raise Refused(_("a result did not come in Dask's format"))
    header = result.header
    if header.get("serializer") == "error":
        raise Refused(
            _("the data could not be packed: {joined}").format(joined=repr(_joined(result.frames, _TEXT * 4)[:_TEXT]))
        )
    if header.get("serializer") != "msgpack" or "is-collection" in header:
        raise Refused(
            _("a result was packed by {get}, but only plain data is read").format(
                get=f"{header.get('serializer')!s:.40}"
            )
        )
    if sum(map(len, result.frames)) > most:
        raise Refused(_("a result has more than {most} MB").format(most=most >> 20))
    frames = _decompressed(header, result.frames, most)
    try:
        return _unpacked(_joined(frames, most), sealed=False)
    except Refused:
        raise
    except Exception as error:
        raise Refused(_("a result is not MessagePack ({type})").format(type=type(error).__name__)) from None


def decoded(frames: list[Any]) -> Any:
    """Decode a message. Raises Refused for anything invalid, or that would have to be unpickled."""
    if not frames:
        raise Refused(_("a message is empty"))

    def hook(pairs: dict[Any, Any]) -> Any:
        if "__Pickled__" in pairs:
            raise Refused(_("the scheduler sends a pickle, which this notebook refuses to read"))
        if "__Serialized__" in pairs:
            return _sealed(pairs["__Serialized__"], frames)
        return _plain(pairs)

    try:
        found = _unpacked(frames[0], sealed=True, hook=hook)
    except Refused:
        raise
    except Exception as error:
        raise Refused(_("a message is not MessagePack ({type})").format(type=type(error).__name__)) from None
    return found


def _sealed(offset: Any, frames: list[Any]) -> Sealed:
    if type(offset) is not int or not 0 < offset < len(frames):
        raise Refused(_("a message refers to a part that it does not have"))
    header = _unpacked(frames[offset], sealed=False)
    count = header.get("num-sub-frames") if isinstance(header, dict) else None
    if type(count) is not int or not 0 <= count < len(frames) - offset:
        raise Refused(_("a message refers to a part that it does not have"))
    return Sealed(frames[offset + 1 : offset + 1 + count], header)


def _plain(pairs: dict[Any, Any]) -> Any:
    """A message's map with enumerations by their names, and failures as `FailedTask`."""
    if any(isinstance(key, bytes) for key in pairs):
        raise Refused(_("a message has bytes for a name"))
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
    raise Refused(_("a message has an extension ({code}), but only plain data is read").format(code=code))


def _joined(frames: list[Any], most: int) -> bytes:
    if sum(map(len, frames)) > most:
        raise Refused(_("a result has more than {most} MB").format(most=most >> 20))
    return bytes(frames[0]) if len(frames) == 1 else b"".join(frames)


def _decompressed(header: dict[str, Any], frames: list[Any], most: int) -> list[Any]:
    """Decompress a worker's frames, only if their size is declared and within the limit."""
    named = header.get("compression") or (None,) * len(frames)
    if not isinstance(named, tuple | list) or len(named) != len(frames):
        raise Refused(_("a result does not say how it is packed"))
    left, found = most, []
    for name, frame in zip(named, frames, strict=True):
        size = len(frame) if name is None else _claimed(name, bytes(frame[:32]))
        if size > left:
            raise Refused(_("a result unpacks to more than {most} MB").format(most=most >> 20))
        left -= size
        found.append(frame if name is None else _inflated(name, frame))
    return found


def _claimed(name: Any, start: bytes) -> int:
    """The declared size of a compressed frame, which is the memory that unpacking takes."""
    if name == "lz4" and len(start) >= 4:
        return int.from_bytes(start[:4], "little")
    raise Refused(
        _("a result is compressed by {name}, but only lz4 is read: see Dask's distributed.comm.compression").format(
            name=f"{name!s:.20}"
        )
    )


def _inflated(name: str, frame: Any) -> bytes:
    from distributed.protocol.compression import compressions

    try:
        return bytes(compressions[name].decompress(frame))
    except Exception as error:
        raise Refused(_("a result cannot be decompressed ({type})").format(type=type(error).__name__)) from None


def _make_backends() -> None:
    """Register the schemes with Dask: connections are its own, except for reading messages."""
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
    """A mixin for Dask's connections that reads messages as data."""

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
        # Dask reads this flag: it must not unpickle an error that a scheduler reports.
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
    """One message: its size, the number of its frames, the size of each, and the frames."""
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
    """Read bytes into a growing buffer: a claimed size alone takes no memory."""
    found = bytearray()
    while len(found) < size:
        found += await stream.read_bytes(min(size - len(found), 1 << 24))
    return found
