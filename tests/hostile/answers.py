"""What a job, a worker, a scheduler or who is in its place may send to a notebook, and addresses that look like ours.

A pickle that is read makes a file: then the outcome is wrong, whatever else was said.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import pickle
import random
import socket
import struct
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from tests.hostile.outcome import Outcome, Try
from triton_lab.backend.targets.active_target import TargetError
from triton_lab.remote import scheduler_address, scheduler_client, scheduler_connection
from triton_lab.remote.job import FORMAT, Called, Changed, Job, JobAnswer, JobEnded, Raised
from triton_lab.remote.job_answers import answer_of
from triton_lab.remote.queue_position import QueuePosition
from triton_lab.remote.remote_errors import DataError
from triton_lab.remote.wire_data import packed

MOST = 1 << 24
SECONDS = 30.0
"""An input that takes longer hangs; jobs have a limit of their own, of one second."""


class Trap:
    """Its pickle makes a file where it is read."""

    def __init__(self, marker: Path) -> None:
        self.marker = str(marker)

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (self.marker, "w")


def tries(seed: int) -> Iterator[Try]:
    """All of them; at random are where archives are cut and which bits of them flip."""
    with tempfile.TemporaryDirectory() as folder:
        marker = Path(folder, "read")
        trap = pickle.dumps(Trap(marker))
        for name, data in answers(trap, random.Random(seed)):
            yield _tried(f"answer: {name}", marker, functools.partial(_answer, data))
        for name, frames in messages(trap):
            yield _tried(f"message: {name}", marker, functools.partial(_message, frames))
        for name, result in results(trap):
            yield _tried(f"result: {name}", marker, functools.partial(_result, result))
        for text in places():
            yield _tried(f"place: {text!r:.60}", marker, functools.partial(_place, text))
        for one, local in addresses():
            yield _tried(f"address: {one!r:.60}", marker, functools.partial(_address, one, local))
        for name, sent in impostors(trap):
            yield _tried(f"scheduler: {name}", marker, functools.partial(_connect, sent))
        yield from _jobs(marker)


def _tried(name: str, marker: Path, deed: Callable[[], Outcome]) -> Try:
    start = time.monotonic()
    try:
        outcome, seen = deed(), ""
    except BaseException as error:
        outcome, seen = "wrong", f"{type(error).__name__}: {error!s:.300}"
    if marker.exists():
        marker.unlink()
        return Try(name, "wrong", "a pickle was read")
    if time.monotonic() - start > SECONDS:
        return Try(name, "hung", f"{time.monotonic() - start:.0f} s")
    return Try(name, outcome, seen)


# --- Answers: what a job's process has written, in a worker's reply --------------------------------


def reply(answer: bytes, **other: Any) -> bytes:
    """An honest worker's, around whatever its job has written."""
    return packed({"worker": "tls://w", "printed": "", "why": "", "answer": answer, "format": FORMAT} | other)


