"""Saved launches that a stranger has changed: each is loaded and stays within bounds, or is refused in words.

What is loaded is looked at as a user would: its card, findings, accesses, pictures, values, and a comparison.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import resource
import signal
import tempfile
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

import triton_lab as lab
from tests.hostile.outcome import Try
from triton_lab.examples import example
from triton_lab.views.launch.gallery import launches_of

INPUTS = 500
SECONDS = 120.0
"""What one input may take, loaded and looked at; the machine may be busy."""
_BYTES = 6 << 30
_EXAMPLES = ("vector_add", "softmax", "matmul_float32", "split_k_matmul")
# What may be said of a launch that was loaded and cannot be shown or run again.
_IN_WORDS = (lab.CannotReplay, lab.KernelError, lab.SavedLaunchError)

Members = dict[str, bytes]
Mutation = Callable[[random.Random, Members], bytes]


def tries(seed: int) -> Iterator[Try]:
    """Each of the inputs that ``seed`` makes, in a process of its own, which can be killed."""
    torch.set_num_threads(1)  # a fork has none of its threads
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        saved = bases(Path(folder))
        for name, data in mutants(seed, saved, INPUTS):
            yield tried(name, data, Path(folder) / "input.launch")


def bases(folder: Path) -> list[Members]:
    """Launches that were saved honestly, as the members of their archives; what looks at them is imported by then."""
    found = []
    for name in _EXAMPLES:
        path = folder / f"{name}.launch"
        launches_of(example(name))[0].save(path)
        looked_at(path)
        with zipfile.ZipFile(path) as archive:
            found.append({member: archive.read(member) for member in archive.namelist()})
    return found


def mutants(seed: int, saved: list[Members], count: int) -> Iterator[tuple[str, bytes]]:
    """So many changed files, by names that tell the mutation and its number."""
    for number in range(count):
        rng = random.Random(f"{seed}-{number}")
        mutation = MUTATIONS[number % len(MUTATIONS)]
        yield f"{mutation.__name__.strip('_')} {number} of seed {seed}", mutation(rng, dict(rng.choice(saved)))


def looked_at(path: Path) -> str:
    """Load a file and do with it what users do. Raises what that raises."""
    launch = lab.load(path)
    with contextlib.redirect_stdout(io.StringIO()):
        looks: list[Callable[[], Any]] = [
            lambda: launch._repr_mimebundle_(),
            lambda: str(launch.findings),
            lambda: [(one.address(), one.mask()) for one in launch.accesses if launch.programs < 1 << 16],
            lambda: [launch.plot.tiling(one.name).text() for one in launch.arguments if one.kind == "tensor"][:2],
            lambda: launch.plot.storage().text(),
            lambda: launch.plot.grid().text(),
            lambda: [launch.values(one.name) for one in launch.variables[-1:]],
            lambda: lab.compare(launch, launch).verdict,
            lambda: launch.trace(),
        ]
        for look in looks:
            with contextlib.suppress(*_IN_WORDS):
                look()
    return "loaded"


def tried(name: str, data: bytes, path: Path) -> Try:
    """What becomes of one file."""
    path.write_bytes(data)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _child(path, write)
    os.close(write)
    timer = threading.Timer(SECONDS, os.kill, (child, signal.SIGKILL))
    timer.start()
    with open(read, encoding="utf-8", errors="replace") as stream:
        told = stream.read()
    _, status = os.waitpid(child, 0)
    late = not timer.is_alive()
    timer.cancel()
    if late:
        return Try(name, "hung", f"more than {SECONDS:.0f} s")
    if status:
        return Try(name, "wrong", f"the process died: status {status}")
    if told == "loaded":
        return Try(name, "survived")
    if told.startswith("refused: "):
        return Try(name, "refused", told)
    return Try(name, "wrong", told)


def _child(path: Path, write: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    try:
        told = looked_at(path)
    except lab.SavedLaunchError as error:
        inside = error.__cause__
        bare = isinstance(inside, (MemoryError, RecursionError))
        told = f"raw: {inside!r}" if bare else f"refused: {error}"
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = "" if trace is None else f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})"
        told = f"{type(error).__name__}: {error}"[:300] + place
    os.write(write, told.encode())
    os._exit(0)


# --- Mutations ------------------------------------------------------------------------------------


def packed(members: Members, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return whole.getvalue()


def _bytes(rng: random.Random, members: Members) -> bytes:
    """Bytes flipped, cut out, doubled or put in."""
    data = bytearray(packed(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))))
    for _ in range(rng.choice((1, 1, 3, 30))):
        at, kind = rng.randrange(len(data)), rng.randrange(4)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at : at + rng.choice((1, 7, 4000))]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.choice((1, 8, 300)))
        else:
            data[at:at] = data[at : at + rng.choice((1, 8, 300))]
        if not data:
            break
    return bytes(data)


def _values(rng: random.Random) -> Any:
    deep: Any = 0
    for _ in range(rng.choice((5, 40, 900))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    return rng.choice(
        (
            *(0, 1, -1, 2**31, -(2**31), 2**62, -(2**63), 2**64, 10**4000, 1e300, float("nan"), float("inf"), -0.5),
            *(
                None,
                True,
                "",
                "x" * 100_000,
                "\x1b[31m\0",
                "../../etc/passwd",
                [],
                {},
                [[]],
                [0] * 5000,
                deep,
                "float32",
            ),
        )
    )


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield (*path, key)
        yield from _places(one, (*path, key))


def _json(rng: random.Random, members: Members) -> bytes:
    """Fields of the description replaced, left out or added."""
    head = json.loads(members["head.json"])
    for _ in range(rng.choice((1, 1, 2, 5))):
        # Each kind of field alike, however many there are of it.
        kinds: dict[str, list[tuple[Any, ...]]] = {}
        for place in _places(head):
            kinds.setdefault(str(tuple("" if isinstance(key, int) else key for key in place)), []).append(place)
        place = rng.choice(kinds[rng.choice(sorted(kinds))])
        holder = head
        for key in place[:-1]:
            holder = holder[key]
        if rng.random() < 0.1:
            del holder[place[-1]]
        else:
            holder[place[-1]] = _values(rng)
    return packed({**members, "head.json": json.dumps(head).encode()})


def _archive(rng: random.Random, members: Members) -> bytes:
    """Members left out, doubled, renamed, swapped or swollen; sizes that are not so."""
    whole = io.BytesIO()
    names, kind = sorted(members), rng.randrange(10)
    victim = rng.choice(names)
    if kind == 0:
        del members[victim]
    elif kind == 1:
        other = rng.choice(names)
        members[victim], members[other] = members[other], members[victim]
    elif kind == 2:
        members["head.json"] = bytes(rng.choice((1 << 20, 80 << 20)))
    elif kind == 3:
        members[victim] = _swollen(members[victim], rng.choice((1 << 24, 600 << 20)))
    elif kind == 4:
        members[rng.choice(("../../tmp/x", "/etc/passwd", "arrays/../head.json", "arrays/99999.npy", "a" * 60_000))] = (
            b""
        )
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_LZMA if kind == 5 else zipfile.ZIP_BZIP2 if kind == 6 else 8
            if kind == 7 and name == victim:
                info.external_attr = 0o120777 << 16  # a symbolic link
            archive.writestr(info, data)
            if kind == 8 and name == victim:
                archive.writestr(name, data)
    data = bytearray(whole.getvalue())
    if kind == 9:  # sizes and offsets in the directory
        at = data.find(b"PK\x01\x02")
        for _ in range(3):
            where = at + rng.choice((20, 24, 28, 30, 42)) + rng.randrange(2)
            data[where : where + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\x7f", rng.randbytes(4)))
    return bytes(data)


def _swollen(data: bytes, size: int) -> bytes:
    return data + bytes(size)


def _plan(rng: random.Random, members: Members) -> bytes:
    """The kernel's text: more rounds, larger blocks, other types, lines lost or doubled; larger grids."""
    head = json.loads(members["head.json"])
    for _ in range(rng.choice((1, 1, 2, 4))):
        name = rng.choice(("plan", "plan", "twin"))
        holder = head if name == "plan" else head["twin"]
        holder["plan"] = _text(rng, holder["plan"])
    if rng.random() < 0.5:
        head["grid"] = rng.choice(([1 << 24, 1, 1], [1024, 1, 1], [4096, 64, 1], [2, 3, 5], [1, 1, 1 << 20]))
    if rng.random() < 0.3:
        head["batch"] = rng.choice((1, 7, 1 << 40))
    return packed({**members, "head.json": json.dumps(head).encode()})