def answers(trap: bytes, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Replies, none of which is one of a launch that went well."""
    whole = packed(JobAnswer((Changed(64, b"\xff", bytes(8)),), (0.5,)))
    yield "a pickle for a reply", trap
    yield "a pickle for an answer", reply(trap)
    yield "nothing", b""
    yield "a reply of another version", reply(whole, format=FORMAT + 1)
    yield "a reply with a field too many", reply(whole, more=1)
    yield "a reply whose text is a number", reply(whole, printed=7)
    yield "a reply of endless text", reply(whole, worker="x" * 100_000)
    yield "an answer that is none", reply(packed(7))
    yield "an answer that is a job", reply(packed(Job("k", (1, 1, 1), (), Called(trap))))
    yield (
        "an answer that is an end",
        reply(packed(JobAnswer(failure=JobEnded("")))),
    )
    yield "times below zero", reply(packed(JobAnswer(times=(-1.0,))))
    yield "times that are no numbers", reply(packed(JobAnswer(times=(float("nan"),))))
    yield "a target of another world", reply(packed(JobAnswer(other=("../../etc", 90, 32))))
    yield "so many lanes", reply(packed(JobAnswer(other=("cuda", 90, 1 << 40))))
    yield "a type's name without an end", reply(packed(JobAnswer(failure=Raised("x" * 10_000, ""))))
    for at in sorted(rng.sample(range(1, len(whole)), 12)):
        yield f"cut after {at} bytes", reply(whole[:at])
    for at in sorted(rng.sample(range(len(whole)), 12)):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << rng.randrange(8)
        if not _same(bytes(flipped), whole):
            yield f"a bit flipped in byte {at}", reply(bytes(flipped))
    yield from ((f"head: {name}", reply(_archive(head))) for name, head in _heads())
    yield "an array of objects", reply(_archive({"value": {"array": [0, "O", [1]]}}, _npy(trap, "|O")))
    yield "an array that claims a terabyte", reply(_archive({"value": {"bytes": 0}}, _npy(b"x", "|u1", (1 << 40,))))
    yield "an array of another size", reply(_archive({"value": {"array": [0, "float64", [1 << 40]]}}, _npy(b"x")))
    yield "an array with fields", reply(_archive({"value": {"array": [0, "i4,i4", [1]]}}, _npy(bytes(8))))
    yield (
        "one array a thousand times",
        reply(_archive({"value": {"list": [{"bytes": 0}] * 1000}}, _npy(bytes(1 << 20)))),
    )
    yield "a member beside the arrays", reply(_archive({"value": 1}, evil=trap))
    yield "a bomb of zeros", reply(_archive({"value": {"bytes": 0}}, _npy(bytes(1 << 26)), squeezed=True))
    yield "a launch that is none", reply(_archive({"value": {"launch": 0}}, _npy(trap)))
    yield "a tensor of a dtype that is none", reply(_archive({"value": {"tensor": [0, "load", [1]]}}, _npy(b"x")))


def _heads() -> Iterator[tuple[str, Any]]:
    record = {"fields": {}}
    yield "no value", {}
    yield "a list", []
    yield "deep", {"value": functools.reduce(lambda inner, _: {"list": [inner]}, range(400), 1)}
    yield "so deep that JSON gives up", b'{"value": ' + b"[" * 200_000
    yield "a kind that is not known", {"value": {"eval": "1"}}
    yield "a record of Python's", {"value": {"record": "os.system", **record}}
    yield "a record by a path", {"value": {"record": "__import__", **record}}
    yield "a record without fields", {"value": {"record": "Answer", **record}}
    yield "a record of a file", {"value": {"record": "Held", "fields": {"file": 0}}}
    yield "a record whose name is a list", {"value": {"record": ["Answer"], **record}}
    yield "a dict with a list for a key", {"value": {"dict": [[{"list": []}, 1]]}}
    yield "an array that is not there", {"value": {"bytes": 5}}
    yield "an integer of a million digits", b'{"value": ' + b"9" * 1_000_000 + b"}"


def _answer(data: Any) -> Outcome:
    try:
        answer = answer_of(data if isinstance(data, bytes) else data[0], MOST)
    except DataError:
        return "refused"
    return "refused" if isinstance(answer.failure, JobEnded) else "wrong"


def _same(one: bytes, other: bytes) -> bool:
    """Whether a flipped bit is one that says nothing, such as a date."""
    try:
        return answer_of(reply(one), MOST) == answer_of(reply(other), MOST)
    except DataError:
        return False


def _archive(head: Any, *arrays: bytes, squeezed: bool = False, **others: bytes) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED if squeezed else zipfile.ZIP_STORED) as archive:
        archive.writestr("head.json", head if isinstance(head, bytes) else json.dumps(head))
        for number, array in enumerate(arrays):
            archive.writestr(f"arrays/{number}.npy", array)
        for name, data in others.items():
            archive.writestr(name, data)
    return whole.getvalue()


def _npy(data: bytes, dtype: str = "|u1", shape: tuple[int, ...] | None = None) -> bytes:
    file = io.BytesIO()
    given = {"descr": dtype, "fortran_order": False, "shape": (len(data),) if shape is None else shape}
    np.lib.format.write_array_header_1_0(file, given)
    return file.getvalue() + data


# --- Messages and results: what comes over the connection ------------------------------------------


def messages(trap: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Frames of a scheduler's."""
    pack = msgpack.packb
    yield "a pickle", [pack({"__Pickled__": 1}), pack({"pickled-obj": trap, "num-sub-frames": 0})]
    yield "a pickle far inside", [pack([{"a": [{"__Pickled__": 1}]}]), pack({"pickled-obj": trap, "num-sub-frames": 0})]
    for name in ("exception", "type", "message", "category", "args", "result"):
        yield f"bytes as {name}", [pack([{"op": "x", name: trap}])]
    yield "bytes alone", [pack(trap)]
    yield "bytes for a name", [pack({trap: 1})]
    yield "an extension", [pack(msgpack.ExtType(5, trap))]
    yield "a module to import", [pack({"__Enum__": True, "name": "x", "__module__": "antigravity", "__name__": "y"})]
    for offset in (0, -1, 5, 1 << 40, "1"):
        yield f"an object at {offset}", [pack({"__Serialized__": offset}), pack({"num-sub-frames": 0})]
    yield "an object with too many frames", [pack({"__Serialized__": 1}), pack({"num-sub-frames": 99})]
    yield "a header that is none", [pack({"__Serialized__": 1}), pack([1])]
    yield "a list that claims billions", [b"\xdd\xff\xff\xff\xff"]
    yield "a text that claims billions", [b"\xdb\xff\xff\xff\xff"]
    yield "deep", [b"\x91" * 100_000]
    yield "nothing", []


def _message(frames: list[bytes]) -> Outcome:
    try:
        found = scheduler_connection.decoded(frames)
    except scheduler_connection.Refused:
        return "refused"
    return "wrong" if _has_bytes(found) else "survived"


def _has_bytes(value: Any) -> bool:
    """Whether anything in it could be handed to a pickle."""
    if isinstance(value, dict):
        return any(map(_has_bytes, value.values()))
    if isinstance(value, tuple | list | set):
        return any(map(_has_bytes, value))
    return isinstance(value, bytes | bytearray | memoryview)


def results(trap: bytes) -> Iterator[tuple[str, Any]]:
    """What Dask would have unpickled, or unpacked, for a result."""
    sealed = scheduler_connection.Sealed
    yield "no result", None
    yield "bytes", trap
    yield "packed by pickle", sealed([trap], {"serializer": "pickle", "writeable": ()})
    yield "packed by dask", sealed([b""], {"serializer": "dask", "type-serialized": trap, "sub-header": {}})
    yield "packed by nothing", sealed([trap], {})
    yield "a collection", sealed([trap], {"is-collection": True, "sub-headers": [{"serializer": "pickle"}]})
    yield "an error", sealed([b"\xff\xfe"], {"serializer": "error"})
    yield "an endless error", sealed([b"x" * MOST], {"serializer": "error"})
    header = {"serializer": "msgpack"}
    yield "no MessagePack", sealed([trap], header)
    yield "an object in it", sealed([msgpack.packb(msgpack.ExtType(5, trap))], header)
    yield "too large", sealed([bytes(MOST)] * 2, header)
    lz4 = struct.pack("<I", 1 << 31) + b"x"
    yield "a bomb", sealed([lz4], {**header, "compression": ("lz4",)})
    yield "a compression that is none", sealed([trap], {**header, "compression": ("pickle",)})
    yield "a compression that is no list", sealed([trap], {**header, "compression": 7})


def _result(result: Any) -> Outcome:
    try:
        scheduler_connection.opened(result, MOST)
    except scheduler_connection.Refused:
        return "refused"
    return "wrong"


def places() -> Iterator[Any]:
    """What a scheduler says of where a job stands."""
    yield from ("", "[", "[]", "{}", "7", '"x"', "[" * 5000, '{"before": 1}', b"null", 7, "x" * 1_000_000)
    good = {"before": 1, "able": 1, "worker": "", "silent": 0.0, "error": "", "killed": False}
    for name, value in (("before", "1"), ("able", None), ("worker", []), ("silent", float("nan")), ("killed", 1)):
        yield json.dumps(good | {name: value})


def _place(text: Any) -> Outcome:
    try:
        QueuePosition.read(text)
    except (ValueError, RecursionError):
        return "refused"
    return "wrong"


def message(*frames: bytes) -> bytes:
    """Frames as they go over a connection of Dask's."""
    header = struct.pack(f"{1 + len(frames)}Q", len(frames), *map(len, frames))
    return struct.pack("Q", len(header) + sum(map(len, frames))) + header + b"".join(frames)


def impostors(trap: bytes) -> Iterator[tuple[str, bytes]]:
    """What one sends who answers in a scheduler's place."""
    pack = msgpack.packb
    hello = message(pack({"pickle-protocol": 5, "compression": None, "python": [3, 11, 0]}))
    pickled = message(pack({"__Pickled__": 1}), pack({"pickled-obj": trap, "num-sub-frames": 0}))
    yield "nothing", b""
    yield "zeros", bytes(64)
    yield "a message of an exabyte", struct.pack("Q", 1 << 60)
    yield "a trillion frames", struct.pack("QQ", 1 << 30, 1 << 40)
    yield "a frame of an exabyte", struct.pack("QQQ", 16, 1, 1 << 60)
    yield "a pickle at once", pickled
    yield "a pickle after a greeting", hello + pickled
    yield "a greeting that is a number", message(pack(7))
    yield "a greeting without a protocol", message(pack({"compression": None}))
    yield "an answer that is a list", hello + message(pack([1, 2, 3]))
    yield "an error with a pickle", hello + message(pack({"status": "uncaught-error", "exception": trap}))
    yield "another protocol", b"HTTP/1.1 200 OK\r\n\r\n" * 100


def _connect(sent: bytes) -> Outcome:
    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                asked, _ = listening.accept()
                asked.sendall(sent)
                open_ones.append(asked)

    open_ones: list[socket.socket] = []
    patience, scheduler_client.CONNECT = scheduler_client.CONNECT, 1.5
    listening = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, daemon=True).start()
    try:
        scheduler_client.connected(f"tcp://127.0.0.1:{listening.getsockname()[1]}", None)
    except TargetError:
        return "refused"
    finally:
        scheduler_client.CONNECT = patience
        for one in (listening, *open_ones):
            one.close()
    return "wrong"


# --- Addresses -------------------------------------------------------------------------------------


def addresses() -> Iterator[tuple[Any, bool]]:
    """Each without TLS, and whether it is this machine's own."""
    for host in ("localhost", "LOCALHOST", "127.0.0.1", "127.8.9.1", "[::1]", "[0:0:0:0:0:0:0:1]"):
        yield f"tcp://{host}:8786", True
    for host in (
        *(
            "localhost.evil.example",
            "127.evil.example",
            "localhostevil.example",
            "127.0.0.1.nip.io",
            "[::1].evil.example",
        ),
        *("localhost@evil.example", "127.0.0.1@evil.example", "localhost:1@evil.example", "evil.example", "10.0.0.1"),
        *("[::1", "::1", "[::1]x", "[fe80::1%lo]", "[::ffff:10.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1", "127.1"),
        *("localhost/../evil.example", "localhost#.evil.example", "localhost?.evil.example", "localhost\\evil.example"),
        *("localhost\n", "localhost .evil.example", " localhost", "loca\u0142host", "local\u200bhost", "", ".", "-"),
        *("127.0.0.1\x00.evil.example", "\uff11\uff12\uff17.0.0.1", "127.0.0.1,evil.example", "localhost;evil.example"),
    ):
        yield f"tcp://{host}:8786", False
    for one in (
        *("localhost:8786", "tcp://localhost", "tcp://localhost:", "tcp://localhost:0", "tcp://localhost:99999"),
        *("tcp://localhost:8786/evil.example", "tcp://localhost:8786@evil.example:1", "tcp://localhost:8786\n"),
        *(
            "tcp://tcp://localhost:8786",
            "inproc://127.0.0.1/1/1",
            "ucx://localhost:1",
            "file:///etc/passwd",
            "",
            None,
            7,
        ),
    ):
        yield one, False