def _text(rng: random.Random, text: str) -> str:
    kind = rng.randrange(8)
    if kind == 0:  # all blocks grow alike
        sizes = sorted(set(re.findall(r"(?<=[<x])\d+(?=x)", text)))
        if sizes:
            old, new = rng.choice(sizes), str(rng.choice((1 << 14, 1 << 20, 1 << 21, 3, 0, 10**30)))
            text = re.sub(rf"(?<=[<x]){old}(?=x)", new, text)
            return re.sub(rf"(?<=end = ){old}(?= )", new, text)
        return text
    if kind == 1:  # one number
        return _at_one(rng, r"-?\d+", text, lambda _: str(_number(rng)))
    if kind == 2:
        return _at_one(rng, r"dense<[^>]*>", text, lambda _: f"dense<{_number(rng)}>")
    if kind == 3:
        return _at_one(
            rng, r"\b(i1|i8|i16|i32|i64|f16|f32|bf16|f64)\b", text, lambda _: rng.choice(("i64", "f32", "i1"))
        )
    if kind == 4:
        names = sorted(set(re.findall(r'"((?:tt|arith|math|scf)\.\w+)"', text)))
        return _at_one(rng, r'"(?:tt|arith|math|scf)\.\w+"', text, lambda _: f'"{rng.choice(names)}"')
    if kind == 5:
        return _at_one(rng, r"%\w+", text, lambda _: f"%{rng.randrange(60)}")
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    if kind == 6:
        del lines[at : at + rng.choice((1, 1, 9))]
    else:
        lines[at:at] = lines[at : at + rng.choice((1, 4))] * rng.choice((1, 1, 3000))
    return "\n".join(lines)


def _number(rng: random.Random) -> int:
    return rng.choice((0, 1, -1, 2, 7, 64, 1 << 20, 1 << 31, (1 << 31) - 1, 1 << 40, 1 << 63, -(1 << 63), 10**40))


def _at_one(rng: random.Random, pattern: str, text: str, new: Callable[[str], str]) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    one = rng.choice(found)
    return text[: one.start()] + new(one.group()) + text[one.end() :]


def _arrays(rng: random.Random, members: Members) -> bytes:
    """Arguments, memory and results: pointers elsewhere, huge counts, other shapes and dtypes, pickles."""
    names = [name for name in members if name.endswith(".npy")]
    for name in rng.sample(names, min(len(names), rng.choice((1, 2, 6)))):
        array = np.load(io.BytesIO(members[name]))
        kind = rng.randrange(6)
        if kind <= 1 and array.size:
            array = array.copy()
            place, to = rng.randrange(array.size), rng.choice((0, 1, -1, 255, 2**31 - 1, -(2**31), 2**62, 2**40))
            raw = array.reshape(-1).view(np.uint8)
            size = array.itemsize
            raw[place * size : place * size + size] = np.frombuffer(
                (to % 2 ** (8 * size)).to_bytes(size, "little"), np.uint8
            )
        elif kind == 2:
            array = np.resize(array, rng.choice(((0,), (1,), (2, 2), (1 << 20,))))
        elif kind == 3:
            array = array.astype(rng.choice(("u1", "i8", "f4", "f8", "b1", "f2", "c8")))
        data = io.BytesIO()
        np.save(data, array.astype(object) if kind == 4 else array)
        members[name] = data.getvalue()
        if kind == 5:  # a header that claims more
            members[name] = re.sub(rb"'shape': \([^)]*\)", b"'shape': (1073741824,)", members[name], count=1)
    return packed(members)


def _longer(rng: random.Random, members: Members) -> bytes:
    """A launch that is right in itself and would take hours: blocks, grid and rounds large at once."""
    head = json.loads(members["head.json"])
    grow = str(1 << rng.choice((10, 14, 17, 20)))
    for holder in (head, head["twin"]):
        text = holder["plan"]
        for old in sorted(set(re.findall(r"(?<=[<x])\d+(?=x)", text)), key=int)[-1:]:
            text = re.sub(rf"(?<=[<x]){old}(?=x)", grow, text)
            text = re.sub(rf"(?<=end = ){old}(?= )", grow, text)
        if rng.random() < 0.5:
            text = re.sub(r"dense<(\d+)>", lambda _: "dense<0>", text)
        holder["plan"] = re.sub(r"value = (\d\d+) : i32", lambda _: f"value = {2**31 - 1} : i32", text)
    head["grid"] = rng.choice(([1024, 1, 1], [1 << 24, 1, 1], [1 << 12, 1 << 6, 4], [37, 1, 1]))
    return packed({**members, "head.json": json.dumps(head).encode()})


MUTATIONS: tuple[Mutation, ...] = (_bytes, _json, _json, _archive, _plan, _plan, _arrays, _longer)