def _address(one: Any, local: bool) -> Outcome:
    try:
        scheduler_address.check_address(one, False)
    except ValueError:
        return "wrong" if local else "refused"
    return "survived" if local else "wrong"


# --- Jobs: processes that do what they can ---------------------------------------------------------


def _jobs(marker: Path) -> Iterator[Try]:
    from triton_lab.remote.job_server import Server

    for apart in (True, False):
        server = Server("cpu", apart)
        for name, deed in deeds(marker):
            if not server.alive:
                server = Server("cpu", apart)
            where = "in namespaces" if apart else "without namespaces"
            yield _tried(f"job {where}: {name}", marker, functools.partial(_job, server, deed))
        server.close()


def deeds(marker: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Functions that are called in a job's process."""
    yield "a pickle into every open file", functools.partial(_fills, pickle.dumps(Trap(marker)))
    yield "garbage into every open file", functools.partial(_fills, b"\xff" * 100_000)
    yield "nothing is answered", functools.partial(os._exit, 0)
    yield "an answer of a terabyte", _claims
    yield "it makes a session and daemons", functools.partial(_daemons, marker)
    yield "it ends all processes that it sees", _ends_all
    yield "it prints without an end", _prints
    yield "links, pipes and folders where its files are", _litters
    yield "folders a thousand deep", _digs
    yield "a folder that nobody may enter", _locks
    yield "it gives back what is no data", lambda: open
    yield "it raises what cannot be told", _raises


def _job(server: Any, deed: Callable[[], Any]) -> Outcome:
    from triton_lab.remote.call_job import sent

    job = packed(Job("deed", (1, 1, 1), (), sent(deed)))
    found = server.perform(job, 1.0 if server.alive else 0.0, 1 << 30, lambda: False)
    answer = answer_of(packed(vars(found)), 1 << 30)
    left = list(server._scratch.folder.iterdir()) if server.alive else []
    if left or answer.failure is None:
        raise AssertionError(f"{left} is left" if left else "it was taken for an answer")
    time.sleep(0.3)  # what has outlived it would do its deed now
    if server.alive:  # else the next job has another one
        again = server.perform(packed(Job("seven", (1, 1, 1), (), sent(int, "7"))), 60.0, 1 << 30, lambda: False)
        assert answer_of(packed(vars(again)), 1 << 30).failure is None
    return "refused"


def _fills(data: bytes) -> None:
    for number in range(3, 256):
        try:
            os.write(number, data)
        except OSError:
            continue
    os._exit(0)


def _claims() -> None:
    for number in range(3, 256):
        try:
            os.ftruncate(number, 1 << 40)
        except OSError:
            continue
    os._exit(0)


def _daemons(marker: Path) -> None:
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(1.2)
                marker.touch()
            os._exit(0)
    while True:
        time.sleep(1)


def _ends_all() -> None:
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (1, os.getpid()):
            try:
                if b"triton_lab.remote.job_process" in Path("/proc", name, "cmdline").read_bytes():
                    os.kill(int(name), 9)
            except OSError:
                continue
    os._exit(0)


def _prints() -> None:
    while True:
        print("x" * 10_000)


def _litters() -> None:
    folder = os.environ["TMPDIR"]
    os.symlink("/etc", f"{folder}/link")
    os.mkfifo(f"{folder}/pipe")
    for name in ("answer", "job", "said", "shared"):
        os.symlink("/etc/passwd", f"{folder}/{name}")
        os.makedirs(f"{folder}/{name}.part/answer")
    os._exit(0)


def _digs() -> None:
    os.chdir(os.environ["TMPDIR"])
    for _ in range(2000):
        os.mkdir("d")
        os.chdir("d")
    os._exit(0)


def _locks() -> None:
    inner = Path(os.environ["TMPDIR"], "a", "b")
    inner.mkdir(parents=True)
    inner.chmod(0)
    inner.parent.chmod(0)
    os._exit(0)


class _Untold(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


def _raises() -> None:
    raise _Untold
